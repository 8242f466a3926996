/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.txt: variants as columns, a block per series, and one for metrics of a
 * single value that follow each other: a row each, with the change against the
 * first variant. Where a figure was published, it stands beside the simulated
 * one with the error in percent of it and a letter: F fitted to it, P predicted.
 */
#include <math.h>
#include <inttypes.h>
#include <string.h>

#include "results/figures.h"
#include "results/published.h"
#include "results/views.h"

struct block {
	const GPtrArray *figures;
	const char *name, *unit;
	double divisor;
	const char *prefix;
	bool published, spread;
	char **variants; /* those that have such a figure */
	const char *baseline;
};

/* "M" and 1e6 for rates of millions; other units stay as they are. */
static void choose_prefix(struct block *b)
{
	double max = 0;

	b->divisor = 1;
	b->prefix = "";
	if (!unit_higher_is_better(b->unit))
		return;
	for (guint i = 0; i < b->figures->len; i++) {
		const struct figure *f = b->figures->pdata[i];

		if (!strcmp(f->name, b->name))
			max = fmax(max, fabs(figure_mean(f)));
	}
	if (max >= 1e6) {
		b->divisor = 1e6;
		b->prefix = "M ";
	} else if (max >= 1e4) {
		b->divisor = 1e3;
		b->prefix = "k ";
	}
}

enum { FIGURE_WIDTH = 10, CHANGE_WIDTH = 11 }; /* of a cell's parts */

/* Four digits that count, never an exponent. */
static char *figure_text(double v)
{
	int decimals = v ? 3 - (int)floor(log10(fabs(v))) : 0;

	if (!isfinite(v))
		return g_strdup("-");
	return g_strdup_printf("%.*f", CLAMP(decimals, 0, 8), v);
}

static char *cell_text(const struct block *b, const struct figure *f)
{
	g_autofree char *value = NULL, *published = NULL;
	GString *s = g_string_new(NULL);

	if (!f)
		return g_string_free(s, FALSE);
	value = figure_text(figure_mean(f) / b->divisor);
	g_string_append_printf(s, "%*s", FIGURE_WIDTH, value);
	if (b->spread) {
		double mean = figure_mean(f);

		g_string_append_printf(
			s, " +-%4.1f%%",
			mean ? 100 * figure_stddev(f) / fabs(mean) : 0);
	}
	if (!b->published)
		return g_string_free(s, FALSE);
	if (f->target) {
		published = figure_text(f->target->value / b->divisor);
		g_string_append_printf(s, " %9s %+7.1f%s%c", published,
				       figure_error_pct(f),
				       f->target->percent ? "pp " : "% ",
				       f->target->fitted ? 'F' : 'P');
	} else {
		g_string_append_printf(s, " %9s %10s", "", "");
	}
	return g_string_free(s, FALSE);
}

static char *change_text(const struct figure *base, const struct figure *f)
{
	double a, b;

	if (!base || !f)
		return g_strdup("");
	a = figure_mean(base);
	b = figure_mean(f);
	return a ? g_strdup_printf("%+*.2f%%", CHANGE_WIDTH - 1,
				   100 * (b - a) / fabs(a)) :
		   g_strdup("");
}

static void append_row(GString *s, const char *label, char **cells,
		       const int *width, int label_width)
{
	g_string_append_printf(s, "  %-*s", label_width, label);
	for (int i = 0; cells[i]; i++)
		g_string_append_printf(s, "  %-*s", width[i], cells[i]);
	while (s->len && s->str[s->len - 1] == ' ')
		g_string_truncate(s, s->len - 1);
	g_string_append_c(s, '\n');
}

/* Longer series that nobody published are left to results.tsv and the plots,
 * but for what a metric of the same name says of all of it. */
#define MAX_PLACES 16

static bool is_metric(const struct block *b, const char *place)
{
	for (guint i = 0; i < b->figures->len; i++) {
		const struct figure *f = b->figures->pdata[i];

		if (!f->is_series && !strcmp(f->name, b->name) &&
		    !strcmp(f->where, place))
			return true;
	}
	return false;
}

/* Newly allocated; @left counts those that are left out. */
static char **places_shown(const struct block *b, int *left)
{
	g_auto(GStrv) places = figure_places(b->figures, b->name);
	GPtrArray *shown = g_ptr_array_new();
	bool all = b->published || g_strv_length(places) <= MAX_PLACES + 1;

	*left = 0;
	for (int i = 0; places[i]; i++)
		if (all || is_metric(b, places[i]))
			g_ptr_array_add(shown, g_strdup(places[i]));
		else
			++*left;
	g_ptr_array_add(shown, NULL);
	return (char **)g_ptr_array_free(shown, FALSE);
}

static char *block_title(const struct block *b)
{
	if (!*b->unit || g_str_has_suffix(b->name, "]"))
		return g_strdup(b->name); /* a ratio; a difference in percent */
	return g_strdup_printf("%s [%s%s]", b->name, b->prefix, b->unit);
}

/* A block's rows: header, one per place, and for single values the change
 * against the baseline. */
static void append_block(GString *s, struct block *b)
{
	int left, n = g_strv_length(b->variants);
	g_auto(GStrv) places = places_shown(b, &left);
	int rows = g_strv_length(places);
	g_autofree int *width = g_new0(int, n + 1);
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(
		(GDestroyNotify)g_strfreev);
	g_autofree char *title = block_title(b);
	int label_width = strlen("against the baseline");

	if (!rows) {
		g_string_append_printf(s, "\n%s: %d values, see results.tsv and "
				       "plots\n", title, left);
		return;
	}
	for (int i = 0; i < n; i++)
		width[i] = strlen(b->variants[i]);
	for (int r = 0; r < rows; r++) {
		char **cells = g_new0(char *, n + 1);

		for (int i = 0; i < n; i++) {
			cells[i] = cell_text(
				b, figure_find(b->figures, b->variants[i],
					       b->name, places[r]));
			width[i] = MAX(width[i], (int)strlen(cells[i]));
		}
		label_width = MAX(label_width, (int)strlen(places[r]));
		g_ptr_array_add(lines, cells);
	}
	g_string_append_printf(s, "\n%s%s\n", title,
			       b->published ?
				       ": simulated, published, error" :
				       "");
	append_row(s, "", b->variants, width, label_width);
	for (int r = 0; r < rows; r++)
		append_row(s, *places[r] ? places[r] : b->name,
			   lines->pdata[r], width, label_width);
	if (rows == 1 && n > 1 && !strcmp(b->variants[0], b->baseline)) {
		g_auto(GStrv) cells = g_new0(char *, n + 1);

		for (int i = 0; i < n; i++)
			cells[i] = change_text(
				figure_find(b->figures, b->variants[0],
					    b->name, places[0]),
				figure_find(b->figures, b->variants[i],
					    b->name, places[0]));
		if (*cells[0]) /* not of 0 */
			append_row(s, "against the baseline", cells, width,
				   label_width);
	}
	if (left)
		g_string_append_printf(s, "  and %d values more, see results.tsv "
				       "and plots\n", left);
}

/* A single value that nobody published. */
static bool is_single(const struct block *b)
{
	int left;
	g_auto(GStrv) places = places_shown(b, &left);

	return !b->published && !left && g_strv_length(places) == 1;
}

static char *place_of(const struct block *b)
{
	g_auto(GStrv) places = figure_places(b->figures, b->name);

	return g_strdup(places[0]);
}

/* Whether @b can be a row below @a. */
static bool same_columns(const struct block *a, const struct block *b)
{
	g_autofree char *x = place_of(a), *y = place_of(b);

	return !strcmp(x, y) &&
	       g_strv_equal((const char *const *)a->variants,
			    (const char *const *)b->variants);
}

/* Cells of a value and its change, the values as wide as the widest. */
static char **metric_cells(const struct block *b, const char *place,
			   bool changes, const int *width)
{
	int n = g_strv_length(b->variants);
	char **cells = g_new0(char *, n + 1);
	const struct figure *base =
		figure_find(b->figures, b->variants[0], b->name, place);

	for (int i = 0; i < n; i++) {
		const struct figure *f = figure_find(
			b->figures, b->variants[i], b->name, place);
		g_autofree char *value = cell_text(b, f);
		g_autofree char *change =
			i && changes ? change_text(base, f) : g_strdup("");

		cells[i] = g_strdup_printf("%-*s%s", width ? width[i] : 0,
					   value, change);
	}
	return cells;
}

/* Metrics that have one value per variant: a row each. */
static void append_metrics(GString *s, const GPtrArray *blocks)
{
	const struct block *first = blocks->len ? blocks->pdata[0] : NULL;
	int n = first ? g_strv_length(first->variants) : 0, label_width = 0;
	g_autofree int *value_width = g_new0(int, n + 1);
	g_autofree int *width = g_new0(int, n + 1);
	g_auto(GStrv) heads = g_new0(char *, n + 1);
	g_autofree char *place = first ? place_of(first) : NULL;
	bool changes = n > 1 && !strcmp(first->variants[0], first->baseline);

	if (!first)
		return;
	for (guint r = 0; r < blocks->len; r++) {
		const struct block *b = blocks->pdata[r];
		g_autofree char *title = block_title(b);
		g_auto(GStrv) cells = metric_cells(b, place, false, NULL);

		label_width = MAX(label_width, (int)strlen(title));
		for (int i = 0; i < n; i++)
			value_width[i] = MAX(value_width[i],
					     (int)strlen(cells[i]));
	}
	for (int i = 0; i < n; i++) {
		heads[i] = g_strdup_printf("%*s", FIGURE_WIDTH,
					   first->variants[i]);
		width[i] = MAX(value_width[i] + (i && changes ? CHANGE_WIDTH : 0),
			       (int)strlen(heads[i]));
	}
	g_string_append_printf(s, "\n%s%s%s%s%s\n",
			       blocks->len > 1 ? "metrics" : "metric",
			       *place ? " at " : "", place,
			       changes ? ", change against " : "",
			       changes ? first->baseline : "");
	append_row(s, "", heads, width, label_width);
	for (guint r = 0; r < blocks->len; r++) {
		const struct block *b = blocks->pdata[r];
		g_autofree char *title = block_title(b);
		g_auto(GStrv) cells =
			metric_cells(b, place, changes, value_width);

		append_row(s, title, cells, width, label_width);
	}
}

static void append_fits(GString *s, const struct result *r)
{
	for (guint i = 0; i < r->fitted->len; i++) {
		const struct fit *f = r->fitted->pdata[i];

		g_string_append_printf(s, "%s  %s: %s\n",
				       i ? "" : "\nFitted:\n", f->key, f->why);
	}
}

/* Errors of predicted rows, of those published as values (in percent of them) or
 * as percentages (in percentage points): the two don't add up. */
struct errors {
	int n;
	double sum, worst;
};

static void append_errors(GString *s, const struct errors *e, const char *of,
			  const char *unit)
{
	if (e->n)
		g_string_append_printf(
			s, "  %d predicted %s%s: mean absolute error %.1f%s, "
			   "worst %.1f%s\n", e->n, of, e->n == 1 ? "" : "s",
			e->sum / e->n, unit, e->worst, unit);
}

/* How far the predicted rows are off. */
static void append_summary(GString *s, const GPtrArray *figures)
{
	struct errors values = {0}, points = {0};
	int predicted = 0, fitted = 0;

	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];
		struct errors *to;
		double e;

		if (!f->target || f->target->part)
			continue;
		if (f->target->fitted) {
			fitted++;
			continue;
		}
		e = fabs(figure_error_pct(f));
		if (!isfinite(e))
			continue;
		predicted++;
		to = f->target->percent ? &points : &values;
		to->n++;
		to->sum += e;
		to->worst = fmax(to->worst, e);
	}
	if (!(predicted + fitted))
		return;
	g_string_append_printf(s, "\nPublished rows: %d fitted (F), "
			       "%d predicted (P)\n", fitted, predicted);
	append_errors(s, &values, "value", "%");
	append_errors(s, &points, "percentage", " percentage points");
}

static char **variants_with(const GPtrArray *figures, const char *name,
			    char **variants)
{
	GPtrArray *v = g_ptr_array_new();

	for (int i = 0; variants[i]; i++)
		for (guint k = 0; k < figures->len; k++) {
			const struct figure *f = figures->pdata[k];

			if (!strcmp(f->name, name) &&
			    !strcmp(f->variant, variants[i])) {
				g_ptr_array_add(v, g_strdup(variants[i]));
				break;
			}
		}
	g_ptr_array_add(v, NULL);
	return (char **)g_ptr_array_free(v, FALSE);
}

static struct block *block_new(const struct result *r, const GPtrArray *figures,
			       const char *name)
{
	struct block *b = g_new0(struct block, 1);

	b->figures = figures;
	b->name = name;
	b->variants = variants_with(figures, name, r->variants);
	b->baseline = r->variants[0];
	for (guint k = 0; k < figures->len; k++) {
		const struct figure *f = figures->pdata[k];

		if (strcmp(f->name, name))
			continue;
		b->unit = f->unit;
		b->published |= f->target != NULL;
		b->spread |= f->values->len > 1;
	}
	choose_prefix(b);
	return b;
}

static void block_free(gpointer p)
{
	struct block *b = p;

	g_strfreev(b->variants);
	g_free(b);
}

static void append_blocks(GString *s, const struct result *r,
			  const GPtrArray *figures, char **names)
{
	/* those that are next to be shown in one */
	g_autoptr(GPtrArray) metrics =
		g_ptr_array_new_with_free_func(block_free);

	for (int i = 0; names[i]; i++) {
		struct block *b = block_new(r, figures, names[i]);
		bool single = is_single(b);

		if (metrics->len &&
		    !(single && same_columns(metrics->pdata[0], b))) {
			append_metrics(s, metrics);
			g_ptr_array_set_size(metrics, 0);
		}
		if (single) {
			g_ptr_array_add(metrics, b);
			continue;
		}
		append_block(s, b);
		block_free(b);
	}
	append_metrics(s, metrics);
}

char *table_text(const struct result *r, GError **error)
{
	g_autoptr(GPtrArray) figures = figures_of(r);
	g_autoptr(GPtrArray) targets = NULL;
	g_autofree char *changes = NULL;
	g_auto(GStrv) names = NULL;
	g_autoptr(GError) e = NULL;
	GString *s;

	targets = targets_load(r, &e);
	if (e) {
		g_propagate_error(error, g_steal_pointer(&e));
		return NULL;
	}
	if (targets)
		figures_attach(figures, targets, r);
	s = g_string_new(NULL);
	g_string_append_printf(s, "%s", r->name);
	if (r->description && *r->description)
		g_string_append_printf(s, ": %s", r->description);
	g_string_append_printf(
		s, "\n%s, workload %s, %d iteration%s, seed %" PRIu64 "%s\n",
		r->topology, r->workload, r->iterations,
		r->iterations == 1 ? "" : "s", r->seed,
		r->complete ? "" : "; INCOMPLETE: points are missing");
	changes = result_changes(r);
	if (*changes)
		g_string_append_printf(s, "changed: %s\n", changes);
	names = figure_names(figures);
	append_blocks(s, r, figures, names);
	append_summary(s, figures);
	append_fits(s, r);
	return g_string_free(s, FALSE);
}
