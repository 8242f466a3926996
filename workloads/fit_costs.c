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
#include "workloads/cost_paths.h"

#define MAX_STEPS 64
#define PRIOR_WEIGHT 0.003
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
	{ "cpu_partial_get", 30 }, { "new_slab", 200 },
	{ "new_slab_object", 9 },  { "walk_object", 8 },
	{ "discard_slab", 120 },   { "page_alloc", 200 },
	{ "page_free", 150 },	   { "page_bulk", 60 },
	{ "sheaf_swap", 20 },	   { "barn_exchange", 60 },
	{ "sheaf_alloc", 120 },	   { "refill", 80 },
	{ "bulk_alloc", 60 },	   { "bulk_alloc_object", 8 },
	{ "bulk_free", 60 },	   { "bulk_free_object", 12 },
	{ "detached_object", 12 }, { "random_object", 8 },
	{ "hardened_object", 6 },
};

static double prior_of(const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(prior); i++)
		if (!strcmp(prior[i].key, key))
			return prior[i].value;
	return 20;
}

static int64_t *step(struct insn_costs *c, unsigned i)
{
	return (int64_t *)((char *)c + insn_cost_table[i].offset);
}

/* The facts cover nothing that frees a 4096-byte object to its slab: too few
 * were allocated in that run. */
static bool usable(const struct cost_row *row)
{
	return row->size != 4096 ||
	       strcmp(row->path, "free_in_order_single") != 0;
}

/* Coordinate descent on the weighted squares, x >= 0. */
static void solve(const double *a, const double *y, unsigned rows,
		  unsigned steps, const double *x0, double *x)
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
			double w = PRIOR_WEIGHT / (x0[k] * x0[k]);
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

static int fit(const char *facts, const char *kernel, struct variant *v)
{
	GPtrArray *rows = cost_rows_read(facts);
	struct insn_costs unit[MAX_STEPS] = { 0 };
	g_autofree double *a = NULL, *y = NULL;
	double x0[MAX_STEPS], x[MAX_STEPS];
	double mean = 0, worst = 0;
	unsigned steps = 0, n;

	if (!rows) {
		fprintf(stderr, "fit_costs: %s: cannot be read\n", facts);
		return 1;
	}
	for (unsigned i = rows->len; i-- > 0;) {
		struct cost_row *row = g_ptr_array_index(rows, i);

		if (strcmp(row->kernel, kernel) || !usable(row))
			g_ptr_array_remove_index(rows, i);
		else
			row->f = &v->features;
	}
	n = rows->len;
	for (; insn_cost_table[steps].key; steps++) {
		*step(&unit[steps], steps) = 1;
		x0[steps] = prior_of(insn_cost_table[steps].key);
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
	solve(a, y, n, steps, x0, x);
	printf("[instructions]\n");
	for (unsigned k = 0; k < steps; k++) {
		double used = 0;

		for (unsigned i = 0; i < n; i++)
			used += a[i * steps + k] / y[i];
		printf("%s = %.0f%s\n", insn_cost_table[k].key, x[k],
		       used < 1e-9 ? "\t# not on any measured path" : "");
	}
	for (unsigned i = 0; i < n; i++) {
		const struct cost_row *row = g_ptr_array_index(rows, i);
		double sum = 0, error;

		for (unsigned k = 0; k < steps; k++)
			sum += a[i * steps + k] * round(x[k]);
		error = 100 * (sum / y[i] - 1);
		mean += fabs(error) / n;
		worst = MAX(worst, fabs(error));
		printf("# %-44s %4u %7.1f %7.1f %6.1f %%\n", row->path,
		       row->size, y[i], sum, error);
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
