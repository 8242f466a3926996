/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shipped instruction counts against what real kernels retired: each
 * measured path and size run on the model. Prints every row's error. The
 * bounds are somewhat above what the fit leaves (see the files' heads): a
 * change of the model that moves a path off its measured total fails here.
 */
#include <math.h>
#include <string.h>

#include "configs/config.h"
#include "workloads/costs/paths.h"

#define MEAN_BOUND 6.5
#define WORST_BOUND 32.0

static void test_kernel(const char *kernel, const char *variant)
{
	g_autoptr(GError) error = NULL;
	const char *shared = g_getenv("SLUBSIM_SHARED");
	g_autofree char *path = g_build_filename(shared ? shared : "", "facts",
						 "instruction-counts.tsv",
						 NULL);
	GPtrArray *rows = cost_rows_read(path);
	struct variant *v = config_load_variant(variant, NULL, &error);
	g_autofree double *result = NULL;
	double mean = 0, worst = 0;

	g_assert_no_error(error);
	if (!rows) {
		variant_free(v);
		g_test_skip("the measured instruction counts are not there");
		return;
	}
	for (unsigned i = rows->len; i-- > 0;) {
		struct cost_row *row = g_ptr_array_index(rows, i);

		if (strcmp(row->kernel, kernel) || !cost_row_usable(row))
			g_ptr_array_remove_index(rows, i);
		else
			row->f = &v->features;
	}
	result = g_new0(double, rows->len);
	for (int which = 0; which < NR_COST_MACHINES; which++) {
		g_autofree double *part = g_new0(double, rows->len);

		g_assert_true(cost_measure(rows, which, &v->costs, 1, part));
		for (unsigned i = 0; i < rows->len; i++)
			result[i] += part[i];
	}
	for (unsigned i = 0; i < rows->len; i++) {
		const struct cost_row *row = g_ptr_array_index(rows, i);
		double e = 100 * (result[i] / row->measured - 1);

		g_test_message("%s %u: measured %.1f, model %.1f, %+.1f %%",
			       row->path, row->size, row->measured, result[i],
			       e);
		mean += fabs(e) / rows->len;
		worst = MAX(worst, fabs(e));
	}
	g_test_message("%s: mean error %.1f %%, worst %.1f %%", kernel, mean,
		       worst);
	g_assert_cmpfloat(mean, <, MEAN_BOUND);
	g_assert_cmpfloat(worst, <, WORST_BOUND);
	g_ptr_array_unref(rows);
	variant_free(v);
}

static void test_6_12(void)
{
	test_kernel("6.12.117", "v6.12");
}

static void test_6_19(void)
{
	test_kernel("6.19.0", "v6.19-nosheaves");
}

static void test_7_0(void)
{
	test_kernel("7.0.0", "v7.0");
}

static void test_7_1(void)
{
	test_kernel("7.1.5", "v7.1");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/costs/6.12", test_6_12);
	g_test_add_func("/costs/6.19", test_6_19);
	g_test_add_func("/costs/7.0", test_7_0);
	g_test_add_func("/costs/7.1", test_7_1);
	return g_test_run();
}
