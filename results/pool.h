/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs as processes: SimGrid keeps one engine per process, so a point is one.
 *
 * Children never outlive the parent. A signal to the parent (INT, TERM, HUP)
 * ends the running children and returns what is done so far.
 */
#ifndef RESULTS_POOL_H
#define RESULTS_POOL_H

#include <glib.h>
#include <stdbool.h>

/* Runs in the child; what it leaves, it leaves in files. */
typedef bool (*pool_job)(void *arg, int job, GError **error);

struct pool_outcome {
	int n;
	bool *done;	 /* per job: ran and returned true */
	char **messages; /* per job: why it failed, or NULL */
	int nr_done, nr_failed;
	int signal; /* that ended it early, 0 = none */
};

/*
 * Runs jobs 0..@n-1 that @skip (may be NULL) doesn't name, up to @at_once side
 * by side, with a progress bar on a terminal that begins with @title (NULL: no
 * bar). Each @alike of them in a row take about as long; if more than one runs
 * at once, they start in an order that ends with short ones.
 */
struct pool_outcome *pool_run(const char *title, int n, const bool *skip,
			      int alike, int at_once, pool_job job, void *arg);
void pool_outcome_free(struct pool_outcome *o);

/* The progress bar's text, newly allocated, shorter than @columns: a line that
 * wraps can't be written over. The bar goes first, then the title's end. */
char *pool_progress(const char *title, int finished, int todo, double seconds,
		    int columns);

#endif
