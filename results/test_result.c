/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results as files: JSON both ways, the folder, the views. */
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/costs.h"
#include "results/drawing.h"
#include "results/figures.h"
#include "results/out.h"
#include "results/plot.h"
#include "results/published.h"
#include "results/test_fixture.h"
#include "results/views.h"
#include "workloads/workload.h"

static void test_json_round_trip(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = g_build_filename(dir, "result.json", NULL);
	struct result *r = fixture_result(), *back;
	g_autofree char *json = result_to_json(r), *again = NULL;
	g_autoptr(GError) e = NULL;

	g_assert_true(write_aside(file, json, &e));
	back = result_load(dir, &e);
	g_assert_no_error(e);
	again = result_to_json(back);
	g_assert_cmpstr(json, ==, again);
	g_assert_cmpstr(back->dir, ==, dir);
	result_free(r);
	result_free(back);
	fixture_remove(dir);
}

/* Lines of --c2c: members with and without a name, and what was left out. */
static void test_json_lines(void)
{
	g_autofree char *dir = fixture_dir();
	struct result *r = fixture_result(), *back;
	struct point *p = r->points->pdata[0];
	struct line_row *l = g_new0(struct line_row, 1);
	g_autofree char *file = g_build_filename(dir, "result.json", NULL);
	g_autofree char *json = NULL, *again = NULL, *text = NULL;

	l->kind = g_strdup("struct slab");
	l->offsets = 1 << 4 | 1 << 5 | 1 << 7;
	l->fields[4] = g_strdup("freelist");
	l->fields[5] = g_strdup("counters");
	l->hitm_remote = 30;
	l->cpus[0] = -1;
	p->lines = g_ptr_array_new_with_free_func(line_row_free);
	g_ptr_array_add(p->lines, l);
	p->lines_left_out = (struct lines_left_out){7, 4, 6};
	json = result_to_json(r);
	g_assert_true(write_aside(file, json, NULL));
	back = result_load(dir, NULL);
	g_assert_nonnull(back);
	again = result_to_json(back);
	g_assert_cmpstr(json, ==, again);
	text = c2c_text(back->points->pdata[0]);
	g_assert_nonnull(strstr(text, "8 lines were taken dirty from another "
				      "core's cache, 40 times"));
	g_assert_nonnull(strstr(text, "(lines left out)              7   25.00%"
				      "            4            6\n"));
	g_assert_nonnull(strstr(text, " 75.00%"));
	g_assert_nonnull(strstr(text, "... and 7 lines more"));
	g_assert_nonnull(strstr(text, "touched: 0x20 freelist, 0x28 counters, "
				      "0x38\n"));
	result_free(r);
	result_free(back);
	fixture_remove(dir);
}

/* A long series gives way, but not the metric of its name; a table that
 * somebody posts says what was changed for it. */
static void test_table(void)
{
	static const char *const command[] = {
		"slubsim", "run", "fixture", "--set", "machine.ipc=2",
		"--seed=3", "--set", "features.sheaves=none", NULL
	};
	struct result *r = fixture_result();
	g_autofree char *plain = table_text(r, NULL), *table = NULL;
	g_autofree char *changes = result_changes(r);

	g_assert_cmpstr(changes, ==, "");
	g_assert_null(strstr(plain, "changed:"));
	g_strfreev(r->command);
	r->command = g_strdupv((char **)command);
	for (guint i = 0; i < r->points->len; i++) {
		struct report report = { r->points->pdata[i] };

		for (int q = 0; q < 20; q++)
			report_series(&report, "iops_per_s", "1/s", "queue", q,
				      1e6);
	}
	table = table_text(r, NULL);
	g_assert_nonnull(strstr(table, "\nchanged: machine.ipc=2; "
				       "features.sheaves=none\n"));
	g_assert_nonnull(strstr(table, "\n  iops_per_s "));
	g_assert_nonnull(strstr(table, "  and 20 values more, see"));
	g_assert_null(strstr(table, "\n  queue=19 "));
	result_free(r);
}

/* Metrics of a single value that follow each other are the rows of one table. */
static void test_table_metrics(void)
{
	static const char expected[] =
		"\nmetrics, change against base\n"
		"                            base                 new\n"
		"  iops_per_s [M 1/s]       34.00 +-11.8%       14.00 +- 7.1%"
		"    -58.82%\n"
		"  time_s [s]               29.69 +-11.8%       71.67 +- 7.2%"
		"   +141.43%\n"
		/* of nothing there is no change in percent */
		"  faults [faults]              0 +- 0.0%           0 +- 0.0%\n"
		"  pool_pages [pages]       40.00 +- 0.0%       50.00 +- 0.0%"
		"    +25.00%\n"
		"\nqueue_iops_per_s [M 1/s]\n";
	struct result *r = fixture_result();
	g_autofree char *table = NULL;

	for (guint i = 0; i < r->points->len; i++) {
		struct point *p = r->points->pdata[i];
		struct report report = { p };

		report_metric(&report, "faults", "faults", false, 0);
		report_metric(&report, "pool_pages", "pages", false,
			      strcmp(p->variant, "base") ? 50 : 40);
	}
	table = table_text(r, NULL);
	if (!strstr(table, expected))
		g_error("%s lacks %s", table, expected);
	result_free(r);
}

/* The map of lock waits: class x node, a column more for locks of no node, what
 * waited most on top, one scale for all variants. */
static void test_lock_map(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *map = NULL, *base = NULL, *script = NULL;
	struct result *r = fixture_result();
	struct outdir *out = outdir_open(dir, NULL);
	struct drawing *d = drawing_new(out, "plots");

	for (guint i = 0; i < r->points->len; i++) {
		struct point *p = r->points->pdata[i];
		struct lock_row *l = g_new0(struct lock_row, 1);

		l->class = g_strdup("&class->lock");
		l->node = -1;
		l->wait_total = strcmp(p->variant, "base") ? 7000 : 0;
		g_ptr_array_add(p->locks, l);
	}
	g_assert_true(plot_locks(d, r, NULL));
	drawing_free(d);
	map = fixture_read(dir, "plots/lock-map-new.dat");
	g_assert_cmpstr(map, ==,
			"# node, class's place, cycles, their text\n"
			"0\t0\t0\t0\n1\t0\t61\t61\n2\t0\t0\t0\n"
			"0\t1\t0\t0\n1\t1\t0\t0\n2\t1\t7\t7\n");
	base = fixture_read(dir, "plots/lock-map-base.dat");
	g_assert_nonnull(strstr(base, "\n1\t0\t1\t1\n"));
	script = fixture_read(dir, "plots/lock-map-base.gp");
	g_assert_nonnull(strstr(script, "set cbrange [0:61]"));
	g_assert_nonnull(strstr(script, "'none' 2"));
	g_assert_nonnull(strstr(script, "'&n->list_lock' 0, '&class->lock' 1"));
	outdir_close(out);
	result_free(r);
	fixture_remove(dir);
}

static void test_json_errors(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{", "result.json:"},
		{"[1]", "not a JSON object"},
		{"{}", "\"schema_version\": expected"},
		{"{\"schema_version\": 99}", "\"schema_version\": expected 1"},
		{"{\"schema_version\": 1, \"version\": 3}",
		 "\"version\": expected a string"},
	};
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = g_build_filename(dir, "result.json", NULL);

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) e = NULL;

		g_assert_true(write_aside(file, cases[i].text, NULL));
		g_assert_null(result_load(dir, &e));
		g_assert_nonnull(e);
		g_assert_nonnull(strstr(e->message, cases[i].message));
		g_assert_nonnull(strstr(e->message, "result.json"));
		g_assert_null(strchr(e->message, '\n'));
	}
	fixture_remove(dir);
}

static void test_folder_lock(void)
{
	g_autofree char *dir = fixture_dir();
	struct outdir *o = outdir_open(dir, NULL);
	g_autoptr(GError) e = NULL;

	g_assert_nonnull(o);
	g_assert_null(outdir_open(dir, &e));
	g_assert_error(e, RESULT_ERROR, RESULT_ERROR_BUSY);
	outdir_close(o);
	o = outdir_open(dir, NULL);
	g_assert_nonnull(o);
	outdir_close(o);
	fixture_remove(dir);
}

static void test_folder_clear(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *own = g_build_filename(dir, "notes.txt", NULL);
	g_autofree char *left = g_build_filename(dir, "a", "b.txt.tmp-77",
						 NULL);
	g_autofree char *keep = g_build_filename(dir, "points", "p", NULL);
	g_autofree char *drop = g_build_filename(dir, "points", "q", NULL);
	g_autofree char *half = g_build_filename(dir, "points", "r.tmp-9",
						 NULL);
	g_autofree char *list = g_build_filename(dir, ".written", NULL);
	g_autofree char *other = g_build_filename(dir, "notes.tmp-1", NULL);
	g_autofree char *sub = g_build_filename(dir, "a", NULL);
	g_autofree char *names = NULL;
	g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal);
	struct outdir *o = outdir_open(dir, NULL);

	g_hash_table_add(set, (void *)"points/p");
	g_assert_true(outdir_write(o, "a/b.txt", "x", NULL));
	g_assert_true(outdir_write(o, "points/p", "x", NULL));
	g_assert_true(outdir_write(o, "points/q", "x", NULL));
	g_assert_true(write_aside(half, "half", NULL));
	g_assert_true(write_aside(own, "mine", NULL));
	g_assert_true(write_aside(other, "mine", NULL));
	g_assert_true(outdir_write(o, "table.txt", "x", NULL));
	g_assert_true(write_aside(left, "half", NULL));
	outdir_close(o);

	o = outdir_open(dir, NULL);
	g_assert_true(outdir_clear(o, set, NULL));
	g_assert_false(g_file_test(sub, G_FILE_TEST_EXISTS));
	g_assert_true(g_file_test(own, G_FILE_TEST_EXISTS));
	g_assert_true(g_file_test(other, G_FILE_TEST_EXISTS));
	g_assert_true(g_file_test(keep, G_FILE_TEST_EXISTS));
	g_assert_false(g_file_test(drop, G_FILE_TEST_EXISTS));
	g_assert_false(g_file_test(half, G_FILE_TEST_EXISTS));
	/* what is kept is listed once, however often it is written */
	g_assert_true(outdir_write(o, "points/p", "x", NULL));
	g_assert_true(g_file_get_contents(list, &names, NULL, NULL));
	g_assert_cmpstr(names, ==, "points/p\n");
	outdir_close(o);
	o = outdir_open(dir, NULL);
	g_assert_true(outdir_clear(o, NULL, NULL));
	g_assert_false(g_file_test(keep, G_FILE_TEST_EXISTS));
	outdir_close(o);
	fixture_remove(dir);
}

/* A list that somebody tampered with must not delete outside the folder. */
static void test_folder_clear_stays_inside(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *in = g_build_filename(dir, "in", NULL);
	g_autofree char *victim = g_build_filename(dir, "victim", NULL);
	g_autofree char *list = g_build_filename(in, ".written", NULL);
	struct outdir *o = outdir_open(in, NULL);

	g_assert_true(write_aside(victim, "x", NULL));
	g_assert_true(write_aside(list, "../victim\na/../../victim\n", NULL));
	g_assert_true(outdir_clear(o, NULL, NULL));
	g_assert_true(g_file_test(victim, G_FILE_TEST_EXISTS));
	outdir_close(o);
	fixture_remove(dir);
}

/* A full disk, played by a limit on the size of files: the old file stays, no
 * half-written one appears. */
static void test_disk_full(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = g_build_filename(dir, "f", NULL);
	g_autofree char *big = g_strnfill(100000, 'x');
	g_autofree char *text = NULL;
	struct rlimit old, limit;
	g_autoptr(GError) e = NULL;
	g_autoptr(GDir) d = NULL;
	int files = 0;
	bool ok;

	g_assert_true(write_aside(file, "old", NULL));
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	ok = write_aside(file, big, &e);
	setrlimit(RLIMIT_FSIZE, &old);
	g_assert_false(ok);
	g_assert_nonnull(strstr(e->message, "File too large"));
	text = fixture_read(dir, "f");
	g_assert_cmpstr(text, ==, "old");
	d = g_dir_open(dir, 0, NULL);
	while (g_dir_read_name(d))
		files++;
	g_assert_cmpint(files, ==, 1);
	fixture_remove(dir);
}

static void test_unwritable(void)
{
	g_autoptr(GError) e = NULL;

	g_assert_null(outdir_open("/proc/nowhere/at-all", &e));
	g_assert_error(e, RESULT_ERROR, RESULT_ERROR_IO);
	g_assert_nonnull(strstr(e->message, "/proc/nowhere"));
}

static void test_figures(void)
{
	struct result *r = fixture_result();
	g_autoptr(GPtrArray) f = figures_of(r);
	const struct figure *g = figure_find(f, "new", "iops_per_s", "");

	g_assert_nonnull(g);
	g_assert_cmpfloat(figure_mean(g), ==, 14e6);
	g_assert_cmpfloat(fabs(figure_stddev(g) - 1e6), <, 1e-3);
	g_assert_cmpint(g->values->len, ==, 3);
	/* metrics come first, variants in the experiment's order */
	g = f->pdata[0];
	g_assert_cmpstr(g->name, ==, "iops_per_s");
	g_assert_cmpstr(g->variant, ==, "base");
	g_assert_nonnull(figure_find(f, "base", "queue_iops_per_s",
				     "queue=1"));
	result_free(r);
}

static void test_account(void)
{
	struct result *r = fixture_result();
	struct costs *a = costs_of(r, "new", "");

	/* per operation: 3 iterations of 1000 */
	g_assert_cmpfloat(a->operations, ==, 3000);
	g_assert_cmpfloat(fabs(a->cycles[CAUSE_LOCK_WAIT] - 61), <, 1e-9);
	g_assert_cmpfloat(fabs(a->total - 86.5), <, 1e-9);
	g_assert_cmpfloat(fabs(a->busy - 86), <, 1e-9);
	g_assert_cmpfloat(fabs(costs_with_callees(a, "___slab_alloc") - 66),
			  <, 1e-9);
	g_assert_cmpstr(
		((struct cost_line *)a->functions->pdata[0])->name, ==,
		"get_from_partial_node");
	g_assert_null(costs_of(r, "nobody", ""));
	costs_free(a);
	result_free(r);
}

static void test_views(void)
{
	g_autofree char *dir = fixture_dir(), *text = NULL, *warning = NULL;
	struct result *r = fixture_result();
	struct outdir *o = outdir_open(dir, NULL);
	g_autoptr(GError) e = NULL;

	views_write(o, r, 1, &warning, &e);
	g_assert_no_error(e);
	text = fixture_read(dir, "new/sys/kernel/slab/bio-256/alloc_fastpath");
	g_assert_cmpstr(text, ==, "500 C0=300 C3=200\n");
	g_free(text);
	text = fixture_read(dir, "new/perf.folded");
	g_assert_cmpstr(
		text, ==,
		"[idle] 500\n"
		"kmem_cache_alloc;[insn] 20000\n"
		"kmem_cache_alloc;___slab_alloc;[l1] 5000\n"
		"kmem_cache_alloc;___slab_alloc;get_from_partial_node;"
		"[lock_wait] 61000\n");
	g_free(text);
	/* 2 GHz: 61000 cycles are 30.5 us, 3.05 us for each contention */
	text = fixture_read(dir, "new/lock_stat.txt");
	g_assert_nonnull(strstr(text, "lock_stat version 0.4\n"));
	g_assert_nonnull(strstr(text, " &n->list_lock: "));
	g_assert_nonnull(strstr(text, " 30.50 "));
	g_assert_nonnull(strstr(text, " 3.05 "));
	g_free(text);
	text = fixture_read(dir, "results.tsv");
	g_assert_nonnull(strstr(text, "\nbase\ttwin\tnull\tqueue=1\t2\t"
				      "queue_iops_per_s\t1/s\t17000000\n"));
	outdir_close(o);
	fixture_remove(dir);
	result_free(r);
}

static void test_number_text(void)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {{256, "256"},   {0.1, "0.1"},	  {1e6, "1000000"},
		     {-2.5, "-2.5"}, {1.0 / 3, "0.3333333333333333"}};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *s = value_text(cases[i].v);

		g_assert_cmpstr(s, ==, cases[i].text);
		g_assert_cmpfloat(g_ascii_strtod(s, NULL), ==, cases[i].v);
	}
}

/* A file of brackets is refused, not followed down to the end of the stack. */
static void test_deep(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = g_build_filename(dir, "result.json", NULL);
	g_autofree char *text = g_strnfill(300000, '[');
	g_autoptr(GError) e = NULL;

	g_assert_true(write_aside(file, text, &e));
	g_assert_null(result_load(dir, &e));
	g_assert_nonnull(e);
	g_assert_nonnull(strstr(e->message, "nested deeper"));
	fixture_remove(dir);
}

/* A link stays one, and a device is written to. */
static void test_through_link(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = g_build_filename(dir, "file", NULL);
	g_autofree char *link = g_build_filename(dir, "link", NULL);
	g_autofree char *text = NULL;
	g_autoptr(GError) e = NULL;

	g_assert_true(write_aside(file, "old", &e));
	g_assert_cmpint(symlink("file", link), ==, 0);
	g_assert_true(write_aside(link, "new", &e));
	g_assert_no_error(e);
	g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
	g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "new");
	g_assert_true(write_aside("/dev/null", "gone", &e));
	g_assert_false(g_file_test("/dev/null", G_FILE_TEST_IS_REGULAR));
	fixture_remove(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/result/json/round-trip", test_json_round_trip);
	g_test_add_func("/result/json/lines", test_json_lines);
	g_test_add_func("/result/lock-map", test_lock_map);
	g_test_add_func("/result/json/errors", test_json_errors);
	g_test_add_func("/result/table", test_table);
	g_test_add_func("/result/table-metrics", test_table_metrics);
	g_test_add_func("/result/folder/lock", test_folder_lock);
	g_test_add_func("/result/folder/clear", test_folder_clear);
	g_test_add_func("/result/folder/clear-stays-inside",
			test_folder_clear_stays_inside);
	g_test_add_func("/result/folder/disk-full", test_disk_full);
	g_test_add_func("/result/folder/unwritable", test_unwritable);
	g_test_add_func("/result/deep", test_deep);
	g_test_add_func("/result/through-link", test_through_link);
	g_test_add_func("/result/figures", test_figures);
	g_test_add_func("/result/account", test_account);
	g_test_add_func("/result/views", test_views);
	g_test_add_func("/result/number-text", test_number_text);
	return g_test_run();
}
