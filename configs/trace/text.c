/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/trace/text.h"

#include <string.h>

#include "configs/trace/gfp.h"
#include "configs/trace/record.h"

#define MAX_CARRY 8192 /* bytes of a record over several lines */
#define MAX_JOINS 8    /* lines of it: 230 bytes in a mail of 76 a line */

/* Why the last line is kept until the next one is seen. */
enum carry {
	CARRY_NOTHING,
	CARRY_HEADER,	/* a header without its event */
	CARRY_RECORD,	/* a record that lacks what it needs */
	CARRY_OPTIONAL, /* a whole record that usually has one field more */
	CARRY_SOFT,	/* a quoted-printable soft line break */
};

struct trace_text {
	trace_read_fn read;
	void *arg;
	struct trace_names *names;
	struct trace_notes *notes;
	/* the stream */
	char *buf;
	size_t start, filled;
	bool eof, skipping; /* skipping: inside a line that is too long */
	/* what is left of the line being taken apart */
	const char *rest, *rest_end;
	bool fresh;	/* nothing of the line was used yet */
	bool last_try;	/* the line is a carry that did not go on */
	/* the line that comes after the carry now in .rest */
	const char *held, *held_end;
	/* a line that may go on in the next */
	enum carry carry;
	size_t carry_len;
	unsigned joins;
	char carry_buf[MAX_CARRY];
	/* what earlier records were like */
	uint64_t last_time;
	bool saw_node, saw_free_name, saw_colon_event, saw_padding;
	struct gfp_memo memo;
};

struct trace_text *trace_text_new(trace_read_fn read, void *arg,
				  struct trace_names *names,
				  struct trace_notes *notes)
{
	struct trace_text *t = g_new0(struct trace_text, 1);

	t->read = read;
	t->arg = arg;
	t->names = names;
	t->notes = notes;
	t->buf = g_malloc(TRACE_MAX_LINE);
	return t;
}

void trace_text_free(struct trace_text *t)
{
	if (!t)
		return;
	g_free(t->buf);
	g_free(t);
}

const char *trace_text_flavour(const struct trace_text *t)
{
	if (t->saw_colon_event)
		return "perf script text";
	if (t->saw_padding)
		return "trace-cmd report text";
	return "ftrace text";
}

static void note(struct trace_text *t, enum trace_note n)
{
	t->notes->count[n]++;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool has(const char *p, const char *e, const char *what)
{
	return memmem(p, e - p, what, strlen(what));
}

/* ---- lines ---- */

/* The next line, without its newline. False at the end or on an error. */
static bool read_line(struct trace_text *t, const char **line,
		      const char **end, GError **error)
{
	size_t scanned = 0;

	while (true) {
		char *from = t->buf + t->start;
		size_t have = t->filled - t->start;
		char *nl = memchr(from + scanned, '\n', have - scanned);
		ssize_t got;

		if (nl) {
			t->start = nl + 1 - t->buf;
			if (t->skipping) {
				t->skipping = false;
				scanned = 0;
				continue;
			}
			*line = from;
			*end = nl;
			break;
		}
		if (t->skipping)
			t->start = t->filled; /* drop it */
		if (t->eof) {
			t->start = t->filled;
			if (t->skipping || !have)
				return false;
			*line = from;
			*end = from + have;
			break;
		}
		if (!t->skipping && t->start == 0 &&
		    t->filled == TRACE_MAX_LINE) {
			note(t, NOTE_LONG_LINE);
			t->skipping = true;
			t->start = t->filled;
			*line = t->buf;
			*end = t->buf + t->filled;
			break;
		}
		have = t->filled - t->start;
		memmove(t->buf, t->buf + t->start, have);
		t->start = 0;
		t->filled = have;
		scanned = have;
		got = t->read(t->arg, t->buf + have, TRACE_MAX_LINE - have,
			      error);
		if (got < 0)
			return false;
		t->filled += got;
		t->eof = !got;
	}
	t->notes->lines++;
	return true;
}

/* Undoes what a mail does at the ends of a line. */
static void clean_line(struct trace_text *t, const char **line,
		       const char **end)
{
	const char *p = *line, *e = *end;
	bool mail = false;

	while (p < e && *p == '>') {
		p++;
		if (p < e && *p == ' ')
			p++;
		mail = true;
	}
	while (e > p && (is_blank(e[-1]) || e[-1] == '\r'))
		e--;
	while (e - p >= 3 && !memcmp(e - 3, "=20", 3)) {
		mail = true;
		for (e -= 3; e > p && is_blank(e[-1]); e--)
			;
	}
	if (mail)
		note(t, NOTE_MAIL);
	*line = p;
	*end = e;
}

/* "bytes_al=": an '=' at the end that no key ends in. */
static bool is_soft_break(const char *p, const char *e)
{
	const char *key = e - 1;

	if (e == p || e[-1] != '=')
		return false;
	while (key > p && (g_ascii_isalpha(key[-1]) || key[-1] == '_'))
		key--;
	return !record_is_key(key, e);
}

/* ---- what is no record ---- */

static bool is_stack(const char *p, const char *e)
{
	const char *q = p;
	unsigned digits = 0;

	while (q < e && is_blank(*q))
		q++;
	if (q < e && *p == '\t')
		return true;
	if (e - q >= 2 && q[0] == '=' && q[1] == '>')
		return true;
	if (has(q, e, "<stack trace") || has(q, e, "<user stack trace"))
		return true;
	/* perf's "ffffffff8782660d symbol+0xfd (dso)" after blanks */
	for (; q < e && g_ascii_isxdigit(*q); q++)
		digits++;
	return digits >= 8 && q > p && q + 1 < e && is_blank(*q) &&
	       is_blank(*p);
}

/* "CPU:7 [204600 EVENTS DROPPED]", "CPU:1 [LOST 29 EVENTS]", perf's
 * "PERF_RECORD_LOST ... lost 12": the number nearest to the word. */
static bool lost_mark(const char *p, const char *e, uint64_t *lost)
{
	const char *word = memmem(p, e - p, " EVENTS", 7), *q;
	uint64_t v = 0, unit = 1;

	if (word && !has(p, e, "LOST") && !has(p, e, "DROPPED"))
		return false;
	if (!word) {
		if (!has(p, e, "PERF_RECORD_LOST"))
			return false;
		word = e;
	}
	for (q = word; q > p && g_ascii_isdigit(q[-1]) && unit < 1e15; q--) {
		v += unit * (q[-1] - '0');
		unit *= 10;
	}
	*lost = v; /* 0: the recorder does not know how many */
	return true;
}

/* "# entries-in-buffer/entries-written: 55/200": the rest was overwritten. */
static uint64_t overwritten(const char *p, const char *e)
{
	static const char key[] = "entries-written: ";
	const char *q = memmem(p, e - p, key, sizeof(key) - 1);
	uint64_t v[2] = { 0, 0 };

	if (!q)
		return 0;
	q += sizeof(key) - 1;
	for (int i = 0; i < 2; i++, q++)
		for (; q < e && g_ascii_isdigit(*q) && v[i] < 1e17; q++)
			v[i] = v[i] * 10 + (*q - '0');
	return v[1] > v[0] ? v[1] - v[0] : 0;
}

static void classify(struct trace_text *t, const char *p, const char *e)
{
	const char *q = p;
	uint64_t lost;

	while (q < e && is_blank(*q))
		q++;
	if (q == e) {
		note(t, NOTE_BLANK);
	} else if (*q == '#') {
		note(t, NOTE_COMMENT);
		t->notes->count[NOTE_LOST_EVENTS] += overwritten(q, e);
	} else if (is_stack(p, e)) {
		note(t, NOTE_STACK);
	} else if (lost_mark(q, e, &lost)) {
		note(t, NOTE_LOST_MARK);
		t->notes->count[NOTE_LOST_EVENTS] += lost;
	} else if ((e - q >= 5 && !memcmp(q, "cpus=", 5)) ||
		   (e - q >= 7 && !memcmp(q, "version", 7)) ||
		   (e - q >= 4 && !memcmp(q, "CPU ", 4) &&
		    has(q, e, "is empty"))) {
		note(t, NOTE_BANNER);
	} else if (has(q, e, " <-") || has(q, e, "() {") || has(q, e, "();") ||
		   has(q, e, " | ")) {
		note(t, NOTE_FUNCTION);
	} else if (record_has_time(q, e)) {
		note(t, NOTE_OTHER_EVENT);
	} else {
		note(t, NOTE_OTHER_TEXT);
	}
}

/* ---- records over several lines ---- */

static bool ends_in_cpu(const char *p, const char *e)
{
	const char *q = e - 1;

	if (e - p < 3 || *q != ']')
		return false;
	while (q > p && g_ascii_isdigit(q[-1]))
		q--;
	return q < e - 1 && q > p && q[-1] == '[';
}

static void carry_line(struct trace_text *t, enum carry why, const char *p,
		       const char *e)
{
	/* @p may lie in the carry itself */
	memmove(t->carry_buf, p, e - p);
	t->carry_len = e - p;
	t->carry = why;
}

static bool may_carry(const struct trace_text *t, const char *p, const char *e)
{
	return !t->last_try && t->joins < MAX_JOINS && e - p < MAX_CARRY / 2;
}

/* Does @line go on with what is carried, and is there a blank between? */
static bool goes_on(const struct trace_text *t, const char *line,
		    const char *e, bool *blank)
{
	const char *p = line, *carried_end = t->carry_buf + t->carry_len;
	struct record r;

	while (p < e && is_blank(*p))
		p++;
	*blank = true;
	if (p == e || *p == '#' || (size_t)(e - line) > MAX_CARRY / 2)
		return false;
	switch (t->carry) {
	case CARRY_NOTHING:
		return false;
	case CARRY_SOFT:
		*blank = false;
		return true;
	case CARRY_HEADER:
		return record_find(p, e, &r) != RECORD_NONE && !r.has_cpu &&
		       !(r.has_time &&
			 record_ends_in_time(t->carry_buf, carried_end));
	case CARRY_OPTIONAL:
		if (record_is_key(p, e))
			return !has(p, e, "call_site=");
		/* the rest of a flag's name, cut in the middle */
		*blank = false;
		if (p != line || memchr(p, '=', e - p))
			return false;
		for (; p < e && !is_blank(*p); p++)
			if (!g_ascii_isupper(*p) && *p != '_' && *p != '|')
				return false;
		return true;
	case CARRY_RECORD:
		if (is_stack(line, e) || record_has_time(p, e) ||
		    record_is_event(p, e))
			return false;
		*blank = record_is_key(p, e) || *p == '[' || *p == '(' ||
			 carried_end[-1] == ':';
		return !has(p, e, "call_site=") ||
		       (record_find(p, e, &r) == RECORD_NONE &&
			!has(t->carry_buf, carried_end, "call_site="));
	}
	return false;
}

static void join(struct trace_text *t, const char *line, const char *e,
		 bool blank)
{
	while (t->carry != CARRY_SOFT && line < e && is_blank(*line))
		line++;
	if (blank)
		t->carry_buf[t->carry_len++] = ' ';
	memcpy(t->carry_buf + t->carry_len, line, e - line);
	t->carry_len += e - line;
	t->joins++;
	t->rest = t->carry_buf;
	t->rest_end = t->carry_buf + t->carry_len;
	t->carry = CARRY_NOTHING;
	t->fresh = true;
}

/* ---- records ---- */

/* A kernel address of the upper half whose digits are not all there, or a %p
 * that is not as wide as %p is. */
static bool pointer_is_cut(const struct record *r)
{
	if (!r->ptr_digits || r->ptr_digits == 16 || r->ptr_digits == 8)
		return false;
	if (!r->ptr_prefixed)
		return true;
	if (r->ev.ptr <= 16)
		return false;
	return r->ev.ptr >> (4 * r->ptr_digits - MIN(8, 4 * r->ptr_digits)) ==
	       0xff;
}

static void finish_name(struct trace_text *t, struct record *r)
{
	bool altered = false;

	if (!r->name)
		return;
	r->ev.name = trace_names_add(t->names, r->name, r->name_len, &altered);
	if (altered)
		note(t, NOTE_NAME_ALTERED);
	t->saw_free_name |= r->ev.kind == TRACE_CACHE_FREE;
}

static void finish_alloc(struct trace_text *t, struct record *r)
{
	bool known = true;

	if (!r->ev.bytes_req || !r->ev.bytes_alloc) {
		note(t, NOTE_SIZE_GUESSED);
		r->ev.bytes_req = MAX(r->ev.bytes_req, r->ev.bytes_alloc);
		r->ev.bytes_alloc = MAX(r->ev.bytes_req, r->ev.bytes_alloc);
	}
	if (r->gfp_len) {
		r->ev.gfp |= trace_gfp_memo(&t->memo, r->gfp, r->gfp_len,
					    &known);
	} else {
		note(t, NOTE_GFP_ABSENT);
		r->ev.gfp |= TRACE_GFP_BLOCK | TRACE_GFP_RECLAIM;
	}
	if (!known)
		note(t, NOTE_GFP_UNKNOWN);
	t->saw_node |= r->has_node;
}

/* A record at its end: an event, or one more count. */
static bool finish(struct trace_text *t, struct record *r,
		   struct trace_event *ev)
{
	bool alloc = trace_is_alloc(r->ev.kind);

	t->notes->records++;
	if (r->mail)
		note(t, NOTE_MAIL);
	if (r->torn) {
		t->notes->records++;
		note(t, NOTE_CUT);
	}
	if (r->bad) {
		note(t, NOTE_BAD_FIELD);
		return false;
	}
	if (r->hidden_ptr) {
		note(t, NOTE_HIDDEN_POINTER);
		return false;
	}
	if (!r->has_ptr || pointer_is_cut(r) ||
	    (alloc && !r->ev.bytes_alloc && !(r->ev.bytes_req && r->gfp_len))) {
		note(t, NOTE_CUT);
		return false;
	}
	finish_name(t, r);
	if (alloc)
		finish_alloc(t, r);
	if (t->joins)
		note(t, NOTE_JOINED);
	if (r->hashed_ptr)
		note(t, NOTE_HASHED);
	if (!r->has_time) {
		note(t, NOTE_NO_TIME);
		r->ev.time_ns = t->last_time;
	}
	t->last_time = r->ev.time_ns;
	if (!r->has_cpu)
		note(t, NOTE_NO_CPU);
	if (r->ev.ptr <= 16) /* ZERO_SIZE_PTR is 16 */
		r->ev.ptr = 0;
	t->saw_colon_event |= !memcmp(r->event, "kmem:", 5);
	*ev = r->ev;
	t->notes->events++;
	return true;
}

/* A whole record that may go on in the next line all the same. */
static bool usually_has_more(struct trace_text *t, const struct record *r)
{
	bool known = true;

	if (r->bad)
		return false;
	if (!trace_is_alloc(r->ev.kind))
		return r->ev.kind == TRACE_CACHE_FREE && t->saw_free_name &&
		       !r->name;
	trace_gfp_memo(&t->memo, r->gfp, r->gfp_len, &known);
	return !known || (t->saw_node && !r->has_node);
}

/* Takes the next record from .rest. */
static bool take_record(struct trace_text *t, struct trace_event *ev)
{
	const char *p = t->rest, *e = t->rest_end;
	struct record r;
	enum record_found found = record_find(p, e, &r);
	enum carry why = CARRY_NOTHING;

	if (found == RECORD_NONE) {
		t->rest = e;
		if (!t->fresh)
			return false; /* text behind a record */
		if (may_carry(t, p, e) &&
		    (record_ends_in_time(p, e) || ends_in_cpu(p, e)))
			carry_line(t, CARRY_HEADER, p, e);
		else
			classify(t, p, e);
		return false;
	}
	if (r.end == e && may_carry(t, p, e)) {
		if (!record_complete(&r) && !r.bad && !r.hidden_ptr)
			why = CARRY_RECORD;
		else if (record_complete(&r) && usually_has_more(t, &r))
			why = CARRY_OPTIONAL;
	}
	if (why) {
		carry_line(t, why, p, e);
		t->rest = e;
		return false;
	}
	if (!t->notes->events && e - r.event > 22)
		t->saw_padding = memmem(r.event, 22, ":   ", 4);
	t->rest = r.end;
	t->fresh = false;
	return finish(t, &r, ev);
}

/* Puts the next line, or a carry that is at its end, into .rest. */
static bool next_line(struct trace_text *t, GError **error)
{
	const char *line, *e;
	bool blank, soft;

	t->last_try = false;
	t->fresh = true;
	if (t->held) {
		t->rest = t->held;
		t->rest_end = t->held_end;
		t->held = NULL;
		t->joins = 0;
		return true;
	}
	if (!read_line(t, &line, &e, error)) {
		if (!t->carry || (error && *error))
			return false;
		line = e = NULL;
	} else {
		clean_line(t, &line, &e);
	}
	soft = line && is_soft_break(line, e) && e - line < MAX_CARRY / 2;
	if (soft)
		e--;
	if (line && goes_on(t, line, e, &blank)) {
		join(t, line, e, blank);
	} else if (t->carry) {
		t->rest = t->carry_buf;
		t->rest_end = t->carry_buf + t->carry_len;
		t->carry = CARRY_NOTHING;
		t->last_try = true;
		t->held = line;
		t->held_end = soft ? e + 1 : e;
		return true;
	} else {
		t->rest = line;
		t->rest_end = e;
		t->joins = 0;
	}
	if (soft && t->joins < MAX_JOINS &&
	    t->rest_end - t->rest < MAX_CARRY / 2) {
		note(t, NOTE_MAIL);
		carry_line(t, CARRY_SOFT, t->rest, t->rest_end);
		t->rest = t->rest_end = NULL;
	}
	return true;
}

bool trace_text_next(struct trace_text *t, struct trace_event *ev,
		     GError **error)
{
	while (true) {
		if (t->rest == t->rest_end) {
			if (!next_line(t, error))
				return false;
			if (t->rest == t->rest_end) {
				if (t->rest)
					note(t, NOTE_BLANK);
				continue;
			}
		}
		if (take_record(t, ev))
			return true;
	}
}
