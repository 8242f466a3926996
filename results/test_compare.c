/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons: posted texts, result folders, the table, exit codes. */
#include "results/compare.h"

#include <math.h>
#include <string.h>

#include "results/out.h"
#include "results/result.h"
#include "results/test_fixture.h"
#include "sim/command.h"

/* Writes @r to a new folder of @parent named @name. */
static char *write_result(const char *parent, const char *name,
			  const struct result *r)
{
	char *dir = g_build_filename(parent, name, NULL);
	struct outdir *o = outdir_open(dir, NULL);
	g_autofree char *json = result_to_json(r);

	g_assert_true(outdir_write(o, "result.json", json, NULL));
	outdir_close(o);
	return dir;
}

static struct comparison *parse(const char *text)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = g_build_filename(dir, "posted.txt", NULL);
	char *sources[] = {file, NULL};
	g_autoptr(GError) e = NULL;
	struct comparison *c;

	g_assert_true(write_aside(file, text, NULL));
	c = comparison_read(sources, NULL, &e);
	g_assert_no_error(e);
	fixture_remove(dir);
	return c;
}

static double cell(const struct comparison *c, guint row, guint column, guint i)
{
	const struct cmp_row *r = c->rows->pdata[row];
	const struct cmp_cell *v = r->cells->pdata[column];

	g_assert_cmpuint(i, <, v->values->len);
	return g_array_index(v->values, double, i);
}

static void test_mmtests_squeezed(void)
{
	struct comparison *c = parse(
		"> hackbench-process-pipes 6.9(with \">\") 6.9(with \">= x\")\n"
		"> Amean 1 0.0373 ( 0.00%) 0.0356 * 4.60%*\n"
		"> Stddev 1 0.0010 ( 0.00%) 0.0020 ( -100.00%)\n"
		"> Amean 64 1.2321 ( 0.00%) 1.3004 ( -5.54%)\n"
		"> hackbench-process-sockets 6.9(with \">\") 6.9(with \">= x\")\n"
		"> Amean 1 0.0609 ( 0.00%) 0.0623 * -2.35%*\n");
	const struct cmp_row *r = c->rows->pdata[0];
	struct cmp_verdict v = comparison_verdict(r, 1);

	g_assert_cmpuint(c->heads->len, ==, 2);
	g_assert_cmpstr(c->heads->pdata[1], ==, "posted\n6.9(with \">= x\")");
	g_assert_cmpuint(c->rows->len, ==, 3);
	g_assert_cmpstr(r->title, ==, "hackbench-process-pipes");
	g_assert_cmpfloat(cell(c, 1, 1, 0), ==, 1.3004);
	g_assert_true(v.star);
	g_assert_cmpfloat(fabs(v.change_pct - 4.5576), <, 1e-3);
	g_assert_false(comparison_verdict(c->rows->pdata[1], 1).star);
	/* a starred loss is one; an unstarred mean may be chance */
	g_assert_cmpint(comparison_exit(c, 1), ==, EXIT_RUN_FAILED);
	g_assert_cmpint(comparison_exit(c, 3), ==, EXIT_CANT_TELL);
	g_assert_cmpint(comparison_exit(c, 6), ==, EXIT_DONE);
	g_assert_cmpint(comparison_exit(c, -1), ==, EXIT_DONE);
	comparison_free(c);
}

static void test_mmtests_two_header_rows(void)
{
	struct comparison *c = parse(
		"netperf-udp\n"
		"                            hackbench              hackbench\n"
		"                              default                    pan\n"
		"Min       64     230.00 (   0.00%)     240.00 (   4.35%)\n"
		"Hmean     64     235.50 (   0.00%)     247.00 *   4.88%*\n");

	g_assert_cmpstr(c->heads->pdata[1], ==, "posted\nhackbench-pan");
	g_assert_cmpuint(c->rows->len, ==, 1);
	g_assert_true(((struct cmp_row *)c->rows->pdata[0])->higher_is_better);
	comparison_free(c);
}

static void test_hackbench(void)
{
	struct comparison *c = parse(
		"Running in process mode with 4 groups using 40 file "
		"descriptors each (== 160 tasks)\nEach sender will pass 100 "
		"messages of 100 bytes\nTime: 0.211\n"
		"Running in process mode with 4 groups using 40 file "
		"descriptors each (== 160 tasks)\nTime: 0.215\n");

	g_assert_cmpstr(((struct cmp_row *)c->rows->pdata[0])->op, ==, "4");
	g_assert_cmpfloat(cell(c, 0, 0, 1), ==, 0.215);
	g_assert_cmpint(comparison_exit(c, -1), ==, EXIT_CANT_TELL);
	comparison_free(c);
}

static void test_slab_bulk(void)
{
	struct comparison *c = parse(
		" - SLUB-patched : bulk_quick_reuse objects=8 :  32 -  66 -  32"
		"  cycles(tsc)\n"
		" - SLUB-original: bulk_quick_reuse objects=8 :  31 -  79 -  76"
		"  cycles(tsc)\n");

	g_assert_cmpuint(c->heads->len, ==, 2);
	g_assert_cmpfloat(cell(c, 0, 0, 1), ==, 66);
	g_assert_cmpfloat(cell(c, 0, 1, 2), ==, 76);
	g_assert_cmpstr(((struct cmp_row *)c->rows->pdata[0])->op, ==, "8");
	comparison_free(c);
}

static void test_garbage(void)
{
	static const char *const texts[] = {"", "hello\n", "Amean\n",
					    "Amean 1\n", "\xff\xfe", "Time:\n"};

	for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autofree char *dir = fixture_dir();
		g_autofree char *file = g_build_filename(dir, "t", NULL);
		char *sources[] = {file, NULL};
		g_autoptr(GError) e = NULL;

		g_assert_true(write_aside(file, texts[i], NULL));
		g_assert_null(comparison_read(sources, NULL, &e));
		g_assert_nonnull(strstr(e->message, "expected a result folder"));
		fixture_remove(dir);
	}
}

static void test_variants_of_one(void)
{
	g_autofree char *dir = fixture_dir(), *table = NULL, *raw = NULL;
	struct result *r = fixture_result();
	g_autofree char *a = write_result(dir, "a", r);
	g_autofree char *new = g_build_filename(a, "new", NULL);
	g_autofree char *base = g_strconcat(a, ":base", NULL);
	char *one[] = {a, NULL}, *swapped[] = {new, base, NULL};
	struct comparison *c = comparison_read(one, NULL, NULL);
	struct cmp_verdict v = comparison_verdict(c->rows->pdata[0], 1);

	g_assert_cmpuint(c->heads->len, ==, 2);
	g_assert_cmpuint(c->rows->len, ==, 1);
	/* 34e6 +- 4e6 against 14e6 +- 1e6: means of rates are harmonic */
	g_assert_true(v.star);
	g_assert_cmpfloat(v.welch.p, <, 0.05);
	g_assert_cmpfloat(fabs(v.base.hmean -
			       3e6 / (1. / 30 + 1. / 34 + 1. / 38)), <, 1);
	g_assert_cmpint(comparison_exit(c, 5), ==, EXIT_RUN_FAILED);
	g_assert_cmpint(comparison_exit(c, 70), ==, EXIT_DONE);
	table = comparison_table(c);
	g_assert_nonnull(strstr(table, "Hmean     all"));
	g_assert_nonnull(strstr(table, "*\n"));
	g_assert_nonnull(strstr(table, "BHmean-95 all"));
	g_assert_nonnull(strstr(table, "Welch's t test"));
	g_assert_nonnull(strstr(table, "worse\n"));
	raw = comparison_mmtests(c);
	g_assert_true(g_str_has_prefix(raw, "iops_per_s\tall\ta-base\t1\t"
					    "30000000\t\niops_per_s\tall\ta-new"
					    "\t1\t13000000\t\n"));
	comparison_free(c);

	c = comparison_read(swapped, NULL, NULL);
	g_assert_cmpint(comparison_exit(c, 5), ==, EXIT_DONE);
	comparison_free(c);
	fixture_remove(dir);
	result_free(r);
}

static void test_folders(void)
{
	g_autofree char *dir = fixture_dir();
	struct result *r = fixture_result();
	g_autofree char *a = write_result(dir, "a", r);
	g_autofree char *b = NULL;
	char *sources[] = {a, NULL, NULL};
	char *all[] = {(char *)"all", NULL};
	struct comparison *c;

	r->complete = false;
	b = write_result(dir, "b", r);
	sources[1] = b;
	c = comparison_read(sources, NULL, NULL);
	/* a column per folder, a row per variant */
	g_assert_cmpuint(c->heads->len, ==, 2);
	g_assert_cmpuint(c->rows->len, ==, 2);
	g_assert_cmpstr(((struct cmp_row *)c->rows->pdata[1])->op, ==, "new");
	g_assert_cmpint(comparison_exit(c, -1), ==, EXIT_DONE);
	g_assert_cmpint(comparison_exit(c, 5), ==, EXIT_CANT_TELL);
	comparison_free(c);
	c = comparison_read(sources, all, NULL);
	/* iops and time of each, and two queues of each */
	g_assert_cmpuint(c->rows->len, ==, 8);
	comparison_free(c);
	fixture_remove(dir);
	result_free(r);
}

/* hackbench's own output against a result: it can't say "pipes". */
static void test_join(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *a = g_build_filename(dir, "a.txt", NULL);
	g_autofree char *b = g_build_filename(dir, "b.txt", NULL);
	char *sources[] = {a, b, NULL};
	struct comparison *c;

	g_assert_true(write_aside(
		a, "Running in process mode with 4 groups\nTime: 2\n", NULL));
	g_assert_true(write_aside(b, "hackbench-process-pipes k\n"
				     "Amean 4 1 ( 0.00%)\n", NULL));
	c = comparison_read(sources, NULL, NULL);
	g_assert_cmpuint(c->rows->len, ==, 1);
	g_assert_cmpfloat(comparison_verdict(c->rows->pdata[0], 1).change_pct,
			  ==, 50);
	comparison_free(c);
	fixture_remove(dir);
}

/* sort as mmtests' documentation of its raw input has it finds nothing to do,
 * also where operations are no numbers. */
static void test_raw_order(void)
{
	struct comparison *c = parse(
		"m k1 k2\n"
		"Amean 16 1 ( 0.00%) 2 ( 0.00%)\n"
		"Amean 4 1 ( 0.00%) 2 ( 0.00%)\n"
		"Amean size=8 1 ( 0.00%) 2 ( 0.00%)\n"
		"Amean 1e3 1 ( 0.00%) 2 ( 0.00%)\n"
		"Amean all 1 ( 0.00%) 2 ( 0.00%)\n");
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = g_build_filename(dir, "raw", NULL);
	g_autofree char *raw = NULL;
	g_auto(GStrv) lines = NULL;
	char *argv[] = {(char *)"env", (char *)"LC_ALL=C", (char *)"sort",
			(char *)"-c", (char *)"-t", (char *)"\t",
			(char *)"-k1,1", (char *)"-k2,2n", (char *)"-k4,4n",
			file, NULL};
	int status;

	for (guint i = 0; i < c->rows->len; i++) {
		const struct cmp_row *r = c->rows->pdata[i];

		for (guint j = 0; j < r->cells->len; j++) {
			const struct cmp_cell *v = r->cells->pdata[j];
			double more = 3;

			g_array_append_val(v->values, more);
		}
	}
	raw = comparison_mmtests(c);
	lines = g_strsplit(raw, "\n", -1);
	g_assert_cmpuint(g_strv_length(lines), ==, 5 * 2 * 2 + 1);
	for (int i = 0; *lines[i]; i++) {
		g_auto(GStrv) fields = g_strsplit(lines[i], "\t", -1);

		g_assert_cmpuint(g_strv_length(fields), ==, 6);
	}
	g_assert_true(write_aside(file, raw, NULL));
	g_assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL,
				   NULL, NULL, NULL, &status, NULL));
	g_assert_cmpint(status, ==, 0);
	fixture_remove(dir);
	comparison_free(c);
}

/* Rows of the best 95 % are called BAmean-95 where they are posted; some write
 * a dot. Neither is a mean to compare, nor a header. */
static void test_best_means(void)
{
	static const char *const labels[] = {"BAmean-95", "BAmean.95",
					     "BHmean-95", "BAmean"};

	for (guint i = 0; i < G_N_ELEMENTS(labels); i++) {
		g_autofree char *text = g_strdup_printf(
			"m k1 k2\nAmean 4 1 ( 0.00%%) 2 ( 0.00%%)\n"
			"%s 4 1 ( 0.00%%) 2 ( 0.00%%)\n"
			"Amean 8 1 ( 0.00%%) 2 ( 0.00%%)\n", labels[i]);
		struct comparison *c = parse(text);

		g_assert_cmpuint(c->rows->len, ==, 2);
		g_assert_cmpuint(c->heads->len, ==, 2);
		g_assert_cmpstr(((struct cmp_row *)c->rows->pdata[1])->title,
				==, "m");
		comparison_free(c);
	}
}

/* What people really posted, if it is at hand. */
static void test_inputs(void)
{
	static const struct {
		const char *file;
		guint columns, rows;
	} inputs[] = {
		{"mmtests-hackbench-6.9rc2-slub-seed001.txt", 2, 16},
		{"mmtests-hackbench-debug_preempt-6.2.txt", 2, 9},
		{"slab_bulk_test01-2020-noisy-three-runs.txt", 2, 6},
	};

	for (guint i = 0; i < G_N_ELEMENTS(inputs); i++) {
		g_autofree char *file = g_build_filename(
			SHARED, "inputs", "bench", inputs[i].file, NULL);
		char *sources[] = {file, NULL};
		g_autoptr(GError) e = NULL;
		struct comparison *c;

		if (!g_file_test(file, G_FILE_TEST_EXISTS)) {
			g_test_skip("no ../shared/inputs/bench");
			return;
		}
		c = comparison_read(sources, NULL, &e);
		g_assert_no_error(e);
		g_assert_cmpuint(c->heads->len, ==, inputs[i].columns);
		g_assert_cmpuint(c->rows->len, ==, inputs[i].rows);
		comparison_free(c);
	}
}

/* From nothing there is no percentage: what mmtests prints there, no nan. */
static void test_from_zero(void)
{
	struct comparison *c = parse(
		" - SLUB-a: quick objects=8 :  5 -  5 -  5 cycles(tsc)\n"
		" - SLUB-b: quick objects=8 :  4 -  5 -  6 cycles(tsc)\n"
		" - SLUB-a: quick objects=16 :  0 -  0 -  0 cycles(tsc)\n"
		" - SLUB-b: quick objects=16 :  1 -  2 -  3 cycles(tsc)\n"
		" - SLUB-a: quick objects=32 :  0 -  0 -  0 cycles(tsc)\n"
		" - SLUB-b: quick objects=32 :  0 -  0 -  0 cycles(tsc)\n");
	g_autofree char *table = comparison_table(c);
	static const char *const lines[] = {
		"Amean     8             5.0000 (   0.00%)      5.0000 "
		"(   0.00%)\n",
		"Stddev    8             0.0000 (   0.00%)      1.0000 "
		"( -99.00%)\n",
		"Amean     16            0.0000 (   0.00%)      2.0000 "
		"* -99.00%*\n",
		"CoeffVar  32            0.0000 (   0.00%)      0.0000 "
		"(   0.00%)\n",
		/* in cycles, not in percent */
		"16       SLUB-b                      -2.00  [   -4.48 ,    "
		"+0.48 ]",
	};

	for (guint i = 0; i < G_N_ELEMENTS(lines); i++)
		if (!strstr(table, lines[i]))
			g_error("%s lacks %s", table, lines[i]);
	g_assert_null(strstr(table, "nan"));
	/* 2 against 0 may be chance (p = 0.07), whatever the percentage */
	g_assert_cmpint(comparison_exit(c, 1e6), ==, EXIT_CANT_TELL);
	comparison_free(c);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/compare/mmtests/squeezed", test_mmtests_squeezed);
	g_test_add_func("/compare/mmtests/two-header-rows",
			test_mmtests_two_header_rows);
	g_test_add_func("/compare/hackbench", test_hackbench);
	g_test_add_func("/compare/slab-bulk", test_slab_bulk);
	g_test_add_func("/compare/garbage", test_garbage);
	g_test_add_func("/compare/variants-of-one", test_variants_of_one);
	g_test_add_func("/compare/folders", test_folders);
	g_test_add_func("/compare/join", test_join);
	g_test_add_func("/compare/raw-order", test_raw_order);
	g_test_add_func("/compare/best-means", test_best_means);
	g_test_add_func("/compare/from-zero", test_from_zero);
	g_test_add_func("/compare/inputs", test_inputs);
	return g_test_run();
}
