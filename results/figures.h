/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures: the measured values of a result, addressed.
 *
 * A figure is a metric, or a value of a series, at one place: a variant and
 * coordinates (the case of the sweep, then the series' axis). It has one value
 * per iteration. Tables, plots, tidy TSV, published figures and comparisons all
 * name figures this way, so whether an axis was swept by separate points or
 * reported by one run makes no difference to them.
 */
#ifndef RESULTS_FIGURES_H
#define RESULTS_FIGURES_H

#include "results/result.h"

struct target; /* a published figure: results/published.h */

struct figure {
	char *variant;
	char *name, *unit; /* of the metric or series */
	bool higher_is_better;
	bool is_series;
	GPtrArray *coords; /* struct coord * */
	char *where;	   /* coords_text() */
	GArray *values;	   /* double, in order of iteration */
	GArray *seeds;	   /* uint64_t, beside the values */
	const struct target *target; /* NULL if nobody published it */
};

/* All figures of @r: metrics before series, in order of first report; within
 * a name by variant, then place. */
GPtrArray *figures_of(const struct result *r);
void figure_free(struct figure *f);
const struct figure *figure_find(const GPtrArray *figures, const char *variant,
				 const char *name, const char *where);
double figure_mean(const struct figure *f);
double figure_stddev(const struct figure *f); /* of the sample; 0 for one */

/* Distinct names in order; places (where texts) of one name in order. */
char **figure_names(const GPtrArray *figures);
char **figure_places(const GPtrArray *figures, const char *name);

#endif
