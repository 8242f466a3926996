/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics against what can be worked out on paper or in a book. */
#include "results/stats.h"

#include <glib.h>
#include <math.h>

static void near(double a, double b, double tolerance)
{
	g_assert_cmpfloat(fabs(a - b), <=, tolerance);
}

static void test_summary(void)
{
	static const double v[] = {4, 1, 2};
	struct stats s = stats_of(v, 3, false);

	near(s.amean, 7. / 3, 1e-12);
	near(s.hmean, 3 / 1.75, 1e-12);
	near(s.stddev, sqrt(7. / 3), 1e-12);
	near(s.coeffvar, 100 * sqrt(7. / 3) / (7. / 3), 1e-9);
	near(s.min, 1, 0);
	near(s.max, 4, 0);
	/* int(2.85) = 2 smallest: 1 and 2 */
	near(s.bmean95, 1.5, 1e-12);
	/* of rates one more: all three, harmonic */
	s = stats_of(v, 3, true);
	near(s.bmean95, 3 / 1.75, 1e-12);
}

static void test_one_value(void)
{
	static const double v[] = {5};
	struct stats s = stats_of(v, 1, false), none = stats_of(v, 0, false);
	struct welch w = stats_welch(v, 1, v, 1);

	near(s.amean, 5, 0);
	near(s.bmean95, 5, 0);
	g_assert_true(isnan(s.stddev));
	g_assert_false(stats_star(&s, &s));
	g_assert_false(w.possible);
	g_assert_true(isnan(none.amean) && isnan(none.bmean95));
}

static void test_change(void)
{
	/* the posted tables' own figures */
	near(stats_change_pct(0.4743, 0.4295, false), 9.45, 0.005);
	near(stats_change_pct(0.0984, 0.1014, false), -3.05, 0.005);
	near(stats_change_pct(34, 13, true), -61.76, 0.005);
	near(stats_change_pct(0, 0, false), 0, 0);
	g_assert_true(isnan(stats_change_pct(0, 1, false)));
}

static void test_star(void)
{
	static const double a[] = {9, 10, 11}, b[] = {13, 14, 15},
			    c[] = {12, 13, 14};
	struct stats sa = stats_of(a, 3, false), sb = stats_of(b, 3, false),
		     sc = stats_of(c, 3, false);

	/* sd 1: the intervals of 10 and 14 end at 11.96 and 12.04 */
	g_assert_true(stats_star(&sa, &sb));
	g_assert_true(stats_star(&sb, &sa));
	g_assert_false(stats_star(&sa, &sc));
}

/* Equal n and variance: Welch is Student with 2n - 2 degrees of freedom, and
 * t = d / (s sqrt(2/n)); t(4, 0.975) = 2.776445. */
static void test_welch_symmetric(void)
{
	static const double a[] = {9, 10, 11}, b[] = {12, 13, 14};
	struct welch w = stats_welch(a, 3, b, 3);

	near(w.difference, 3, 1e-12);
	near(w.df, 4, 1e-9);
	near(w.t, 3 / sqrt(2. / 3), 1e-9);
	near(w.high - w.low, 2 * 2.776445 * sqrt(2. / 3), 1e-5);
	near(w.p, 0.021312, 1e-5);
}

/* Unequal variances, n = 4 and 2: df by Welch and Satterthwaite on paper. */
static void test_welch_unequal(void)
{
	static const double a[] = {1, 2, 3, 4}, b[] = {10, 20};
	struct welch w = stats_welch(a, 4, b, 2);
	double va = (5. / 3) / 4, vb = 50. / 2;

	near(w.difference, 12.5, 1e-12);
	near(w.t, 12.5 / sqrt(va + vb), 1e-12);
	near(w.df, (va + vb) * (va + vb) / (va * va / 3 + vb * vb), 1e-9);
}

static void test_welch_no_variance(void)
{
	static const double a[] = {1, 1}, b[] = {2, 2};
	struct welch same = stats_welch(a, 2, a, 2),
		     other = stats_welch(a, 2, b, 2);

	near(same.p, 1, 0);
	near(other.p, 0, 0);
	near(other.low, 1, 0);
	near(other.high, 1, 0);
	g_assert_true(isinf(other.t));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stats/summary", test_summary);
	g_test_add_func("/stats/one-value", test_one_value);
	g_test_add_func("/stats/change", test_change);
	g_test_add_func("/stats/star", test_star);
	g_test_add_func("/stats/welch/symmetric", test_welch_symmetric);
	g_test_add_func("/stats/welch/unequal", test_welch_unequal);
	g_test_add_func("/stats/welch/no-variance", test_welch_no_variance);
	return g_test_run();
}
