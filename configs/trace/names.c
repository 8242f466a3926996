/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/trace/names.h"

#include <glib.h>
#include <string.h>

#include "configs/trace/trace.h"

#define TABLE (TRACE_MAX_NAMES * 2) /* open addressing, at most half full */

struct trace_names {
	GPtrArray *text;     /* [number - 1] */
	uint32_t *table;     /* numbers; 0 = empty */
	uint32_t last;	     /* the last one found: names come in runs */
};

struct trace_names *trace_names_new(void)
{
	struct trace_names *n = g_new0(struct trace_names, 1);

	n->text = g_ptr_array_new_with_free_func(g_free);
	n->table = g_new0(uint32_t, TABLE);
	return n;
}

void trace_names_free(struct trace_names *n)
{
	if (!n)
		return;
	g_ptr_array_free(n->text, TRUE);
	g_free(n->table);
	g_free(n);
}

const char *trace_names_get(const struct trace_names *n, uint32_t name)
{
	return name ? g_ptr_array_index(n->text, name - 1) : "";
}

static bool fits(const char *s, size_t len)
{
	if (len > TRACE_MAX_NAME || s[0] == '.')
		return false;
	for (size_t i = 0; i < len; i++)
		if (s[i] == '/' || !g_ascii_isgraph(s[i]))
			return false;
	return true;
}

/* Blanks inside are the kernel's own doing and stay. */
static size_t make_fit(char *out, const char *s, size_t len)
{
	len = MIN(len, TRACE_MAX_NAME);
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '/')
			out[i] = '!';
		else if (!g_ascii_isprint(s[i]) || (!i && s[i] == '.'))
			out[i] = '?';
		else
			out[i] = s[i];
	}
	return len;
}

static bool is_text(const struct trace_names *n, uint32_t name, const char *s,
		    size_t len)
{
	const char *t = g_ptr_array_index(n->text, name - 1);

	return !strncmp(t, s, len) && !t[len];
}

uint32_t trace_names_add(struct trace_names *n, const char *s, size_t len,
			 bool *altered)
{
	char fit[TRACE_MAX_NAME];
	uint32_t hash = 2166136261u; /* FNV-1a */

	if (!len)
		return 0;
	if (G_UNLIKELY(!fits(s, len))) {
		size_t l = make_fit(fit, s, len);

		*altered |= l != len || memcmp(fit, s, l);
		s = fit;
		len = l;
	}
	if (n->last && is_text(n, n->last, s, len))
		return n->last;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)s[i]) * 16777619u;
	for (hash %= TABLE; n->table[hash]; hash = (hash + 1) % TABLE) {
		if (is_text(n, n->table[hash], s, len)) {
			n->last = n->table[hash];
			return n->last;
		}
	}
	if (n->text->len == TRACE_MAX_NAMES) {
		*altered = true;
		return 0;
	}
	g_ptr_array_add(n->text, g_strndup(s, len));
	n->table[hash] = n->text->len;
	n->last = n->text->len;
	return n->last;
}
