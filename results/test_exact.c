/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulator's shortcuts, proven: every workload gives the same counters,
 * cycles, accounts, locks and traffic with and without --exact-slow, bit for
 * bit, and while lines are watched or a trace is kept. Only the engine's events
 * and what the flags say may differ. $SLUBSIM names the program.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "workloads/workload.h"

#define MAX_SETS 10

static const struct run {
	const char *experiment, *workload, *variant;
	const char *sets[MAX_SETS];
	bool generated;	  /* the trace is ours: see write_trace() */
	bool look, price; /* is looked at, its price too */
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
	 {"sweep.workload.groups=2", "workload.loops=2"},
	 .look = true, .price = true},
	{"fast-path", "null", "v7.1", {"workload.pairs=200"}},
	{"memoryless-counts", "percpu", "v7.1",
	 {"experiment.workload=percpu", "workload.scale=0.0001",
	  "workload.cache=bio-256"}},
	{"memoryless-ublk", "ublk", "v7.1",
	 {"workload.run_ms=0.2", "workload.warmup_ms=0.1",
	  "features.slub_stats=false"}, .look = true, .price = true},
	{"memoryless-counts", "percpu", "v6.19",
	 {"experiment.workload=percpu", "workload.scale=0.00003",
	  "workload.sheaf_capacity=32"}, .look = true, .price = true},
	{"trace-example", "trace", "v6.19",
	 {"experiment.topology=zen4-2s-8node-2mem"}, .generated = true,
	 .look = true},
	{"trace-example", "trace", "v7.1",
	 {"experiment.topology=zen4-2s-8node-2mem",
	  "features.slub_stats=true"}, .generated = true},
	{"trace-example", "trace", "v7.2",
	 {"experiment.topology=server-2s", "features.slub_stats=false"},
	 .generated = true},
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

/* ---- a trace with what the workloads don't ask for ---- */

#define TRACE_OBJECTS 300
static char *trace_file;

/* Siblings and CPUs of other nodes send each other what they allocated, some
 * for a node, some zeroed. */
static void write_trace(void)
{
	static const int cpus[] = {0, 32, 4, 36, 20, 1};
	static const char *const flags[] = {
		"GFP_KERNEL", "GFP_KERNEL|__GFP_ZERO", "GFP_NOWAIT",
		"GFP_KERNEL|__GFP_THISNODE", "GFP_ATOMIC"};
	static const int nodes[] = {-1, -1, 0, 1, -1, 1, 5};
	g_autoptr(GString) text = g_string_new("# tracer: nop\n#\n");
	g_autoptr(GRand) rand = g_rand_new_with_seed(3);
	g_autoptr(GError) error = NULL;
	bool taken[TRACE_OBJECTS] = {false};
	int fd = g_file_open_tmp("exact-XXXXXX.trace.txt", &trace_file,
				 &error);

	g_assert_no_error(error);
	g_close(fd, NULL);
	for (int i = 0; i < 4000; i++) {
		int k = g_rand_int_range(rand, 0, TRACE_OBJECTS);
		int cpu = cpus[g_rand_int_range(rand, 0, G_N_ELEMENTS(cpus))];

		g_string_append_printf(
			text, "  task-%d [%03d] .....   100.%06d: kmem_cache_%s: "
			"call_site=some_function+0x1/0x2 ptr=0xffff8881%08x "
			"name=some_cache", 100 + cpu, cpu, i,
			taken[k] ? "free" : "alloc", 256 * k);
		if (!taken[k])
			g_string_append_printf(
				text, " bytes_req=256 bytes_alloc=256 "
				"gfp_flags=%s node=%d accounted=false",
				flags[g_rand_int_range(rand, 0,
						       G_N_ELEMENTS(flags))],
				nodes[g_rand_int_range(rand, 0,
						       G_N_ELEMENTS(nodes))]);
		g_string_append_c(text, '\n');
		taken[k] = !taken[k];
	}
	g_file_set_contents(trace_file, text->str, text->len, &error);
	g_assert_no_error(error);
}

/* ---- runs ---- */

static void add_set(GPtrArray *args, char *set)
{
	g_ptr_array_add(args, g_strdup("--set"));
	g_ptr_array_add(args, set);
}

/* What it prints of the first point; @how and @more are options or NULL. */
static char *run_slubsim(const struct run *r, const char *how,
			 const char *seed, const char *more)
{
	g_autoptr(GPtrArray) args = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autofree char *err = NULL;
	const char *const words[] = {g_getenv("SLUBSIM"), "run", r->experiment,
				     "--point=0", "-o", "-", "--seed", seed};
	char *out = NULL;
	int status;

	for (guint i = 0; i < G_N_ELEMENTS(words); i++)
		g_ptr_array_add(args, g_strdup(words[i]));
	if (how)
		g_ptr_array_add(args, g_strdup(how));
	if (more)
		g_ptr_array_add(args, g_strdup(more));
	for (int i = 0; i < MAX_SETS && r->sets[i]; i++)
		add_set(args, g_strdup(r->sets[i]));
	if (r->generated)
		add_set(args, g_strconcat("workload.file=", trace_file, NULL));
	add_set(args, g_strconcat("experiment.variants=", r->variant, NULL));
	g_ptr_array_add(args, NULL);
	g_assert_true(g_spawn_sync(NULL, (char **)args->pdata, NULL, 0, NULL,
				   NULL, &out, &err, &status, &error));
	g_assert_no_error(error);
	if (status)
		g_test_message("%s", err);
	g_assert_cmpint(status, ==, 0);
	return out;
}

/* A point's JSON without what may differ. */
static char *point_of(const struct run *r, const char *how, const char *seed)
{
	g_autofree char *out = run_slubsim(r, how, seed, NULL);
	g_auto(GStrv) lines = g_strsplit(out, "\n", -1);
	GString *kept = g_string_new(NULL);

	for (int i = 0; lines[i]; i++) {
		const char *line = g_strchug(lines[i]);

		if (g_str_has_prefix(line, "\"lines_left_out\""))
			break; /* --c2c's own, at the end */
		if (!g_str_has_prefix(line, "\"flags\"") &&
		    !g_str_has_prefix(line, "\"engine_events\"") &&
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
	g_autofree char *fast = point_of(r, NULL, "5");
	g_autofree char *slow = point_of(r, "--exact-slow", "5");

	g_assert_nonnull(strstr(fast, "\"end_cycles\""));
	assert_same(fast, slow);
	if (r->look) { /* which must not change what is seen */
		g_autofree char *lines = point_of(r, "--c2c", "5");
		g_autofree char *traced =
			point_of(r, "--trace-window=0:1000", "5");

		assert_same(fast, lines);
		assert_same(fast, traced);
	}
}

/* Another seed shows in what is compared, so a difference would. */
static void test_can_differ(void)
{
	g_autofree char *a = point_of(&runs[0], NULL, "5");
	g_autofree char *b = point_of(&runs[0], NULL, "6");

	g_assert_cmpstr(a, !=, b);
}

/* ---- that shortcuts were taken, or really off ---- */

struct price {
	double operations, events, turns, steps; /* all of the run */
};

/* What --bench prints as @name. */
static double figure(const char *bench, const char *name)
{
	g_auto(GStrv) lines = g_strsplit(bench, "\n", -1);

	for (int i = 0; lines[i]; i++)
		if (g_str_has_prefix(lines[i], name) &&
		    lines[i][strlen(name)] == '\t')
			return g_ascii_strtod(lines[i] + strlen(name), NULL);
	g_error("no %s in:\n%s", name, bench);
}

static struct price price_of(const struct run *r, const char *how)
{
	g_autofree char *bench = run_slubsim(r, "--bench", "5", how);
	double operations = figure(bench, "operations");

	return (struct price){
		.operations = operations,
		.events = figure(bench, "events_per_operation") * operations,
		.turns = figure(bench, "turns_per_operation") * operations,
		.steps = figure(bench, "steps_per_operation") * operations,
	};
}

static void test_price(gconstpointer data)
{
	const struct run *r = data;
	struct price fast = price_of(r, NULL);
	struct price slow = price_of(r, "--exact-slow");
	/* figures are printed with four digits */
	double room = 2 + 0.0001 * fast.operations;

	g_assert_cmpfloat(fast.turns, >, 200);
	g_assert_cmpfloat(fast.events, <, fast.turns / 50);
	/* each hand-over is SimGrid's */
	g_assert_cmpfloat(slow.events, >, fast.turns - room);
	g_assert_cmpfloat(slow.steps, ==, 0);
	if (*r->variant == 'v' && r->variant[1] >= '7')
		g_assert_cmpfloat(fast.steps, >, 0.1 * fast.operations);
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

static void add(const char *what, guint i, GTestDataFunc test)
{
	g_autofree char *name = g_strdup_printf("/exact/%s/%s/%s/%u", what,
						runs[i].workload,
						runs[i].variant, i);

	g_test_add_data_func(name, &runs[i], test);
}

int main(int argc, char **argv)
{
	int status;

	g_test_init(&argc, &argv, NULL);
	g_assert_nonnull(g_getenv("SLUBSIM"));
	write_trace();
	g_test_add_func("/exact/all-workloads", test_all_workloads);
	g_test_add_func("/exact/can-differ", test_can_differ);
	for (guint i = 0; i < G_N_ELEMENTS(runs); i++) {
		add("same", i, test_same);
		if (runs[i].price)
			add("price", i, test_price);
	}
	status = g_test_run();
	g_unlink(trace_file);
	return status;
}
