/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The null workload never leaves the front end of a CPU, in any generation; so
 * its pairs cost the same on one CPU as on four, and take no lock.
 */
#include "model/test_eras.h"
#include "sim/test_sim.h"
#include "workloads/test_report.h"

#define PAIRS 1000

struct options { /* as in null.c */
	int64_t object_size, pairs;
};

static void run(struct slub *sl, struct report *r)
{
	const struct workload *w = workload_find("null");
	struct options o;
	g_autoptr(GError) error = NULL;

	g_assert_cmpuint(sizeof(o), ==, w->options_size);
	w->defaults(&o);
	o.pairs = PAIRS;
	g_assert_true(w->run(sl, &o, 1, r, &error));
	g_assert_no_error(error);
}

static void test_fast_path(gconstpointer data)
{
	struct features f = era_features(GPOINTER_TO_INT(data));
	struct test_machine *x = test_machine_new(&f, 4, 2, 3);
	struct report r = { 0 };
	struct kmem_cache *s;
	uint64_t fast = 2 * 4 * PAIRS, got;

	run(x->sl, &r);
	g_assert_cmpuint(r.ops, ==, fast + 2 * 4);
	s = slub_next_cache(x->sl, NULL);
	g_assert_cmpstr(kmem_cache_name(s), ==, "null");
	got = kmem_cache_stat(s, stat_alloc_fastpath, -1) +
	      kmem_cache_stat(s, stat_free_fastpath, -1);
	g_assert_cmpuint(got, >=, fast);
	g_assert_cmpuint(got, <=, fast + 2 * 4);
	report_clear(&r);
	test_machine_free(x);
}

/* Locks are for the first pair of a CPU only. */
static void few_locks(const struct lock_stat *l, void *arg)
{
	g_assert_cmpuint(l->acquisitions, <, PAIRS / 10);
}

/* One timed machine per process: cycles of a pair on @cpus CPUs. */
static void timed(int cpus)
{
	struct machine_params p = test_params();
	struct insn_costs costs = { .alloc_fast = 60, .free_fast = 40 };
	struct features f = era_features(ERA_7_1);
	struct topology *t = test_node_topology(cpus, 1, 1, 1ull << 30);
	struct machine *m = machine_new(t, &p, 0, 1);
	struct slub *sl = slub_new(m, &f, &costs);
	struct report r = { 0 };

	run(sl, &r);
	/* 100 instructions at an IPC of 2; all lines are in L1 */
	g_assert_cmpfloat(reported(&r, "pair_cycles"), >=, 50);
	g_assert_cmpfloat(reported(&r, "pair_cycles"), <, 51);
	machine_lock_stats(m, few_locks, NULL);
	report_clear(&r);
	slub_free(sl);
	machine_free(m);
	topology_free(t);
}

static void test_timed(gconstpointer cpus)
{
	if (g_test_subprocess()) {
		timed(GPOINTER_TO_INT(cpus));
		return;
	}
	g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
	g_test_trap_assert_passed();
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (int i = 0; i < NR_ERAS; i++) {
		g_autofree char *name = g_strdup_printf("/null/fast-path/%s",
							era_names[i]);

		g_test_add_data_func(name, GINT_TO_POINTER(i), test_fast_path);
	}
	g_test_add_data_func("/null/timed/one", GINT_TO_POINTER(1), test_timed);
	g_test_add_data_func("/null/timed/four", GINT_TO_POINTER(4),
			     test_timed);
	return g_test_run();
}
