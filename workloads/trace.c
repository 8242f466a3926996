/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workload trace; what it does is told in trace.h. Here: options, the
 * events' way to the CPUs, reporting. What a CPU does: trace_replay.c. */
#include "workloads/trace.h"

#include <string.h>

#include "workloads/trace_replay.h"

static const char *const map_names[] = { "same", "pack", "spread", NULL };

#define P(...) PARAM(struct trace_options, __VA_ARGS__)
#define C(...) PARAM_CHOICE(struct trace_options, __VA_ARGS__)

static const struct param_desc option_table[] = {
	P(file, PARAM_STRING, "", 0, 0,
	  "the trace: ftrace, trace-cmd report or perf script text or a "
	  "trace.dat, plain or compressed"),
	P(time_scale, PARAM_DOUBLE, "", 0, 1e6,
	  "simulated time per time of the trace; 0 = back to back"),
	C(cpu_map, map_names,
	  "which CPU replays a CPU's events: the same, the next of a packed "
	  "machine, or going round the nodes"),
	P(window, PARAM_INT, "events", 1, 1 << 24,
	  "events read ahead, and so how far a CPU may be before another"),
	P(preallocate, PARAM_BOOL, "", 0, 0,
	  "allocate what the trace frees without having allocated it, where "
	  "its cache and size are known (reads the trace twice)"),
	P(write_lines, PARAM_INT, "lines", 0, 1 << 16,
	  "cache lines of an object that its user writes after allocating"),
	P(report_caches, PARAM_INT, "caches", 0, 1 << 16,
	  "busiest caches of which metrics of their own are reported"),
	{ NULL }
};

static void defaults(void *options)
{
	*(struct trace_options *)options = (struct trace_options){
		.time_scale = 1,
		.window = 1024,
		.write_lines = 1,
		.report_caches = 2,
	};
}

static char *check(const void *options, const struct topology *t)
{
	const struct trace_options *o = options;

	if (!o->file || !*o->file)
		return g_strdup("file: not given, expected the path of a "
				"trace (--set workload.file=FILE)");
	if (!strcmp(o->file, "-"))
		return g_strdup("file = '-', expected a path: every variant "
				"reads the trace anew");
	return NULL;
}

char *trace_path(const struct trace_options *o)
{
	const char *configs = g_getenv("SLUBSIM_CONFIGS");

	if (strchr(o->file, '/') || g_file_test(o->file, G_FILE_TEST_EXISTS))
		return g_strdup(o->file);
	return g_build_filename(configs ? configs : SLUBSIM_CONFIGS, "..",
				"workloads", "testdata", o->file, NULL);
}

/* Opened here, it is refused before any variant has run. */
static char *inputs(const void *options)
{
	g_autofree char *path = trace_path(options);
	g_autoptr(GError) error = NULL;
	struct trace *t = trace_open(path, &error);

	trace_close(t);
	return t ? NULL : g_strdup_printf("file: %s", error->message);
}

/* ---- CPUs ---- */

struct rank {
	int cpu, socket, l3, core, node;
	int sibling; /* how many of its core come before it */
	int in_node; /* how many of its node come before it */
};

static int by_pack(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->socket != y->socket)
		return x->socket - y->socket;
	if (x->l3 != y->l3)
		return x->l3 - y->l3;
	if (x->sibling != y->sibling)
		return x->sibling - y->sibling;
	return x->core != y->core ? x->core - y->core : x->cpu - y->cpu;
}

static int by_spread(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return x->in_node != y->in_node ? x->in_node - y->in_node :
					  x->node - y->node;
}

int *trace_cpu_order(const struct topology *t, enum trace_cpu_map map)
{
	g_autofree struct rank *ranks = g_new0(struct rank, t->nr_cpus);
	g_autofree int *seen_core = g_new0(int, t->nr_cores + t->nr_cpu_ids);
	g_autofree int *seen_node = g_new0(int, t->nr_node_ids);
	int *order = g_new0(int, t->nr_cpus);
	int n = 0;

	for (int id = 0; id < t->nr_cpu_ids; id++) {
		const struct topology_cpu *c = &t->cpus[id];

		if (!c->online)
			continue;
		ranks[n++] = (struct rank){ .cpu = id,
					    .socket = c->socket,
					    .l3 = c->l3,
					    .core = c->core,
					    .node = c->node,
					    .sibling = seen_core[c->core]++ };
	}
	if (map != TRACE_MAP_SAME)
		qsort(ranks, n, sizeof(*ranks), by_pack);
	for (int i = 0; i < n; i++)
		ranks[i].in_node = seen_node[ranks[i].node]++;
	if (map == TRACE_MAP_SPREAD)
		qsort(ranks, n, sizeof(*ranks), by_spread);
	for (int i = 0; i < n; i++)
		order[i] = ranks[i].cpu;
	return order;
}

/* ---- reporting ---- */

static int by_events(gconstpointer a, gconstpointer b)
{
	const struct replay_cache *x = *(struct replay_cache *const *)a;
	const struct replay_cache *y = *(struct replay_cache *const *)b;
	uint64_t nx = x->allocs + x->frees, ny = y->allocs + y->frees;

	return nx != ny ? (nx < ny ? 1 : -1) : strcmp(x->name, y->name);
}

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / n : 0;
}

static void cache_metric(struct report *r, const struct replay_cache *c,
			 const char *what, const char *unit, double value)
{
	g_autofree char *name = g_strdup_printf("%s_%s", c->name, what);

	report_metric(r, name, unit, false, value);
}

static void report_caches(struct replay *rp, struct report *r)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();

	for (unsigned i = 0; i < rp->caches->len; i++)
		g_ptr_array_add(all, rp->caches->pdata[i]);
	g_ptr_array_sort(all, by_events);
	for (unsigned i = 0; i < all->len && i < rp->o->report_caches; i++) {
		const struct replay_cache *c = all->pdata[i];

		if (!c->allocs && !c->frees)
			break;
		cache_metric(r, c, "remote_frees", "objects", c->remote_frees);
		if (!rp->timed)
			continue;
		cache_metric(r, c, "alloc_cycles", "cycles",
			     mean(c->alloc_cycles, c->allocs));
		cache_metric(r, c, "free_cycles", "cycles",
			     mean(c->free_cycles, c->frees));
	}
}

static void report(struct replay *rp, struct report *r)
{
	struct replay_cache sum = { .name = NULL };

	for (unsigned i = 0; i < rp->caches->len; i++) {
		const struct replay_cache *c = rp->caches->pdata[i];

		sum.allocs += c->allocs;
		sum.frees += c->frees;
		sum.remote_frees += c->remote_frees;
		sum.alloc_cycles += c->alloc_cycles;
		sum.free_cycles += c->free_cycles;
	}
	if (rp->timed) {
		report_metric(r, "alloc_cycles", "cycles", false,
			      mean(sum.alloc_cycles, sum.allocs));
		report_metric(r, "free_cycles", "cycles", false,
			      mean(sum.free_cycles, sum.frees));
		report_metric(r, "time_s", "s", false,
			      machine_ns(rp->m, machine_now(rp->m) -
							rp->start) *
				      1e-9);
		if (rp->o->time_scale > 0)
			report_metric(r, "mean_late_ns", "ns", false,
				      rp->replayed ? rp->late_ns /
							     rp->replayed :
						     0);
	}
	report_metric(r, "records", "events", true,
		      trace_notes(rp->trace)->records);
	report_metric(r, "replayed", "events", true, rp->replayed);
	report_metric(r, "remote_frees", "objects", false, sum.remote_frees);
	if (rp->other_size)
		report_metric(r, "caches_of_other_size", "caches", false,
			      rp->other_size);
	for (int i = 0; i < NR_TRACE_NOTES; i++) {
		uint64_t count = replay_count(rp, i);
		g_autofree char *name =
			g_strconcat(trace_note_table[i].class == NOTE_IS_SKIP ?
					    "skipped_" :
					    "mended_",
				    trace_note_table[i].key, NULL);

		if (count &&
		    (trace_note_table[i].class == NOTE_IS_SKIP ||
		     trace_note_table[i].class == NOTE_IS_MEND))
			report_metric(r, name, "events", false, count);
	}
	report_caches(rp, r);
	report_operations(r, sum.allocs + sum.frees);
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	struct replay *rp = replay_new(sl, options, REPLAY_KEEP, error);
	bool ok = rp && replay_run(rp, error);

	if (ok)
		report(rp, r);
	replay_free(rp);
	return ok;
}

const struct workload trace_workload = {
	.name = "trace",
	.help = "the allocations and frees of a recorded kmem trace, replayed",
	.options_size = sizeof(struct trace_options),
	.options = option_table,
	.defaults = defaults,
	.check = check,
	.inputs = inputs,
	.run = run,
};
