/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plots drawn side by side: they're queued while they are made, and drawn when
 * all are there, by up to so many gnuplots at once.
 *
 * A gnuplot draws its share of them one after the other, for starting it costs
 * more than most plots do. Each begins with "reset session", so a plot is the
 * same to the byte whatever else was drawn before it. Where a share fails, its
 * plots are drawn again by a gnuplot each: one that can't be drawn takes no
 * other with it, and the message is its own.
 */
#ifndef RESULTS_DRAWING_H
#define RESULTS_DRAWING_H

#include "results/out.h"
#include "results/plot.h"

/* Plots go into @folder of @out; both must outlive it. */
struct drawing *drawing_new(struct outdir *out, const char *folder);
void drawing_free(struct drawing *d);

/*
 * Draws what was queued, with @jobs gnuplots at once, in a temporary folder,
 * and writes the images. What can't be drawn is told in *@warning, a sentence
 * about the first such plot in the order of the queue; it isn't an error. A
 * signal that ends a program ends this one, without a folder or gnuplots left.
 */
bool drawing_finish(struct drawing *d, int jobs, char **warning,
		    GError **error);

#endif
