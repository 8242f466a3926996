/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between two variants: which of the features they differ in does it.
 *
 * The differing features are switched one by one, in the order of the kernel's
 * history. A feature that can't be switched yet (it needs another, or another
 * still needs what it takes away) waits until it can; features that only go
 * together are one step. Each step is run in its place (all earlier steps are
 * done), alone on the first variant, and left out of the second: where these
 * three effects differ, steps interact. With n steps that are at most 3n runs
 * for each iteration.
 */
#ifndef RESULTS_BISECT_H
#define RESULTS_BISECT_H

#include "configs/config.h"
#include "results/result.h"

struct change {
	char *key;	    /* "features.sheaves" */
	char *before, *after; /* values as a config has them */
	const char *since;  /* first kernel that has it, or NULL */
};

struct step {
	char *name;	/* "+sheaves=all" */
	GArray *changes; /* guint, into the bisection's */
	/* names of variants among the experiment's, NULL where impossible */
	char *in_place, *alone, *without;
	char *why_not_alone, *why_not_without;
};

struct bisection {
	char *from, *to;
	GPtrArray *changes; /* struct change * */
	GPtrArray *steps;   /* struct step * */
	GPtrArray *notes;   /* char *: what had to wait, and for what */
};

/*
 * Plans it for @e, whose variants are the two (first: from). Afterwards they
 * are: from, each step in its place (the last is @to), then those alone and
 * without; the first 1 + steps of them make the sequence. False with @error
 * if they do not differ in anything that can be switched.
 */
struct bisection *bisection_plan(struct experiment *e, int max_runs,
				 GError **error);
void bisection_free(struct bisection *b);

/* The report; @r holds the run of the planned experiment. */
char *bisection_text(const struct bisection *b, const struct result *r);

#endif
