/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heat maps of a figure over two axes: its values for each variant, and how far
 * each variant is from the baseline. Every cell tells its number too, so the
 * maps are as good in grey. */
#include <math.h>
#include <string.h>

#include "results/figures.h"
#include "results/plot.h"

#define MAX_CELLS 400 /* beyond these no number can be read */

struct map {
	const struct result *r;
	const GPtrArray *figures;
	const struct figure *first;
	GPtrArray *xs, *ys; /* char *: values of the axes in order */
	double largest;
};

static const char *at(const struct figure *f, guint axis)
{
	return ((struct coord *)f->coords->pdata[axis])->value;
}

static guint place(GPtrArray *values, const char *v)
{
	guint i;

	if (g_ptr_array_find_with_equal_func(values, v, g_str_equal, &i))
		return i;
	g_ptr_array_add(values, (void *)v);
	return values->len - 1;
}

static const struct figure *find(const struct map *m, const char *variant,
				 guint x, guint y)
{
	for (guint i = 0; i < m->figures->len; i++) {
		const struct figure *f = m->figures->pdata[i];

		if (!strcmp(f->variant, variant) &&
		    !strcmp(at(f, 1), m->xs->pdata[x]) &&
		    !strcmp(at(f, 0), m->ys->pdata[y]))
			return f;
	}
	return NULL;
}

static void tics(struct plot *p, char axis, const GPtrArray *values)
{
	g_string_append_printf(p->gp, "set %ctics (", axis);
	for (guint i = 0; i < values->len; i++) {
		g_autofree char *q = plot_quote(values->pdata[i]);

		g_string_append_printf(p->gp, "%s%s %u", i ? ", " : "", q, i);
	}
	g_string_append(p->gp, ") scale 0\n");
}

static struct plot *begin(const struct map *m, const char *file,
			  const char *title, const char *label)
{
	struct plot *p = plot_new(file, title, 1000, 600);
	g_autofree char *xw =
		plot_axis(((struct coord *)m->first->coords->pdata[1])->name);
	g_autofree char *yw =
		plot_axis(((struct coord *)m->first->coords->pdata[0])->name);
	g_autofree char *x = plot_quote(xw), *y = plot_quote(yw);
	g_autofree char *cb = plot_quote(label);

	tics(p, 'x', m->xs);
	tics(p, 'y', m->ys);
	g_string_append_printf(p->gp,
			       "set xlabel %s\nset ylabel %s\nset cblabel %s\n"
			       "set xrange [-0.5:%g]\nset yrange [-0.5:%g]\n"
			       "set bmargin at screen 0.13\n"
			       "set border 0\nunset grid\nunset key\n",
			       x, y, cb, m->xs->len - 0.5, m->ys->len - 0.5);
	return p;
}

static void draw_cells(struct plot *p, const struct map *m)
{
	double width = 60.0 / m->xs->len, height = 70.0 / m->ys->len;

	g_string_append_printf(p->gp,
			       "plot '%s.dat' using 1:2:3 with image, \\\n"
			       "  '' using 1:2:4 with labels font ',%d' "
			       "textcolor '#000000'\n",
			       p->name,
			       (int)CLAMP(MIN(width * 2, height * 3), 6, 12));
}

static bool values_of(const struct map *m, const char *variant,
		      struct drawing *d, GError **error)
{
	double divisor;
	g_autofree char *label = plot_label(m->first->name, m->first->unit,
					    m->largest, &divisor);
	g_autofree char *file = g_strdup_printf("%s-map-%s", m->first->name,
						variant);
	g_autofree char *title = g_strdup_printf("%s: %s", m->r->name, variant);
	struct plot *p = begin(m, file, title, label);

	/* light enough for black figures; one scale for all variants */
	g_string_append_printf(p->gp,
			       "set palette defined (0 '#ffffff', 1 '#5f9bd1')\n"
			       "set cbrange [0:%.10g]\n",
			       m->largest / divisor);
	g_string_append(p->dat, "# x's place, y's place, mean, its text\n");
	for (guint y = 0; y < m->ys->len; y++)
		for (guint x = 0; x < m->xs->len; x++) {
			const struct figure *f = find(m, variant, x, y);
			double v = f ? figure_mean(f) / divisor : NAN;

			g_string_append_printf(p->dat, "%u\t%u\t%.10g\t", x, y,
					       v);
			g_string_append_printf(
				p->dat, v >= 100 ? "%.0f\n" : "%.3g\n", v);
		}
	draw_cells(p, m);
	return plot_draw(p, d, error);
}

static bool change_of(const struct map *m, const char *variant,
		      struct drawing *d, GError **error)
{
	const char *base = m->r->variants[0];
	g_autofree char *words = g_strdelimit(g_strdup(m->first->name), "_",
					      ' ');
	g_autofree char *label = g_strdup_printf(
		"change of %s [%%], %s is better", words,
		m->first->higher_is_better ? "more" : "less");
	g_autofree char *file = g_strdup_printf("%s-change-%s", m->first->name,
						variant);
	g_autofree char *title = g_strdup_printf("%s: %s against %s",
						 m->r->name, variant, base);
	struct plot *p = begin(m, file, title, label);
	double most = 1;

	g_string_append(p->dat, "# x's place, y's place, change, its text\n");
	for (guint y = 0; y < m->ys->len; y++)
		for (guint x = 0; x < m->xs->len; x++) {
			const struct figure *a = find(m, base, x, y);
			const struct figure *b = find(m, variant, x, y);
			double v = NAN;

			if (a && b && figure_mean(a) != 0)
				v = 100 * (figure_mean(b) / figure_mean(a) - 1);
			if (isfinite(v))
				most = fmax(most, fabs(v));
			g_string_append_printf(p->dat,
					       "%u\t%u\t%.10g\t%+.0f\n", x, y,
					       v, v);
		}
	/* no change is white, and far off is the same colour both ways round */
	most = fmin(most, 100);
	g_string_append_printf(
		p->gp, "set palette defined (-1 '%s', 0 '#ffffff', 1 '%s')\n"
		       "set cbrange [%g:%g]\n",
		m->first->higher_is_better ? "#e8a33d" : "#5f9bd1",
		m->first->higher_is_better ? "#5f9bd1" : "#e8a33d", -most,
		most);
	draw_cells(p, m);
	return plot_draw(p, d, error);
}

bool plot_map(struct drawing *d, const struct result *r,
	      const GPtrArray *figures, GError **error)
{
	g_autoptr(GPtrArray) xs = g_ptr_array_new(), ys = g_ptr_array_new();
	struct map m = {r, figures, figures->pdata[0], xs, ys, 0};
	bool ok = true;

	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];

		g_assert(f->coords->len == 2);
		place(ys, at(f, 0));
		place(xs, at(f, 1));
		m.largest = fmax(m.largest, figure_mean(f));
	}
	if (xs->len * ys->len > MAX_CELLS || m.largest <= 0)
		return true;
	for (int v = 0; ok && r->variants[v]; v++) {
		ok = values_of(&m, r->variants[v], d, error);
		if (ok && v)
			ok = change_of(&m, r->variants[v], d, error);
	}
	return ok;
}
