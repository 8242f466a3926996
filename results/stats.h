/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of samples, as mmtests prints them, and a real test.
 *
 * mmtests' star compares the intervals mean +- 1.96 standard deviations of the
 * samples (not of the mean): it fires where they do not overlap. Welch's t
 * test, which allows unequal variances, is the test printed beside it.
 */
#ifndef RESULTS_STATS_H
#define RESULTS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct stats {
	size_t n;
	double amean, hmean, min, max;
	double stddev;	 /* of the sample (n - 1); NAN for one value */
	double coeffvar; /* stddev in % of amean; as in mmtests 0 if that is 0 */
	/*
	 * Mean of the best 95 %, arithmetic (less is better) or harmonic. As
	 * mmtests selects them: of n values the int(0.95 n) smallest, but
	 * int(0.95 n) + 1 largest, at least one, at most all.
	 */
	double bmean95;
};

struct stats stats_of(const double *values, size_t n, bool higher_is_better);

/* The mean that mmtests prints: harmonic for rates, arithmetic for times. */
double stats_mean(const struct stats *s, bool higher_is_better);

/* In percent, positive is better: 100 - new*100/base or new*100/base - 100; 0
 * where nothing changes, NAN from 0 to something. */
double stats_change_pct(double base, double now, bool higher_is_better);

bool stats_star(const struct stats *a, const struct stats *b);

struct welch {
	bool possible; /* two or more values on both sides */
	double difference; /* mean of b - mean of a */
	double low, high;  /* 95 % confidence interval of the difference */
	double t, df, p;   /* p: two-sided; t is +-inf without any variance */
};

struct welch stats_welch(const double *a, size_t na, const double *b,
			 size_t nb);

#endif
