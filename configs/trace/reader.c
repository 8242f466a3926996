/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file to events in order of time: what it is, its compression, the window
 * in which late records find their place. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "configs/trace/dat.h"
#include "configs/trace/names.h"
#include "configs/trace/text.h"
#include "configs/trace/trace.h"

#define SNIFF 4096 /* bytes looked at to tell what a file is */
#define BLOCK 65536

struct trace {
	char *file, *format;
	struct archive *archive;
	bool empty; /* a file of no bytes */
	char sniff[SNIFF];
	size_t sniffed, unread; /* the sniffed bytes not yet given to text */
	struct trace_text *text; /* or */
	struct trace_dat *dat;
	struct trace_names *names;
	struct trace_notes notes;
	/* The window: a ring of slot numbers in the order of time. */
	struct trace_event slot[TRACE_ORDER_WINDOW];
	uint16_t ring[TRACE_ORDER_WINDOW];
	unsigned head, count;
	uint64_t last_out; /* time of the last event given away */
	bool ended;
	GError *late; /* met while filling the window; given at its end */
};

static ssize_t read_archive(struct trace *t, char *buf, size_t size,
			    GError **error)
{
	ssize_t got = t->empty ? 0 : archive_read_data(t->archive, buf, size);

	if (got >= 0)
		return got;
	g_set_error(error, TRACE_ERROR, TRACE_ERROR_READ,
		    "%s: after line %" G_GUINT64_FORMAT ": %s", t->file,
		    t->notes.lines, archive_error_string(t->archive));
	return -1;
}

/* What trace_text reads from: the sniffed bytes, then the file. */
static ssize_t read_on(void *arg, char *buf, size_t size, GError **error)
{
	struct trace *t = arg;

	if (t->unread) {
		size_t n = MIN(size, t->unread);

		memcpy(buf, t->sniff + t->sniffed - t->unread, n);
		t->unread -= n;
		return n;
	}
	return read_archive(t, buf, size, error);
}

static struct archive *new_archive(void)
{
	struct archive *a = archive_read_new();

	archive_read_support_format_raw(a);
	archive_read_support_format_empty(a);
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_lzma(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_filter_lz4(a);
	return a;
}

/* A decompressed trace.dat needs a file that can be sought in; without a name
 * it vanishes with the process. */
static int spool(struct trace *t, GError **error)
{
	g_autofree char *name = NULL;
	g_autofree char *buf = g_malloc(BLOCK);
	int fd = g_file_open_tmp("slubsim-trace-XXXXXX", &name, error);
	ssize_t got;

	if (fd < 0)
		return -1;
	g_unlink(name);
	while ((got = read_on(t, buf, BLOCK, error)) > 0) {
		for (ssize_t done = 0; done < got;) {
			ssize_t n = write(fd, buf + done, got - done);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0) {
				g_set_error(error, TRACE_ERROR,
					    TRACE_ERROR_READ,
					    "%s: cannot be unpacked to %s: %s",
					    t->file, g_get_tmp_dir(),
					    g_strerror(errno));
				close(fd);
				return -1;
			}
			done += n;
		}
	}
	if (got < 0 || lseek(fd, 0, SEEK_SET)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool has_magic(const struct trace *t, const char *magic, size_t n)
{
	return t->sniffed >= n && !memcmp(t->sniff, magic, n);
}

static bool begin(struct trace *t, GError **error)
{
	struct archive_entry *entry;
	int got = archive_read_next_header(t->archive, &entry), fd;

	if (got == ARCHIVE_EOF) {
		t->empty = true;
	} else if (got < ARCHIVE_WARN) {
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_READ, "%s: %s",
			    t->file, archive_error_string(t->archive));
		return false;
	}
	while (t->sniffed < SNIFF) {
		ssize_t n = read_archive(t, t->sniff + t->sniffed,
					 SNIFF - t->sniffed, error);

		if (n < 0)
			return false;
		if (!n)
			break;
		t->sniffed += n;
	}
	t->unread = t->sniffed;
	if (has_magic(t, "\x17\x08\x44tracing", 10)) {
		fd = spool(t, error);
		if (fd < 0)
			return false;
		t->dat = trace_dat_new(fd, t->file, t->names, &t->notes,
				       error);
		return t->dat;
	}
	if (has_magic(t, "PERFILE2", 8) || has_magic(t, "2ELIFREP", 8)) {
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
			    "%s: is perf's binary file, expected its text: "
			    "perf script -i %s",
			    t->file, t->file);
		return false;
	}
	if (memchr(t->sniff, 0, t->sniffed)) {
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
			    "%s: is binary, expected ftrace, trace-cmd report "
			    "or perf script text, or a trace.dat, plain or "
			    "compressed",
			    t->file);
		return false;
	}
	t->text = trace_text_new(read_on, t, t->names, &t->notes);
	return true;
}

static struct trace *new_trace(const char *file)
{
	struct trace *t = g_new0(struct trace, 1);

	t->file = g_strdup(file);
	t->archive = new_archive();
	t->names = trace_names_new();
	for (unsigned i = 0; i < TRACE_ORDER_WINDOW; i++)
		t->ring[i] = i;
	return t;
}

struct trace *trace_open(const char *path, GError **error)
{
	bool in = !strcmp(path, "-");
	struct trace *t = new_trace(in ? "standard input" : path);

	if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN,
			    "%s: is a folder, expected a trace", path);
	} else if (!in && g_access(path, R_OK)) {
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: %s",
			    path, g_strerror(errno));
	} else if (archive_read_open_filename(t->archive, in ? NULL : path,
					      BLOCK)) {
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: %s",
			    t->file, archive_error_string(t->archive));
	} else if (begin(t, error)) {
		return t;
	}
	trace_close(t);
	return NULL;
}

struct trace *trace_open_memory(const char *bytes, size_t size, GError **error)
{
	struct trace *t = new_trace("memory");

	if (archive_read_open_memory(t->archive, bytes, size))
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: %s",
			    t->file, archive_error_string(t->archive));
	else if (begin(t, error))
		return t;
	trace_close(t);
	return NULL;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	trace_text_free(t->text);
	trace_dat_free(t->dat);
	archive_read_free(t->archive);
	trace_names_free(t->names);
	g_clear_error(&t->late);
	g_free(t->file);
	g_free(t->format);
	g_free(t);
}

const char *trace_format(const struct trace *t)
{
	struct trace *w = (struct trace *)t; /* the answer is kept in it */
	int filters = archive_filter_count(t->archive);

	g_free(w->format);
	w->format = g_strdup(t->dat ? "trace.dat" :
				      trace_text_flavour(t->text));
	if (filters > 1 && archive_filter_code(t->archive, 0)) {
		char *s = g_strdup_printf("%s, %s", w->format,
					  archive_filter_name(t->archive, 0));

		g_free(w->format);
		w->format = s;
	}
	return w->format;
}

struct trace_notes *trace_notes(struct trace *t)
{
	return &t->notes;
}

const char *trace_name(const struct trace *t, uint32_t name)
{
	return trace_names_get(t->names, name);
}

/* ---- the window ---- */

static inline unsigned at(const struct trace *t, unsigned i)
{
	return (t->head + i) % TRACE_ORDER_WINDOW;
}

/* Puts the event of the slot behind the window's end where it belongs: before
 * those of later time, but never before one of its own CPU. */
static void settle(struct trace *t)
{
	unsigned i = t->count, slot = t->ring[at(t, i)];
	struct trace_event *ev = &t->slot[slot];

	while (i && t->slot[t->ring[at(t, i - 1)]].time_ns > ev->time_ns &&
	       t->slot[t->ring[at(t, i - 1)]].cpu != ev->cpu) {
		t->ring[at(t, i)] = t->ring[at(t, i - 1)];
		i--;
	}
	t->ring[at(t, i)] = slot;
	if (i != t->count)
		t->notes.count[NOTE_REORDERED]++;
	if (ev->time_ns < (i ? t->slot[t->ring[at(t, i - 1)]].time_ns :
			       t->last_out)) {
		ev->time_ns = i ? t->slot[t->ring[at(t, i - 1)]].time_ns :
				  t->last_out;
		t->notes.count[NOTE_TIME_RAISED]++;
	}
	t->count++;
}

static bool next_in_file(struct trace *t, struct trace_event *ev)
{
	return t->dat ? trace_dat_next(t->dat, ev, &t->late) :
			trace_text_next(t->text, ev, &t->late);
}

bool trace_next(struct trace *t, struct trace_event *ev, GError **error)
{
	while (!t->ended && t->count < TRACE_ORDER_WINDOW) {
		if (next_in_file(t, &t->slot[t->ring[at(t, t->count)]]))
			settle(t);
		else
			t->ended = true;
	}
	if (!t->count) {
		if (t->late)
			g_propagate_error(error, g_steal_pointer(&t->late));
		return false;
	}
	*ev = t->slot[t->ring[t->head]];
	t->last_out = ev->time_ns;
	t->head = (t->head + 1) % TRACE_ORDER_WINDOW;
	t->count--;
	return true;
}
