/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run leaves in its folder, besides result.json:
 *
 *   table.txt             variants as columns, published beside simulated
 *   results.tsv           tidy: a row per value
 *   breakdown.txt, .tsv   cycles per operation by function and cause
 *   VARIANT[/CASE]/       what that kernel would show (of iteration 0):
 *     sys/kernel/slab/CACHE/ATTRIBUTE
 *     lock_stat.txt       /proc/lock_stat, version 0.4
 *     perf.folded         flame graph input, cycles
 *     c2c.txt             shared lines (--c2c)
 *     trace.json          for Perfetto (--trace-window)
 *     config.conf         effective config, runs again as it is
 *   report.html           all of it in one file, for a browser
 *   plots/                png and svg, with the .gp and .dat that made them
 *
 * All texts depend on the result alone, never on when or where it was made.
 */
#ifndef RESULTS_VIEWS_H
#define RESULTS_VIEWS_H

#include "results/out.h"
#include "results/result.h"

/* Up to @jobs plots are drawn at once. *@warning (newly allocated) tells why
 * there are no images, if there are none. */
bool views_write(struct outdir *out, const struct result *r, int jobs,
		 char **warning, GError **error);

/* Where a point's own files are, relative to the result folder; new. */
char *point_folder(const struct point *p);
char *place_folder(const char *variant, const GPtrArray *coords);

/* Texts of the single views, newly allocated. */
char *table_text(const struct result *r, GError **error);
char *results_tsv(const struct result *r);
char *breakdown_text(const struct result *r);
char *breakdown_tsv(const struct result *r);
char *lock_stat_text(const struct point *p);
char *folded_text(const struct point *p);
char *c2c_text(const struct point *p);

#endif
