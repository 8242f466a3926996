/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/ublk.h"

#include <string.h>

#include "workloads/counts.h"
#include "workloads/programs.h"

struct options {
	int64_t queues, depth, batch;
	double work_ns, jitter;
	int64_t init_lines, complete_lines;
	int gfp;
	double warmup_ms, run_ms, window_ms;
	char *counts;
	double scale;
	char *watch;
};

static const char *const gfp_names[] = {"nowait", "kernel", NULL};

#define P(...) PARAM(struct options, __VA_ARGS__)

/*
 * Defaults: t/io_uring's depth 128 and batch 32 (fio t/io_uring.c, DEPTH and
 * BATCH_SUBMIT); 16 queues as in the report of 2026. The bio of blkdev_dio is
 * 256 bytes with its front pad and inline vectors; what is done to its lines is
 * part of work_ns unless init_lines and complete_lines say so. mempool_alloc()
 * tries without direct reclaim first, whatever the caller allows: nowait.
 */
static const struct param_desc option_table[] = {
	P(queues, PARAM_INT, "queues", 1, 2048,
	  "queue pairs; queue q has CPUs 2q (server) and 2q+1 (submitter)"),
	P(depth, PARAM_INT, "IOs", 1, 65536,
	  "IOs of a queue under way at most"),
	P(batch, PARAM_INT, "IOs", 1, 65536,
	  "IOs handed over at once, both ways"),
	P(work_ns, PARAM_DOUBLE, "ns", 0, 1000000,
	  "work per IO outside the allocator, on each of the two CPUs"),
	P(jitter, PARAM_DOUBLE, "", 0, 1,
	  "work varies evenly by plus or minus this share"),
	P(init_lines, PARAM_INT, "lines", 0, 64,
	  "lines of the bio that the submitter writes"),
	P(complete_lines, PARAM_INT, "lines", 0, 64,
	  "lines of the bio that the server reads"),
	PARAM_CHOICE(struct options, gfp, gfp_names,
		     "what the bio's allocation allows"),
	P(warmup_ms, PARAM_DOUBLE, "ms", 0, 1000000,
	  "simulated time before anything is measured"),
	P(run_ms, PARAM_DOUBLE, "ms", 0.001, 10000000,
	  "simulated time measured"),
	P(window_ms, PARAM_DOUBLE, "ms", 0.001, 10000000,
	  "width of a step of IOPS over time"),
	P(counts, PARAM_STRING, "", 0, 0,
	  "posted SLUB_STATS dump whose per-CPU counts are replayed"),
	P(scale, PARAM_DOUBLE, "", 0.000001, 1000,
	  "factor for the counts of that dump"),
	P(watch, PARAM_STRING, "", 0, 0,
	  "function whose share of the busy time is reported, callees included"),
	{NULL}};

static void defaults(void *options)
{
	*(struct options *)options = (struct options){
		.queues = 16,
		.depth = 128,
		.batch = 32,
		.work_ns = 400,
		.jitter = 0.1,
		.warmup_ms = 2,
		.run_ms = 10,
		.window_ms = 0.5,
		.scale = 1,
	};
}

static char *check(const void *options, const struct topology *t)
{
	const struct options *o = options;

	if (o->batch > o->depth)
		return g_strdup_printf(
			"batch = %" G_GINT64_FORMAT
			", expected at most depth = %" G_GINT64_FORMAT,
			o->batch, o->depth);
	for (int i = 0; i < 2 * o->queues; i++)
		if (i >= t->nr_cpu_ids || !t->cpus[i].online)
			return g_strdup_printf("queues = %" G_GINT64_FORMAT
					       " need CPU %d, expected at most "
					       "%d on this machine",
					       o->queues, i, i / 2);
	return NULL;
}

static char *inputs(const void *options)
{
	const struct options *o = options;

	return o->counts ? counts_check(o->counts) : NULL;
}

struct ublk;

/* One queue. The ring holds the bios under way in order of submission. */
struct queue {
	struct ublk *u;
	int id;
	struct cpu *submitter, *server;
	struct domain *domain;
	sim_addr *ring;
	uint64_t submitted,
		completed; /* IOs, as both see them when they meet */
	uint64_t goal;	   /* IOs, G_MAXUINT64 = until the end */
	bool submitter_waits, server_waits, done;
	uint64_t measured; /* IOs completed after the warm-up */
	uint64_t *windows; /* the same by time */
};

struct ublk {
	const struct options *o;
	struct slub *sl;
	struct kmem_cache *cache;
	struct queue *queues;
	unsigned gfp;
	uint64_t warmup, end, window; /* dates and width, cycles */
	int nr_windows;
	uint64_t work_least, work_spread; /* per IO, fractions of a cycle */
	uint64_t *extra; /* by CPU: allocations beside a submitter's */
	bool failed;
};

static void think(struct cpu *c, const struct ublk *u)
{
	cpu_outside_frac(c, u->work_least + cpu_random_below(c, u->work_spread));
}

static sim_addr submit_one(struct cpu *c, struct ublk *u)
{
	sim_addr bio = kmem_cache_alloc(c, u->cache, u->gfp);

	if (!bio) {
		u->failed = true;
		return 0;
	}
	for (int k = 0; k < u->o->init_lines; k++)
		cpu_write(c, bio + k * SIM_LINE);
	think(c, u);
	return bio;
}

static void complete_one(struct cpu *c, struct ublk *u, sim_addr bio)
{
	for (int k = 0; k < u->o->complete_lines; k++)
		cpu_read(c, bio + k * SIM_LINE);
	think(c, u);
	kmem_cache_free(c, u->cache, bio);
}

static bool is_over(const struct queue *q, const struct cpu *c)
{
	return q->u->failed || q->submitted >= q->goal || c->now >= q->u->end;
}

/* Where IO @n is in its queue's ring. */
static sim_addr *ring_at(const struct queue *q, uint64_t n)
{
	return &q->ring[n % (uint64_t)q->u->o->depth];
}

/* What this CPU allocated in the dump beside the queue's own IOs. */
static void submit_extra(struct cpu *c, struct queue *q)
{
	uint64_t n = q->u->extra ? q->u->extra[c->id] : 0;

	for (uint64_t i = 0; i < n && !q->u->failed; i++) {
		sim_addr bio = submit_one(c, q->u);

		if (bio)
			kmem_cache_free(c, q->u->cache, bio);
	}
}

static void submitter(struct cpu *c, void *arg)
{
	struct queue *q = arg;
	struct ublk *u = q->u;
	const struct options *o = u->o;
	sim_addr *end = q->ring + o->depth;

	while (!is_over(q, c)) {
		uint64_t n = MIN((uint64_t)o->batch, q->goal - q->submitted);
		sim_addr *at;

		cpu_meet(c, q->domain);
		if (q->submitted + n > q->completed + o->depth) {
			q->submitter_waits = true;
			cpu_wait(c);
			continue;
		}
		at = ring_at(q, q->submitted);
		for (uint64_t i = 0; i < n && !u->failed; i++) {
			*at = submit_one(c, u);
			if (++at == end)
				at = q->ring;
		}
		cpu_meet(c, q->domain);
		q->submitted += n;
		if (q->server_waits) {
			q->server_waits = false;
			cpu_wake(c, q->server, c->now);
		}
	}
	cpu_meet(c, q->domain);
	q->done = true;
	if (q->server_waits) {
		q->server_waits = false;
		cpu_wake(c, q->server, c->now);
	}
}

static void count_completed(struct queue *q, const struct cpu *c, uint64_t n)
{
	const struct ublk *u = q->u;
	uint64_t w;

	q->completed += n;
	if (c->now < u->warmup)
		return;
	q->measured += n;
	w = (c->now - u->warmup) / u->window;
	if (w < (uint64_t)u->nr_windows)
		q->windows[w] += n;
}

static void server(struct cpu *c, void *arg)
{
	struct queue *q = arg;
	struct ublk *u = q->u;
	const struct options *o = u->o;
	sim_addr *end = q->ring + o->depth;

	submit_extra(c, q);
	for (;;) {
		sim_addr *at;
		uint64_t n;

		cpu_meet(c, q->domain);
		n = MIN((uint64_t)o->batch, q->submitted - q->completed);
		if (!n && q->done)
			break;
		if (!n) {
			q->server_waits = true;
			cpu_wait(c);
			continue;
		}
		at = ring_at(q, q->completed);
		for (uint64_t i = 0; i < n; i++) {
			if (*at)
				complete_one(c, u, *at);
			*at = 0;
			if (++at == end)
				at = q->ring;
		}
		cpu_meet(c, q->domain);
		count_completed(q, c, n);
		if (q->submitter_waits) {
			q->submitter_waits = false;
			cpu_wake(c, q->submitter, c->now);
		}
	}
}

/* CPUs that are no queue's may have allocated a few objects in the dump. */
static void bystander(struct cpu *c, void *arg)
{
	struct queue other = {.u = arg};

	submit_extra(c, &other);
}

static void setup_queues(struct ublk *u)
{
	struct machine *m = slub_machine(u->sl);

	u->queues = g_new0(struct queue, u->o->queues);
	for (int i = 0; i < u->o->queues; i++) {
		struct queue *q = &u->queues[i];
		int cpus[2] = {2 * i, 2 * i + 1};

		q->u = u;
		q->id = i;
		q->server = machine_cpu(m, cpus[0]);
		q->submitter = machine_cpu(m, cpus[1]);
		q->domain = machine_domain(m, cpus, 2);
		q->ring = g_new0(sim_addr, u->o->depth);
		q->goal = G_MAXUINT64;
		q->windows = g_new0(uint64_t, u->nr_windows);
	}
}

/* Shares out a dump's counts: a submitter's are its queue's IOs. */
static bool setup_counts(struct ublk *u, GError **error)
{
	const struct topology *t = machine_topology(slub_machine(u->sl));
	g_autofree uint64_t *allocs = NULL, *frees = NULL;
	g_autofree char *path = NULL;

	if (!u->o->counts)
		return true;
	path = counts_path(u->o->counts);
	allocs = g_new0(uint64_t, t->nr_cpu_ids);
	frees = g_new0(uint64_t, t->nr_cpu_ids);
	if (!counts_read(path, t->nr_cpu_ids, allocs, frees, error))
		return false;
	u->extra = g_new0(uint64_t, t->nr_cpu_ids);
	for (int i = 0; i < t->nr_cpu_ids; i++) {
		uint64_t n = allocs[i] * u->o->scale + 0.5;

		if (i < 2 * u->o->queues && i % 2)
			u->queues[i / 2].goal = n;
		else
			u->extra[i] = n;
	}
	u->warmup = 0;
	u->end = G_MAXUINT64;
	return true;
}

static void run_machine(struct ublk *u)
{
	struct machine *m = slub_machine(u->sl);
	struct programs *p = programs_new(m);
	int nr = machine_topology(m)->nr_cpu_ids;

	for (int i = 0; i < nr; i++) {
		if (i < 2 * u->o->queues)
			programs_set(p, i, i % 2 ? submitter : server,
				     &u->queues[i / 2]);
		else if (u->extra && u->extra[i])
			programs_set(p, i, bystander, u);
	}
	programs_run(p);
}

/* Mean IOPS of the queues on nodes with memory over that of the others. */
static void report_ratio(struct ublk *u, struct report *r)
{
	double ios[2] = { 0 }, n[2] = { 0 };

	for (int i = 0; i < u->o->queues; i++) {
		const struct cpu *c = u->queues[i].submitter;
		bool memory = c->node == c->mem_node;

		ios[memory] += u->queues[i].measured;
		n[memory]++;
	}
	/* with a dump's counts it would only tell what was put in */
	if (n[0] && n[1] && ios[0] && !u->o->counts)
		report_metric(r, "memory_to_memoryless_ratio", "", false,
			      ios[1] / n[1] / (ios[0] / n[0]));
}

struct watched {
	const char *function;
	double in, busy;
};

static void watch_account(int cpu, const char *path, enum cause cause,
			  uint64_t cycles, void *arg)
{
	struct watched *w = arg;
	g_auto(GStrv) frame = NULL;

	if (cause == CAUSE_IDLE)
		return;
	w->busy += cycles;
	frame = g_strsplit(path, ";", -1);
	if (g_strv_contains((const char *const *)frame, w->function))
		w->in += cycles;
}

static void report_watched(struct ublk *u, struct report *r)
{
	struct watched w = { .function = u->o->watch };

	if (!w.function)
		return;
	machine_account(slub_machine(u->sl), watch_account, &w);
	report_metric(r, "watched_share_pct", "%", false,
		      w.busy ? 100 * w.in / w.busy : 0);
}

/* What the replay left in the counters, each beside the dump's (scaled). */
static void report_counters(struct ublk *u, struct report *r)
{
	static const enum slub_stat shown[] = {
		stat_barn_get,	    stat_barn_put,    stat_barn_get_fail,
		stat_sheaf_refill,  stat_sheaf_alloc, stat_alloc_slab,
		stat_free_slowpath,
	};
	g_autofree char *path = NULL;

	if (!u->o->counts)
		return;
	path = counts_path(u->o->counts);
	for (size_t i = 0; i < G_N_ELEMENTS(shown); i++) {
		const char *name = slub_stat_names[shown[i]];
		g_autofree char *dump = g_strconcat(name, "_in_dump", NULL);

		report_metric(r, name, "", false,
			      kmem_cache_stat(u->cache, shown[i], -1));
		report_metric(r, dump, "", false,
			      counts_total(path, name) * u->o->scale);
	}
}

static void report_results(struct ublk *u, struct report *r)
{
	struct machine *m = slub_machine(u->sl);
	uint64_t to = MIN(machine_now(m), u->end), ios = 0, all = 0;
	double s = machine_ns(m, to - u->warmup) * 1e-9;

	for (int i = 0; i < u->o->queues; i++) {
		ios += u->queues[i].measured;
		all += u->queues[i].completed;
	}
	report_metric(r, "iops_per_s", "1/s", true, ios / s);
	report_metric(r, "io_ns", "ns", false,
		      ios ? s * 1e9 * u->o->queues / ios : 0);
	report_ratio(u, r);
	report_watched(u, r);
	report_counters(u, r);
	for (int i = 0; i < u->o->queues; i++)
		report_series(r, "iops_per_s", "1/s", "queue", i,
			      u->queues[i].measured / s);
	for (int w = 0; w < u->nr_windows; w++) {
		uint64_t n = 0;

		for (int i = 0; i < u->o->queues; i++)
			n += u->queues[i].windows[w];
		report_series(r, "iops_over_time_per_s", "1/s", "time_ms",
			      (w + 0.5) * u->o->window_ms,
			      n / (u->o->window_ms * 1e-3));
	}
	if (u->extra)
		for (int i = 0; i < machine_topology(m)->nr_cpu_ids; i++)
			all += u->extra[i];
	report_operations(r, 2 * all);
}

static void teardown(struct ublk *u)
{
	for (int i = 0; u->queues && i < u->o->queues; i++) {
		g_free(u->queues[i].ring);
		g_free(u->queues[i].windows);
	}
	g_free(u->queues);
	g_free(u->extra);
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	const struct options *o = options;
	struct machine *m = slub_machine(sl);
	struct kmem_cache_args args = {
		.name = "bio-256",
		.object_size = 256,
		.align = 64,
		.flags = SLAB_HW_ALIGN | SLAB_RCU,
	};
	struct ublk u = {.o = o, .sl = sl};
	double work;
	bool ok;

	u.gfp = o->gfp ? GFP_FOR_KERNEL : GFP_FOR_NOWAIT;
	work = machine_cycles(m, o->work_ns) * (1 << CYCLE_FRAC_BITS);
	u.work_least = work * (1 - o->jitter);
	u.work_spread = 2 * work * o->jitter;
	u.warmup = machine_cycles(m, o->warmup_ms * 1e6);
	u.end = u.warmup + (uint64_t)machine_cycles(m, o->run_ms * 1e6);
	u.window = MAX(machine_cycles(m, o->window_ms * 1e6), 1);
	u.nr_windows = o->counts ? 0 : MIN((u.end - u.warmup) / u.window, 1000);
	u.cache = kmem_cache_create(sl, machine_cpu(m, 0), &args);
	setup_queues(&u);
	ok = setup_counts(&u, error);
	if (ok) {
		run_machine(&u);
		ok = !u.failed;
		if (!ok)
			programs_out_of_memory(error);
		else
			report_results(&u, r);
	}
	teardown(&u);
	return ok;
}

const struct workload ublk_workload = {
	.name = "ublk",
	.help = "fio's t/io_uring on a ublk null device: bios allocated on odd "
		"CPUs and freed on even ones",
	.options_size = sizeof(struct options),
	.options = option_table,
	.defaults = defaults,
	.check = check,
	.inputs = inputs,
	.run = run,
};
