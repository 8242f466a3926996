/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values: text to a struct's member and back, by the struct's param table.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "configs/conf.h"
#include "configs/config.h"

#define MEMBER(base, p, type) ((type *)((char *)(base) + (p)->offset))
#define CONST_MEMBER(base, p, type)                                            \
	((const type *)((const char *)(base) + (p)->offset))

bool parse_int(const char *text, int64_t *value)
{
	char *end;

	/* no blanks, no sign but '-': what strtoll would let pass */
	if (!g_ascii_isdigit(text[0]) &&
	    !(text[0] == '-' && g_ascii_isdigit(text[1])))
		return false;
	errno = 0;
	*value = g_ascii_strtoll(text, &end, 10);
	return !errno && !*end;
}

bool parse_double(const char *text, double *value)
{
	char *end;

	/* no hexadecimal, no "inf", no "nan" */
	if (!*text || strspn(text, "0123456789+-.eE") != strlen(text))
		return false;
	errno = 0;
	*value = g_ascii_strtod(text, &end);
	return end != text && !*end && isfinite(*value);
}

char *param_number(double d)
{
	char buf[G_ASCII_DTOSTR_BUF_SIZE];

	for (int digits = 15; digits <= 17; digits++) {
		char format[8];

		g_snprintf(format, sizeof(format), "%%.%dg", digits);
		g_ascii_formatd(buf, sizeof(buf), format, d);
		if (g_ascii_strtod(buf, NULL) == d)
			break;
	}
	return g_strdup(buf);
}

static bool in_range(const struct param_desc *p, double v)
{
	return (!p->min && !p->max) || (v >= p->min && v <= p->max);
}

char *param_expected(const struct param_desc *p)
{
	const char *unit = p->unit ? p->unit : "";
	const char *blank = *unit ? " " : "";

	switch (p->type) {
	case PARAM_BOOL:
		return g_strdup("true or false");
	case PARAM_ENUM: {
		g_autofree char *all = g_strjoinv(", ", (char **)p->choices);

		return g_strdup_printf("one of %s", all);
	}
	case PARAM_STRING:
		return g_strdup("text");
	case PARAM_INT:
	case PARAM_DOUBLE: {
		const char *kind = p->type == PARAM_INT ? "an integer" :
							  "a number";
		g_autofree char *min = param_number(p->min);
		g_autofree char *max = param_number(p->max);

		if (!p->min && !p->max)
			return g_strdup_printf("%s%s%s", kind,
					       *unit ? " of " : "", unit);
		return g_strdup_printf("%s from %s to %s%s%s", kind, min, max,
				       blank, unit);
	}
	}
	g_assert_not_reached();
}

/* False if @value is not what @p expects; then nothing is changed. */
static bool set_member(const struct param_desc *p, void *base,
		       const char *value)
{
	double d;
	int64_t i;

	switch (p->type) {
	case PARAM_BOOL:
		if (strcmp(value, "true") && strcmp(value, "false"))
			return false;
		*MEMBER(base, p, bool) = value[0] == 't';
		return true;
	case PARAM_INT:
		if (!parse_int(value, &i) || !in_range(p, i))
			return false;
		*MEMBER(base, p, int64_t) = i;
		return true;
	case PARAM_DOUBLE:
		if (!parse_double(value, &d) || !in_range(p, d))
			return false;
		*MEMBER(base, p, double) = d;
		return true;
	case PARAM_ENUM:
		for (int n = 0; p->choices[n]; n++)
			if (!strcmp(value, p->choices[n])) {
				*MEMBER(base, p, int) = n;
				return true;
			}
		return false;
	case PARAM_STRING:
		g_free(*MEMBER(base, p, char *));
		*MEMBER(base, p, char *) = *value ? g_strdup(value) : NULL;
		return true;
	}
	g_assert_not_reached();
}

bool param_set(const struct param_desc *table, void *base, const char *key,
	       const char *value, char **expected)
{
	for (; table->key; table++) {
		if (strcmp(table->key, key))
			continue;
		if (set_member(table, base, value))
			return true;
		if (expected)
			*expected = param_expected(table);
		return false;
	}
	if (expected)
		*expected = g_strdup("a known key");
	return false;
}

char *param_get(const struct param_desc *p, const void *base)
{
	switch (p->type) {
	case PARAM_BOOL:
		return g_strdup(*CONST_MEMBER(base, p, bool) ? "true" :
							       "false");
	case PARAM_INT:
		return g_strdup_printf("%" G_GINT64_FORMAT,
				       *CONST_MEMBER(base, p, int64_t));
	case PARAM_DOUBLE:
		return param_number(*CONST_MEMBER(base, p, double));
	case PARAM_ENUM:
		return g_strdup(p->choices[*CONST_MEMBER(base, p, int)]);
	case PARAM_STRING:
		return g_strdup(*CONST_MEMBER(base, p, char *));
	}
	g_assert_not_reached();
}

void params_clear(const struct param_desc *table, void *base)
{
	for (; table && table->key; table++)
		if (table->type == PARAM_STRING)
			g_clear_pointer(MEMBER(base, table, char *), g_free);
}

bool conf_read_table(const struct conf *c, const char *group,
		     const struct param_desc *table, void *base, bool all,
		     GError **error)
{
	for (; table->key; table++) {
		const struct conf_entry *e = conf_find(c, group, table->key);
		g_autofree char *expected = param_expected(table);

		if (!e && all)
			return conf_fail_missing(error, c, group, table->key,
						 "missing, expected %s",
						 expected);
		if (e && !set_member(table, base, e->value))
			return conf_fail(error, e, "'%.60s', expected %s",
					 e->value, expected);
	}
	return true;
}

bool conf_read_int(const struct conf *c, const char *group, const char *key,
		   int64_t min, int64_t max, int64_t missing, int64_t *value,
		   GError **error)
{
	const struct conf_entry *e = conf_find(c, group, key);

	*value = missing;
	if (!e)
		return true;
	if (!parse_int(e->value, value) || *value < min || *value > max)
		return conf_fail(error, e, "'%.60s', expected an integer from "
				 "%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
				 e->value, min, max);
	return true;
}
