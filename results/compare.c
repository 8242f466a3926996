/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a comparison: columns, rows, cells, and where they come from. */
#include "results/compare.h"

#include <math.h>
#include <string.h>

#include "results/figures.h"
#include "results/source.h"
#include "sim/command.h"

static void cell_free(void *data)
{
	struct cmp_cell *c = data;

	g_array_unref(c->values);
	g_free(c);
}

static void row_free(void *data)
{
	struct cmp_row *r = data;

	g_free(r->title);
	g_free(r->op);
	g_free(r->unit);
	g_ptr_array_unref(r->cells);
	g_free(r);
}

static struct cmp_cell *cell_new(void)
{
	struct cmp_cell *c = g_new0(struct cmp_cell, 1);

	c->values = g_array_new(FALSE, FALSE, sizeof(double));
	return c;
}

static struct comparison *comparison_new(void)
{
	struct comparison *c = g_new0(struct comparison, 1);

	c->heads = g_ptr_array_new_with_free_func(g_free);
	c->rows = g_ptr_array_new_with_free_func(row_free);
	return c;
}

void comparison_free(struct comparison *c)
{
	if (!c)
		return;
	g_ptr_array_unref(c->heads);
	g_ptr_array_unref(c->rows);
	g_free(c);
}

int comparison_column(struct comparison *c, const char *source,
		      const char *variant)
{
	char *head = g_strdup_printf("%s\n%s", source, variant);
	guint i;

	if (g_ptr_array_find_with_equal_func(c->heads, head, g_str_equal, &i)) {
		g_free(head);
		return i;
	}
	g_ptr_array_add(c->heads, head);
	for (i = 0; i < c->rows->len; i++)
		g_ptr_array_add(((struct cmp_row *)c->rows->pdata[i])->cells,
				cell_new());
	return c->heads->len - 1;
}

/* After the last row of the same title, so that titles stay together. */
static guint place_of(const struct comparison *c, const char *title)
{
	for (guint i = c->rows->len; i > 0; i--)
		if (!strcmp(((struct cmp_row *)c->rows->pdata[i - 1])->title,
			    title))
			return i;
	return c->rows->len;
}

struct cmp_cell *comparison_cell(struct comparison *c, int column,
				 const char *title, const char *op,
				 const char *unit, bool higher_is_better)
{
	struct cmp_row *r;

	for (guint i = 0; i < c->rows->len; i++) {
		r = c->rows->pdata[i];
		if (!strcmp(r->title, title) && !strcmp(r->op, op))
			return r->cells->pdata[column];
	}
	r = g_new0(struct cmp_row, 1);
	r->title = g_strdup(title);
	r->op = g_strdup(op);
	r->unit = g_strdup(unit);
	r->higher_is_better = higher_is_better;
	r->cells = g_ptr_array_new_with_free_func(cell_free);
	for (guint i = 0; i < c->heads->len; i++)
		g_ptr_array_add(r->cells, cell_new());
	g_ptr_array_insert(c->rows, place_of(c, title), r);
	return r->cells->pdata[column];
}

/*
 * hackbench doesn't say what its messages went through: "hackbench-process"
 * joins the one "hackbench-process-CHANNEL" that there is.
 */
static const char *full_title(const struct comparison *c, const char *title)
{
	g_autofree char *prefix = g_strconcat(title, "-", NULL);
	const char *found = NULL;

	if (!g_str_has_prefix(title, "hackbench"))
		return NULL;
	for (guint i = 0; i < c->rows->len; i++) {
		const struct cmp_row *r = c->rows->pdata[i];

		if (!g_str_has_prefix(r->title, prefix) ||
		    !g_strcmp0(found, r->title))
			continue;
		if (found)
			return NULL;
		found = r->title;
	}
	return found;
}

static void join_titles(struct comparison *c)
{
	for (guint i = 0; i < c->rows->len;) {
		struct cmp_row *r = c->rows->pdata[i];
		const char *full = full_title(c, r->title);
		bool moved = false;

		for (guint j = 0; full && j < r->cells->len; j++) {
			const struct cmp_cell *from = r->cells->pdata[j];
			struct cmp_cell *to;

			if (!from->values->len)
				continue;
			to = comparison_cell(c, j, full, r->op, r->unit,
					     r->higher_is_better);
			g_array_append_vals(to->values, from->values->data,
					    from->values->len);
			to->is_mean = from->is_mean;
			to->posted_star = from->posted_star;
			moved = true;
		}
		if (moved)
			g_ptr_array_remove(c->rows, r);
		else
			i++;
	}
}

/* ---- from results ---- */

/* mmtests' name of what was run, where it has one; else the metric. */
static char *title_of(const struct result *r, const struct figure *f,
		      bool headline)
{
	const struct point *p = r->points->len ? r->points->pdata[0] : NULL;
	g_autoptr(GKeyFile) k = g_key_file_new();
	g_autofree char *channel = NULL, *tasks = NULL;

	if (!headline || strcmp(r->workload, "hackbench") || !p || !p->config ||
	    !g_key_file_load_from_data(k, p->config, -1, 0, NULL))
		return g_strdup(f->name);
	for (guint i = 0; i < f->coords->len; i++) {
		const struct coord *c = f->coords->pdata[i];

		if (!strcmp(c->name, "channel"))
			channel = g_strdup(c->value);
		if (!strcmp(c->name, "tasks"))
			tasks = g_strdup(c->value);
	}
	if (!channel)
		channel = g_key_file_get_string(k, "workload", "channel", NULL);
	if (!tasks)
		tasks = g_key_file_get_string(k, "workload", "tasks", NULL);
	if (!channel || !tasks)
		return g_strdup(f->name);
	return g_strdup_printf("hackbench-%s-%s",
			       g_str_has_prefix(tasks, "thread") ? "thread" :
								   "process",
			       channel);
}

/* "4", "16-pipes": the coordinates' values; what the title says is left out. */
static char *op_of(const struct figure *f, const char *title,
		   const char *variant)
{
	GString *s = g_string_new(variant);

	for (guint i = 0; i < f->coords->len; i++) {
		const struct coord *c = f->coords->pdata[i];

		if (g_str_has_prefix(title, "hackbench-") &&
		    (!strcmp(c->name, "channel") || !strcmp(c->name, "tasks")))
			continue;
		g_string_append_printf(s, "%s%s", s->len ? "-" : "", c->value);
	}
	if (!s->len)
		g_string_append(s, "all");
	return g_string_free(s, FALSE);
}

static bool wanted(const GPtrArray *figures, const struct figure *f,
		   char **metrics)
{
	const struct figure *first = figures->pdata[0];

	if (!metrics || !metrics[0])
		return !strcmp(f->name, first->name);
	return g_strv_contains((const char *const *)metrics, f->name) ||
	       g_strv_contains((const char *const *)metrics, "all");
}

/* @wide: other folders have variants too, so variants are rows, not columns. */
static void add_result(struct comparison *c, const struct source *s, bool wide,
		       char **metrics)
{
	g_autoptr(GPtrArray) figures = figures_of(s->result);
	g_autofree char *base = g_path_get_basename(s->name);
	/* DIR/VARIANT: the folder's name heads the column */
	const char *head = s->variant ? s->result->name : base;

	c->incomplete |= !s->result->complete;
	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];
		bool headline = !strcmp(
			f->name, ((struct figure *)figures->pdata[0])->name);
		g_autofree char *title = NULL, *op = NULL;
		struct cmp_cell *cell;
		int column;

		if ((s->variant && strcmp(s->variant, f->variant)) ||
		    !wanted(figures, f, metrics))
			continue;
		title = title_of(s->result, f, headline);
		op = op_of(f, title, wide && !s->variant ? f->variant : NULL);
		column = wide && !s->variant ?
				 comparison_column(c, s->name, "") :
				 comparison_column(c, head, f->variant);
		cell = comparison_cell(c, column, title, op, f->unit,
				       f->higher_is_better);
		g_array_append_vals(cell->values, f->values->data,
				    f->values->len);
	}
}

static int folders_with_variants(const GPtrArray *sources)
{
	int n = 0;

	for (guint i = 0; i < sources->len; i++) {
		const struct source *s = sources->pdata[i];

		n += s->result && !s->variant;
	}
	return n;
}

struct comparison *comparison_read(char **names, char **metrics,
				   GError **error)
{
	g_autoptr(GPtrArray) sources = g_ptr_array_new_with_free_func(
		(GDestroyNotify)source_free);
	struct comparison *c;
	bool wide;

	for (int i = 0; names[i]; i++) {
		struct source *s = source_read(names[i], error);

		if (!s)
			return NULL;
		g_ptr_array_add(sources, s);
	}
	wide = folders_with_variants(sources) > 1;
	c = comparison_new();
	for (guint i = 0; i < sources->len; i++) {
		const struct source *s = sources->pdata[i];

		if (s->result) {
			add_result(c, s, wide, metrics);
		} else if (!comparison_parse(c, s->name, s->text, error)) {
			comparison_free(c);
			return NULL;
		}
	}
	join_titles(c);
	return c;
}

/* ---- verdicts ---- */

struct cmp_verdict comparison_verdict(const struct cmp_row *r, int col)
{
	const struct cmp_cell *a = r->cells->pdata[0];
	const struct cmp_cell *b = r->cells->pdata[col];
	struct cmp_verdict v = {
		.base = stats_of((double *)a->values->data, a->values->len,
				 r->higher_is_better),
		.now = stats_of((double *)b->values->data, b->values->len,
				r->higher_is_better),
	};

	v.change_pct = stats_change_pct(
		stats_mean(&v.base, r->higher_is_better),
		stats_mean(&v.now, r->higher_is_better), r->higher_is_better);
	v.star = b->posted_star || stats_star(&v.base, &v.now);
	v.welch = stats_welch((double *)a->values->data, a->values->len,
			      (double *)b->values->data, b->values->len);
	return v;
}

/* A single value that is exact, not somebody's mean of unknown samples. */
static bool exact(const struct cmp_row *r, int col)
{
	const struct cmp_cell *cell = r->cells->pdata[col];

	return cell->values->len == 1 && !cell->is_mean;
}

static bool by_chance(const struct cmp_row *r, int col,
		      const struct cmp_verdict *v)
{
	if (v->welch.possible)
		return v->welch.p >= 0.05;
	if (v->star)
		return false;
	return !exact(r, 0) || !exact(r, col);
}

/* Of nothing, no percentage is enough. */
static bool worse_by(const struct cmp_row *r, const struct cmp_verdict *v,
		     double pct)
{
	if (!isnan(v->change_pct))
		return v->change_pct < -pct;
	return r->higher_is_better ? v->now.amean < v->base.amean :
				     v->now.amean > v->base.amean;
}

int comparison_exit(const struct comparison *c, double threshold_pct)
{
	bool unsure = false, common = false;

	for (guint i = 0; i < c->rows->len; i++) {
		const struct cmp_row *r = c->rows->pdata[i];

		for (guint col = 1; col < c->heads->len; col++) {
			struct cmp_verdict v = comparison_verdict(r, col);

			if (!v.base.n || !v.now.n)
				continue;
			common = true;
			if (threshold_pct < 0 || !worse_by(r, &v, threshold_pct))
				continue;
			if (!by_chance(r, col, &v))
				return EXIT_RUN_FAILED;
			unsure = true;
		}
	}
	if (!common || unsure || (threshold_pct >= 0 && c->incomplete))
		return EXIT_CANT_TELL;
	return EXIT_DONE;
}
