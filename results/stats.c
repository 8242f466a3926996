/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/stats.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

static double harmonic(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += 1 / v[i];
	return n / sum;
}

static double best_mean(const double *sorted, size_t n, bool higher)
{
	size_t keep = MAX((size_t)(n * 95 / 100), 1);

	if (!higher)
		return gsl_stats_mean(sorted, 1, keep);
	keep = MIN(n * 95 / 100 + 1, n);
	return harmonic(sorted + n - keep, keep);
}

struct stats stats_of(const double *values, size_t n, bool higher_is_better)
{
	struct stats s = {.n = n,
			  .amean = NAN,
			  .hmean = NAN,
			  .min = NAN,
			  .max = NAN,
			  .stddev = NAN,
			  .coeffvar = NAN,
			  .bmean95 = NAN};
	g_autofree double *sorted = NULL;

	if (!n)
		return s;
	sorted = g_new(double, n);
	memcpy(sorted, values, n * sizeof(*values));
	gsl_sort(sorted, 1, n);
	s.amean = gsl_stats_mean(sorted, 1, n);
	s.hmean = harmonic(sorted, n);
	s.min = sorted[0];
	s.max = sorted[n - 1];
	if (n > 1) {
		s.stddev = gsl_stats_sd(sorted, 1, n);
		s.coeffvar = s.amean == 0 ? 0 : 100 * s.stddev / s.amean;
	}
	s.bmean95 = best_mean(sorted, n, higher_is_better);
	return s;
}

double stats_mean(const struct stats *s, bool higher_is_better)
{
	return higher_is_better ? s->hmean : s->amean;
}

double stats_change_pct(double base, double now, bool higher_is_better)
{
	if (base == now)
		return 0;
	if (base == 0)
		return NAN;
	return higher_is_better ? now * 100 / base - 100 :
				  100 - now * 100 / base;
}

bool stats_star(const struct stats *a, const struct stats *b)
{
	if (a->n < 2 || b->n < 2)
		return false;
	return a->amean + 1.96 * a->stddev < b->amean - 1.96 * b->stddev ||
	       b->amean + 1.96 * b->stddev < a->amean - 1.96 * a->stddev;
}

struct welch stats_welch(const double *a, size_t na, const double *b, size_t nb)
{
	struct welch w = {.t = NAN, .df = NAN, .p = NAN};
	double va, vb, se2, half;

	w.difference = na && nb ? gsl_stats_mean(b, 1, nb) -
					  gsl_stats_mean(a, 1, na) :
				  NAN;
	w.low = w.high = NAN;
	if (na < 2 || nb < 2)
		return w;
	w.possible = true;
	va = gsl_stats_variance(a, 1, na) / na;
	vb = gsl_stats_variance(b, 1, nb) / nb;
	se2 = va + vb;
	if (se2 <= 0) {
		/* nothing varies: what is seen is what there is */
		w.low = w.high = w.difference;
		w.p = w.difference ? 0 : 1;
		w.t = w.difference ? copysign(INFINITY, w.difference) : 0;
		w.df = na + nb - 2;
		return w;
	}
	w.t = w.difference / sqrt(se2);
	w.df = se2 * se2 / (va * va / (na - 1) + vb * vb / (nb - 1));
	w.p = 2 * gsl_cdf_tdist_Q(fabs(w.t), w.df);
	half = gsl_cdf_tdist_Pinv(0.975, w.df) * sqrt(se2);
	w.low = w.difference - half;
	w.high = w.difference + half;
	return w;
}
