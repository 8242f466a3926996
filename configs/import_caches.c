/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/import_caches.h"

#include <string.h>

/* The value of an input for machine parameter @p; NULL if it has none. */
static const struct cache_facts *cache_of(const struct machine_facts *f,
					  const struct param_desc *p,
					  int64_t *value)
{
	static const struct {
		const char *kib, *ways;
	} keys[] = {{"l1_kib", "l1_ways"},
		    {"l2_kib", "l2_ways"},
		    {"l3_kib", "l3_ways"}};

	for (int i = 0; i < 3; i++) {
		const struct cache_facts *c = &f->caches[i];

		*value = 0;
		if (!strcmp(p->key, keys[i].kib))
			*value = MAX(c->kib, 0);
		else if (!strcmp(p->key, keys[i].ways))
			*value = c->ways;
		if (*value > 0)
			return c;
	}
	return NULL;
}

static void append_value(GString *s, const struct param_desc *p,
			 const struct machine_params *params)
{
	const void *member = (const char *)params + p->offset;
	char number[G_ASCII_DTOSTR_BUF_SIZE];

	if (p->type == PARAM_BOOL)
		g_string_append(s, *(const bool *)member ? "true" : "false");
	else if (p->type == PARAM_INT)
		g_string_append_printf(s, "%" G_GINT64_FORMAT,
				       *(const int64_t *)member);
	else if (p->type == PARAM_DOUBLE)
		g_string_append(s,
				g_ascii_formatd(number, sizeof(number), "%.10g",
						*(const double *)member));
}

char *import_caches_to_conf(const struct machine_facts *f, const char *name,
			    const struct machine_params *params,
			    GPtrArray *notes)
{
	GString *s = g_string_new("\n[machine]\n");

	for (const struct param_desc *p = machine_param_table; p->key; p++) {
		int64_t value;
		const struct cache_facts *c = cache_of(f, p, &value);

		if (c && value >= p->min && value <= p->max) {
			g_autofree char *from = origin_to_string(&c->from);

			g_string_append_printf(
				s, "# %s: %s\n%s=%" G_GINT64_FORMAT "\n",
				p->key, from, p->key, value);
			continue;
		}
		if (c)
			g_ptr_array_add(
				notes,
				g_strdup_printf("%s: %" G_GINT64_FORMAT
						" %s in the input is "
						"outside of %g to %g, not used",
						p->key, value, p->unit, p->min,
						p->max));
		if (!params)
			continue;
		g_string_append_printf(s, "# %s: machine file %s, ", p->key,
				       name);
		append_value(s, p, params);
		g_string_append_printf(s, "%s%s\n", *p->unit ? " " : "",
				       p->unit);
	}
	if (!params)
		g_string_append(s, "# all else: the machine file that a run "
				   "names\n");
	return g_string_free(s, FALSE);
}
