/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as text: mmtests' table, TSV, JSON, mmtests' raw input. */
#include <json-glib/json-glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare.h"
#include "results/result.h"

/* ---- the table ---- */

enum { CELL = 23 }; /* "%12.4f" and " (%7.2f%%)" */

static double value_of(const struct stats *s, const char *statistic,
		       bool higher)
{
	if (!strcmp(statistic, "mean"))
		return stats_mean(s, higher);
	if (!strcmp(statistic, "Min"))
		return s->min;
	if (!strcmp(statistic, "Stddev"))
		return s->stddev;
	if (!strcmp(statistic, "CoeffVar"))
		return s->coeffvar;
	if (!strcmp(statistic, "Max"))
		return s->max;
	return s->bmean95;
}

static bool same_title(const struct cmp_row *a, const struct cmp_row *b)
{
	return !strcmp(a->title, b->title);
}

/* mmtests fits a value into 12 characters; large rates keep fewer decimals. */
static void append_value(GString *s, double v)
{
	int decimals = fabs(v) < 1e6 ? 4 : fabs(v) < 1e8 ? 2 : 0;

	if (isnan(v))
		g_string_append_printf(s, "%12s", "nan");
	else
		g_string_append_printf(s, "%12.*f", decimals, v);
}

/* What mmtests prints of a change from nothing, of which no percentage is. */
static double shown_pct(double base, double now, bool higher)
{
	if (base == 0 && now != 0)
		return higher ? 100 : -99;
	return stats_change_pct(base, now, higher);
}

static void cell_text(GString *s, const struct cmp_row *r, guint col,
		      const char *statistic)
{
	struct cmp_verdict v = comparison_verdict(r, col);
	bool spread = g_str_has_prefix(statistic, "Std") ||
		      g_str_has_prefix(statistic, "Coeff");
	bool higher = r->higher_is_better && !spread;
	bool star = !strcmp(statistic, "mean") && v.star;
	double base = value_of(&v.base, statistic, r->higher_is_better);
	double now = value_of(&v.now, statistic, r->higher_is_better);

	if (!v.now.n) {
		g_string_append_printf(s, "%*s", CELL, "");
		return;
	}
	append_value(s, now);
	if (!v.base.n || isnan(base) || isnan(now))
		g_string_append_printf(s, " %10s", "");
	else
		g_string_append_printf(
			s, " %c%7.2f%%%c", star ? '*' : '(',
			col ? shown_pct(base, now, higher) : 0,
			star ? '*' : ')');
}

static bool any_samples(const struct cmp_row *r)
{
	for (guint i = 0; i < r->cells->len; i++)
		if (((struct cmp_cell *)r->cells->pdata[i])->values->len > 1)
			return true;
	return false;
}

static bool any_spread(const struct comparison *c, guint from)
{
	for (guint i = from; i < c->rows->len &&
			     same_title(c->rows->pdata[from], c->rows->pdata[i]);
	     i++)
		if (any_samples(c->rows->pdata[i]))
			return true;
	return false;
}

/* Column heads end where their cells do. Too long, a source loses its end and a
 * variant its beginning: that is where others of its kind are alike. */
static void heads_text(GString *s, const struct comparison *c, int label)
{
	for (int row = 0; row < 2; row++) {
		g_string_append_printf(s, "%*s", label, "");
		for (guint i = 0; i < c->heads->len; i++) {
			g_auto(GStrv) head = g_strsplit(c->heads->pdata[i],
							"\n", 2);
			const char *text = head[row];
			int n = strlen(text);

			if (row && n > CELL - 1)
				text += n - (CELL - 1);
			g_string_append_printf(s, " %*.*s", CELL - 1, CELL - 1,
					       text);
		}
		while (s->len && s->str[s->len - 1] == ' ')
			g_string_truncate(s, s->len - 1);
		g_string_append_c(s, '\n');
	}
}

static void welch_text(GString *s, const struct cmp_row *r, guint col,
		       const char *head, int width)
{
	struct cmp_verdict v = comparison_verdict(r, col);
	/* of a mean of 0 there are no percents: in the unit of the title */
	const char *pct = v.base.amean == 0 ? " " : "%";
	double per = v.base.amean == 0 ? 1 : 100 / v.base.amean;
	double scale = r->higher_is_better ? per : -per;
	/* + 0.0: no -0 */
	double a = scale * v.welch.low + 0.0, b = scale * v.welch.high + 0.0;
	double change = scale * v.welch.difference + 0.0;
	g_auto(GStrv) names = g_strsplit(head, "\n", 2);

	if (!v.base.n || !v.now.n)
		return;
	g_string_append_printf(s, "%-*s %-24s ", width, r->op,
			       *names[1] ? names[1] : names[0]);
	if (!v.welch.possible) {
		g_string_append(s, "no test: a single value on one side\n");
		return;
	}
	g_string_append_printf(
		s, "%+8.2f%s [%+8.2f%s, %+8.2f%s] t %9.3f df %7.1f p %.2g  %s\n",
		change, pct, fmin(a, b), pct, fmax(a, b), pct, v.welch.t,
		v.welch.df, v.welch.p,
		v.welch.p >= 0.05 ? "may be chance" :
		change > 0	  ? "better" :
				    "worse");
}

char *comparison_table(const struct comparison *c)
{
	static const char *const spreads[] = {"Min", "Stddev", "CoeffVar",
					      "Max", "BMEAN", NULL};
	GString *s = g_string_new(NULL);
	int width = 8;

	for (guint i = 0; i < c->rows->len; i++)
		width = MAX(width, (int)strlen(
				   ((struct cmp_row *)c->rows->pdata[i])->op));
	for (guint from = 0, to; from < c->rows->len; from = to) {
		const struct cmp_row *first = c->rows->pdata[from];
		const char *mean = first->higher_is_better ? "Hmean" : "Amean";
		bool spread = any_spread(c, from);

		for (to = from; to < c->rows->len &&
				same_title(first, c->rows->pdata[to]);)
			to++;
		g_string_append_printf(s, "%s%s%s%s%s\n", from ? "\n" : "",
				       first->title, *first->unit ? " [" : "",
				       first->unit, *first->unit ? "]" : "");
		heads_text(s, c, 10 + width);
		for (int k = -1; k < 0 || (spread && spreads[k]); k++) {
			g_autofree char *name =
				k < 0 ? g_strdup(mean) :
				!strcmp(spreads[k], "BMEAN") ?
					g_strdup_printf("B%s-95", mean) :
					g_strdup(spreads[k]);

			for (guint i = from; i < to; i++) {
				const struct cmp_row *r = c->rows->pdata[i];

				g_string_append_printf(s, "%-9s %-*s", name,
						       width, r->op);
				for (guint j = 0; j < c->heads->len; j++)
					cell_text(s, r, j,
						  k < 0 ? "mean" : spreads[k]);
				while (s->str[s->len - 1] == ' ')
					g_string_truncate(s, s->len - 1);
				g_string_append_c(s, '\n');
			}
		}
		if (!spread || c->heads->len < 2)
			continue;
		g_string_append(s,
				"\nWelch's t test of the means, 95 % confidence "
				"interval of the difference (positive: "
				"better)\n");
		for (guint i = from; i < to; i++)
			for (guint j = 1; j < c->heads->len; j++)
				welch_text(s, c->rows->pdata[i], j,
					   c->heads->pdata[j], width);
	}
	if (c->incomplete)
		g_string_append(s, "\nIncomplete: points are missing.\n");
	return g_string_free(s, FALSE);
}

/* ---- machine-readable ---- */

static void tsv_number(GString *s, double v)
{
	g_autofree char *text = isnan(v) ? g_strdup("nan") : value_text(v);

	g_string_append_printf(s, "\t%s", text);
}

char *comparison_tsv(const struct comparison *c)
{
	GString *s = g_string_new(
		"title\top\tunit\tsource\tvariant\tn\tamean\thmean\tmin\t"
		"stddev\tcoeffvar_pct\tmax\tbmean95\tchange_pct\tstar\t"
		"difference\tci95_low\tci95_high\twelch_t\twelch_df\t"
		"welch_p\n");

	for (guint i = 0; i < c->rows->len; i++) {
		const struct cmp_row *r = c->rows->pdata[i];

		for (guint j = 0; j < c->heads->len; j++) {
			struct cmp_verdict v = comparison_verdict(r, j);
			g_auto(GStrv) head = g_strsplit(c->heads->pdata[j],
							"\n", 2);

			if (!v.now.n)
				continue;
			g_string_append_printf(s, "%s\t%s\t%s\t%s\t%s\t%zu",
					       r->title, r->op, r->unit,
					       head[0], head[1], v.now.n);
			tsv_number(s, v.now.amean);
			tsv_number(s, v.now.hmean);
			tsv_number(s, v.now.min);
			tsv_number(s, v.now.stddev);
			tsv_number(s, v.now.coeffvar);
			tsv_number(s, v.now.max);
			tsv_number(s, v.now.bmean95);
			tsv_number(s, v.change_pct);
			g_string_append_printf(s, "\t%d", j && v.star);
			tsv_number(s, v.welch.difference);
			tsv_number(s, v.welch.low);
			tsv_number(s, v.welch.high);
			tsv_number(s, v.welch.t);
			tsv_number(s, v.welch.df);
			tsv_number(s, v.welch.p);
			g_string_append_c(s, '\n');
		}
	}
	return g_string_free(s, FALSE);
}

static void put(JsonBuilder *b, const char *key, double v)
{
	json_builder_set_member_name(b, key);
	if (isfinite(v))
		json_builder_add_double_value(b, v);
	else
		json_builder_add_null_value(b);
}

static void put_text(JsonBuilder *b, const char *key, const char *text)
{
	json_builder_set_member_name(b, key);
	json_builder_add_string_value(b, text);
}

static void put_cell(JsonBuilder *b, const struct comparison *c,
		     const struct cmp_row *r, guint j)
{
	struct cmp_verdict v = comparison_verdict(r, j);
	const struct cmp_cell *cell = r->cells->pdata[j];
	g_auto(GStrv) head = g_strsplit(c->heads->pdata[j], "\n", 2);

	json_builder_begin_object(b);
	put_text(b, "source", head[0]);
	put_text(b, "variant", head[1]);
	json_builder_set_member_name(b, "values");
	json_builder_begin_array(b);
	for (guint k = 0; k < cell->values->len; k++)
		json_builder_add_double_value(
			b, g_array_index(cell->values, double, k));
	json_builder_end_array(b);
	put(b, "amean", v.now.amean);
	put(b, "hmean", v.now.hmean);
	put(b, "min", v.now.min);
	put(b, "stddev", v.now.stddev);
	put(b, "coeffvar_pct", v.now.coeffvar);
	put(b, "max", v.now.max);
	put(b, "bmean95", v.now.bmean95);
	put(b, "change_pct", v.change_pct);
	json_builder_set_member_name(b, "star");
	json_builder_add_boolean_value(b, j && v.star);
	put(b, "difference", v.welch.difference);
	put(b, "ci95_low", v.welch.low);
	put(b, "ci95_high", v.welch.high);
	put(b, "welch_t", v.welch.t);
	put(b, "welch_df", v.welch.df);
	put(b, "welch_p", v.welch.p);
	json_builder_end_object(b);
}

char *comparison_json(const struct comparison *c)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autoptr(JsonGenerator) gen = json_generator_new();
	g_autofree char *text = NULL;
	JsonNode *root;

	json_builder_begin_object(b);
	json_builder_set_member_name(b, "schema_version");
	json_builder_add_int_value(b, RESULT_SCHEMA);
	json_builder_set_member_name(b, "complete");
	json_builder_add_boolean_value(b, !c->incomplete);
	json_builder_set_member_name(b, "rows");
	json_builder_begin_array(b);
	for (guint i = 0; i < c->rows->len; i++) {
		const struct cmp_row *r = c->rows->pdata[i];

		json_builder_begin_object(b);
		put_text(b, "title", r->title);
		put_text(b, "op", r->op);
		put_text(b, "unit", r->unit);
		json_builder_set_member_name(b, "higher_is_better");
		json_builder_add_boolean_value(b, r->higher_is_better);
		json_builder_set_member_name(b, "columns");
		json_builder_begin_array(b);
		for (guint j = 0; j < c->heads->len; j++)
			put_cell(b, c, r, j);
		json_builder_end_array(b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
	root = json_builder_get_root(b);
	json_generator_set_root(gen, root);
	json_generator_set_pretty(gen, TRUE);
	text = json_generator_to_data(gen, NULL);
	json_node_unref(root);
	return g_strconcat(text, "\n", NULL);
}

/* metric, factor A (operation), factor B (kernel), interval, value, extra. */
struct raw {
	char *metric, *op, *kernel;
	int interval;
	double value;
};

/* The number that sort -n takes @s for: no exponent, 0 where there is none. */
static double leading_number(const char *s)
{
	g_autofree char *digits = g_strndup(s, strspn(s, "-0123456789."));

	return g_ascii_strtod(digits, NULL);
}

/* As sort -t TAB -k1,1 -k2,2n -k4,4n does; ties go by the rest of the line. */
static int raw_compare(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;
	double p = leading_number(x->op), q = leading_number(y->op);
	int by_metric = strcmp(x->metric, y->metric);

	if (by_metric)
		return by_metric;
	if (p != q)
		return p < q ? -1 : 1;
	if (x->interval != y->interval)
		return x->interval - y->interval;
	if (strcmp(x->op, y->op))
		return strcmp(x->op, y->op);
	return strcmp(x->kernel, y->kernel);
}

char *comparison_mmtests(const struct comparison *c)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct raw));
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < c->rows->len; i++) {
		const struct cmp_row *r = c->rows->pdata[i];

		for (guint j = 0; j < c->heads->len; j++) {
			const struct cmp_cell *cell = r->cells->pdata[j];
			char *kernel = g_strdup(c->heads->pdata[j]);

			g_strchomp(kernel);
			g_strdelimit(kernel, "\n", '-');
			for (guint k = 0; k < cell->values->len; k++) {
				struct raw raw = {
					r->title, r->op, g_strdup(kernel), k + 1,
					g_array_index(cell->values, double, k)};

				g_array_append_val(all, raw);
			}
			g_free(kernel);
		}
	}
	g_array_sort(all, raw_compare);
	for (guint i = 0; i < all->len; i++) {
		struct raw *r = &g_array_index(all, struct raw, i);
		g_autofree char *value = value_text(r->value);

		g_string_append_printf(s, "%s\t%s\t%s\t%d\t%s\t\n", r->metric,
				       r->op, r->kernel, r->interval, value);
		g_free(r->kernel);
	}
	return g_string_free(s, FALSE);
}
