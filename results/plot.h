/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plots of a result, drawn by gnuplot: NAME.png and NAME.svg, with NAME.gp and
 * NAME.dat beside them, so that `gnuplot NAME.gp` draws them again.
 *
 *   headline          bars of the first metric by variant, published beside
 *   NAME              a metric or series over its axis: lines with error bars
 *                     over numbers (log2 where they span powers), bars over
 *                     ids and names; published values as hollow points
 *   NAME-map-VARIANT  heat map of a figure over two axes of numbers, where
 *                     lines would need more than a few images
 *   NAME-change-VARIANT   the same: change against the baseline in percent
 *   breakdown         cycles per operation, stacked by cause
 *   lock-wait         cycles per operation spent waiting, by node of the lock
 *   lock-map-VARIANT  heat map of the same: class of the lock x its node
 *   traffic-VARIANT   bytes between the CPUs' nodes and the memory's nodes
 *
 * A variant has the same colour in every plot; the baseline comes first, keys
 * stand outside, axes have units and begin at zero.
 */
#ifndef RESULTS_PLOT_H
#define RESULTS_PLOT_H

#include "results/out.h"
#include "results/result.h"

/*
 * Writes all plots of @r into @folder of @out, drawn by @jobs gnuplots at once.
 * Without gnuplot the .gp and .dat are written all the same, and *@warning is
 * set to a sentence.
 */
bool plots_write(struct outdir *out, const char *folder, const struct result *r,
		 int jobs, char **warning, GError **error);

/* "#rrggbb", one per variant of the list; fixed by the names alone. */
char **variant_colours(char **variants);

/* A plot in the making: texts of the two files. */
struct plot {
	char *name;
	GString *gp, *dat;
};
/* Begins the .gp: terminal and what all plots share. */
struct plot *plot_new(const char *name, const char *title, int width,
		      int height);
void plot_free(struct plot *p);
struct drawing; /* results/drawing.h */
/* Writes .gp and .dat, and has the images drawn later. Takes @p over. */
bool plot_draw(struct plot *p, struct drawing *d, GError **error);
/* @s between quotes, as gnuplot reads it; newly allocated. */
char *plot_quote(const char *s);
/* Axis label with unit, and what to divide values by ("M/s", 1e6). */
char *plot_label(const char *name, const char *unit, double largest,
		 double *divisor);

/* "time_ms" is "time [ms]"; newly allocated. */
char *plot_axis(const char *name);

/* The kinds, each in its own file. */
/* @figures: of one name, each with the same two coordinates. */
bool plot_map(struct drawing *d, const struct result *r,
	      const GPtrArray *figures, GError **error);
bool plot_figures(struct drawing *d, const struct result *r, GError **error);
bool plot_costs(struct drawing *d, const struct result *r, GError **error);
bool plot_locks(struct drawing *d, const struct result *r, GError **error);

#endif
