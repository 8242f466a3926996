/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/html.h"

#include <math.h>
#include <inttypes.h>
#include <string.h>

#include "results/explain.h"
#include "results/figures.h"
#include "results/plot.h"
#include "results/published.h"
#include "results/stats.h"
#include "results/views.h"

static const char style[] =
	"body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;"
	"max-width:70rem;margin:2rem auto;padding:0 1rem}"
	"h1{margin-bottom:.2rem}h2{margin-top:2.5rem;border-bottom:1px solid "
	"#ddd}p.what{color:#555;margin-top:0}"
	"table{border-collapse:collapse;margin:1rem 0}"
	"th,td{padding:.25rem .8rem;border-bottom:1px solid #ddd;"
	"text-align:right}th:first-child,td:first-child{text-align:left}"
	"pre{background:#f6f6f6;padding:.8rem;overflow-x:auto;font-size:13px;"
	"line-height:1.35}figure{margin:1.5rem 0}img{max-width:100%;height:auto}"
	"summary{cursor:pointer;font-weight:600;margin:.5rem 0}"
	".bad{color:#a8324a}";

static void heading(GString *s, const char *text)
{
	g_autofree char *escaped = g_markup_escape_text(text, -1);

	g_string_append_printf(s, "<h2>%s</h2>\n", escaped);
}

static void preformatted(GString *s, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	g_autofree char *escaped = g_markup_escape_text(valid, -1);

	g_string_append_printf(s, "<pre>%s</pre>\n", escaped);
}

static void folded_away(GString *s, const char *title, const char *text)
{
	g_autofree char *escaped = g_markup_escape_text(title, -1);

	g_string_append_printf(s, "<details><summary>%s</summary>\n", escaped);
	preformatted(s, text);
	g_string_append(s, "</details>\n");
}

static void cell(GString *s, const char *tag, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

static void cell(GString *s, const char *tag, const char *format, ...)
{
	va_list args;
	g_autofree char *text = NULL, *escaped = NULL;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	escaped = g_markup_escape_text(text, -1);
	g_string_append_printf(s, "<%s>%s</%s>", tag, escaped, tag);
}

static void figure_row(GString *s, const struct figure *f,
		       const struct figure *base, double divisor,
		       bool published)
{
	double change = stats_change_pct(figure_mean(base), figure_mean(f),
					 f->higher_is_better);

	g_string_append(s, "<tr>");
	cell(s, "td", "%s", f->variant);
	cell(s, "td", "%.4g", figure_mean(f) / divisor);
	cell(s, "td", "%.2g", figure_stddev(f) / divisor);
	if (f == base)
		cell(s, "td", "baseline");
	else if (isnan(change))
		cell(s, "td", "-");
	else
		cell(s, "td", "%+.1f %%", change);
	if (published && f->target) {
		cell(s, "td", "%.4g", f->target->value / divisor);
		cell(s, "td", "%+.1f %%", figure_error_pct(f));
		cell(s, "td", "%s", f->target->fitted ? "fitted" : "predicted");
	} else if (published) {
		g_string_append(s, "<td></td><td></td><td></td>");
	}
	g_string_append(s, "</tr>\n");
}

/* A metric that has one value per variant: a row each. What has coordinates is
 * in the plots, and in the tables further below. */
static void figure_table(GString *s, const GPtrArray *figures, const char *name,
			 char **variants)
{
	const struct figure *base = NULL;
	double divisor = 1, largest = 0;
	g_autofree char *label = NULL;
	bool published = false;

	for (int i = 0; variants[i]; i++) {
		const struct figure *f = figure_find(figures, variants[i], name,
						     "");

		if (!f)
			continue;
		if (!base)
			base = f;
		published |= f->target != NULL;
		largest = fmax(largest, fabs(figure_mean(f)));
	}
	if (!base)
		return;
	label = plot_label(name, base->unit, largest, &divisor);
	g_string_append(s, "<table><tr>");
	cell(s, "th", "%s", label);
	cell(s, "th", "mean");
	cell(s, "th", "standard deviation");
	cell(s, "th", "better by");
	if (published) {
		cell(s, "th", "published");
		cell(s, "th", "error");
		cell(s, "th", "this was");
	}
	g_string_append(s, "</tr>\n");
	for (int i = 0; variants[i]; i++) {
		const struct figure *f = figure_find(figures, variants[i], name,
						     "");

		if (f)
			figure_row(s, f, base, divisor, published);
	}
	g_string_append(s, "</table>\n");
}

static void summary(GString *s, const struct result *r, const GPtrArray *figures)
{
	g_auto(GStrv) names = figure_names(figures);

	heading(s, "Figures");
	for (int i = 0; names[i]; i++)
		figure_table(s, figures, names[i], r->variants);
}

static void explanations(GString *s, const struct result *r)
{
	if (!r->variants[0] || !r->variants[1])
		return;
	heading(s, "Why");
	for (int i = 1; r->variants[i]; i++) {
		struct explanation *e = explain(r, r->variants[0], r,
						r->variants[i], NULL, NULL);
		g_autofree char *escaped = NULL, *text = NULL;

		if (!e)
			continue;
		escaped = g_markup_escape_text(e->sentence, -1);
		text = explanation_text(e);
		g_string_append_printf(s, "<p>%s</p>\n", escaped);
		folded_away(s, "the parts", text);
		explanation_free(e);
	}
}

static int name_compare(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int hx = !g_str_has_prefix(x, "headline"),
	    hy = !g_str_has_prefix(y, "headline");

	return hx != hy ? hx - hy : strcmp(x, y);
}

/* Images as data: each keeps its own name space of ids. */
static void plots(GString *s, const char *dir)
{
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (d && (name = g_dir_read_name(d)))
		if (g_str_has_suffix(name, ".svg"))
			g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, name_compare);
	if (names->len)
		heading(s, "Plots");
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *path = g_build_filename(dir, names->pdata[i],
							 NULL);
		g_autofree char *data = NULL, *code = NULL, *alt = NULL;
		gsize length;

		if (!g_file_get_contents(path, &data, &length, NULL))
			continue;
		code = g_base64_encode((guchar *)data, length);
		alt = g_markup_escape_text(names->pdata[i], -1);
		g_string_append_printf(
			s, "<figure><img alt=\"%s\" "
			   "src=\"data:image/svg+xml;base64,%s\"></figure>\n",
			alt, code);
	}
}

static void configs(GString *s, const struct result *r)
{
	heading(s, "Effective configs");
	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];
		g_autofree char *folder = NULL;

		if (p->iteration || !p->config)
			continue;
		folder = point_folder(p);
		folded_away(s, folder, p->config);
	}
}

static void locks(GString *s, const struct result *r)
{
	heading(s, "Locks");
	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];
		g_autofree char *folder = NULL, *text = NULL;

		if (p->iteration)
			continue;
		folder = point_folder(p);
		text = lock_stat_text(p);
		folded_away(s, folder, text);
	}
}

char *html_report(const struct result *r, const char *table,
		  const char *plot_dir)
{
	g_autoptr(GPtrArray) figures = figures_of(r), targets = NULL;
	g_autofree char *breakdown = NULL, *command = NULL, *name = NULL;
	g_autofree char *what = NULL, *changes = NULL, *changed = NULL;
	GString *s;

	targets = targets_load(r, NULL);
	if (targets)
		figures_attach(figures, targets, r);
	name = g_markup_escape_text(r->name, -1);
	what = g_markup_escape_text(r->description ? r->description : "", -1);
	s = g_string_new("<!DOCTYPE html>\n<html lang=\"en\"><head>"
			 "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
			 "content=\"width=device-width,initial-scale=1\">\n");
	g_string_append_printf(
		s, "<title>%s</title>\n<style>%s</style></head><body>\n"
		   "<h1>%s</h1>\n<p class=\"what\">%s</p>\n",
		name, style, name, what);
	g_string_append_printf(
		s, "<p>%s, workload %s, %d iteration%s, seed %" PRIu64
		   ", slubsim %s.</p>\n",
		r->topology, r->workload, r->iterations,
		r->iterations == 1 ? "" : "s", r->seed, r->version);
	changes = result_changes(r);
	changed = g_markup_escape_text(changes, -1);
	if (*changed)
		g_string_append_printf(s, "<p>Changed: %s</p>\n", changed);
	if (!r->complete)
		g_string_append(s, "<p class=\"bad\">Incomplete: some points "
				   "are missing.</p>\n");
	summary(s, r, figures);
	explanations(s, r);
	plots(s, plot_dir);
	heading(s, "Tables");
	preformatted(s, table);
	breakdown = breakdown_text(r);
	folded_away(s, "where the cycles go", breakdown);
	locks(s, r);
	configs(s, r);
	heading(s, "Again");
	command = g_strjoinv(" ", r->command);
	preformatted(s, command);
	g_string_append(s, "</body></html>\n");
	return g_string_free(s, FALSE);
}
