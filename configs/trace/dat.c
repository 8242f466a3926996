/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/trace/dat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <trace-cmd/trace-cmd.h>
#include <unistd.h>

#include "configs/trace/gfp.h"

/* What goes through the pipe: a head, then .len bytes of name. */
enum message_kind { MESSAGE_EVENT, MESSAGE_NOTE, MESSAGE_END };
struct message {
	uint8_t kind;
	uint16_t len;
	uint32_t note; /* enum trace_note */
	uint64_t count;
	struct trace_event ev;
};

struct trace_dat {
	char *file;
	pid_t child;
	int fd;
	size_t start, filled;
	struct trace_names *names;
	struct trace_notes *notes;
	bool ended;
	char buf[1 << 16];
};

/* ---- the child ---- */

struct sender {
	FILE *out;
	/* by event id: what it is; looked up once */
	GHashTable *events;
};

/* An event of ours and where its fields are. */
struct dat_event {
	int kind; /* -1: not ours */
	struct tep_event *tep;
	struct tep_format_field *ptr, *req, *alloc, *gfp, *node, *accounted,
		*name;
};

static void send_message(struct sender *s, const struct message *m,
			 const char *name)
{
	if (fwrite(m, sizeof(*m), 1, s->out) != 1 ||
	    (m->len && fwrite(name, m->len, 1, s->out) != 1))
		_exit(0); /* nobody reads any more */
}

static void send_note(struct sender *s, enum trace_note note, uint64_t count)
{
	struct message m = { .kind = MESSAGE_NOTE, .note = note,
			     .count = count };

	send_message(s, &m, NULL);
}

static int dat_kind(const char *name)
{
	static const struct {
		const char *name;
		int kind;
	} kinds[] = {
		{ "kmalloc", TRACE_KMALLOC },
		{ "kmalloc_node", TRACE_KMALLOC },
		{ "kfree", TRACE_KFREE },
		{ "kmem_cache_alloc", TRACE_CACHE_ALLOC },
		{ "kmem_cache_alloc_node", TRACE_CACHE_ALLOC },
		{ "kmem_cache_free", TRACE_CACHE_FREE },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	return -1;
}

static struct dat_event *dat_event_of(struct sender *s,
				      struct tep_handle *tep,
				      struct tep_record *record)
{
	struct tep_event *e = tep_find_event_by_record(tep, record);
	struct dat_event *d;

	if (!e)
		return NULL;
	d = g_hash_table_lookup(s->events, e);
	if (d)
		return d;
	d = g_new0(struct dat_event, 1);
	d->tep = e;
	d->kind = e->system && strcmp(e->system, "kmem") ? -1 :
							  dat_kind(e->name);
	if (d->kind >= 0) {
		d->ptr = tep_find_field(e, "ptr");
		d->req = tep_find_field(e, "bytes_req");
		d->alloc = tep_find_field(e, "bytes_alloc");
		d->gfp = tep_find_field(e, "gfp_flags");
		d->node = tep_find_field(e, "node");
		d->accounted = tep_find_field(e, "accounted");
		d->name = tep_find_field(e, "name");
	}
	g_hash_table_insert(s->events, e, d);
	return d;
}

static bool number(struct tep_format_field *f, struct tep_record *r,
		   unsigned long long *v)
{
	return f && !tep_read_number_field(f, r->data, v);
}

static void send_event(struct sender *s, struct dat_event *d,
		       struct tep_record *r)
{
	struct message m = { .kind = MESSAGE_EVENT };
	unsigned long long v;
	const char *name = NULL;
	int len = 0;

	m.ev.kind = d->kind;
	m.ev.cpu = r->cpu >= 0 && r->cpu <= TRACE_MAX_CPU ? r->cpu : -1;
	m.ev.time_ns = r->ts;
	m.ev.node = -1;
	/* what is missing or out of range is the receiver's to count */
	m.note = NR_TRACE_NOTES;
	if (!number(d->ptr, r, &v))
		m.note = NOTE_BAD_FIELD;
	else
		m.ev.ptr = v;
	if (trace_is_alloc(d->kind)) {
		if (!number(d->req, r, &v) || v > G_MAXINT32)
			m.note = NOTE_BAD_FIELD;
		else
			m.ev.bytes_req = v;
		if (!number(d->alloc, r, &v) || v > G_MAXINT32)
			m.note = NOTE_BAD_FIELD;
		else
			m.ev.bytes_alloc = v;
		if (number(d->gfp, r, &v))
			m.ev.gfp = trace_gfp_raw(v);
		if (number(d->node, r, &v))
			m.ev.node = (int)v >= 0 && (int)v <= TRACE_MAX_NODE ?
				    (int)v :
				    -1;
		if (number(d->accounted, r, &v) && v)
			m.ev.gfp |= TRACE_GFP_ACCOUNT;
	}
	if (d->name)
		name = tep_get_field_raw(NULL, d->tep, "name", r, &len, 0);
	if (name && len > 0)
		m.len = strnlen(name, MIN(len, TRACE_MAX_NAME + 1));
	send_message(s, &m, name);
}

static int on_record(struct tracecmd_input *in, struct tep_record *r, int cpu,
		     void *arg)
{
	struct sender *s = arg;
	struct dat_event *d = dat_event_of(s, tracecmd_get_tep(in), r);

	if (r->missed_events) {
		send_note(s, NOTE_LOST_MARK, 1);
		if (r->missed_events > 0)
			send_note(s, NOTE_LOST_EVENTS, r->missed_events);
	}
	if (!d)
		send_note(s, NOTE_OTHER_TEXT, 1);
	else if (d->kind < 0)
		send_note(s, NOTE_OTHER_EVENT, 1);
	else
		send_event(s, d, r);
	return 0;
}

static _Noreturn void child_main(int fd, int out)
{
	struct sender s = { .out = NULL };
	struct message end = { .kind = MESSAGE_END };
	struct tracecmd_input *in;
	GPtrArray *all = g_ptr_array_new();
	int quiet = open("/dev/null", O_WRONLY);
	/* A damaged file asks for any amount. A sanitizer's shadow would not
	 * fit below a limit. */
#ifndef __SANITIZE_ADDRESS__
	struct rlimit memory = { 4ull << 30, 4ull << 30 };

	setrlimit(RLIMIT_AS, &memory);
#endif
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	for (int i = 1; i < NSIG; i++)
		if (i == SIGSEGV || i == SIGABRT || i == SIGBUS || i == SIGFPE)
			signal(i, SIG_DFL);
	if (quiet >= 0) {
		dup2(quiet, STDOUT_FILENO);
		dup2(quiet, STDERR_FILENO);
	}
	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	s.out = fdopen(out, "w");
	s.events = g_hash_table_new(NULL, NULL);
	if (!s.out)
		_exit(3);
	/* plugins only make text: not needed, and they are foreign code */
	in = tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!in)
		_exit(2);
	g_ptr_array_add(all, in);
	for (int i = 0; i < tracecmd_buffer_instances(in); i++) {
		struct tracecmd_input *b =
			tracecmd_buffer_instance_handle(in, i);

		if (b)
			g_ptr_array_add(all, b);
	}
	if (all->len == 1)
		tracecmd_iterate_events(in, NULL, 0, on_record, &s);
	else
		tracecmd_iterate_events_multi(
			(struct tracecmd_input **)all->pdata, all->len,
			on_record, &s);
	send_message(&s, &end, NULL);
	if (fflush(s.out))
		_exit(3);
	_exit(0);
}

/* ---- the parent ---- */

struct trace_dat *trace_dat_new(int fd, const char *file,
				struct trace_names *names,
				struct trace_notes *notes, GError **error)
{
	struct trace_dat *d = g_new0(struct trace_dat, 1);
	int pipefd[2];

	d->file = g_strdup(file);
	d->names = names;
	d->notes = notes;
	if (pipe2(pipefd, O_CLOEXEC)) {
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN,
			    "%s: no pipe: %s", file, g_strerror(errno));
		close(fd);
		g_free(d->file);
		g_free(d);
		return NULL;
	}
	fflush(NULL); /* or the child's copy would be written twice */
	d->child = fork();
	if (d->child == 0) {
		close(pipefd[0]);
		child_main(fd, pipefd[1]);
	}
	close(pipefd[1]);
	close(fd);
	d->fd = pipefd[0];
	if (d->child < 0) {
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN,
			    "%s: no process to read it in: %s", file,
			    g_strerror(errno));
		trace_dat_free(d);
		return NULL;
	}
	return d;
}

static int reap(struct trace_dat *d, bool kill_it)
{
	int status = 0;

	if (d->child <= 0)
		return 0;
	if (kill_it)
		kill(d->child, SIGKILL);
	while (waitpid(d->child, &status, 0) < 0 && errno == EINTR)
		;
	d->child = 0;
	return status;
}

void trace_dat_free(struct trace_dat *d)
{
	if (!d)
		return;
	close(d->fd);
	reap(d, true);
	g_free(d->file);
	g_free(d);
}

/* Why the child stopped without saying that it was at the end. */
static void child_died(struct trace_dat *d, GError **error)
{
	int status = reap(d, false);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
			    "%s: libtracecmd does not read it, expected a "
			    "whole trace.dat",
			    d->file);
	else
		g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
			    "%s: damaged: libtracecmd stopped (%s %d) after "
			    "%" G_GUINT64_FORMAT " kmem records",
			    d->file,
			    WIFSIGNALED(status) ? "signal" : "status",
			    WIFSIGNALED(status) ? WTERMSIG(status) :
						  WEXITSTATUS(status),
			    d->notes->records);
}

/* Makes at least @n bytes available at .start. */
static bool need(struct trace_dat *d, size_t n, GError **error)
{
	while (d->filled - d->start < n) {
		struct pollfd p = { .fd = d->fd, .events = POLLIN };
		ssize_t got;
		int ready;

		memmove(d->buf, d->buf + d->start, d->filled - d->start);
		d->filled -= d->start;
		d->start = 0;
		ready = poll(&p, 1, TRACE_DAT_TIMEOUT_S * 1000);
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready == 0) {
			reap(d, true);
			g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
				    "%s: damaged: libtracecmd gave no record "
				    "for %d s",
				    d->file, TRACE_DAT_TIMEOUT_S);
			return false;
		}
		got = read(d->fd, d->buf + d->filled,
			   sizeof(d->buf) - d->filled);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			child_died(d, error);
			return false;
		}
		d->filled += got;
	}
	return true;
}

bool trace_dat_next(struct trace_dat *d, struct trace_event *ev,
		    GError **error)
{
	while (!d->ended) {
		struct message m;
		bool altered = false;

		if (!need(d, sizeof(m), error))
			return false;
		memcpy(&m, d->buf + d->start, sizeof(m));
		if (!need(d, sizeof(m) + m.len, error))
			return false;
		d->start += sizeof(m);
		if (m.kind == MESSAGE_END) {
			d->ended = true;
			break;
		}
		if (m.kind == MESSAGE_NOTE) {
			d->notes->count[m.note] += m.count;
			continue;
		}
		d->notes->records++;
		if (m.len)
			m.ev.name = trace_names_add(
				d->names, d->buf + d->start, m.len, &altered);
		d->start += m.len;
		if (m.note == NOTE_BAD_FIELD || m.ev.cpu < 0 ||
		    (trace_is_alloc(m.ev.kind) &&
		     !(m.ev.bytes_req && m.ev.bytes_alloc))) {
			d->notes->count[NOTE_BAD_FIELD]++;
			continue;
		}
		if (altered)
			d->notes->count[NOTE_NAME_ALTERED]++;
		if (m.ev.ptr <= 16) /* ZERO_SIZE_PTR is 16 */
			m.ev.ptr = 0;
		d->notes->events++;
		*ev = m.ev;
		return true;
	}
	return false;
}
