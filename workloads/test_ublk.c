/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ublk: what it does to the allocator, and what it takes from a dump. */
#include <glib/gstdio.h>
#include <string.h>

#include "configs/config.h"
#include "workloads/counts.h"
#include "workloads/test_report.h"
#include "workloads/ublk.h"

static char *write_dump(const char *text)
{
	char *file;
	int fd = g_file_open_tmp("slubsim-counts-XXXXXX", &file, NULL);

	g_assert_cmpint(fd, >=, 0);
	g_close(fd, NULL);
	g_assert_true(g_file_set_contents(file, text, -1, NULL));
	return file;
}

static void read_and_expect(const char *dump, const char *wrong)
{
	g_autofree char *file = write_dump(dump);
	g_autoptr(GError) error = NULL;
	uint64_t allocs[4] = { 0 }, frees[4] = { 0 };
	bool ok = counts_read(file, 4, allocs, frees, &error);

	g_unlink(file);
	if (!wrong) {
		g_assert_no_error(error);
		g_assert_true(ok);
		g_assert_cmpuint(allocs[1], ==, 12);
		g_assert_cmpuint(frees[0], ==, 9);
		return;
	}
	g_assert_false(ok);
	g_assert_nonnull(error);
	if (!strstr(error->message, wrong))
		g_error("'%s' doesn't say '%s'", error->message, wrong);
}

static void test_counts(void)
{
	read_and_expect("./alloc_fastpath:10 C1=10\n"
			"./alloc_slowpath:2 C1=2\n"
			"./free_fastpath:9 C0=9\n./free_slowpath:0\n", NULL);
	/* as a mail wraps it */
	read_and_expect("> alloc_fastpath:10\n> C1=10 alloc_slowpath:2 C1=2\n"
			"> free_fastpath:9 C0=9\n", NULL);
	read_and_expect("alloc_fastpath:10 C1=10\n", "no free counters");
	read_and_expect("objects:10\n", "no alloc counters");
	read_and_expect("alloc_fastpath:10 C1=9\n", ":1: alloc_fastpath: the "
			"CPUs' counts don't sum");
	read_and_expect("\nalloc_fastpath:10 C1=1", ":2: alloc_fastpath");
	read_and_expect("alloc_fastpath:10 C1=4 C", ":1: alloc_fastpath: the "
			"CPUs' counts don't sum");
	read_and_expect("alloc_fastpath:10 C1=10 C2=", "expected C0=NUMBER");
	read_and_expect("alloc_fastpath:10 N1=10\n", "counts of nodes");
	read_and_expect("a/alloc_fastpath:1 C1=1\nb/alloc_fastpath:1 C1=1\n",
			"2 reports, expected a SLUB_STATS dump of one cache");
	read_and_expect("alloc_fastpath:ten\n", "expected a number");
	read_and_expect("./alloc_fastpath:\n", "no total");
	read_and_expect("alloc_fastpath:1 C9=1\n", "this machine lacks");
}

/* One run in a process of its own: SimGrid keeps one engine per process. */
static void run_variant(const char *name, char **sets, struct report *r)
{
	g_autoptr(GError) error = NULL;
	struct experiment *e =
		config_load_experiment("memoryless-ublk", sets, &error);
	struct variant *v = NULL;
	struct machine *m;
	struct slub *sl;

	g_assert_no_error(error);
	for (guint i = 0; i < e->variants->len; i++) {
		struct variant *k = e->variants->pdata[i];

		if (!strcmp(k->name, name))
			v = k;
	}
	g_assert_nonnull(v);
	m = machine_new(e->topology, &e->params, 0, 1);
	sl = slub_new(m, &v->features, &v->costs);
	g_assert_true(ublk_workload.run(sl, e->options, 1, r, &error));
	for (struct kmem_cache *s = NULL; (s = slub_next_cache(sl, s));) {
		/* every IO was completed: nobody holds a bio any more */
		g_autofree char *wrong = kmem_cache_verify(s, NULL, 0);

		if (wrong)
			g_error("%s: %s", name, wrong);
	}
	slub_free(sl);
	machine_free(m);
	experiment_free(e);
}

static void run_short(const char *name)
{
	char *sets[] = { "workload.run_ms=0.2", "workload.warmup_ms=0.1", NULL };
	struct report r = { 0 };

	run_variant(name, sets, &r);
	g_assert_cmpuint(reported_points(&r, "queue"), ==, 16);
	g_assert_cmpfloat(reported(&r, "iops_per_s"), >, 1e6);
	g_assert_cmpuint(r.ops, >, 1000);
	report_clear(&r);
}

static void test_conserves(const void *variant)
{
	if (g_test_subprocess()) {
		run_short(variant);
		return;
	}
	g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
	g_test_trap_assert_passed();
}

/* Each CPU does what the dump says, no more and no less. */
static void replay(void)
{
	g_autofree char *file =
		write_dump("alloc_fastpath:1100 C0=3 C1=1000 C3=97\n"
			   "alloc_slowpath:0\n"
			   "free_fastpath:1100 C0=1003 C2=97\n");
	g_autofree char *counts = g_strdup_printf("workload.counts=%s", file);
	char *sets[] = { counts, NULL };
	struct report r = { 0 };

	run_variant("v7.0-rc3-memoryless", sets, &r);
	g_unlink(file);
	g_assert_cmpuint(r.ops, ==, 2 * 1100);
	report_clear(&r);
}

static void test_replay(void)
{
	if (g_test_subprocess()) {
		replay();
		return;
	}
	g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
	g_test_trap_assert_passed();
}

int main(int argc, char **argv)
{
	static const char *const variants[] = { "v6.19-rc5", "slab-for-7.0",
						"v7.0-rc3",
						"v7.0-rc3-memoryless", NULL };

	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ublk/counts", test_counts);
	for (int i = 0; variants[i]; i++) {
		g_autofree char *path =
			g_strdup_printf("/ublk/conserves/%s", variants[i]);

		g_test_add_data_func(path, variants[i], test_conserves);
	}
	g_test_add_func("/ublk/replay", test_replay);
	return g_test_run();
}
