/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/figures.h"

#include <math.h>
#include <string.h>

void figure_free(struct figure *f)
{
	g_free(f->variant);
	g_free(f->name);
	g_free(f->unit);
	g_free(f->where);
	g_ptr_array_unref(f->coords);
	g_array_unref(f->values);
	g_array_unref(f->seeds);
	g_free(f);
}

static GPtrArray *coords_copy(const GPtrArray *from, const char *axis, double x)
{
	GPtrArray *to = g_ptr_array_new_with_free_func(
		(GDestroyNotify)coord_free);

	for (guint i = 0; i < from->len; i++) {
		const struct coord *c = from->pdata[i];

		g_ptr_array_add(to, coord_new(c->name, c->value));
	}
	if (axis) {
		g_autofree char *value = value_text(x);

		g_ptr_array_add(to, coord_new(axis, value));
	}
	return to;
}

/* Figures of one name in the making. */
struct gather {
	GPtrArray *figures;
	GHashTable *seen; /* "variant\1name\1where" -> struct figure */
};

static void gather(struct gather *g, const struct point *p, const char *name,
		   const char *unit, bool higher, const char *axis, double x,
		   double value)
{
	GPtrArray *coords = coords_copy(p->coords, axis, x);
	g_autofree char *where = coords_text(coords);
	char *key = g_strdup_printf("%s\1%s\1%s", p->variant, name, where);
	struct figure *f = g_hash_table_lookup(g->seen, key);

	if (!f) {
		f = g_new0(struct figure, 1);
		f->variant = g_strdup(p->variant);
		f->name = g_strdup(name);
		f->unit = g_strdup(unit);
		f->higher_is_better = higher;
		f->is_series = axis != NULL;
		f->coords = coords;
		f->where = g_steal_pointer(&where);
		f->values = g_array_new(FALSE, FALSE, sizeof(double));
		f->seeds = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		g_ptr_array_add(g->figures, f);
		g_hash_table_insert(g->seen, key, f);
	} else {
		g_ptr_array_unref(coords);
		g_free(key);
	}
	g_array_append_val(f->values, value);
	g_array_append_val(f->seeds, p->seed);
}

struct order {
	char **names, **variants, **places;
};

static int rank(char **list, const char *s)
{
	int i = 0;

	while (list && list[i] && strcmp(list[i], s))
		i++;
	return i;
}

static int figure_compare(const void *a, const void *b, void *data)
{
	const struct figure *x = *(const struct figure *const *)a;
	const struct figure *y = *(const struct figure *const *)b;
	const struct order *o = data;

	if (x->is_series != y->is_series)
		return x->is_series - y->is_series;
	if (strcmp(x->name, y->name))
		return rank(o->names, x->name) - rank(o->names, y->name);
	if (strcmp(x->variant, y->variant))
		return rank(o->variants, x->variant) -
		       rank(o->variants, y->variant);
	return rank(o->places, x->where) - rank(o->places, y->where);
}

static char **distinct(const GPtrArray *figures, const char *name, bool places)
{
	GPtrArray *v = g_ptr_array_new();
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];
		char *s = places ? f->where : f->name;

		if (name && strcmp(f->name, name))
			continue;
		if (g_hash_table_add(seen, s))
			g_ptr_array_add(v, g_strdup(s));
	}
	g_ptr_array_add(v, NULL);
	return (char **)g_ptr_array_free(v, FALSE);
}

char **figure_names(const GPtrArray *figures)
{
	return distinct(figures, NULL, false);
}

char **figure_places(const GPtrArray *figures, const char *name)
{
	return distinct(figures, name, true);
}

GPtrArray *figures_of(const struct result *r)
{
	struct gather g = {
		g_ptr_array_new_with_free_func((GDestroyNotify)figure_free),
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
	struct order o;

	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];

		for (guint k = 0; k < p->metrics->len; k++) {
			const struct metric *m = p->metrics->pdata[k];

			gather(&g, p, m->name, m->unit, m->higher_is_better,
			       NULL, 0, m->value);
		}
		for (guint k = 0; k < p->series->len; k++) {
			const struct sample *s = p->series->pdata[k];

			gather(&g, p, s->name, s->unit, s->higher_is_better,
			       s->axis, s->x, s->value);
		}
	}
	o.names = figure_names(g.figures);
	o.places = figure_places(g.figures, NULL);
	o.variants = r->variants;
	g_ptr_array_sort_with_data(g.figures, figure_compare, &o);
	g_strfreev(o.names);
	g_strfreev(o.places);
	g_hash_table_unref(g.seen);
	return g.figures;
}

const struct figure *figure_find(const GPtrArray *figures, const char *variant,
				 const char *name, const char *where)
{
	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];

		if (!strcmp(f->variant, variant) && !strcmp(f->name, name) &&
		    !strcmp(f->where, where))
			return f;
	}
	return NULL;
}

double figure_mean(const struct figure *f)
{
	double sum = 0;

	for (guint i = 0; i < f->values->len; i++)
		sum += g_array_index(f->values, double, i);
	return f->values->len ? sum / f->values->len : NAN;
}

double figure_stddev(const struct figure *f)
{
	double mean = figure_mean(f), sum = 0;

	if (f->values->len < 2)
		return 0;
	for (guint i = 0; i < f->values->len; i++) {
		double d = g_array_index(f->values, double, i) - mean;

		sum += d * d;
	}
	return sqrt(sum / (f->values->len - 1));
}
