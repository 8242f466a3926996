/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/validation.h"

#include <math.h>
#include <string.h>

#include "results/published.h"

static void row_free(void *data)
{
	struct validation_row *row = data;

	g_free(row->experiment);
	g_free(row->figure);
	g_free(row->variant);
	g_free(row->where);
	g_free(row->unit);
	g_free(row);
}

GPtrArray *validation_new(void)
{
	return g_ptr_array_new_with_free_func(row_free);
}

bool validation_add(GPtrArray *rows, const struct result *r, GError **error)
{
	GPtrArray *targets = targets_load(r, error);
	GPtrArray *figures;

	if (!targets)
		return !*error;
	figures = figures_of(r);
	figures_attach(figures, targets, r);
	for (guint i = 0; i < figures->len; i++) {
		const struct figure *f = figures->pdata[i];
		struct validation_row *row;

		if (!f->target || f->target->part)
			continue;
		row = g_new0(struct validation_row, 1);
		row->experiment = g_strdup(r->name);
		row->figure = g_strdup(f->name);
		row->variant = f->target->minus ?
				       g_strdup_printf("%s - %s",
						       f->target->variant,
						       f->target->minus) :
				       g_strdup(f->variant);
		row->where = g_strdup(f->where);
		row->unit = g_strdup(f->unit);
		row->published = f->target->value;
		row->published_sd = f->target->stddev;
		row->simulated = figure_mean(f);
		row->simulated_sd = figure_stddev(f);
		/* as it is written: the summary of the file is that of the run */
		row->error_pct = round(figure_error_pct(f) * 10) / 10;
		row->status = f->target->fitted ? VALIDATION_FITTED :
						  VALIDATION_PREDICTED;
		g_ptr_array_add(rows, row);
	}
	g_ptr_array_unref(figures);
	g_ptr_array_unref(targets);
	return true;
}

/* ---- validation.tsv ---- */

static const char header[] =
	"experiment\tfigure\tvariant\twhere\tunit\tpublished\tpublished_sd\t"
	"simulated\tsimulated_sd\terror_pct\tstatus";
#define COLUMNS 11

static void append_number(GString *s, double v)
{
	char buf[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append_c(s, '\t');
	if (!isnan(v))
		g_string_append(s, g_ascii_formatd(buf, sizeof(buf), "%.5g",
						   v));
}

char *validation_tsv(const GPtrArray *rows)
{
	GString *s = g_string_new("# slubsim validate: published figures and "
				  "what the simulation gives for them\n");

	g_string_append_printf(s, "%s\n", header);
	for (guint i = 0; i < rows->len; i++) {
		const struct validation_row *row = rows->pdata[i];
		char buf[G_ASCII_DTOSTR_BUF_SIZE];

		g_string_append_printf(s, "%s\t%s\t%s\t%s\t%s",
				       row->experiment, row->figure,
				       row->variant, row->where, row->unit);
		append_number(s, row->published);
		append_number(s, row->published_sd);
		append_number(s, row->simulated);
		append_number(s, row->simulated_sd);
		g_string_append_printf(
			s, "\t%s\t%s\n",
			g_ascii_formatd(buf, sizeof(buf), "%.1f",
					row->error_pct),
			row->status == VALIDATION_FITTED ? "fitted" :
							   "predicted");
	}
	return g_string_free(s, FALSE);
}

GPtrArray *validation_read(const char *path, GError **error)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	GPtrArray *rows;
	bool headed = false;

	if (!g_file_get_contents(path, &text, NULL, error))
		return NULL;
	rows = validation_new();
	lines = g_strsplit(text, "\n", -1);
	for (int i = 0; lines[i]; i++) {
		g_auto(GStrv) cell = NULL;
		struct validation_row *row;

		if (!*lines[i] || *lines[i] == '#')
			continue;
		if (!headed && !strcmp(lines[i], header)) {
			headed = true;
			continue;
		}
		cell = g_strsplit(lines[i], "\t", -1);
		if (!headed || g_strv_length(cell) != COLUMNS) {
			g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
				    "%s:%d: no row of slubsim validate", path,
				    i + 1);
			g_ptr_array_unref(rows);
			return NULL;
		}
		row = g_new0(struct validation_row, 1);
		row->experiment = g_strdup(cell[0]);
		row->figure = g_strdup(cell[1]);
		row->variant = g_strdup(cell[2]);
		row->where = g_strdup(cell[3]);
		row->unit = g_strdup(cell[4]);
		row->published = g_ascii_strtod(cell[5], NULL);
		row->published_sd = *cell[6] ? g_ascii_strtod(cell[6], NULL) :
					       NAN;
		row->simulated = g_ascii_strtod(cell[7], NULL);
		row->simulated_sd = g_ascii_strtod(cell[8], NULL);
		row->error_pct = g_ascii_strtod(cell[9], NULL);
		row->status = strcmp(cell[10], "fitted") ?
				      VALIDATION_PREDICTED :
				      VALIDATION_FITTED;
		g_ptr_array_add(rows, row);
	}
	return rows;
}

/* ---- the summary ---- */

struct sums {
	unsigned rows, predicted, comparisons, wrong, stated;
	double errors, worst; /* of predicted rows, absolute */
	const struct validation_row *worst_row;
};

static void sum_errors(struct sums *s, const struct validation_row *row)
{
	double e = fabs(row->error_pct);

	s->rows++;
	if (row->status == VALIDATION_FITTED)
		return;
	s->predicted++;
	s->errors += e;
	if (!s->worst_row || e > s->worst) {
		s->worst = e;
		s->worst_row = row;
	}
}

static bool is_difference(const struct validation_row *row)
{
	return strstr(row->variant, " - ") != NULL;
}

static bool comparable(const struct validation_row *a,
		       const struct validation_row *b)
{
	return !is_difference(a) && !strcmp(a->experiment, b->experiment) &&
	       !strcmp(a->figure, b->figure) && !strcmp(a->where, b->where) &&
	       strcmp(a->variant, b->variant);
}

static int sign(double d)
{
	return (d > 0) - (d < 0);
}

static void sum_signs(struct sums *s, const GPtrArray *rows, guint i,
		      bool stated)
{
	const struct validation_row *b = rows->pdata[i];

	if (is_difference(b)) {
		s->comparisons++;
		if (sign(b->published) != sign(b->simulated))
			*(stated ? &s->stated : &s->wrong) += 1;
		return;
	}
	for (guint k = 0; k < i; k++) {
		const struct validation_row *a = rows->pdata[k];

		/* Equal as published: no order to get right. */
		if (!comparable(a, b) || a->published == b->published)
			continue;
		s->comparisons++;
		if (sign(a->published - b->published) ==
		    sign(a->simulated - b->simulated))
			continue;
		*(stated ? &s->stated : &s->wrong) += 1;
	}
}

static void add_line(GString *out, const char *name, const struct sums *s)
{
	char mean[32] = "-", worst[32] = "-";

	if (s->predicted) {
		g_ascii_formatd(mean, sizeof(mean), "%.1f",
				s->errors / s->predicted);
		g_ascii_formatd(worst, sizeof(worst), "%.1f", s->worst);
	}
	g_string_append_printf(out, "%-32s %5u %9u %7s %7s %11u %6u %7u\n",
			       name, s->rows, s->predicted, mean, worst,
			       s->comparisons, s->wrong, s->stated);
}

char *validation_summary(const GPtrArray *rows, const char *reasons)
{
	GString *out = g_string_new(NULL);
	g_autoptr(GString) told = g_string_new(NULL);
	g_autoptr(GKeyFile) file = g_key_file_new();
	struct sums all = { 0 };

	if (reasons)
		g_key_file_load_from_file(file, reasons, 0, NULL);
	g_string_append_printf(out, "%-32s %5s %9s %7s %7s %11s %6s %7s\n",
			       "experiment", "rows", "predicted", "mean %",
			       "worst %", "comparisons", "wrong", "stated");
	for (guint i = 0; i < rows->len;) {
		const char *name = ((struct validation_row *)rows->pdata[i])
					   ->experiment;
		g_autofree char *reason = g_key_file_get_string(
			file, name, "reason", NULL);
		struct sums s = { 0 };

		for (; i < rows->len; i++) {
			const struct validation_row *row = rows->pdata[i];

			if (strcmp(row->experiment, name))
				break;
			sum_errors(&s, row);
			sum_errors(&all, row);
			sum_signs(&s, rows, i, reason != NULL);
		}
		add_line(out, name, &s);
		all.comparisons += s.comparisons;
		all.wrong += s.wrong;
		all.stated += s.stated;
		if (reason)
			g_string_append_printf(told, "%s: %s\n", name, reason);
	}
	add_line(out, "all", &all);
	if (all.worst_row)
		g_string_append_printf(out, "worst: %s %s %s %s\n",
				       all.worst_row->experiment,
				       all.worst_row->variant,
				       all.worst_row->figure,
				       all.worst_row->where);
	g_string_append_printf(
		out, "Errors are absolute, of predicted rows; wrong = "
		     "comparisons of two variants with the wrong one ahead.\n");
	if (told->len)
		g_string_append_printf(out, "Stated disagreements:\n%s",
				       told->str);
	return g_string_free(out, FALSE);
}
