/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stats.h"
#include "results/figures.h"
#include "results/stats.h"

static void part_free(void *data)
{
	struct part *p = data;

	g_free(p->name);
	g_free(p);
}

static GPtrArray *parts_new(void)
{
	return g_ptr_array_new_with_free_func(part_free);
}

static struct part *part_of(GPtrArray *parts, const char *name)
{
	struct part *p;

	for (guint i = 0; i < parts->len; i++) {
		p = parts->pdata[i];
		if (!strcmp(p->name, name))
			return p;
	}
	p = g_new0(struct part, 1);
	p->name = g_strdup(name);
	g_ptr_array_add(parts, p);
	return p;
}

static int by_difference(const void *x, const void *y)
{
	const struct part *a = *(struct part *const *)x;
	const struct part *b = *(struct part *const *)y;
	double da = fabs(a->b - a->a), db = fabs(b->b - b->a);

	if (da != db)
		return da < db ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void add_functions(GPtrArray *parts, const struct costs *c, bool second)
{
	for (guint i = 0; i < c->functions->len; i++) {
		const struct cost_line *l = c->functions->pdata[i];
		struct part *p = part_of(parts, l->name);

		*(second ? &p->b : &p->a) += l->total;
	}
}

/* Paths by cause: the finest parts there are. */
static void add_paths(GPtrArray *parts, const struct costs *c, bool second)
{
	for (guint i = 0; i < c->paths->len; i++) {
		const struct cost_line *l = c->paths->pdata[i];

		for (int k = 0; k < NR_CAUSES; k++) {
			g_autofree char *name = NULL;
			struct part *p;

			if (!l->cycles[k])
				continue;
			name = g_strdup_printf("%s%s[%s]", l->name,
					       *l->name ? ";" : "",
					       cause_names[k]);
			p = part_of(parts, name);
			*(second ? &p->b : &p->a) += l->cycles[k];
		}
	}
}

/*
 * Waiting by class and node, from the locks' own statistics, scaled to what the
 * accounts say: a CPU that waits pays for the line's transfer too, which is
 * among the transfers.
 */
static void add_waits(GPtrArray *parts, const struct result *r,
		      const struct costs *c, bool second)
{
	g_autoptr(GPtrArray) waits = parts_new();
	double sum = 0;

	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];
		g_autofree char *where = coords_text(p->coords);

		if (strcmp(p->variant, c->variant) || strcmp(where, c->where))
			continue;
		for (guint k = 0; k < p->locks->len; k++) {
			const struct lock_row *l = p->locks->pdata[k];
			g_autofree char *name = g_strdup_printf(
				"lock wait: %s, node %d", l->class, l->node);

			part_of(waits, name)->a += l->wait_total;
			sum += l->wait_total;
		}
	}
	for (guint i = 0; i < waits->len; i++) {
		const struct part *w = waits->pdata[i];
		struct part *p = part_of(parts, w->name);

		if (sum)
			*(second ? &p->b : &p->a) +=
				w->a / sum * c->cycles[CAUSE_LOCK_WAIT];
	}
	if (!sum && c->cycles[CAUSE_LOCK_WAIT]) {
		struct part *p = part_of(parts, "lock wait");

		*(second ? &p->b : &p->a) += c->cycles[CAUSE_LOCK_WAIT];
	}
}

static void add_causes(GPtrArray *parts, const struct result *r,
		       const struct costs *c, bool second)
{
	for (int k = 0; k < NR_CAUSES; k++) {
		struct part *p;

		if (k == CAUSE_LOCK_WAIT)
			continue;
		p = part_of(parts, cause_title(k));
		*(second ? &p->b : &p->a) += c->cycles[k];
	}
	add_waits(parts, r, c, second);
}

static void add_counters(GPtrArray *parts, const struct result *r,
			 const struct costs *c, bool second)
{
	uint64_t operations = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (guint i = 0; i < r->points->len; i++) {
			const struct point *p = r->points->pdata[i];
			g_autofree char *where = coords_text(p->coords);

			if (strcmp(p->variant, c->variant) ||
			    strcmp(where, c->where))
				continue;
			if (!pass) {
				operations += p->operations;
				continue;
			}
			for (guint k = 0; k < p->caches->len; k++) {
				const struct cache_dump *d =
					p->caches->pdata[k];

				for (guint j = 0; j < d->attrs->len; j++) {
					const struct cache_attr *a =
						d->attrs->pdata[j];
					g_autofree char *name = NULL;
					struct part *q;

					/* sizes and states are none */
					if (slub_stat_find(a->name) < 0)
						continue;
					name = g_strdup_printf("%s %s", d->name,
							       a->name);
					q = part_of(parts, name);
					*(second ? &q->in_b : &q->in_a) = true;
					*(second ? &q->b : &q->a) +=
						1000 *
						g_ascii_strtod(a->text, NULL) /
						MAX(operations, 1);
				}
			}
		}
	}
}

/* Figures of the two results, which may be one. */
struct both {
	GPtrArray *a, *b;
	const char *headline; /* the first metric's name, NULL = none */
};

static struct both both_of(const struct result *ra, const struct result *rb)
{
	struct both f = {.a = figures_of(ra)};

	f.b = ra == rb ? g_ptr_array_ref(f.a) : figures_of(rb);
	if (f.a->len)
		f.headline = ((struct figure *)f.a->pdata[0])->name;
	return f;
}

static void both_clear(struct both *f)
{
	g_ptr_array_unref(f->a);
	g_ptr_array_unref(f->b);
}

/* The headline of both at @where; false where one has none. */
static bool headline_at(const struct both *f, const char *va, const char *vb,
			const char *where, const struct figure **x,
			const struct figure **y)
{
	if (!f->headline)
		return false;
	*x = figure_find(f->a, va, f->headline, where);
	*y = figure_find(f->b, vb, f->headline, where);
	return *x && *y;
}

/* The common case where the headline differs most. */
static char *choose_case(const struct both *f, const struct result *ra,
			 const char *va, const struct result *rb,
			 const char *vb)
{
	g_auto(GStrv) ca = result_cases(ra), cb = result_cases(rb);
	const char *best = NULL;
	double most = -1;

	for (int i = 0; ca[i]; i++) {
		const struct figure *x, *y;
		double change = 0;

		if (!g_strv_contains((const char *const *)cb, ca[i]))
			continue;
		if (headline_at(f, va, vb, ca[i], &x, &y))
			change = fabs(figure_mean(y) / figure_mean(x) - 1);
		if (change > most) {
			most = change;
			best = ca[i];
		}
	}
	return g_strdup(best);
}

static void set_metric(struct explanation *e, const struct both *f,
		       const char *va, const char *vb)
{
	const struct figure *x, *y;

	e->metric_a = e->metric_b = NAN;
	if (!headline_at(f, va, vb, e->where, &x, &y))
		return;
	e->metric = g_strdup(x->name);
	e->unit = g_strdup(x->unit);
	e->higher_is_better = x->higher_is_better;
	e->metric_a = figure_mean(x);
	e->metric_b = figure_mean(y);
}
static void drop_zeros(GPtrArray *parts)
{
	for (guint i = parts->len; i > 0; i--) {
		const struct part *p = parts->pdata[i - 1];

		if (!p->a && !p->b)
			g_ptr_array_remove_index(parts, i - 1);
	}
	g_ptr_array_sort(parts, by_difference);
}

static void no_case(const struct result *r, const char *variant_a,
		    const char *variant_b, const char *where, GError **error)
{
	g_auto(GStrv) cases = result_cases(r);
	g_autofree char *list = g_strjoinv(", ", cases);
	g_autofree char *expected =
		!where ? g_strdup("") :
		*list  ? g_strdup_printf(" %s, expected one of: %s", where, list) :
			 g_strdup_printf(" %s, which only a [sweep] makes",
					 where);

	g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
		    "%s and %s: no common case%s", variant_a, variant_b,
		    expected);
}

struct explanation *explain(const struct result *ra, const char *variant_a,
			    const struct result *rb, const char *variant_b,
			    const char *where, GError **error)
{
	struct explanation *e = g_new0(struct explanation, 1);
	struct both f = both_of(ra, rb);

	e->functions = parts_new();
	e->causes = parts_new();
	e->paths = parts_new();
	e->counters = parts_new();
	e->where = where ? g_strdup(where) :
			   choose_case(&f, ra, variant_a, rb, variant_b);
	if (e->where) {
		e->a = costs_of(ra, variant_a, e->where);
		e->b = costs_of(rb, variant_b, e->where);
	}
	if (e->a && e->b)
		set_metric(e, &f, variant_a, variant_b);
	both_clear(&f);
	if (!e->a || !e->b) {
		no_case(ra, variant_a, variant_b, where, error);
		explanation_free(e);
		return NULL;
	}
	add_functions(e->functions, e->a, false);
	add_functions(e->functions, e->b, true);
	add_causes(e->causes, ra, e->a, false);
	add_causes(e->causes, rb, e->b, true);
	add_paths(e->paths, e->a, false);
	add_paths(e->paths, e->b, true);
	add_counters(e->counters, ra, e->a, false);
	add_counters(e->counters, rb, e->b, true);
	drop_zeros(e->functions);
	drop_zeros(e->causes);
	drop_zeros(e->paths);
	drop_zeros(e->counters);
	e->sentence = explain_words(e);
	return e;
}

void explanation_free(struct explanation *e)
{
	if (!e)
		return;
	g_free(e->where);
	g_free(e->metric);
	g_free(e->unit);
	g_free(e->sentence);
	costs_free(e->a);
	costs_free(e->b);
	g_ptr_array_unref(e->functions);
	g_ptr_array_unref(e->causes);
	g_ptr_array_unref(e->paths);
	g_ptr_array_unref(e->counters);
	g_free(e);
}

/* ---- text ---- */

/* Parts below this share of the difference are summed up in one line. */
#define SMALL 0.005

static void parts_text(GString *s, const struct explanation *e,
		       const char *title, const GPtrArray *parts)
{
	double whole = e->b->total - e->a->total, rest_a = 0, rest_b = 0;
	guint small = 0;
	int width = 40;

	for (guint i = 0; i < parts->len; i++)
		width = MAX(width,
			    (int)strlen(((struct part *)parts->pdata[i])->name));
	width = MIN(width, 60);
	g_string_append_printf(s, "\n%-*s %12s %12s %12s %9s\n", width + 2,
			       title, "A", "B", "B - A", "share");
	for (guint i = 0; i < parts->len; i++) {
		const struct part *p = parts->pdata[i];
		double d = p->b - p->a;

		if (fabs(d) < SMALL * fabs(whole) && fabs(d) < 0.5) {
			rest_a += p->a;
			rest_b += p->b;
			small++;
			continue;
		}
		g_string_append_printf(s, "  %-*s %12.2f %12.2f %+12.2f %8.1f%%\n",
				       width, p->name, p->a, p->b, d,
				       whole ? 100 * d / whole : 0);
	}
	if (small) {
		g_autofree char *name = g_strdup_printf(
			"%u more, each below 0.5 cycles", small);

		g_string_append_printf(s, "  %-*s %12.2f %12.2f %+12.2f %8.1f%%\n",
				       width, name, rest_a, rest_b,
				       rest_b - rest_a,
				       whole ? 100 * (rest_b - rest_a) / whole :
					       0);
	}
	g_string_append_printf(s, "  %-*s %12.2f %12.2f %+12.2f %8.1f%%\n", width,
			       "whole difference", e->a->total, e->b->total,
			       whole, whole ? 100.0 : 0);
}

/* A counter that the kernel doesn't have is not a counter at 0. */
static void counter_cell(GString *s, bool has, double v)
{
	if (has)
		g_string_append_printf(s, " %12.3f", v);
	else
		g_string_append_printf(s, " %12s", "-");
}

static void counters_text(GString *s, const GPtrArray *counters)
{
	int shown = 0;

	g_string_append_printf(s, "\n%-42s %12s %12s %12s\n",
			       "counters, per 1000 operations", "A", "B",
			       "B - A");
	for (guint i = 0; i < counters->len; i++) {
		const struct part *p = counters->pdata[i];
		double most = fmax(p->a, p->b);

		/* what changed by less than a hundredth did not change */
		if (fabs(p->b - p->a) <= 0.01 * most || shown == 30)
			continue;
		g_string_append_printf(s, "  %-40s", p->name);
		counter_cell(s, p->in_a, p->a);
		counter_cell(s, p->in_b, p->b);
		g_string_append_printf(s, " %+12.3f\n", p->b - p->a);
		shown++;
	}
	if (!shown)
		g_string_append(s, "  none changed\n");
}

char *explanation_text(const struct explanation *e)
{
	GString *s = g_string_new(NULL);

	g_string_append_printf(s, "%s\n\nA = %s, B = %s%s%s; %s, all CPUs\n",
			       e->sentence, e->a->variant, e->b->variant,
			       *e->where ? "; " : "", e->where,
			       e->a->per_operation ?
				       "cycles per operation (allocation or "
				       "free)" :
				       "cycles of the run");
	parts_text(s, e, "by cause", e->causes);
	parts_text(s, e, "by function (self)", e->functions);
	counters_text(s, e->counters);
	return g_string_free(s, FALSE);
}

char *explanation_folded(const struct explanation *e)
{
	GString *s = g_string_new(NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; i < e->paths->len; i++)
		g_ptr_array_add(names, e->paths->pdata[i]);
	for (guint i = 0; i < names->len; i++) {
		const struct part *p = names->pdata[i];
		long long a = llrint(1000 * p->a), b = llrint(1000 * p->b);

		if (a || b)
			g_string_append_printf(s, "%s %lld %lld\n", p->name, a,
					       b);
	}
	return g_string_free(s, FALSE);
}
