/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit_costs FACTS KERNEL VARIANT: instruction counts per step of one kernel.
 *
 * A measured path's total is the sum over the steps of (how often the path
 * goes through the step) x (instructions of the step). How often is counted on
 * the model, by running each path with one step costing one instruction and
 * all others none. The instructions are then those that lie nearest to the
 * measured totals (least squares of the relative errors) and, where the totals
 * leave a choice, near to what reading the code suggests (the prior, weakly
 * weighted); none is negative. Prints a [instructions] group for
 * configs/costs/KERNEL.conf and, as comments, each row's error.
 *
 * Only totals of instructions go in, no time and no published table.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "configs/config.h"
#include "workloads/costs/paths.h"

#define MAX_STEPS 64
#define PRIOR_WEIGHT 0.0008
#define FIRM_WEIGHT 0.1
#define SWEEPS 20000

/* Instructions that reading the code suggests, with SLUB_STATS on. */
static const struct {
	const char *key;
	int64_t value;
} prior[] = {
	{ "caller", 10 },	   { "alloc_fast", 65 },
	{ "free_fast", 50 },	   { "alloc_slow", 60 },
	{ "free_slow", 60 },	   { "get_freelist", 30 },
	{ "get_partial", 60 },	   { "partial_slab", 40 },
	{ "any_node", 25 },	   { "list_move", 20 },
	{ "deactivate", 60 },	   { "cpu_partial_put", 40 },
	{ "cpu_partial_get", 30 }, { "new_slab", 300 },
	{ "new_slab_object", 12 },  { "walk_object", 9 },
	{ "discard_slab", 120 },   { "page_alloc", 400 },
	{ "page_free", 150 },	   { "page_bulk", 600 },	   { "sheaf_swap", 20 },
	{ "barn_exchange", 60 },   { "sheaf_alloc", 120 },
	{ "refill", 80 },	   { "bulk_alloc", 300 },
	{ "bulk_alloc_object", 30 }, { "bulk_free", 60 },
	{ "bulk_free_object", 12 }, { "detached_object", 12 },
	{ "random_object", 8 },	   { "hardened_object", 6 },
};

static double prior_of(const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(prior); i++)
		if (!strcmp(prior[i].key, key))
			return prior[i].value;
	return 20;
}

/*
 * The caller's part is told by the file of counts (about 10). Building a
 * freelist, walking it and the hooks' loop over the array always come together
 * in the measured paths; the first two are short loops that can be counted by
 * eye.
 */
static double weight_of(const char *key)
{
	bool firm = !strcmp(key, "caller") || !strcmp(key, "walk_object") ||
		    !strcmp(key, "new_slab_object");

	return firm ? FIRM_WEIGHT : PRIOR_WEIGHT;
}

static int64_t *step(struct insn_costs *c, unsigned i)
{
	return (int64_t *)((char *)c + insn_cost_table[i].offset);
}

/* Coordinate descent on the weighted squares, x >= 0. */
static void solve(const double *a, const double *y, unsigned rows,
		  unsigned steps, const double *x0, const double *weight,
		  double *x)
{
	g_autofree double *res = g_new(double, rows);

	memcpy(x, x0, sizeof(*x) * steps);
	for (unsigned r = 0; r < rows; r++) {
		res[r] = y[r];
		for (unsigned k = 0; k < steps; k++)
			res[r] -= a[r * steps + k] * x[k];
	}
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		for (unsigned k = 0; k < steps; k++) {
			double w = weight[k] / (x0[k] * x0[k]);
			double num = w * (x0[k] - x[k]), den = w, d;

			for (unsigned r = 0; r < rows; r++) {
				double v = a[r * steps + k];

				num += v * res[r] / (y[r] * y[r]);
				den += v * v / (y[r] * y[r]);
			}
			d = MAX(num / den, -x[k]);
			x[k] += d;
			for (unsigned r = 0; r < rows; r++)
				res[r] -= a[r * steps + k] * d;
		}
	}
}

#define NOSTATS "-nostats"
#define RANDOM "-nostats-random-hardened"

static double measured(const GPtrArray *rows, const char *kernel,
		       const char *suffix, const struct cost_row *like)
{
	g_autofree char *name = g_strconcat(kernel, suffix, NULL);

	for (unsigned i = 0; i < rows->len; i++) {
		const struct cost_row *row = g_ptr_array_index(rows, i);

		if (!strcmp(row->kernel, name) &&
		    !strcmp(row->path, like->path) && row->size == like->size)
			return row->measured;
	}
	return NAN;
}

/*
 * Keeps the rows of @kernel, and those of the same kernel built with random
 * and hardened freelists if there are any: to these, counted without
 * SLUB_STATS, is added what SLUB_STATS costs on the same path.
 */
static void select_rows(GPtrArray *rows, const char *kernel,
			const struct features *f, struct features *random)
{
	g_autofree char *name = g_strconcat(kernel, RANDOM, NULL);

	*random = *f;
	random->freelist_random = random->freelist_hardened = true;
	for (unsigned i = 0; i < rows->len; i++) {
		struct cost_row *row = g_ptr_array_index(rows, i);

		if (!cost_row_usable(row))
			continue;
		if (!strcmp(row->kernel, kernel))
			row->f = f;
		if (strcmp(row->kernel, name))
			continue;
		row->measured += measured(rows, kernel, "", row) -
				 measured(rows, kernel, NOSTATS, row);
		row->f = random;
	}
	for (unsigned i = rows->len; i-- > 0;)
		if (!((struct cost_row *)g_ptr_array_index(rows, i))->f)
			g_ptr_array_remove_index(rows, i);
}

static int fit(const char *facts, const char *kernel, struct variant *v)
{
	GPtrArray *rows = cost_rows_read(facts);
	struct insn_costs unit[MAX_STEPS] = { 0 };
	g_autofree double *a = NULL, *y = NULL;
	double x0[MAX_STEPS], weight[MAX_STEPS], x[MAX_STEPS];
	double mean = 0, worst = 0;
	unsigned steps = 0, n;
	struct features random;

	if (!rows) {
		fprintf(stderr, "fit_costs: %s: cannot be read\n", facts);
		return 1;
	}
	select_rows(rows, kernel, &v->features, &random);
	n = rows->len;
	for (; insn_cost_table[steps].key; steps++) {
		*step(&unit[steps], steps) = 1;
		x0[steps] = prior_of(insn_cost_table[steps].key);
		weight[steps] = weight_of(insn_cost_table[steps].key);
	}
	a = g_new0(double, n * steps);
	y = g_new0(double, n);
	for (int which = 0; which < NR_COST_MACHINES; which++) {
		g_autofree double *part = g_new0(double, n * steps);

		if (!cost_measure(rows, which, unit, steps, part)) {
			fprintf(stderr, "fit_costs: the model failed\n");
			return 1;
		}
		for (unsigned i = 0; i < n * steps; i++)
			a[i] += part[i];
	}
	for (unsigned i = 0; i < n; i++)
		y[i] = ((struct cost_row *)g_ptr_array_index(rows, i))
			       ->measured;
	solve(a, y, n, steps, x0, weight, x);
	printf("[instructions]\n");
	for (unsigned k = 0; k < steps; k++)
		printf("%s=%.0f\n", insn_cost_table[k].key, x[k]);
	printf("\n[range]\n");
	for (unsigned k = 0; k < steps; k++) {
		double used = 0;

		for (unsigned i = 0; i < n; i++)
			used += a[i * steps + k] / y[i];
		if (used < 1e-9)
			printf("%s=%.0f %.0f G on no measured path: from "
			       "reading the code\n",
			       insn_cost_table[k].key, x[k] / 2, x[k] * 2);
	}
	printf("\n");
	for (unsigned i = 0; i < n; i++) {
		const struct cost_row *row = g_ptr_array_index(rows, i);
		double sum = 0, error;

		for (unsigned k = 0; k < steps; k++)
			sum += a[i * steps + k] * round(x[k]);
		error = 100 * (sum / y[i] - 1);
		mean += fabs(error) / n;
		worst = MAX(worst, fabs(error));
		printf("# %-44s%s %4u %7.1f %7.1f %6.1f %%\n", row->path,
		       row->f == &random ? " random" : "", row->size, y[i],
		       sum, error);
	}
	printf("# mean error %.1f %%, worst %.1f %%\n", mean, worst);
	g_ptr_array_unref(rows);
	return 0;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct variant *v;
	int rc;

	if (argc != 4) {
		fprintf(stderr, "usage: fit_costs FACTS KERNEL VARIANT\n");
		return 2;
	}
	v = config_load_variant(argv[3], NULL, &error);
	if (!v) {
		fprintf(stderr, "%s\n", error->message);
		return 2;
	}
	rc = fit(argv[1], argv[2], v);
	variant_free(v);
	return rc;
}
