/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Published figures beside simulated ones.
 *
 * A published table is a TSV as its author printed it (results/published/
 * NAME.tsv: '#' lines, a header line, rows). NAME.map beside it says which
 * figure of an experiment each value of the table is. It is a GKeyFile with a
 * group per column of values (the group's name is free):
 *
 *   column    the column that holds the value
 *   select    COLUMN=TEXT;... rows to take (default: all)
 *   figure    name of the metric or series
 *   scale     our unit = published * scale (default 1)
 *   stddev    column with the published standard deviation
 *   variant   our variant; or
 *   variants  TEXT=VARIANT;... by the text in the column "variant_column"
 *   minus     a second variant: the published value is the difference
 *             "variant - minus", or with percent=true that in % of "minus"
 *   parts     true: the values are parts of a value that another table has.
 *             They are shown beside the simulated ones, but an error in that
 *             one is not counted once more for each of them
 *   where     NAME=COLUMN;... coordinates, from the row's columns
 *   fixed     NAME=TEXT;... coordinates that all rows share
 *
 * A coordinate is one of the figure (a case of the sweep, the axis of a
 * series) or, where the figure has none of that name, a key of [workload] in
 * the effective config: "channel=pipes" holds if the experiment ran pipes.
 *
 * Published values are only ever compared with, never used by the model.
 * Whether a row was fitted is said by the experiment ([fitted], see
 * configs/config.h).
 */
#ifndef RESULTS_PUBLISHED_H
#define RESULTS_PUBLISHED_H

#include "results/figures.h"

struct target {
	char *variant, *minus; /* minus may be NULL */
	bool percent;	       /* of minus */
	char *name;	       /* of the figure */
	GPtrArray *coords;
	double value, stddev; /* in our unit; NAN if not published */
	double low, high; /* ends of a published range ("-4.0..-4.5") */
	bool fitted;
	bool part; /* shown, not counted: see "parts" */
	char *source; /* "memoryless-2026.tsv:12" */
};

void target_free(struct target *t);

/*
 * The targets of the result's published tables (a ';'-list), in order, fits
 * marked; NULL without error if the result names none. A name without '/' is
 * looked up in results/published ($SLUBSIM_PUBLISHED overrides where that is).
 */
GPtrArray *targets_load(const struct result *r, GError **error);
/* Of one table, without an experiment's fits. */
GPtrArray *targets_read(const char *tsv, GError **error);

/*
 * Points each figure at its target, borrowed. Targets that are differences
 * (minus) get figures of their own, appended to @figures: the differences of
 * the values of equal seeds. Targets that no figure answers stay unattached.
 */
void figures_attach(GPtrArray *figures, const GPtrArray *targets,
		    const struct result *r);
/* Simulated against published, in % of published; for differences that were
 * published in percent: in percentage points. */
double figure_error_pct(const struct figure *f);

#endif
