/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/trace/record.h"

#include <string.h>

#define HEADER_TOKENS 8 /* looked at, from the event's name leftwards */

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The value of a hex digit, -1 if it is none: g_ascii_xdigit_value() is a call
 * for each of the 16 digits of each address. */
static inline int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static inline const char *skip_blanks(const char *p, const char *e)
{
	while (p < e && is_blank(*p))
		p++;
	return p;
}

static inline const char *skip_token(const char *p, const char *e)
{
	while (p < e && !is_blank(*p))
		p++;
	return p;
}

static inline bool starts(const char *p, const char *e, const char *what,
			  size_t n)
{
	return (size_t)(e - p) >= n && !memcmp(p, what, n);
}
#define STARTS(p, e, s) starts(p, e, s, sizeof(s) - 1)

/* "kmem:kmalloc" or "kmalloc_node" to a kind; -1 if it is none of ours. */
static int event_kind(const char *p, const char *e)
{
	if (STARTS(p, e, "kmem:"))
		p += 5;
	switch (e - p) {
	case 5:
		return memcmp(p, "kfree", 5) ? -1 : TRACE_KFREE;
	case 7:
		return memcmp(p, "kmalloc", 7) ? -1 : TRACE_KMALLOC;
	case 12:
		return memcmp(p, "kmalloc_node", 12) ? -1 : TRACE_KMALLOC;
	case 15:
		return memcmp(p, "kmem_cache_free", 15) ? -1 :
							  TRACE_CACHE_FREE;
	case 16:
		return memcmp(p, "kmem_cache_alloc", 16) ? -1 :
							   TRACE_CACHE_ALLOC;
	case 21:
		return memcmp(p, "kmem_cache_alloc_node", 21) ?
			       -1 :
			       TRACE_CACHE_ALLOC;
	}
	return -1;
}

/* ---- the header ---- */

/* Digits up to @max; the value saturates and @p moves behind them. */
static uint64_t read_digits(const char **p, const char *e, unsigned *n)
{
	uint64_t v = 0;

	*n = 0;
	while (*p < e && is_digit(**p)) {
		if (*n < 18)
			v = v * 10 + (**p - '0');
		(*n)++;
		(*p)++;
	}
	return v;
}

/*
 * A time stamp: "2162.946896:" in seconds, "9876543us" with the marks of the
 * latency format behind it, "[   12.345678]" without its brackets, or a plain
 * "123456:" of the counter clock, which is taken as nanoseconds. Needs its
 * colon (or "us") unless @bare.
 */
static bool read_time(const char *p, const char *e, bool bare, uint64_t *ns)
{
	unsigned whole, frac;
	uint64_t v = read_digits(&p, e, &whole), f;

	if (!whole || whole > 17)
		return false;
	if (p < e && *p == '.') {
		p++;
		f = read_digits(&p, e, &frac);
		if (!frac || frac > 9 || v > G_MAXINT64 / 1000000000)
			return false;
		while (frac++ < 9)
			f *= 10;
		*ns = v * 1000000000 + f;
		return bare ? p == e : p + 1 == e && *p == ':';
	}
	if (STARTS(p, e, "us")) {
		if (v > G_MAXINT64 / 1000)
			return false;
		*ns = v * 1000;
		p += 2;
		while (p < e && strchr("+!#*@$:", *p))
			p++;
		return p == e;
	}
	*ns = v;
	return !bare && whole >= 3 && p + 1 == e && *p == ':';
}

/* "1d..3": the latency format glues the CPU to the flags. */
static bool read_latency_cpu(const char *p, const char *e, uint64_t *cpu)
{
	unsigned n;
	int flags = 0;

	*cpu = read_digits(&p, e, &n);
	if (!n || n > 5 || e - p < 3 || e - p > 6)
		return false;
	for (; p < e; p++) {
		if (!strchr(".dDbBnNpPlLhHsSzZXK#", *p) &&
		    !g_ascii_isxdigit(*p))
			return false;
		flags += *p == '.' || g_ascii_isalpha(*p);
	}
	return flags > 0;
}

static void set_cpu(struct record *r, uint64_t cpu)
{
	r->has_cpu = true;
	if (cpu > TRACE_MAX_CPU)
		r->bad = true;
	else
		r->ev.cpu = cpu;
}

/* What is between the brackets of "[002]", "[   12.3456]", "[    C1]". */
static void read_bracket(const char *p, const char *e, struct record *r)
{
	unsigned n;
	uint64_t v, ns;

	while (p < e && is_blank(e[-1]))
		e--;
	p = skip_blanks(p, e);
	if (p < e && *p == 'C')
		p++;
	else if (!r->has_time && read_time(p, e, true, &ns)) {
		r->has_time = true;
		r->ev.time_ns = ns;
		return;
	}
	v = read_digits(&p, e, &n);
	if (n && n <= 9 && p == e && !r->has_cpu)
		set_cpu(r, v);
}

static void read_header(const char *b, const char *e, struct record *r)
{
	/* left of the CPU there may be a time only in dmesg's brackets */
	for (int i = 0; i < HEADER_TOKENS; i++) {
		const char *t;
		uint64_t v;

		if (r->has_cpu && r->has_time)
			return;

		while (e > b && is_blank(e[-1]))
			e--;
		if (e == b)
			return;
		if (e[-1] == ']') {
			t = memrchr(b, '[', e - b);
			if (t) {
				read_bracket(t + 1, e - 1, r);
				e = t;
				continue;
			}
		}
		t = e;
		while (t > b && !is_blank(t[-1]))
			t--;
		if (r->has_cpu) {
			e = t;
			continue;
		}
		if (!r->has_time && read_time(t, e, false, &v)) {
			r->has_time = true;
			r->ev.time_ns = v;
		} else if (read_latency_cpu(t, e, &v)) {
			set_cpu(r, v);
		}
		e = t;
	}
}

/* ---- the fields ---- */

/* A number in decimal or 0x hex with an optional sign; NULL if there is none
 * or it does not fit. */
static const char *read_number(const char *p, const char *e, int64_t *out)
{
	bool minus = p < e && *p == '-';
	uint64_t v = 0;
	const char *first;

	p += minus;
	if (STARTS(p, e, "0x")) {
		p += 2;
		first = p;
		for (; p < e && hex_digit(*p) >= 0; p++) {
			if (v >> 59)
				return NULL;
			v = v << 4 | hex_digit(*p);
		}
	} else {
		first = p;
		for (; p < e && is_digit(*p); p++) {
			if (v > G_MAXINT64 / 10 - 1)
				return NULL;
			v = v * 10 + (*p - '0');
		}
	}
	*out = minus ? -(int64_t)v : (int64_t)v;
	return p == first ? NULL : p;
}

static const char *read_size(const char *p, const char *e, struct record *r,
			     uint32_t *out)
{
	int64_t v;
	const char *q = read_number(p, e, &v);

	if (!q || v <= 0 || v > G_MAXINT32) {
		/* at the end of the line it may go on in the next */
		r->bad |= p < e;
		return skip_token(p, e);
	}
	*out = v;
	return q;
}

/*
 * %p, 0x%lx, %lx or, from kmemtrace, decimal. Without 0x, 8 or 16 digits are
 * hex as %p and %lx print them, other lengths of only decimal digits decimal.
 */
static const char *read_pointer(const char *p, const char *e, struct record *r)
{
	const char *first;
	bool hex = false, decimal = true;
	uint64_t v = 0;
	unsigned n;

	p = skip_blanks(p, e); /* "%20p" of (null) */
	r->has_ptr = true;
	if (p < e && *p == '(') {
		const char *q = skip_token(p, e);

		if (STARTS(p, e, "(null)") || STARTS(p, e, "(nil)"))
			return q;
		if (memmem(p, q - p, "ptrval", 6))
			r->hidden_ptr = true;
		else
			r->bad = true;
		return q;
	}
	if (STARTS(p, e, "0x") || STARTS(p, e, "0X")) {
		hex = true;
		p += 2;
	}
	first = p;
	for (; p < e; p++) {
		int d = hex_digit(*p);

		if (d < 0)
			break;
		decimal &= d < 10;
		v = v << 4 | d;
	}
	n = p - first;
	if (!n) {
		r->has_ptr = false;
		r->bad |= p < e;
		return skip_token(p, e);
	}
	if (p < e && !is_blank(*p) && !record_is_key(p, e)) {
		r->bad = true;
		return skip_token(p, e);
	}
	r->ptr_prefixed = hex;
	if (!hex && decimal && n != 16 && n != 8 && (*first != '0' || n == 1)) {
		char *stop;
		char copy[24];

		if (n >= sizeof(copy)) {
			r->bad = true;
			return p;
		}
		memcpy(copy, first, n);
		copy[n] = 0;
		v = g_ascii_strtoull(copy, &stop, 10);
		r->ptr_digits = 0;
	} else {
		r->bad |= n > 16;
		r->ptr_digits = n;
		r->hashed_ptr = !hex && n == 16 && v && !(v >> 32);
	}
	r->ev.ptr = v;
	return p;
}

static const char *read_node(const char *p, const char *e, struct record *r)
{
	int64_t v;
	const char *q = read_number(p, e, &v);

	if (!q) {
		r->bad |= p < e;
		return skip_token(p, e);
	}
	r->has_node = true;
	if (v == -1 || v == 0xffffffff)
		r->ev.node = -1;
	else if (v < 0 || v > TRACE_MAX_NODE)
		r->bad = true;
	else
		r->ev.node = v;
	return q;
}

/*
 * A cache's name ends at a blank, unless the name itself holds one: then it
 * goes on to the next key or to the end of the line (if no record follows).
 */
static const char *read_name(const char *p, const char *e, struct record *r)
{
	const char *q = skip_token(p, e), *next = skip_blanks(q, e);

	r->name = p;
	if (next < e && !record_is_key(next, e) && *next != '(' &&
	    !memmem(next, e - next, "call_site=", 10)) {
		while (next < e && !record_is_key(next, e)) {
			q = skip_token(next, e);
			next = skip_blanks(q, e);
		}
	}
	r->name_len = q - p;
	return q;
}

bool record_is_key(const char *p, const char *e)
{
	if (p == e)
		return false;
	switch (*p) {
	case 'a':
		return STARTS(p, e, "accounted=");
	case 'b':
		return STARTS(p, e, "bytes_req=") ||
		       STARTS(p, e, "bytes_alloc=");
	case 'c':
		return STARTS(p, e, "call_site=");
	case 'g':
		return STARTS(p, e, "gfp_flags=");
	case 'n':
		return STARTS(p, e, "name=") || STARTS(p, e, "node=");
	case 'p':
		return STARTS(p, e, "ptr=");
	}
	return false;
}

/* Behind a key's '=': steps over the "3D" that a mail made of it. */
static inline const char *value(const char *p, const char *e, struct record *r)
{
	if (G_UNLIKELY(STARTS(p, e, "3D"))) {
		r->mail = true;
		return p + 2;
	}
	return p;
}

static void read_fields(const char *p, const char *e, struct record *r)
{
	bool sites = false; /* a call_site was there: another begins anew */

	while (true) {
		const char *q;

		p = skip_blanks(p, e);
		if (p == e)
			break;
		if (STARTS(p, e, "ptr=")) {
			p = read_pointer(value(p + 4, e, r), e, r);
		} else if (STARTS(p, e, "call_site=")) {
			if (sites)
				break;
			sites = true;
			p = skip_token(p, e);
		} else if (STARTS(p, e, "name=")) {
			p = read_name(value(p + 5, e, r), e, r);
		} else if (STARTS(p, e, "bytes_req=")) {
			p = read_size(value(p + 10, e, r), e, r,
				      &r->ev.bytes_req);
		} else if (STARTS(p, e, "bytes_alloc=")) {
			p = read_size(value(p + 12, e, r), e, r,
				      &r->ev.bytes_alloc);
		} else if (STARTS(p, e, "gfp_flags=")) {
			r->gfp = value(p + 10, e, r);
			p = skip_token(r->gfp, e);
			r->gfp_len = p - r->gfp;
		} else if (STARTS(p, e, "node=")) {
			p = read_node(value(p + 5, e, r), e, r);
		} else if (STARTS(p, e, "accounted=")) {
			q = value(p + 10, e, r);
			p = skip_token(q, e);
			if (p > q && (*q == 't' || *q == 'Y' || *q == '1' ||
				      STARTS(q, p, "(1)")))
				r->ev.gfp |= TRACE_GFP_ACCOUNT;
		} else if (*p == '(' || *p == '[' || !r->has_ptr) {
			/* "(-1831793257)", "[module]" */
			p = skip_token(p, e);
		} else {
			/* Text that does not belong here: the next record, or
			 * something that we can do without. */
			if (memmem(p, e - p, "call_site=", 10))
				break;
			p = skip_token(p, e);
		}
	}
	r->end = p;
}

/* ---- finding it ---- */

/* The event's name that ends before "call_site=" at @cs; -1 if it is not one
 * of ours, with @name at what stands there. */
static int name_before(const char *b, const char *cs, const char **name)
{
	const char *e = cs, *t;

	while (true) {
		while (e > b && is_blank(e[-1]))
			e--;
		if (e > b && e[-1] == ')') { /* perf's "(sym+off)" */
			t = memrchr(b, '(', e - b);
			if (!t)
				return -1;
			e = t;
			continue;
		}
		break;
	}
	if (e == b || e[-1] != ':')
		return -1;
	e--;
	t = e;
	while (t > b && !is_blank(t[-1]))
		t--;
	*name = t;
	return event_kind(t, e);
}

/* "kmalloc:" and the like where no call_site= shows the way. */
static int name_without_site(const char *b, const char *e, const char **name,
			     const char **behind)
{
	for (const char *p = b; p < e;) {
		const char *colon = memchr(p, ':', e - p), *t;
		int kind;

		if (!colon)
			return -1;
		t = colon;
		while (t > b && (g_ascii_isalpha(t[-1]) || t[-1] == '_'))
			t--;
		kind = event_kind(t, colon);
		if (kind >= 0 && (t == b || is_blank(t[-1]) || t[-1] == ':') &&
		    (colon + 1 == e || is_blank(colon[1]))) {
			if (t - b >= 5 && !memcmp(t - 5, "kmem:", 5))
				t -= 5;
			*name = t;
			*behind = colon + 1;
			return kind;
		}
		p = colon + 1;
	}
	return -1;
}

static const char *find_site(const char *p, const char *e)
{
	const char *from = p;

	while (p < e) {
		const char *eq = memchr(p, '=', e - p);

		if (!eq)
			return NULL;
		if (eq - from >= 9 && !memcmp(eq - 9, "call_site", 9))
			return eq - 9;
		p = eq + 1;
	}
	return NULL;
}

enum record_found record_find(const char *line, const char *end,
			      struct record *r)
{
	const char *from = line, *site, *name, *fields = NULL;
	int kind = -1;

	memset(r, 0, sizeof(*r));
	r->ev.node = -1;
	while ((site = find_site(from, end))) {
		kind = name_before(line, site, &name);
		fields = site;
		if (kind >= 0)
			break;
		from = site + 10;
	}
	if (kind >= 0)
		r->torn = name_without_site(line, name, &from, &from) >= 0;
	else
		kind = name_without_site(line, end, &name, &fields);
	if (kind < 0)
		return RECORD_NONE;
	r->ev.kind = kind;
	r->event = name;
	read_header(line, name, r);
	read_fields(fields, end, r);
	return r->has_ptr || r->hidden_ptr || r->bad ? RECORD_FOUND :
						       RECORD_NAMED;
}

bool record_complete(const struct record *r)
{
	if (!r->has_ptr)
		return false;
	if (!trace_is_alloc(r->ev.kind))
		return true;
	return r->ev.bytes_req && r->ev.bytes_alloc && r->gfp_len;
}

bool record_is_event(const char *p, const char *e)
{
	const char *colon;

	p = skip_blanks(p, e);
	colon = memchr(p, ':', MIN(e - p, 40));
	if (colon && colon - p == 4)
		colon = memchr(p + 5, ':', MIN(e - p - 5, 40));
	return colon && event_kind(p, colon) >= 0;
}

bool record_ends_in_time(const char *b, const char *e)
{
	const char *t;
	uint64_t ns;

	while (e > b && is_blank(e[-1]))
		e--;
	t = e;
	while (t > b && !is_blank(t[-1]))
		t--;
	return read_time(t, e, false, &ns);
}

bool record_has_time(const char *b, const char *e)
{
	uint64_t ns;

	for (const char *p = skip_blanks(b, e); p < e;) {
		const char *q = skip_token(p, e);

		if (memchr(p, '.', q - p) && read_time(p, q, false, &ns))
			return true;
		p = skip_blanks(q, e);
	}
	return false;
}
