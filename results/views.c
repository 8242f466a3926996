/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/views.h"

#include <inttypes.h>
#include <string.h>

#include "results/costs.h"
#include "results/figures.h"
#include "results/html.h"
#include "results/plot.h"

char *place_folder(const char *variant, const GPtrArray *coords)
{
	g_autofree char *dir = safe_name(variant);
	g_autofree char *where = coords_text(coords);
	g_autofree char *safe = safe_name(g_strdelimit(where, " ", ','));

	return *where ? g_build_filename(dir, safe, NULL) :
			g_steal_pointer(&dir);
}

char *point_folder(const struct point *p)
{
	return place_folder(p->variant, p->coords);
}

/* '# ' lines that say where a TSV comes from. */
static void provenance(GString *s, const struct result *r)
{
	g_autofree char *command = g_strjoinv(" ", r->command);
	const struct point *p = r->points->len ? r->points->pdata[0] : NULL;

	g_string_append_printf(s, "# slubsim %s\n# %s\n", r->version, command);
	if (!r->complete)
		g_string_append(s, "# incomplete: some points are missing\n");
	if (p && p->config) {
		g_auto(GStrv) lines = g_strsplit(p->config, "\n", -1);

		g_string_append_printf(
			s, "# effective config of %s (of the others: "
			   "VARIANT/config.conf):\n", p->variant);
		for (int i = 0; lines[i]; i++)
			if (*lines[i])
				g_string_append_printf(s, "#   %s\n",
						       lines[i]);
	}
}

static void append_tsv(GString *s, const struct point *p, const char *name,
		       const char *unit, const char *axis, double x,
		       double value)
{
	g_autofree char *number = value_text(value);
	g_autofree char *where = coords_text(p->coords);
	g_autofree char *at = axis ? value_text(x) : NULL;

	g_string_append_printf(
		s, "%s\t%s\t%s\t%s%s%s%s%s\t%" PRIu64 "\t%s\t%s\t%s\n",
		p->variant, p->topology, p->workload, where,
		*where && axis ? " " : "", axis ? axis : "", axis ? "=" : "",
		axis ? at : "", p->seed, name, unit, number);
}

char *results_tsv(const struct result *r)
{
	GString *s = g_string_new(NULL);

	provenance(s, r);
	g_string_append(s, "variant\ttopology\tworkload\tparameters\tseed\t"
			   "metric\tunit\tvalue\n");
	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];

		for (guint k = 0; k < p->metrics->len; k++) {
			const struct metric *m = p->metrics->pdata[k];

			append_tsv(s, p, m->name, m->unit, NULL, 0, m->value);
		}
		for (guint k = 0; k < p->series->len; k++) {
			const struct sample *m = p->series->pdata[k];

			append_tsv(s, p, m->name, m->unit, m->axis, m->x,
				   m->value);
		}
	}
	return g_string_free(s, FALSE);
}

static void lock_row_text(GString *s, const char *name,
			  const struct lock_row *l, double us)
{
	g_string_append_printf(
		s, "%40s: %14" PRIu64 " %14" PRIu64
		   " %14.2f %14.2f %14.2f %14.2f %14" PRIu64 " %14" PRIu64
		   " %14.2f %14.2f %14.2f %14.2f\n",
		name, l->con_bounces, l->contentions, l->wait_min / us,
		l->wait_max / us, l->wait_total / us,
		l->contentions ? l->wait_total / us / l->contentions : 0.0,
		l->acq_bounces, l->acquisitions, l->hold_min / us,
		l->hold_max / us, l->hold_total / us,
		l->acquisitions ? l->hold_total / us / l->acquisitions : 0.0);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a; /* 0 = never happened */
}

static void lock_row_add(struct lock_row *sum, const struct lock_row *l)
{
	sum->acquisitions += l->acquisitions;
	sum->contentions += l->contentions;
	sum->acq_bounces += l->acq_bounces;
	sum->con_bounces += l->con_bounces;
	sum->wait_total += l->wait_total;
	sum->wait_min = least(sum->wait_min, l->wait_min);
	sum->wait_max = MAX(sum->wait_max, l->wait_max);
	sum->hold_total += l->hold_total;
	sum->hold_min = least(sum->hold_min, l->hold_min);
	sum->hold_max = MAX(sum->hold_max, l->hold_max);
}

/*
 * Version 0.4 of /proc/lock_stat: a row per class, times in us with two digits.
 * What the kernel can't show follows as a second table: the same by node. Call
 * sites are not repeated here, perf.folded has whole paths.
 */
char *lock_stat_text(const struct point *p)
{
	GString *s = g_string_new("lock_stat version 0.4\n");
	g_autofree char *dots = g_strnfill(236, '-');
	double us = p->freq_ghz * 1e3; /* cycles */
	guint i = 0;

	g_string_append_printf(
		s, "%s\n%40s: %14s %14s %14s %14s %14s %14s %14s %14s %14s "
		   "%14s %14s %14s\n%s\n\n",
		dots, "class name", "con-bounces", "contentions",
		"waittime-min", "waittime-max", "waittime-total",
		"waittime-avg", "acq-bounces", "acquisitions", "holdtime-min",
		"holdtime-max", "holdtime-total", "holdtime-avg", dots);
	while (i < p->locks->len) {
		const struct lock_row *first = p->locks->pdata[i];
		struct lock_row sum = {0};

		for (; i < p->locks->len; i++) {
			const struct lock_row *l = p->locks->pdata[i];

			if (strcmp(l->class, first->class))
				break;
			lock_row_add(&sum, l);
		}
		lock_row_text(s, first->class, &sum, us);
	}
	g_string_append_printf(s, "\n%40s\n%s\n\n", "by node:", dots);
	for (i = 0; i < p->locks->len; i++) {
		const struct lock_row *l = p->locks->pdata[i];
		g_autofree char *name = g_strdup_printf("%s N%d", l->class,
							l->node);

		lock_row_text(s, name, l, us);
	}
	return g_string_free(s, FALSE);
}

/* One line per path and cause; the cause is the innermost frame, in brackets
 * as flame graph tools mark what is not a function. */
char *folded_text(const struct point *p)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < p->account->len; i++) {
		const struct account_row *a = p->account->pdata[i];

		g_string_append_printf(s, "%s%s[%s] %" PRIu64 "\n", a->path,
				       *a->path ? ";" : "",
				       cause_names[a->cause], a->cycles);
	}
	return g_string_free(s, FALSE);
}

static bool write_in(struct outdir *out, const char *folder, const char *name,
		     char *text, GError **error)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	bool ok = outdir_write(out, path, text, error);

	g_free(text);
	return ok;
}

/* What a workload showed of its own, where the kernel would show it. */
static bool write_files(struct outdir *out, const char *folder,
			const struct point *p, GError **error)
{
	for (guint i = 0; i < p->files->len; i++) {
		const struct cache_dump *d = p->files->pdata[i];
		const struct cache_attr *a = d->attrs->pdata[0];
		g_autofree char *dir = g_build_filename(folder, d->name, NULL);

		if (!write_in(out, dir, a->name, g_strdup(a->text), error))
			return false;
	}
	return true;
}

static bool write_caches(struct outdir *out, const char *folder,
			 const struct point *p, GError **error)
{
	for (guint i = 0; i < p->caches->len; i++) {
		const struct cache_dump *d = p->caches->pdata[i];
		g_autofree char *name = safe_name(d->name);
		g_autofree char *dir = g_build_filename(
			folder, "sys", "kernel", "slab", name, NULL);

		for (guint k = 0; k < d->attrs->len; k++) {
			const struct cache_attr *a = d->attrs->pdata[k];

			if (!write_in(out, dir, a->name,
				      g_strconcat(a->text, "\n", NULL), error))
				return false;
		}
	}
	return true;
}

static bool write_point(struct outdir *out, const struct point *p,
			GError **error)
{
	g_autofree char *folder = point_folder(p);

	return write_caches(out, folder, p, error) &&
	       write_files(out, folder, p, error) &&
	       write_in(out, folder, "lock_stat.txt", lock_stat_text(p),
			error) &&
	       write_in(out, folder, "perf.folded", folded_text(p), error) &&
	       (!p->lines ||
		write_in(out, folder, "c2c.txt", c2c_text(p), error)) &&
	       write_in(out, folder, "config.conf",
			g_strdup(p->config ? p->config : ""), error);
}

static bool write_report(struct outdir *out, const struct result *r,
			 const char *table, GError **error)
{
	g_autofree char *plots = g_build_filename(outdir_path(out), "plots",
						  NULL);

	return write_in(out, "", "report.html", html_report(r, table, plots),
			error);
}

bool views_write(struct outdir *out, const struct result *r, int jobs,
		 char **warning, GError **error)
{
	g_autofree char *table = table_text(r, error);

	if (!table || !outdir_write(out, "table.txt", table, error) ||
	    !write_in(out, "", "results.tsv", results_tsv(r), error) ||
	    !write_in(out, "", "breakdown.txt", breakdown_text(r), error) ||
	    !write_in(out, "", "breakdown.tsv", breakdown_tsv(r), error))
		return false;
	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];

		if (p->iteration == 0 && !write_point(out, p, error))
			return false;
	}
	return plots_write(out, "plots", r, jobs, warning, error) &&
	       write_report(out, r, table, error);
}
