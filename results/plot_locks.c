/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plots of waiting for locks: bars by node, maps of class x node. */
#include <math.h>
#include <string.h>

#include "results/costs.h"
#include "results/plot.h"

/* Cycles of waiting for locks of each node, per operation, first case. */
static double *waits_of(const struct result *r, const char *variant,
			const char *where, int nodes, double operations)
{
	double *w = g_new0(double, nodes);

	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];
		g_autofree char *at = coords_text(p->coords);

		if (strcmp(p->variant, variant) || strcmp(at, where))
			continue;
		for (guint k = 0; k < p->locks->len; k++) {
			const struct lock_row *l = p->locks->pdata[k];

			if (l->node >= 0 && l->node < nodes)
				w[l->node] += l->wait_total / operations;
		}
	}
	return w;
}

static bool lock_wait(struct drawing *d, const struct result *r, GError **error)
{
	const struct point *first = r->points->pdata[0];
	g_auto(GStrv) cases = result_cases(r);
	g_auto(GStrv) colours = variant_colours(r->variants);
	g_autofree char *title = NULL;
	int nodes = first->nr_node_ids, variants = 0;
	bool any = false;
	struct plot *p;

	if (nodes < 2)
		return true;
	title = g_strdup_printf("%s: waiting for locks%s%s", r->name,
				*cases[0] ? ", " : "", cases[0]);
	p = plot_new("lock-wait", title, 1000, 500);
	g_string_append(
		p->gp,
		"set xlabel 'NUMA node of the lock'\n"
		"set ylabel 'cycles of waiting per allocation or free'\n"
		"set yrange [0:*]\nset style data histograms\n"
		"set style histogram clustered gap 1\n"
		"set style fill solid border linecolor '#222222'\n"
		"set boxwidth 0.92\nplot \\\n");
	for (int v = 0; r->variants[v]; v++) {
		struct costs *a = costs_of(r, r->variants[v], cases[0]);
		g_autofree double *w = NULL;
		g_autofree char *q = plot_quote(r->variants[v]);

		if (!a)
			continue;
		w = waits_of(r, r->variants[v], cases[0], nodes, a->operations);
		costs_free(a);
		g_string_append_printf(p->dat, "# node, cycles: %s\n",
				       r->variants[v]);
		for (int n = 0; n < nodes; n++) {
			g_string_append_printf(p->dat, "%d\t%.8g\n", n, w[n]);
			any |= w[n] > 0;
		}
		g_string_append(p->dat, "\n\n");
		g_string_append_printf(
			p->gp,
			"%s  'lock-wait.dat' index %d using 2:xtic(1) "
			"linecolor rgb '%s' title %s",
			variants ? ", \\\n" : "", variants, colours[v], q);
		variants++;
	}
	g_string_append_c(p->gp, '\n');
	if (any)
		return plot_draw(p, d, error);
	plot_free(p);
	return true;
}

/* ---- class x node ---- */

enum { MAX_CLASSES = 12 }; /* rows; what waited least shares one more */
#define REST "(others)"

struct waits { /* of one case, all variants */
	int nodes;		/* node n is column n, no node the last */
	GHashTable *by_variant; /* variant -> class -> double[nodes + 1] */
	GHashTable *totals;	/* class -> double, all variants */
	double largest;
};

static double *sum_of(GHashTable *sums, const char *class, int n)
{
	double *v = g_hash_table_lookup(sums, class);

	if (!v) {
		v = g_new0(double, n);
		g_hash_table_insert(sums, g_strdup(class), v);
	}
	return v;
}

static void free_table(void *table)
{
	g_hash_table_unref(table);
}

static GHashTable *table_of_sums(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static struct waits *waits_new(const struct result *r, const char *where)
{
	struct waits *w = g_new0(struct waits, 1);

	w->nodes = ((struct point *)r->points->pdata[0])->nr_node_ids;
	w->totals = table_of_sums();
	w->by_variant = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					      free_table);
	for (int v = 0; r->variants[v]; v++) {
		struct costs *a = costs_of(r, r->variants[v], where);
		GHashTable *sums = table_of_sums();

		g_hash_table_insert(w->by_variant, g_strdup(r->variants[v]),
				    sums);
		for (guint i = 0; a && i < r->points->len; i++) {
			const struct point *p = r->points->pdata[i];
			g_autofree char *at = coords_text(p->coords);

			if (strcmp(p->variant, r->variants[v]) ||
			    strcmp(at, where))
				continue;
			for (guint k = 0; k < p->locks->len; k++) {
				const struct lock_row *l = p->locks->pdata[k];
				int n = l->node >= 0 && l->node < w->nodes ?
						l->node :
						w->nodes;
				double wait = l->wait_total / a->operations;

				if (!l->wait_total)
					continue;
				sum_of(sums, l->class, w->nodes + 1)[n] += wait;
				*sum_of(w->totals, l->class, 1) += wait;
			}
		}
		costs_free(a);
	}
	return w;
}

static void waits_free(struct waits *w)
{
	g_hash_table_unref(w->by_variant);
	g_hash_table_unref(w->totals);
	g_free(w);
}

static int most_waited(const void *a, const void *b, void *totals)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	double p = *(double *)g_hash_table_lookup(totals, x);
	double q = *(double *)g_hash_table_lookup(totals, y);

	return p > q ? -1 : p < q ? 1 : strcmp(x, y);
}

/* Classes, what waited most first. */
static GPtrArray *classes_of(const struct waits *w)
{
	GPtrArray *classes = g_ptr_array_new();
	GHashTableIter iter;
	void *class;

	g_hash_table_iter_init(&iter, w->totals);
	while (g_hash_table_iter_next(&iter, &class, NULL))
		g_ptr_array_add(classes, class);
	g_ptr_array_sort_with_data(classes, most_waited, w->totals);
	return classes;
}

/* Row @row's waiting at column @n: of one class, or of all that are left. */
static double wait_at(GHashTable *sums, const GPtrArray *classes, guint row,
		      int n)
{
	guint end = row == MAX_CLASSES ? classes->len : row + 1;
	double sum = 0;

	for (guint i = row; i < end; i++) {
		const double *v = g_hash_table_lookup(sums, classes->pdata[i]);

		sum += v ? v[n] : 0;
	}
	return sum;
}

static bool lock_map(const struct waits *w, const GPtrArray *classes,
		     const char *variant, const char *title, int columns,
		     struct drawing *d, GError **error)
{
	g_autofree char *name = g_strconcat("lock-map-", variant, NULL);
	struct plot *p = plot_new(name, title, 1000, 600);
	GHashTable *sums = g_hash_table_lookup(w->by_variant, variant);
	guint rows = MIN(classes->len, MAX_CLASSES + 1);
	size_t longest = 0;

	g_string_append(p->gp, "set ytics (");
	for (guint i = 0; i < rows; i++) {
		const char *label = i < MAX_CLASSES ? classes->pdata[i] : REST;
		g_autofree char *q = plot_quote(label);

		longest = MAX(longest, strlen(label));
		g_string_append_printf(p->gp, "%s%s %u", i ? ", " : "", q, i);
	}
	g_string_append(p->gp, ") scale 0\nset xtics (");
	for (int n = 0; n < w->nodes; n++)
		g_string_append_printf(p->gp, "%s'%d' %d", n ? ", " : "", n, n);
	if (columns > w->nodes)
		g_string_append_printf(p->gp, ", 'none' %d", w->nodes);
	g_string_append_printf(
		p->gp,
		") scale 0\nset lmargin at screen %g\n"
		"set bmargin at screen 0.13\n"
		"set xlabel 'NUMA node of the lock'\n"
		"set cblabel 'cycles of waiting per allocation or free'\n"
		"set xrange [-0.5:%g]\nset yrange [%g:-0.5]\n"
		"set cbrange [0:%.8g]\nset border 15\nunset grid\nunset key\n"
		"set palette defined (0 '#ffffff', 1 '#e8a33d')\n"
		"plot '%s.dat' using 1:2:3 with image",
		MIN(0.04 + longest * 0.009, 0.4), columns - 0.5, rows - 0.5,
		w->largest, p->name);
	if (columns * rows <= 200)
		g_string_append(p->gp, ", \\\n  '' using 1:2:4 with labels font "
				       "',10'");
	g_string_append(p->gp, "\n");
	g_string_append(p->dat, "# node, class's place, cycles, their text\n");
	for (guint i = 0; i < rows; i++)
		for (int n = 0; n < columns; n++) {
			double v = wait_at(sums, classes, i, n);

			g_string_append_printf(p->dat, "%d\t%u\t%.8g\t", n, i,
					       v);
			g_string_append_printf(p->dat,
					       v >= 100 ? "%.0f\n" : "%.2g\n",
					       v);
		}
	return plot_draw(p, d, error);
}

/* A map per variant, all on one scale. */
static bool lock_maps(struct drawing *d, const struct result *r, GError **error)
{
	g_auto(GStrv) cases = result_cases(r);
	struct waits *w = waits_new(r, cases[0]);
	g_autoptr(GPtrArray) classes = classes_of(w);
	guint rows = MIN(classes->len, MAX_CLASSES + 1);
	int columns = w->nodes;
	bool ok = true;

	for (int v = 0; r->variants[v]; v++)
		for (guint i = 0; i < rows; i++)
			for (int n = 0; n <= w->nodes; n++) {
				double wait = wait_at(
					g_hash_table_lookup(w->by_variant,
							    r->variants[v]),
					classes, i, n);

				w->largest = fmax(w->largest, wait);
				if (n == w->nodes && wait > 0)
					columns = n + 1;
			}
	for (int v = 0; ok && w->nodes > 1 && w->nodes <= 128 &&
			w->largest > 0 && r->variants[v]; v++) {
		g_autofree char *title = g_strdup_printf(
			"%s%s%s: waiting for locks", r->variants[v],
			*cases[0] ? ", " : "", cases[0]);

		ok = lock_map(w, classes, r->variants[v], title, columns, d,
			      error);
	}
	waits_free(w);
	return ok;
}

bool plot_locks(struct drawing *d, const struct result *r, GError **error)
{
	return !r->points->len ||
	       (lock_wait(d, r, error) && lock_maps(d, r, error));
}
