/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/import_text.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/file_replace.h"

G_DEFINE_QUARK(slubsim - import - error, import_error)

bool import_fail(GError **error, const char *name, int line, const char *format,
		 ...)
{
	g_autofree char *what = NULL;
	va_list args;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	/* quotes of the input may hold anything; an error is one line */
	for (char *c = what; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (line > 0)
		g_set_error(error, IMPORT_ERROR, 0, "%s:%d: %s", name, line,
			    what);
	else
		g_set_error(error, IMPORT_ERROR, 0, "%s: %s", name, what);
	return false;
}

/* Strips what mail readers put before a quoted line: "> ", ">> ", "> > ". */
static char *unquote(char *s)
{
	for (;;) {
		char *p = s + strspn(s, " \t");

		if (*p != '>')
			return s;
		s = p + 1;
		if (*s == ' ')
			s++;
	}
}

/*
 * Copies the line at *@from to @to without its end, moves *@from behind it.
 * In quoted-printable "=3D" is a "=", and a "=" at the end goes on in the next
 * line. Returns the end of the copy.
 */
static char *copy_line(const char **from, const char *end, bool printable,
		       char *to)
{
	const char *s = *from;

	while (s < end && *s != '\n') {
		int high = s + 2 < end ? g_ascii_xdigit_value(s[1]) : -1;
		int low = s + 2 < end ? g_ascii_xdigit_value(s[2]) : -1;

		if (printable && *s == '=' && high >= 0 && low >= 0) {
			*to++ = high << 4 | low ? high << 4 | low : '?';
			s += 3;
		} else if (printable && *s == '=' && s + 1 < end &&
			   (s[1] == '\n' ||
			    (s[1] == '\r' && s + 2 < end && s[2] == '\n'))) {
			s += s[1] == '\n' ? 2 : 3;
		} else {
			*to++ = *s ? *s : '?';
			s++;
		}
	}
	*from = s < end ? s + 1 : s;
	return to;
}

struct import_text *import_text_new(const char *name, const char *data,
				    size_t size)
{
	struct import_text *t = g_new0(struct import_text, 1);
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct import_line));
	const char *s, *end;
	bool printable;
	char *to;
	int number = 1;

	t->name = g_strdup(strcmp(name, "-") ? name : "stdin");
	t->size = MIN(size, IMPORT_MAX_BYTES);
	t->raw = g_malloc(t->size + 1);
	memcpy(t->raw, data, t->size);
	t->raw[t->size] = '\0';
	/* each line ends with a NUL instead of its newline, the last one too */
	t->clean = to = g_malloc(t->size + 2);
	printable = strstr(t->raw, "=3D") != NULL;
	s = t->raw;
	end = s + t->size;
	while (s < end && lines->len < IMPORT_MAX_LINES) {
		struct import_line line = {.number = number};
		const char *start = s;
		char *text = to;

		to = copy_line(&s, end, printable, to);
		if (to > text && to[-1] == '\r')
			to--;
		*to++ = '\0';
		for (; start < s; start++)
			number += *start == '\n';
		line.text = unquote(text);
		g_array_append_val(lines, line);
	}
	t->nr_lines = lines->len;
	t->lines = (struct import_line *)g_array_free(lines, FALSE);
	return t;
}

static int count_lines(const char *data, size_t size)
{
	int n = 0;

	/* a tar has newlines, but no lines are made of it */
	if (memchr(data, 0, MIN(size, 4096)))
		return 0;
	for (size_t i = 0; i < size; i++)
		n += data[i] == '\n';
	return n;
}

struct import_text *import_text_read(const char *path, GError **error)
{
	bool is_stdin = !strcmp(path, "-");
	const char *name = is_stdin ? "stdin" : path;
	struct import_text *t = NULL;
	GByteArray *bytes;
	FILE *f = is_stdin ? stdin : fopen(path, "re");
	char buffer[65536];
	size_t n;

	if (!f) {
		import_fail(error, name, 0, "%s, expected a readable file",
			    g_strerror(errno));
		return NULL;
	}
	bytes = g_byte_array_new();
	while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0 &&
	       bytes->len <= IMPORT_MAX_BYTES)
		g_byte_array_append(bytes, (guint8 *)buffer, n);
	if (ferror(f))
		import_fail(error, name, 0, "%s, expected a readable file",
			    g_strerror(errno));
	else if (bytes->len > IMPORT_MAX_BYTES)
		import_fail(error, name, 0,
			    "more than %u MiB, expected what "
			    "a person posts",
			    IMPORT_MAX_BYTES >> 20);
	else if (count_lines((char *)bytes->data, bytes->len) >
		 IMPORT_MAX_LINES)
		import_fail(error, name, 0,
			    "more than %d lines, expected what a person posts",
			    IMPORT_MAX_LINES);
	else if (!bytes->len)
		import_fail(error, name, 0, "is empty, expected text");
	else
		t = import_text_new(path, (char *)bytes->data, bytes->len);
	g_byte_array_unref(bytes);
	if (!is_stdin)
		fclose(f);
	return t;
}

char *import_read_small(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char *buffer;
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return NULL;
	}
	buffer = g_malloc(IMPORT_SMALL_FILE + 1);
	while (len < IMPORT_SMALL_FILE &&
	       (n = read(fd, buffer + len, IMPORT_SMALL_FILE - len)) > 0)
		len += n;
	close(fd);
	buffer[len] = '\0';
	return buffer;
}

void import_text_free(struct import_text *t)
{
	if (!t)
		return;
	g_free(t->name);
	g_free(t->raw);
	g_free(t->clean);
	g_free(t->lines);
	g_free(t);
}

const char *import_skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

bool import_uint(const char **s, uint64_t max, uint64_t *value)
{
	const char *p = *s;
	uint64_t v = 0;

	if (!g_ascii_isdigit(*p))
		return false;
	for (; g_ascii_isdigit(*p); p++) {
		unsigned digit = *p - '0';

		if (v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	if (v > max)
		return false;
	*s = p;
	*value = v;
	return true;
}

int id_set_count(const struct id_set *set)
{
	int n = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(set->bits); i++)
		n += __builtin_popcountll(set->bits[i]);
	return n;
}

int id_set_next(const struct id_set *set, int after)
{
	for (int id = after + 1; id < TOPOLOGY_MAX_CPUS; id++) {
		if (!set->bits[id / 64])
			id |= 63;
		else if (id_set_has(set, id))
			return id;
	}
	return -1;
}

const char *id_set_parse_list(struct id_set *set, const char *s, int limit,
			      const char **what)
{
	for (;;) {
		const char *p = s + strspn(s, " \t,");
		uint64_t first, last, step = 1;

		if (!g_ascii_isdigit(*p))
			return s;
		*what = "ids within what can be simulated";
		if (!import_uint(&p, limit - 1, &first))
			return NULL;
		last = first;
		if (*p == '-') {
			p++;
			*what = "a range as FIRST-LAST";
			if (!import_uint(&p, limit - 1, &last) || last < first)
				return NULL;
			if (*p == ':') {
				p++;
				*what = "a stride of at least 1";
				if (!import_uint(&p, limit, &step) || !step)
					return NULL;
			}
		}
		/* "3x" is no list but a word: leave it to the caller */
		if (g_ascii_isalpha(*p))
			return s;
		for (uint64_t id = first; id <= last; id += step)
			id_set_add(set, id);
		s = p;
	}
}

bool id_set_parse_mask(struct id_set *set, const char *s, int limit)
{
	size_t len;
	int bit = 0;

	s = import_skip_blanks(s);
	len = strspn(s, "0123456789abcdefABCDEF,x");
	if (!len || s[len + strspn(s + len, " \t\n")])
		return false;
	while (len--) {
		int digit = g_ascii_xdigit_value(s[len]);

		if (s[len] == ',') {
			bit = (bit + 31) / 32 * 32;
			continue;
		}
		if (s[len] == 'x') /* 0x before the groups of other tools */
			continue;
		for (int i = 0; i < 4; i++) {
			if (!(digit >> i & 1))
				continue;
			if (bit + i >= limit)
				return false;
			id_set_add(set, bit + i);
		}
		bit += 4;
		if (bit > 1 << 20)
			return false;
	}
	return true;
}

char *id_set_to_list(const struct id_set *set)
{
	GString *s = g_string_new(NULL);

	for (int id = id_set_next(set, -1); id >= 0;) {
		int last = id;

		while (last + 1 < TOPOLOGY_MAX_CPUS &&
		       id_set_has(set, last + 1))
			last++;
		if (s->len)
			g_string_append_c(s, ',');
		if (last > id)
			g_string_append_printf(s, "%d-%d", id, last);
		else
			g_string_append_printf(s, "%d", id);
		id = id_set_next(set, last);
	}
	return g_string_free(s, FALSE);
}

char *import_config_name(const char *name)
{
	if (!name || (!strchr(name, '/') && !g_str_has_suffix(name, ".conf")))
		return g_strdup(name);
	return g_canonicalize_filename(name, NULL);
}

bool import_write(const char *path, const char *text, GError **error)
{
	int err;

	if (!path || !strcmp(path, "-")) {
		/* sim/main.c tells, for all commands, if that fails */
		fputs(text, stdout);
		return true;
	}
	err = file_write_to(path, text, strlen(text));
	return !err || import_fail(error, path, 0, "%s", g_strerror(err));
}
