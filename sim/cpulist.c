/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/cpulist.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* Reads digits at *s; -1 if there are none. Large numbers saturate. */
static int64_t number(const char **s)
{
	int64_t v = 0;

	if (!g_ascii_isdigit(**s))
		return -1;
	for (; g_ascii_isdigit(**s); (*s)++)
		if (v < INT32_MAX)
			v = v * 10 + (**s - '0');
	return v;
}

/* One element: N, N-M, N-M:STEP or N-M:USED/GROUP */
static bool element(const char **s, int64_t *from, int64_t *to, int64_t *used,
		    int64_t *group)
{
	*used = *group = 1;
	*from = *to = number(s);
	if (*from < 0)
		return false;
	if (**s != '-')
		return true;
	(*s)++;
	*to = number(s);
	if (*to < *from)
		return false;
	if (**s != ':')
		return true;
	(*s)++;
	*group = number(s);
	if (**s == '/') {
		(*s)++;
		*used = *group;
		*group = number(s);
	}
	return *used >= 1 && *group >= *used;
}

char *cpulist_parse(const char *text, int limit, bool *set, int *count)
{
	const char *s = text;

	memset(set, 0, limit * sizeof(*set));
	while (*s) {
		int64_t from, to, used, group;

		if (!element(&s, &from, &to, &used, &group) ||
		    (*s && *s != ',') || (*s == ',' && !s[1]))
			return g_strdup_printf("'%.60s', expected a list such "
					       "as 0-3,32-35 or 0-62:2", text);
		if (to >= limit)
			return g_strdup_printf("'%.60s' has %s%" G_GINT64_FORMAT
					       ", expected at most %d", text,
					       to > INT32_MAX ? "more than " :
								"",
					       MIN(to, INT32_MAX), limit - 1);
		for (int64_t i = from; i <= to; i++) {
			if ((i - from) % group >= used)
				continue;
			if (set[i])
				return g_strdup_printf(
					"'%.60s' has %d twice, expected once",
					text, (int)i);
			set[i] = true;
			if (count)
				(*count)++;
		}
		if (*s == ',')
			s++;
	}
	return NULL;
}

char *cpulist_format(const bool *set, int limit)
{
	GString *s = g_string_new(NULL);

	for (int i = 0; i < limit; i++) {
		int last = i;

		if (!set[i])
			continue;
		while (last + 1 < limit && set[last + 1])
			last++;
		g_string_append_printf(s, "%s%d", s->len ? "," : "", i);
		if (last > i)
			g_string_append_printf(s, "-%d", last);
		i = last;
	}
	return g_string_free(s, FALSE);
}
