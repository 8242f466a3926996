/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slab reports that people posted and our own, against figures read by eye. */
#include <glib.h>
#include <string.h>

#include "configs/config.h"
#include "configs/slab/summary.h"

#define POSTED "../shared/inputs/slab/"
#define OWN "configs/testdata/"

static GPtrArray *read_all(const char *path, char **error_text)
{
	g_autofree char *full = g_build_filename(SOURCE_ROOT, path, NULL);
	g_autoptr(GPtrArray) all = slab_reports_new();
	g_autoptr(GError) error = NULL;

	if (slab_reports_from_path(full, all, &error))
		return g_steal_pointer(&all);
	if (error_text)
		*error_text = g_strdup(error->message);
	else
		g_assert_no_error(error);
	return NULL;
}

static GPtrArray *read_string(const char *s, char **error_text)
{
	struct import_text *t = import_text_new("text", s, strlen(s));
	g_autoptr(GPtrArray) all = slab_reports_new();
	g_autoptr(GError) error = NULL;
	bool fine = slab_reports_from_text(t, NULL, all, &error);

	import_text_free(t);
	g_assert_true(fine == (error == NULL));
	if (error)
		*error_text = g_strdup(error->message);
	return fine ? g_steal_pointer(&all) : NULL;
}

static GPtrArray *checks_of(const struct slab_report *r, int cpus)
{
	struct variant *v = config_load_variant(slab_variant_of(r), NULL, NULL);
	GPtrArray *checks = slab_check_all(r);

	g_assert_nonnull(v);
	slab_check_geometry(r, &v->features, v->name, cpus, checks);
	variant_free(v);
	return checks;
}

static int count(const GPtrArray *checks, enum slab_verdict verdict)
{
	int n = 0;

	for (guint i = 0; i < checks->len; i++) {
		const struct slab_check *c = checks->pdata[i];

		n += c->verdict == verdict;
	}
	return n;
}

static bool has_check(const GPtrArray *checks, enum slab_verdict verdict,
		      const char *text)
{
	for (guint i = 0; i < checks->len; i++) {
		const struct slab_check *c = checks->pdata[i];

		if (c->verdict == verdict && strstr(c->text, text))
			return true;
	}
	return false;
}

struct expected {
	const char *file;
	guint reports, report; /* how many, and which is checked */
	const char *cache;
	int generation, cpus, holds, fails, near;
	const char *names[4];
	int64_t values[4];
};

static const struct expected posted[] = {
	{"bio-256-sheaf-stats-v7.0-patched.txt",
	 1,
	 0,
	 NULL,
	 SLAB_ALL_SHEAVES,
	 64,
	 15,
	 0,
	 0,
	 {"object_size", "barn_get_fail", "alloc_fastpath", "order"},
	 {256, 270, 476106437, 2}},
	{"bio-256-sheaf-stats-oneline-mail.txt",
	 1,
	 0,
	 NULL,
	 SLAB_ALL_SHEAVES,
	 64,
	 15,
	 0,
	 0,
	 {"slab_size", "barn_get", "free_fastpath", "slabs"},
	 {320, 17003547, 476102026, 144}},
	{"maple_node-percpu-array-rfc-2023.txt",
	 3,
	 2,
	 "maple_node",
	 SLAB_CPU_PARTIAL,
	 0,
	 0,
	 0,
	 0,
	 {"alloc_cpu_cache", "free_cpu_cache", "alloc_slowpath"},
	 {54673, 54759, 737}},
	{"skbuff_head_cache-SLUB_STATS-2011-8cpu.txt",
	 1,
	 0,
	 "skbuff_head_cache",
	 SLAB_CPU_PARTIAL,
	 8,
	 9,
	 1,
	 1,
	 {"alloc_fastpath", "free_frozen", "cpu_partial", "objects"},
	 {89181782, 67988498, 30, 2494}},
	{"skbuff_head_cache-SLUB_STATS-2013-8cpu.txt",
	 1,
	 0,
	 "skbuff_head_cache",
	 SLAB_CPU_PARTIAL,
	 8,
	 9,
	 1,
	 1,
	 {"alloc_slab", "free_slab", "slabs"},
	 {2831313, 2831186, 127}},
	{"slabinfo-r-kmalloc-256-2012-vanilla-vs-patched.txt",
	 2,
	 1,
	 NULL,
	 SLAB_NO_COUNTERS,
	 0,
	 2,
	 0,
	 0,
	 {"object_size", "slabs", "partial", "cpu_slabs"},
	 {256, 300, 33, 63}},
	{"slabinfo-r-skbuff_head_cache-2021-cpu-partial-hackbench.txt",
	 3,
	 1,
	 NULL,
	 SLAB_CPU_PARTIAL,
	 0,
	 2,
	 0,
	 1,
	 {"object_size", "alloc_fastpath", "free_slowpath", "alloc_refill"},
	 {216, 473016294, 506600418, 27585695}},
	{"proc-slabinfo-rhcos42-hyperv-2cpu.txt",
	 0,
	 0,
	 "nf_conntrack",
	 SLAB_NO_COUNTERS,
	 0,
	 2,
	 0,
	 0,
	 {"slab_size", "objs_per_slab", "slabs", "objects"},
	 {320, 12, 75, 878}},
};

static const struct expected own[] = {
	{"slab-stats-quoted.txt",
	 1,
	 0,
	 "bio-256",
	 SLAB_ALL_SHEAVES,
	 2,
	 14,
	 1,
	 0,
	 {"free_slowpath", "sheaf_refill", "objects"},
	 {40, 280, 280}},
	{"slab-stats-broken.txt",
	 1,
	 0,
	 NULL,
	 SLAB_ALL_SHEAVES,
	 2,
	 1,
	 6,
	 0,
	 {"sheaf_refill"},
	 {30}},
	{"slab-grep-6.18.txt",
	 1,
	 0,
	 NULL,
	 SLAB_NO_COUNTERS,
	 2,
	 9,
	 0,
	 0,
	 {"sheaf_capacity", "objs_per_slab"},
	 {32, 16}},
	{"slab-grep-three-caches.txt",
	 3,
	 2,
	 "vm_area_struct",
	 SLAB_NO_COUNTERS,
	 2,
	 9,
	 0,
	 1,
	 {"slab_size"},
	 {192}},
	{"slabinfo-r.txt",
	 1,
	 0,
	 "skbuff_small",
	 SLAB_BEFORE_CPU_PARTIAL,
	 0,
	 5,
	 0,
	 0,
	 {"order", "alloc_slab", "free_frozen", "reported_allocs"},
	 {1, 30, 50, 1100}},
};

static void check(const char *folder, const struct expected *e)
{
	g_autofree char *path = g_build_filename(folder, e->file, NULL);
	g_autoptr(GPtrArray) all = read_all(path, NULL);
	g_autoptr(GPtrArray) checks = NULL;
	g_autoptr(GString) summary = g_string_new(NULL);
	const struct slab_report *r;

	if (e->reports)
		g_assert_cmpuint(all->len, ==, e->reports);
	r = all->pdata[e->report];
	g_assert_cmpstr(r->cache, ==, e->cache);
	g_assert_cmpint(slab_generation_of(r), ==, e->generation);
	for (int i = 0; i < 4 && e->names[i]; i++)
		g_assert_cmpint(slab_report_get(r, e->names[i]), ==,
				e->values[i]);
	checks = checks_of(r, e->cpus);
	for (guint i = 0; i < checks->len; i++) {
		const struct slab_check *c = checks->pdata[i];

		g_test_message("%d %s", c->verdict, c->text);
	}
	g_assert_cmpint(count(checks, SLAB_HOLDS), ==, e->holds);
	g_assert_cmpint(count(checks, SLAB_FAILS), ==, e->fails);
	g_assert_cmpint(count(checks, SLAB_NEAR), ==, e->near);
	slab_summary(summary, r, checks, "v7.1", 8);
	g_assert_cmpuint(summary->len, >, 50);
}

static void test_own(gconstpointer data)
{
	check(OWN, data);
}

static void test_posted(gconstpointer data)
{
	const struct expected *e = data;
	g_autofree char *path =
		g_strconcat(SOURCE_ROOT "/" POSTED, e->file, NULL);

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_test_skip("no ../shared/inputs");
		return;
	}
	check(POSTED, e);
}

/* All 200 caches of a posted file have the sizes that the model computes. */
static void test_slabinfo_geometry(gconstpointer file)
{
	g_autofree char *path = g_build_filename(SOURCE_ROOT, file, NULL);
	g_autoptr(GPtrArray) all = NULL;

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_test_skip("no ../shared/inputs");
		return;
	}
	all = read_all(file, NULL);
	g_assert_cmpuint(all->len, >, 20);
	for (guint i = 0; i < all->len; i++) {
		g_autoptr(GPtrArray) checks = checks_of(all->pdata[i], 2);

		g_assert_cmpint(count(checks, SLAB_FAILS), ==, 0);
	}
}

/* A false identity is found, and said which. */
static void test_broken(void)
{
	g_autoptr(GPtrArray) all = read_all(OWN "slab-stats-broken.txt", NULL);
	g_autoptr(GPtrArray) checks = checks_of(all->pdata[0], 64);

	g_assert_true(has_check(checks, SLAB_FAILS,
				"alloc_fastpath: its parts "
				"add up to 99 but the total says 100"));
	g_assert_true(has_check(checks, SLAB_FAILS, "50 != 3 x 16"));
	g_assert_true(has_check(checks, SLAB_FAILS, "30 = 28 x 1 and a rest"));
	g_assert_true(has_check(checks, SLAB_FAILS, "5 - 1 != 3"));
	g_assert_true(has_check(checks, SLAB_FAILS,
				"objs_per_slab is 16, the "
				"model computes 12"));
	g_assert_true(has_check(checks, SLAB_FAILS,
				"slab_size is 320, the "
				"model computes 256"));
}

static void test_wrapped_sum(void)
{
	g_autoptr(GPtrArray) all =
		read_string("./alloc_fastpath:4 C0=4294967290 C1=10\n", NULL);
	g_autoptr(GPtrArray) checks = slab_check_all(all->pdata[0]);

	g_assert_true(has_check(checks, SLAB_FAILS, "wrapped at 32 bits"));
}

/* A raw mail: "=" is "=3D", long lines are broken by "=". */
static void test_quoted_printable(void)
{
	g_autoptr(GPtrArray) all = read_string(
		"> ./alloc_slab:34 C0=3D1=\n2 C1=3D22\n> ./note:x C0=1\n"
		"> ./slabs:5 N0=3D5\n",
		NULL);
	const struct slab_report *r = all->pdata[0];
	const struct slab_value *v = slab_report_find(r, "alloc_slab");

	g_assert_cmpuint(slab_value_part(v, 0), ==, 12);
	g_assert_cmpuint(slab_value_part(v, 1), ==, 22);
	/* lines are counted as in the file */
	g_assert_cmpint(slab_report_find(r, "slabs")->line, ==, 4);
}

static void test_errors(void)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"hello world\n", "text: not recognised, expected"},
		{"Subject: x\nnote:5 is fine\n", "text: not recognised"},
		{"alloc_slab:5 C0=x\n", "text:1: alloc_slab: \"C0=x\", "
					"expected C0=NUMBER"},
		{"alloc_slab:5x C0=5\n", "text:1: alloc_slab: \"5x\", "
					 "expected a number"},
		{"alloc_slab:5 C9999=5\n", "text:1: alloc_slab"},
		{"alloc_slab:5\nfree_slab:5 C2=3 C1=2\n",
		 "text:2: free_slab: C1=2 after C2, expected rising"},
		{"alloc_slab:5 C1=3 N2=2\n", "expected rising"},
		{"x 1 2 3 4 3 : tunables 0 0 0 : slabdata 1 1 0\n",
		 "text:1: x: 3 pages per slab, expected a power of two"},
		{"x 1 2 3 4 a : tunables 0 0 0 : slabdata 1 1 0\n",
		 "text:1: x: \"a : tunables 0 0 0 :\" for pages_per_slab"},
		{"x 1 2 3 4 1 : tunables 0 0 0\n", "breaks off"},
		{"Slabcache: x\nSlabObj: y\n", "text:2: SlabObj: \"y\""},
		{"Slab Perf Counter\nFastpath 10\n",
		 "text:2: Fastpath: only one number"},
		{"Slabcache: x\n", "no figure of slabinfo"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autofree char *error = NULL;
		g_autoptr(GPtrArray) all = read_string(bad[i].text, &error);

		g_test_message("%s", error);
		g_assert_null(all);
		g_assert_nonnull(strstr(error, bad[i].error));
	}
}

static void test_counts(void)
{
	g_autoptr(GPtrArray) all = read_all(OWN "slab-stats-quoted.txt", NULL);
	g_autofree char *counts = slab_counts(all->pdata[0]);
	g_autofree char *bad = NULL;
	g_autoptr(GPtrArray) again = read_string(counts, &bad);

	g_assert_true(slab_has_counts(all->pdata[0]));
	g_assert_nonnull(strstr(counts, "\nfree_slowpath:40 C0=10 C1=30\n"));
	g_assert_null(strstr(counts, "N0="));
	g_assert_cmpint(slab_report_get(again->pdata[0], "sheaf_refill"), ==,
			280);
}

/* A cache's folder, as sysfs and slubsim's own results have it. */
static void test_folder(void)
{
	g_autofree char *root = g_dir_make_tmp("slubsim-XXXXXX", NULL);
	g_autofree char *dir =
		g_build_filename(root, "sys/kernel/slab/x", NULL);
	g_autofree char *command = g_strdup_printf("rm -r %s", root);
	static const char *const files[][2] = {
		{"slab_size", "64\n"},
		{"objs_per_slab", "64\n"},
		{"alloc_slab", "3 C0=1 C7=2\n"},
		{"ctor", "\n"},
	};
	g_autoptr(GPtrArray) all = slab_reports_new();
	g_autoptr(GPtrArray) one = slab_reports_new();
	const struct slab_report *r;

	g_assert_cmpint(g_mkdir_with_parents(dir, 0700), ==, 0);
	for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path =
			g_build_filename(dir, files[i][0], NULL);

		g_assert_true(g_file_set_contents(path, files[i][1], -1, NULL));
	}
	g_assert_true(slab_reports_from_path(root, all, NULL));
	g_assert_true(slab_reports_from_path(dir, one, NULL));
	g_assert_cmpuint(all->len, ==, 1);
	g_assert_cmpuint(one->len, ==, 1);
	r = all->pdata[0];
	g_assert_cmpstr(r->cache, ==, "x");
	g_assert_cmpint(slab_cpus_seen(r), ==, 8);
	g_assert_true(
		g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
}

static void add(const char *folder, const struct expected *e,
		GTestDataFunc test)
{
	g_autofree char *name =
		g_strdup_printf("/import/cache/%s/%s", folder, e->file);

	g_test_add_data_func(name, e, test);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (guint i = 0; i < G_N_ELEMENTS(posted); i++)
		add("posted", &posted[i], test_posted);
	for (guint i = 0; i < G_N_ELEMENTS(own); i++)
		add("own", &own[i], test_own);
	g_test_add_data_func("/import/cache/geometry/posted",
			     POSTED "proc-slabinfo-rhcos42-hyperv-2cpu.txt",
			     test_slabinfo_geometry);
	g_test_add_data_func("/import/cache/geometry/own",
			     OWN "proc-slabinfo.txt", test_slabinfo_geometry);
	g_test_add_func("/import/cache/broken", test_broken);
	g_test_add_func("/import/cache/wrapped-sum", test_wrapped_sum);
	g_test_add_func("/import/cache/quoted-printable",
			test_quoted_printable);
	g_test_add_func("/import/cache/errors", test_errors);
	g_test_add_func("/import/cache/counts", test_counts);
	g_test_add_func("/import/cache/folder", test_folder);
	return g_test_run();
}
