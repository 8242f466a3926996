/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plots of metrics and series: bars by variant, lines and bars over an axis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/figures.h"
#include "results/plot.h"
#include "results/published.h"

#define MAX_PANELS 6	/* images of one name */
#define MAX_PLACES 1024 /* on one axis */
#define MAX_TICS 12	/* that fit beside each other */

struct context {
	struct drawing *d;
	const struct result *r;
	const GPtrArray *figures;
	char **colours;
	GError **error;
};

/* ---- bars of one value per variant ---- */

static void dat_value(GString *dat, double x, const struct figure *f,
		      double divisor)
{
	g_string_append_printf(dat, "%.10g\t%.10g\t%.10g\t%s\n", x,
			       figure_mean(f) / divisor,
			       figure_stddev(f) / divisor, f->variant);
}

static void dat_published(GString *dat, double x, const struct target *t,
			  double divisor)
{
	g_string_append_printf(dat, "%.10g\t%.10g\t%.10g\t%s\n", x,
			       t->value / divisor,
			       isnan(t->stddev) ? 0 : t->stddev / divisor,
			       t->source);
}

static double largest(const GPtrArray *figures, const char *name)
{
	double max = 0;

	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];

		if (strcmp(f->name, name))
			continue;
		max = fmax(max, fabs(figure_mean(f)));
		if (f->target)
			max = fmax(max, fabs(f->target->value));
	}
	return max;
}

static bool negative(const GPtrArray *figures, const char *name)
{
	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];

		if (!strcmp(f->name, name) &&
		    (figure_mean(f) < 0 || (f->target && f->target->low < 0)))
			return true;
	}
	return false;
}

static struct plot *begin(const struct context *c, const char *file,
			  const char *name, double *divisor)
{
	const struct figure *first = NULL;
	g_autofree char *title = NULL, *label = NULL, *quoted = NULL;
	struct plot *p;

	for (guint i = 0; i < c->figures->len && !first; i++)
		if (!strcmp(((struct figure *)c->figures->pdata[i])->name,
			    name))
			first = c->figures->pdata[i];
	title = g_strdup_printf("%s: %s on %s%s", c->r->name, c->r->workload,
				c->r->topology,
				c->r->complete ? "" : " (incomplete)");
	label = plot_label(name, first->unit, largest(c->figures, name),
			   divisor);
	quoted = plot_quote(label);
	p = plot_new(file, title, 1000, 600);
	/* zero is always in sight */
	g_string_append_printf(p->gp, "set ylabel %s\nset yrange [%s]\n",
			       quoted,
			       negative(c->figures, name) ? "*<0:0<*" : "0:*");
	if (negative(c->figures, name))
		g_string_append(p->gp, "set xzeroaxis linetype 1 linecolor "
				       "'#444444'\n");
	return p;
}

static bool headline(const struct context *c, const char *name)
{
	double divisor;
	struct plot *p = begin(c, "headline", name, &divisor);
	bool published = false;
	g_autoptr(GString) tics = g_string_new(NULL);
	g_autoptr(GString) plot = g_string_new("plot \\\n");
	int index = 0;

	for (int v = 0; c->r->variants[v]; v++) {
		const struct figure *f = figure_find(
			c->figures, c->r->variants[v], name, "");
		g_autofree char *q = plot_quote(c->r->variants[v]);

		g_string_append_printf(tics, "%s%s %d", v ? ", " : "", q, v);
		if (!f)
			continue;
		g_string_append(p->dat, "# variant's place, simulated mean, "
					"standard deviation, variant\n");
		dat_value(p->dat, v - (f->target ? 0.2 : 0), f, divisor);
		g_string_append(p->dat, "\n\n");
		g_string_append_printf(
			plot,
			"  '%s.dat' index %d using 1:2:3 with boxerrorbars "
			"fillstyle solid border linecolor '#222222' fillcolor "
			"'%s' title %s, \\\n",
			p->name, index, c->colours[v], q);
		index++;
		published |= f->target != NULL;
	}
	if (published) {
		g_string_append(p->dat, "# variant's place, published value, "
					"standard deviation, source\n");
		for (int v = 0; c->r->variants[v]; v++) {
			const struct figure *f = figure_find(
				c->figures, c->r->variants[v], name, "");

			if (f && f->target)
				dat_published(p->dat, v + 0.2, f->target,
					      divisor);
		}
		g_string_append_printf(
			plot,
			"  '%s.dat' index %d using 1:2:3 with boxerrorbars "
			"fillstyle pattern 4 border linecolor '#222222' "
			"fillcolor '#888888' title 'published', \\\n",
			p->name, index);
	}
	g_string_truncate(plot, plot->len - strlen(", \\\n"));
	g_string_append_printf(
		p->gp, "set xtics (%s)\nset xrange [-0.7:%g]\n"
		       "set boxwidth %g\nset style fill solid\n%s\n",
		tics->str, g_strv_length(c->r->variants) - 0.3,
		published ? 0.38 : 0.6, plot->str);
	return plot_draw(p, c->d, c->error);
}

/* ---- a value over an axis ---- */

/* The plot of one name: figures that agree in all coordinates but the axis. */
struct panel {
	const char *name, *axis;
	char *rest; /* the coordinates they share, as text */
	GPtrArray *xs; /* char *: the axis' values in order */
	bool numeric, ids, log2;
};

static const struct coord *coord_of(const struct figure *f, const char *name)
{
	for (guint i = 0; i < f->coords->len; i++)
		if (!strcmp(((struct coord *)f->coords->pdata[i])->name, name))
			return f->coords->pdata[i];
	return NULL;
}

static char *rest_of(const struct figure *f, const char *axis)
{
	g_autoptr(GPtrArray) rest = g_ptr_array_new();

	for (guint i = 0; i < f->coords->len; i++)
		if (strcmp(((struct coord *)f->coords->pdata[i])->name, axis))
			g_ptr_array_add(rest, f->coords->pdata[i]);
	return coords_text(rest);
}

/* The names of its coordinates: figures that differ in these (a metric of a
 * sweep's case, a series within it) share their name and no image. */
static char *axes_of(const struct figure *f)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < f->coords->len; i++)
		g_string_append_printf(
			s, "%s ", ((struct coord *)f->coords->pdata[i])->name);
	return g_string_free(s, FALSE);
}

static GPtrArray *with_axes(const struct context *c, const char *name,
			    const char *axes)
{
	GPtrArray *found = g_ptr_array_new();

	for (guint i = 0; i < c->figures->len; i++) {
		struct figure *f = c->figures->pdata[i];
		g_autofree char *own = axes_of(f);

		if (!strcmp(f->name, name) && !strcmp(own, axes))
			g_ptr_array_add(found, f);
	}
	return found;
}

/* The coordinate with the most values: the others become panels. */
static const char *choose_axis(const GPtrArray *figures)
{
	const char *best = NULL;
	guint most = 1;

	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];

		for (guint k = 0; k < f->coords->len; k++) {
			const char *axis =
				((struct coord *)f->coords->pdata[k])->name;
			g_autoptr(GHashTable) values = g_hash_table_new(
				g_str_hash, g_str_equal);

			for (guint j = 0; j < figures->len; j++)
				g_hash_table_add(
					values,
					coord_of(figures->pdata[j], axis)
						->value);
			/* the last of equals: a series' own axis */
			if (g_hash_table_size(values) >= MAX(most, 2)) {
				most = g_hash_table_size(values);
				best = axis;
			}
		}
	}
	return best;
}

static bool is_number(const char *s, double *v)
{
	char *end;

	*v = g_ascii_strtod(s, &end);
	return end != s && !*end;
}

/* What kind of axis: numbers that count something, ids (0, 1, 2 ...), names. */
static void judge_axis(struct panel *p)
{
	double first = 0, last = 0, middle = 0, v = 0;
	bool powers = true;

	p->numeric = p->ids = true;
	for (guint i = 0; i < p->xs->len; i++) {
		if (!is_number(p->xs->pdata[i], &v)) {
			p->numeric = p->ids = false;
			return;
		}
		if (!i)
			first = v;
		if (i == p->xs->len / 2)
			middle = v;
		p->ids &= v == i;
		powers &= !i || v >= 1.5 * last;
		last = v;
	}
	/* most of the values crowd at the low end, or each is some times the
	 * one before */
	p->log2 = !p->ids && first > 0 && last / first >= 8 &&
		  (powers || middle - first < (last - first) / 4);
}

static bool in_panel(const struct panel *p, const struct figure *f,
		     const char *variant)
{
	g_autofree char *rest = NULL;

	if (strcmp(f->name, p->name) || strcmp(f->variant, variant) ||
	    !coord_of(f, p->axis))
		return false;
	rest = rest_of(f, p->axis);
	return !strcmp(rest, p->rest);
}

static int place(const struct panel *p, const struct figure *f)
{
	guint i = 0;

	g_ptr_array_find_with_equal_func(p->xs, coord_of(f, p->axis)->value,
					 g_str_equal, &i);
	return i;
}

/* Axes whose unit is not the end of their name. */
static const struct {
	const char *axis, *words;
} axis_names[] = {
	{"bulk", "objects per call"},
	{"cpu_partial", "cpu partial list [objects]"},
	{"depth", "IOs under way [per queue]"},
	{"far_distance", "distance of the far node [SLIT, 10 = local]"},
	{"groups", "groups [of senders and receivers]"},
	{"min_partial", "min partial [slabs]"},
	{"obj_size", "object size [bytes]"},
	{"object_size", "object size [bytes]"},
	{"queues", "queue pairs [of two CPUs]"},
	{"remote_node_defrag_ratio", "remote node defrag ratio [%]"},
	{"sheaf_capacity", "sheaf capacity [objects]"},
};

char *plot_axis(const char *axis)
{
	static const char *const units[] = {"ns", "us",	 "ms",	"s",
					    "kib", "mib", "bytes", "cycles",
					    NULL};
	g_autofree char *name = g_strdup(axis);
	char *last = strrchr(name, '_');

	for (guint i = 0; i < G_N_ELEMENTS(axis_names); i++)
		if (!strcmp(axis_names[i].axis, axis))
			return g_strdup(axis_names[i].words);
	if (last && g_strv_contains(units, last + 1)) {
		*last = '\0';
		g_strdelimit(name, "_", ' ');
		return g_strdup_printf("%s [%s]", name, last + 1);
	}
	return g_strdelimit(g_steal_pointer(&name), "_", ' ');
}

static void tics_at(struct plot *p, const GPtrArray *xs)
{
	g_string_append(p->gp, "set xtics (");
	for (guint i = 0; i < xs->len; i++)
		g_string_append_printf(p->gp, "%s%s", i ? ", " : "",
				       (char *)xs->pdata[i]);
	g_string_append(p->gp, ")\n");
}

static void axis_commands(struct plot *p, const struct panel *a, int variants)
{
	g_autofree char *words = plot_axis(a->axis);
	g_autofree char *label = plot_quote(words);

	g_string_append_printf(p->gp, "set xlabel %s\n", label);
	if (a->numeric && !a->ids) {
		g_string_append(p->gp, "set autoscale xfix\n"
				       "set offsets graph 0.02, graph 0.02\n");
		if (a->log2)
			g_string_append(p->gp, "set logscale x 2\n");
		if (a->log2 && a->xs->len <= MAX_TICS)
			tics_at(p, a->xs);
		return;
	}
	g_string_append(p->gp, "set xtics (");
	for (guint i = 0; i < a->xs->len; i++) {
		g_autofree char *q = plot_quote(a->xs->pdata[i]);

		g_string_append_printf(p->gp, "%s%s %g", i ? ", " : "", q,
				       i * (variants + 1.0) +
					       (variants - 1) / 2.0);
	}
	g_string_append_printf(p->gp,
			       ")\nset xrange [-1:%d]\nset boxwidth 0.92\n",
			       (int)a->xs->len * (variants + 1) - 1);
}

/* "pair_cycles - zs-store [%]" makes a poor file name. */
static char *file_name(const struct panel *a)
{
	GString *s = g_string_new(a->name);

	if (*a->rest)
		g_string_append_printf(s, ",%s", a->rest);
	g_string_replace(s, " - ", "-minus-", 0);
	g_string_replace(s, " [%]", "-pct", 0);
	return g_string_free(s, FALSE);
}

static bool draw_panel(const struct context *c, const struct panel *a)
{
	/* points that stay apart in grey */
	static const int points[] = {7, 5, 9, 11, 13, 15};
	static const int hollow[] = {6, 4, 8, 10, 12, 14};
	static const int dashes[] = {1, 2, 4, 5};
	g_autofree char *file = file_name(a);
	double divisor;
	struct plot *p = begin(c, file, a->name, &divisor);
	int variants = g_strv_length(c->r->variants), index = 0;
	bool bars = !a->numeric || a->ids, any_published = false;
	g_autoptr(GString) plot = g_string_new("plot \\\n");

	if (*a->rest)
		g_string_append_printf(p->gp, "set label 1 '%s' at graph 0.01, "
				       "graph 1.03\n", a->rest);
	axis_commands(p, a, variants);
	for (int v = 0; v < variants; v++) {
		g_autofree char *q = plot_quote(c->r->variants[v]);
		g_autoptr(GString) published = g_string_new(NULL);
		int n = 0, k = v % G_N_ELEMENTS(points);

		g_string_append_printf(p->dat, "# %s, mean, standard "
				       "deviation, variant\n", a->axis);
		for (guint i = 0; i < c->figures->len; i++) {
			const struct figure *f = c->figures->pdata[i];
			double x;

			if (!in_panel(a, f, c->r->variants[v]))
				continue;
			if (bars)
				x = place(a, f) * (variants + 1.0) + v;
			else
				is_number(coord_of(f, a->axis)->value, &x);
			dat_value(p->dat, x, f, divisor);
			if (f->target)
				dat_published(published, x, f->target, divisor);
			n++;
		}
		if (!n) {
			g_string_append(p->dat, "# none\n");
			continue;
		}
		g_string_append(p->dat, "\n\n");
		if (bars)
			g_string_append_printf(
				plot,
				"  '%s.dat' index %d using 1:2:3 with "
				"boxerrorbars fillstyle solid border linecolor "
				"'#222222' fillcolor '%s' title %s, \\\n",
				p->name, index, c->colours[v], q);
		else
			g_string_append_printf(
				plot,
				"  '%s.dat' index %d using 1:2:3 with "
				"yerrorlines linewidth 2 dashtype %d linecolor "
				"'%s' pointtype %d title %s, \\\n",
				p->name, index,
				dashes[k % G_N_ELEMENTS(dashes)], c->colours[v],
				points[k], q);
		index++;
		if (!published->len)
			continue;
		g_string_append_printf(p->dat, "# %s, published, standard "
				       "deviation, source\n%s\n\n", a->axis,
				       published->str);
		g_string_append_printf(
			plot,
			"  '%s.dat' index %d using 1:2:3 with yerrorbars "
			"linecolor '%s' linewidth 1.5 pointtype %d pointsize "
			"1.3 %s, \\\n",
			p->name, index, bars ? "#222222" : c->colours[v],
			bars ? 12 : hollow[k],
			bars && any_published ? "notitle" :
						"title 'published'");
		any_published = true;
		index++;
	}
	g_string_truncate(plot, plot->len - strlen(", \\\n"));
	g_string_append_printf(p->gp, "%s\n", plot->str);
	return plot_draw(p, c->d, c->error);
}

/* Two axes of numbers, with more images than anybody compares? */
static bool is_map(const GPtrArray *figures, guint panels)
{
	double v;

	if (panels <= MAX_PANELS)
		return false;
	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];

		if (f->coords->len != 2)
			return false;
		for (guint k = 0; k < 2; k++)
			if (!is_number(((struct coord *)f->coords->pdata[k])
					       ->value,
				       &v))
				return false;
	}
	return true;
}

static bool draw_panels(const struct context *c, const char *name,
			const GPtrArray *figures, const char *axis,
			const GPtrArray *rests)
{
	bool ok = true;

	for (guint k = 0; ok && k < rests->len; k++) {
		struct panel a = {.name = name,
				  .axis = axis,
				  .rest = rests->pdata[k],
				  .xs = g_ptr_array_new()};

		for (guint i = 0; i < figures->len; i++) {
			const struct figure *f = figures->pdata[i];

			if (in_panel(&a, f, f->variant) &&
			    !g_ptr_array_find_with_equal_func(
				    a.xs, coord_of(f, axis)->value, g_str_equal,
				    NULL))
				g_ptr_array_add(a.xs, coord_of(f, axis)->value);
		}
		judge_axis(&a);
		if (a.xs->len > 1 && a.xs->len <= MAX_PLACES)
			ok = draw_panel(c, &a);
		g_ptr_array_unref(a.xs);
	}
	return ok;
}

static bool draw_over_axis(const struct context *c, const char *name,
			   const char *axes)
{
	g_autoptr(GPtrArray) figures = with_axes(c, name, axes);
	const char *axis = choose_axis(figures);
	g_autoptr(GPtrArray) rests = g_ptr_array_new_with_free_func(g_free);

	if (!axis)
		return true;
	for (guint i = 0; i < figures->len; i++) {
		char *rest = rest_of(figures->pdata[i], axis);

		if (g_ptr_array_find_with_equal_func(rests, rest, g_str_equal,
						     NULL))
			g_free(rest);
		else
			g_ptr_array_add(rests, rest);
	}
	if (is_map(figures, rests->len))
		return plot_map(c->d, c->r, figures, c->error);
	/* the case of a sweep is one line in the figures of all; what happened
	 * within it is worth an image while they are few */
	if (rests->len > MAX_PANELS)
		return true;
	return draw_panels(c, name, figures, axis, rests);
}

static bool draw_all_axes(const struct context *c, const char *name)
{
	g_autoptr(GPtrArray) done = g_ptr_array_new_with_free_func(g_free);
	bool ok = true;

	for (guint i = 0; ok && i < c->figures->len; i++) {
		const struct figure *f = c->figures->pdata[i];
		char *axes;

		if (strcmp(f->name, name))
			continue;
		axes = axes_of(f);
		if (g_ptr_array_find_with_equal_func(done, axes, g_str_equal,
						     NULL)) {
			g_free(axes);
			continue;
		}
		g_ptr_array_add(done, axes);
		ok = draw_over_axis(c, name, axes);
	}
	return ok;
}

/* Which names are worth an image: the first metric, all series, whatever was
 * published, and all that a sweep may have changed. */
static bool worth(const struct context *c, const char *name, bool first)
{
	for (guint i = 0; i < c->figures->len; i++) {
		const struct figure *f = c->figures->pdata[i];

		if (!strcmp(f->name, name) &&
		    (f->is_series || f->target || f->coords->len))
			return true;
	}
	return first;
}

bool plot_figures(struct drawing *d, const struct result *r, GError **error)
{
	g_autoptr(GPtrArray) figures = figures_of(r);
	g_autoptr(GError) e = NULL;
	g_autoptr(GPtrArray) targets = targets_load(r, &e);
	g_auto(GStrv) colours = variant_colours(r->variants);
	g_auto(GStrv) names = NULL;
	struct context c = {d, r, figures, colours, error};
	bool ok = true;

	if (e) {
		g_propagate_error(error, g_steal_pointer(&e));
		return false;
	}
	if (targets)
		figures_attach(figures, targets, r);
	names = figure_names(figures);
	for (int i = 0; ok && names[i]; i++) {
		g_auto(GStrv) places = figure_places(figures, names[i]);

		if (!worth(&c, names[i], i == 0))
			continue;
		if (i == 0 && !*places[0])
			ok = headline(&c, names[i]);
		if (ok && (places[1] || *places[0]))
			ok = draw_all_axes(&c, names[i]);
	}
	return ok;
}
