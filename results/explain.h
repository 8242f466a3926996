/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the difference between two variants comes from.
 *
 * Both are measured in cycles per operation (allocation or free), summed over
 * all CPUs, so the parts of the difference add up to the whole of it. Waiting
 * for locks is split by class and node of the lock. Idle time is a part like
 * the others: CPUs that wait for what others are slow at.
 */
#ifndef RESULTS_EXPLAIN_H
#define RESULTS_EXPLAIN_H

#include "results/costs.h"
#include "results/source.h"

struct part {
	char *name;
	double a, b; /* cycles per operation (counters: per 1000 operations) */
	bool in_a, in_b; /* counters: whether the kernel has it at all */
};

struct explanation {
	char *where; /* the case explained, "" without a sweep */
	char *metric, *unit;
	bool higher_is_better;
	double metric_a, metric_b; /* means; NAN if there is no metric */
	struct costs *a, *b;
	/* struct part *, largest difference first; each list sums to b - a */
	GPtrArray *functions, *causes, *paths;
	GPtrArray *counters; /* "CACHE counter": per 1000 operations */
	char *sentence;
};

/* @where NULL: the case in which the headline differs most. NULL and @error
 * if the two have no case in common. */
struct explanation *explain(const struct result *ra, const char *variant_a,
			    const struct result *rb, const char *variant_b,
			    const char *where, GError **error);
void explanation_free(struct explanation *e);

char *explanation_text(const struct explanation *e);
/* "a;b;[cause] CYCLES_A CYCLES_B", per 1000 operations: the input of a
 * differential flame graph. */
char *explanation_folded(const struct explanation *e);

/* "13.5 M/s" rather than "1.348e+07 1/s"; newly allocated. */
char *amount_text(double value, const char *unit);
/* The plain sentence; e's lists are there already (explain_words.c). */
char *explain_words(const struct explanation *e);

#endif
