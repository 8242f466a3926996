/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulator's shortcuts, proven: every workload gives the same counters,
 * cycles, accounts, locks and traffic with and without --exact-slow, bit for
 * bit. Only the engine's events and what the flags say may differ. $SLUBSIM
 * names the program.
 */
#include <string.h>

#include "workloads/workload.h"

#define MAX_SETS 10

static const struct run {
	const char *experiment, *workload, *variant;
	const char *sets[MAX_SETS];
} runs[] = {
	{"memoryless-ublk", "ublk", "v6.19-rc5",
	 {"workload.run_ms=0.2", "workload.warmup_ms=0.1"}},
	{"memoryless-ublk", "ublk", "v7.0-rc3",
	 {"workload.run_ms=0.3", "workload.warmup_ms=0.1"}},
	{"memoryless-ublk", "ublk", "v7.0-rc3-memoryless",
	 {"workload.run_ms=0.3", "workload.warmup_ms=0.1"}},
	{"memoryless-ublk", "ublk", "v7.1",
	 {"experiment.topology=server-512cpu-64node", "workload.queues=128",
	  "workload.run_ms=0.05", "workload.warmup_ms=0"}},
	{"memoryless-counts", "ublk", "v7.0-rc3-memoryless",
	 {"workload.scale=0.0001"}},
	{"bulk-alloc-2015", "bulk", "2015-bulk-alloc",
	 {"workload.sizes=1,30,158", "workload.rounds=20",
	  "workload.warm_rounds=5"}},
	{"bulk-alloc-2015", "bulk", "v7.1",
	 {"workload.sizes=1,30,158", "workload.rounds=20",
	  "workload.warm_rounds=5"}},
	{"bulk-refill-2026", "bulk_refill", "v7.2",
	 {"workload.sizes=64,512", "workload.total_mb=1"}},
	{"hackbench-2024-process-sockets", "hackbench", "v6.9-rc2-gt",
	 {"sweep.workload.groups=2", "workload.loops=2"}},
	{"hackbench-2024-process-pipes", "hackbench", "v6.9-rc2-ge",
	 {"sweep.workload.groups=2", "workload.loops=2"}},
	{"hackbench-threads-sockets", "hackbench", "v7.1",
	 {"sweep.workload.groups=2", "workload.loops=2"}},
	{"fast-path", "null", "v7.1", {"workload.pairs=200"}},
	{"memoryless-counts", "percpu", "v7.1",
	 {"experiment.workload=percpu", "workload.scale=0.0001",
	  "workload.cache=bio-256"}},
	{"trace-example", "trace", "v6.12", {NULL}},
	{"trace-example", "trace", "v7.1-fixed", {"workload.time_scale=1"}},
	{"zsmalloc-scaling", "zspair", "zs-store",
	 {"sweep.workload.cpus=16", "workload.pairs=60",
	  "workload.warm_pairs=20"}},
	{"zram-mix", "zram", "zsmalloc-7.1",
	 {"workload.operations=100", "workload.slots=1024",
	  "workload.compact_every=40"}},
	{"zram-mix", "zram", "zs-store+copy-outside",
	 {"workload.operations=100", "workload.slots=1024",
	  "workload.compact_every=40"}},
};

static void run_slubsim(const struct run *r, bool slow, const char *seed,
			char **out, char **err, int *status)
{
	g_autoptr(GPtrArray) args = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	const char *const words[] = {g_getenv("SLUBSIM"), "run", r->experiment,
				     "--point=0", "-o", "-", "--seed", seed};

	for (guint i = 0; i < G_N_ELEMENTS(words); i++)
		g_ptr_array_add(args, g_strdup(words[i]));
	if (slow)
		g_ptr_array_add(args, g_strdup("--exact-slow"));
	for (int i = 0; i < MAX_SETS && r->sets[i]; i++) {
		g_ptr_array_add(args, g_strdup("--set"));
		g_ptr_array_add(args, g_strdup(r->sets[i]));
	}
	g_ptr_array_add(args, g_strdup("--set"));
	g_ptr_array_add(args,
			g_strdup_printf("experiment.variants=%s", r->variant));
	g_ptr_array_add(args, NULL);
	g_assert_true(g_spawn_sync(NULL, (char **)args->pdata, NULL, 0, NULL,
				   NULL, out, err, status, &error));
	g_assert_no_error(error);
}

/* A point's JSON without what may differ; *@events is what it had. */
static char *point_of(const struct run *r, bool slow, const char *seed,
		      uint64_t *events)
{
	g_autofree char *out = NULL, *err = NULL;
	g_auto(GStrv) lines = NULL;
	GString *kept = g_string_new(NULL);
	int status;

	run_slubsim(r, slow, seed, &out, &err, &status);
	if (status)
		g_test_message("%s", err);
	g_assert_cmpint(status, ==, 0);
	*events = 0;
	lines = g_strsplit(out, "\n", -1);
	for (int i = 0; lines[i]; i++) {
		const char *line = g_strchug(lines[i]);

		if (g_str_has_prefix(line, "\"engine_events\""))
			*events = g_ascii_strtoull(strchr(line, ':') + 2, NULL,
						   10);
		else if (!g_str_has_prefix(line, "\"flags\"") &&
			 !g_str_has_prefix(line, "\"seed\""))
			g_string_append_printf(kept, "%s\n", line);
	}
	return g_string_free(kept, FALSE);
}

static void assert_same(const char *fast, const char *slow)
{
	g_auto(GStrv) a = g_strsplit(fast, "\n", -1);
	g_auto(GStrv) b = g_strsplit(slow, "\n", -1);

	for (int i = 0; a[i] || b[i]; i++)
		g_assert_cmpstr(a[i], ==, b[i]);
}

static void test_same(gconstpointer data)
{
	const struct run *r = data;
	uint64_t fast_events, slow_events;
	g_autofree char *fast = point_of(r, false, "5", &fast_events);
	g_autofree char *slow = point_of(r, true, "5", &slow_events);

	g_assert_nonnull(strstr(fast, "\"end_cycles\""));
	assert_same(fast, slow);
	/* shortcuts were really off: sleeps instead of hand-overs; a CPU
	 * alone has neither */
	if (fast_events > 1)
		g_assert_cmpuint(slow_events, !=, fast_events);
}

/* Another seed shows in what is compared, so a difference would. */
static void test_can_differ(void)
{
	uint64_t events;
	g_autofree char *a = point_of(&runs[0], false, "5", &events);
	g_autofree char *b = point_of(&runs[0], false, "6", &events);

	g_assert_cmpstr(a, !=, b);
}

/* Whoever adds a workload adds a line above. */
static void test_all_workloads(void)
{
	for (int i = 0; workloads[i]; i++) {
		guint k = 0;

		while (k < G_N_ELEMENTS(runs) &&
		       strcmp(runs[k].workload, workloads[i]->name))
			k++;
		if (k == G_N_ELEMENTS(runs))
			g_test_message("no run of %s", workloads[i]->name);
		g_assert_cmpuint(k, <, G_N_ELEMENTS(runs));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_nonnull(g_getenv("SLUBSIM"));
	g_test_add_func("/exact/all-workloads", test_all_workloads);
	g_test_add_func("/exact/can-differ", test_can_differ);
	for (guint i = 0; i < G_N_ELEMENTS(runs); i++) {
		g_autofree char *name =
			g_strdup_printf("/exact/%s/%s/%u", runs[i].workload,
					runs[i].variant, i);

		g_test_add_data_func(name, &runs[i], test_same);
	}
	return g_test_run();
}
