/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a bisection found: a sentence, a table, and why steps had to wait. */
#include <math.h>
#include <string.h>

#include "results/bisect.h"
#include "results/explain.h"
#include "results/figures.h"
#include "results/stats.h"

/* Steps whose effects differ by more than this many points interact. */
#define INTERACTION 2.0

struct view {
	const struct bisection *b;
	const struct result *r;
	const GPtrArray *figures;
	const struct figure *base; /* headline of the first variant */
};

static double value_of(const struct view *v, const char *variant)
{
	const struct figure *f = variant ? figure_find(v->figures, variant,
						       v->base->name,
						       v->base->where) :
					   NULL;

	return f ? figure_mean(f) : NAN;
}

/* In points: percent of the first variant's value, so that steps add up. */
static double points(const struct view *v, double before, double after)
{
	double d = 100 * (after - before) / figure_mean(v->base);

	return v->base->higher_is_better ? d : -d;
}

static const char *before(const struct view *v, guint step)
{
	const struct step *s;

	if (!step)
		return v->b->from;
	s = v->b->steps->pdata[step - 1];
	return s->in_place;
}

static double in_place(const struct view *v, guint i)
{
	const struct step *s = v->b->steps->pdata[i];

	return points(v, value_of(v, before(v, i)), value_of(v, s->in_place));
}

static double alone(const struct view *v, const struct step *s)
{
	return points(v, value_of(v, v->b->from), value_of(v, s->alone));
}

static double left_out(const struct view *v, const struct step *s)
{
	const struct step *last = v->b->steps->pdata[v->b->steps->len - 1];

	return points(v, value_of(v, s->without), value_of(v, last->in_place));
}

static void effect(GString *s, double points_of)
{
	if (isnan(points_of))
		g_string_append_printf(s, " %9s", "-");
	else
		g_string_append_printf(s, " %+9.2f", points_of);
}

static const char *since_of(const struct view *v, const struct step *s)
{
	const struct change *c =
		v->b->changes->pdata[g_array_index(s->changes, guint, 0)];

	return c->since ? c->since : "";
}

static void append_table(GString *s, const struct view *v)
{
	int width = 20;

	for (guint i = 0; i < v->b->steps->len; i++)
		width = MAX(width, (int)strlen(((struct step *)
						v->b->steps->pdata[i])->name));
	g_string_append_printf(s, "\n%-*s %8s %12s %9s %9s %9s\n", width, "step",
			       "since", v->base->name, "in place", "alone",
			       "needed");
	g_string_append_printf(s, "%-*s %8s %12.5g\n", width, v->b->from, "",
			       figure_mean(v->base));
	for (guint i = 0; i < v->b->steps->len; i++) {
		const struct step *t = v->b->steps->pdata[i];
		double a = in_place(v, i), o = alone(v, t), l = left_out(v, t);

		g_string_append_printf(s, "%-*s %8s %12.5g", width, t->name,
				       since_of(v, t),
				       value_of(v, t->in_place));
		effect(s, a);
		effect(s, o);
		effect(s, l);
		if (fabs(o - a) > INTERACTION || fabs(l - a) > INTERACTION)
			g_string_append(s, "  interacts");
		g_string_append_c(s, '\n');
	}
	g_string_append(
		s, "\nIn percent of the first variant's value, positive is "
		   "better. in place: all earlier steps\nare done; alone: on "
		   "the first variant; needed: what is lost if it is left out "
		   "of the last.\n");
}

static void append_impossible(GString *s, const struct view *v)
{
	gsize begin = s->len, heading;

	g_string_append(s, "\nWhat had to wait or can't be:\n");
	heading = s->len;
	for (guint i = 0; i < v->b->notes->len; i++)
		g_string_append_printf(s, "  %s\n",
				       (char *)v->b->notes->pdata[i]);
	for (guint i = 0; i < v->b->steps->len; i++) {
		const struct step *t = v->b->steps->pdata[i];

		if (t->why_not_alone)
			g_string_append_printf(s, "  %s alone: impossible, "
					       "%s\n", t->name,
					       t->why_not_alone);
		if (t->why_not_without)
			g_string_append_printf(s, "  all but %s: impossible, "
					       "%s\n", t->name,
					       t->why_not_without);
	}
	if (s->len == heading)
		g_string_truncate(s, begin);
}

static void append_answer(GString *s, const struct view *v)
{
	const struct step *last = v->b->steps->pdata[v->b->steps->len - 1];
	const struct step *t;
	g_autofree char *a = NULL, *b = NULL;
	double whole, most = 0;
	guint best = 0;

	for (guint i = 0; i < v->b->steps->len; i++)
		if (fabs(in_place(v, i)) > fabs(most)) {
			most = in_place(v, i);
			best = i;
		}
	t = v->b->steps->pdata[best];
	whole = points(v, figure_mean(v->base), value_of(v, last->in_place));
	a = amount_text(figure_mean(v->base), v->base->unit);
	b = amount_text(value_of(v, last->in_place), v->base->unit);
	g_string_append_printf(
		s, "From %s to %s, %s goes from %s to %s (%+.1f %%). The "
		   "largest of %u steps is %s: %+.1f of these points.\n",
		v->b->from, v->b->to, v->base->name, a, b, whole,
		v->b->steps->len, t->name, most);
	if (fabs(most) >= 0.05) {
		struct explanation *e = explain(v->r, before(v, best), v->r,
						t->in_place, v->base->where,
						NULL);

		if (e)
			g_string_append_printf(s, "%s\n", e->sentence);
		explanation_free(e);
	}
}

char *bisection_text(const struct bisection *b, const struct result *r)
{
	g_autoptr(GPtrArray) figures = figures_of(r);
	struct view v = {b, r, figures, NULL};
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < figures->len && !v.base; i++)
		if (!strcmp(((struct figure *)figures->pdata[i])->variant,
			    b->from))
			v.base = figures->pdata[i];
	if (!v.base) {
		g_string_append_printf(s, "%s has no figures\n", b->from);
		return g_string_free(s, FALSE);
	}
	append_answer(s, &v);
	append_table(s, &v);
	append_impossible(s, &v);
	return g_string_free(s, FALSE);
}
