/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/percpu.h"

#include "model/geometry.h"
#include "workloads/counts.h"
#include "workloads/programs.h"

struct options {
	char *cache, *counts;
	int64_t object_size, align, sheaf_capacity;
	bool hwcache_align, destroy_by_rcu;
	double scale, work_ns;
	int64_t depth, batch, lines;
};

#define P(...) PARAM(struct options, __VA_ARGS__)

/*
 * The dump says nothing of time: 100 ns of work an object, on both sides, is a
 * guess to be varied. Depth and batch are those of ublk's default.
 */
static const struct param_desc option_table[] = {
	P(counts, PARAM_STRING, "", 0, 0,
	  "posted SLUB_STATS dump of the cache (slubsim import cache -o)"),
	P(scale, PARAM_DOUBLE, "", 0.000000001, 1000,
	  "factor for the counts of that dump"),
	P(cache, PARAM_STRING, "", 0, 0, "name of the cache"),
	P(object_size, PARAM_INT, "bytes", 8, PAGE_BYTES << SLUB_MAX_ORDER,
	  "size of an object"),
	P(align, PARAM_INT, "bytes", 0, PAGE_BYTES,
	  "alignment asked for, 0 = none"),
	P(hwcache_align, PARAM_BOOL, "", 0, 0, "aligned to cache lines"),
	P(destroy_by_rcu, PARAM_BOOL, "", 0, 0, "SLAB_TYPESAFE_BY_RCU"),
	P(sheaf_capacity, PARAM_INT, "objects", 0, 1024,
	  "capacity that the cache asks for, 0 = does not"),
	P(depth, PARAM_INT, "objects", 1, 65536,
	  "objects under way from one CPU to another at most"),
	P(batch, PARAM_INT, "objects", 1, 65536, "objects handed over at once"),
	P(lines, PARAM_INT, "lines", 0, 64,
	  "lines of an object that are written and, before the free, read"),
	P(work_ns, PARAM_DOUBLE, "ns", 0, 1000000,
	  "work outside the allocator per allocation and per free"),
	{NULL}};

static void defaults(void *options)
{
	*(struct options *)options = (struct options){
		.scale = 1,
		.object_size = 256,
		.depth = 128,
		.batch = 32,
		.lines = 1,
		.work_ns = 100,
	};
}

static struct kmem_cache_args cache_args(const struct options *o)
{
	return (struct kmem_cache_args){
		.name = o->cache ? o->cache : "percpu",
		.object_size = o->object_size,
		.align = o->align,
		.flags = (o->hwcache_align ? SLAB_HW_ALIGN : 0) |
			 (o->destroy_by_rcu ? SLAB_RCU : 0),
		.sheaf_capacity = o->sheaf_capacity,
	};
}

static char *check(const void *options, const struct topology *t)
{
	const struct options *o = options;

	if (!o->counts || !*o->counts)
		return g_strdup("counts: not given, expected the path of a "
				"SLUB_STATS dump");
	if (o->batch > o->depth)
		return g_strdup_printf(
			"batch = %" G_GINT64_FORMAT
			", expected at most depth = %" G_GINT64_FORMAT,
			o->batch, o->depth);
	if (o->align & (o->align - 1))
		return g_strdup_printf("align = %" G_GINT64_FORMAT
				       ", expected 0 or a power of two",
				       o->align);
	return NULL;
}

static char *inputs(const void *options)
{
	return counts_check(((const struct options *)options)->counts);
}

/* ---- who frees whose objects ---- */

struct share {
	int cpu;
	uint64_t objects;
};

static int by_objects(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->objects != y->objects)
		return x->objects < y->objects ? 1 : -1;
	return x->cpu - y->cpu;
}

GArray *percpu_flows(const uint64_t *allocs, const uint64_t *frees, int nr_cpus,
		     uint64_t *left_out)
{
	GArray *flows = g_array_new(FALSE, FALSE, sizeof(struct percpu_flow));
	g_autofree struct share *more = g_new(struct share, nr_cpus);
	g_autofree struct share *less = g_new(struct share, nr_cpus);
	int nr_more = 0, nr_less = 0, i = 0, k = 0;

	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		if (allocs[cpu] > frees[cpu])
			more[nr_more++] =
				(struct share){cpu, allocs[cpu] - frees[cpu]};
		else if (allocs[cpu] < frees[cpu])
			less[nr_less++] =
				(struct share){cpu, frees[cpu] - allocs[cpu]};
	}
	qsort(more, nr_more, sizeof(*more), by_objects);
	qsort(less, nr_less, sizeof(*less), by_objects);
	while (i < nr_more && k < nr_less) {
		struct percpu_flow f = {more[i].cpu, less[k].cpu,
					MIN(more[i].objects, less[k].objects)};

		g_array_append_val(flows, f);
		more[i].objects -= f.objects;
		less[k].objects -= f.objects;
		i += !more[i].objects;
		k += !less[k].objects;
	}
	*left_out = 0;
	for (; k < nr_less; k++)
		*left_out += less[k].objects;
	return flows;
}

/* ---- the run ---- */

struct play;

struct flow {
	struct worker *from, *to;
	struct domain *domain;
	sim_addr *ring;
	uint64_t objects, sent, taken; /* as both see them when they meet */
	bool from_waits, to_waits;
};

/* A CPU: only sends or only takes, beside what it keeps to itself. */
struct worker {
	struct play *p;
	struct cpu *cpu;
	GPtrArray *flows; /* struct flow * */
	uint64_t own;	  /* allocated and freed here */
	uint64_t kept;	  /* allocated and not freed */
	uint64_t own_done, through, through_all;
};

struct play {
	const struct options *o;
	struct slub *sl;
	struct kmem_cache *cache;
	struct worker *workers; /* [nr_cpu_ids] */
	GPtrArray *flows;	/* struct flow * */
	double work;		/* cycles */
	uint64_t operations, left_out;
	bool failed;
};

static sim_addr make(struct worker *w)
{
	const struct options *o = w->p->o;
	sim_addr obj = kmem_cache_alloc(w->cpu, w->p->cache, GFP_FOR_KERNEL);

	if (!obj) {
		w->p->failed = true;
		return 0;
	}
	for (int i = 0; i < o->lines && i * SIM_LINE < o->object_size; i++)
		cpu_write(w->cpu, obj + i * SIM_LINE);
	cpu_outside(w->cpu, w->p->work);
	return obj;
}

static void use_up(struct worker *w, sim_addr obj)
{
	const struct options *o = w->p->o;

	if (!obj)
		return;
	for (int i = 0; i < o->lines && i * SIM_LINE < o->object_size; i++)
		cpu_read(w->cpu, obj + i * SIM_LINE);
	cpu_outside(w->cpu, w->p->work);
	kmem_cache_free(w->cpu, w->p->cache, obj);
}

/* Own objects keep pace with those that go through the rings. */
static void work_alone(struct worker *w, bool rest)
{
	uint64_t until = w->own;

	if (!rest && w->through_all)
		until = w->own * ((double)w->through / w->through_all);
	for (; w->own_done < until && !w->p->failed; w->own_done++)
		use_up(w, make(w));
}

/* Sends a batch if the ring has room; whether the flow goes on. */
static bool send(struct worker *w, struct flow *f, bool *moved)
{
	const struct options *o = w->p->o;
	uint64_t n = MIN((uint64_t)o->batch, f->objects - f->sent);

	if (!n)
		return false;
	cpu_meet(w->cpu, f->domain);
	if (f->sent + n > f->taken + o->depth) {
		f->from_waits = true;
		return true;
	}
	for (uint64_t i = 0; i < n; i++)
		f->ring[(f->sent + i) % o->depth] = w->p->failed ? 0 : make(w);
	cpu_meet(w->cpu, f->domain);
	f->sent += n;
	w->through += n;
	*moved = true;
	if (f->to_waits) {
		f->to_waits = false;
		cpu_wake(w->cpu, f->to->cpu, w->cpu->now);
	}
	return true;
}

/* Takes a batch if there is one. */
static bool take(struct worker *w, struct flow *f, bool *moved)
{
	const struct options *o = w->p->o;
	uint64_t n;

	if (f->taken == f->objects)
		return false;
	cpu_meet(w->cpu, f->domain);
	n = MIN((uint64_t)o->batch, f->sent - f->taken);
	if (!n) {
		f->to_waits = true;
		return true;
	}
	for (uint64_t i = 0; i < n; i++)
		use_up(w, f->ring[(f->taken + i) % o->depth]);
	cpu_meet(w->cpu, f->domain);
	f->taken += n;
	w->through += n;
	*moved = true;
	if (f->from_waits) {
		f->from_waits = false;
		cpu_wake(w->cpu, f->from->cpu, w->cpu->now);
	}
	return true;
}

static void program(struct cpu *c, void *arg)
{
	struct worker *w = arg;
	bool going = true;

	while (going) {
		bool moved = false;

		going = false;
		for (guint i = 0; i < w->flows->len; i++) {
			struct flow *f = w->flows->pdata[i];

			going |= f->from == w ? send(w, f, &moved)
					      : take(w, f, &moved);
		}
		work_alone(w, false);
		if (going && !moved)
			cpu_wait(c);
	}
	work_alone(w, true);
	for (uint64_t i = 0; i < w->kept && !w->p->failed; i++)
		make(w);
}

static void flow_free(gpointer p)
{
	struct flow *f = p;

	g_free(f->ring);
	g_free(f);
}

static void add_flow(struct play *p, const struct percpu_flow *from)
{
	struct flow *f = g_new0(struct flow, 1);
	int cpus[2] = {from->from, from->to};

	f->from = &p->workers[from->from];
	f->to = &p->workers[from->to];
	f->objects = from->objects;
	f->ring = g_new0(sim_addr, p->o->depth);
	f->domain = machine_domain(slub_machine(p->sl), cpus, 2);
	f->from->through_all += f->objects;
	f->from->kept -= f->objects;
	f->to->through_all += f->objects;
	g_ptr_array_add(f->from->flows, f);
	g_ptr_array_add(f->to->flows, f);
	g_ptr_array_add(p->flows, f);
}

static bool setup(struct play *p, GError **error)
{
	struct machine *m = slub_machine(p->sl);
	int nr = machine_topology(m)->nr_cpu_ids;
	g_autofree uint64_t *allocs = g_new0(uint64_t, nr);
	g_autofree uint64_t *frees = g_new0(uint64_t, nr);
	g_autofree char *path = counts_path(p->o->counts);
	g_autoptr(GArray) flows = NULL;

	if (!counts_read(path, nr, allocs, frees, error))
		return false;
	for (int cpu = 0; cpu < nr; cpu++) {
		struct worker *w = &p->workers[cpu];

		allocs[cpu] = allocs[cpu] * p->o->scale + 0.5;
		frees[cpu] = frees[cpu] * p->o->scale + 0.5;
		if ((allocs[cpu] || frees[cpu]) && !w->cpu) {
			g_set_error(error, COUNTS_ERROR, 0,
				    "%s: counts of CPU "
				    "%d, which this machine lacks",
				    p->o->counts, cpu);
			return false;
		}
		w->own = MIN(allocs[cpu], frees[cpu]);
		w->kept = allocs[cpu] - w->own;
		p->operations += allocs[cpu] + frees[cpu];
	}
	flows = percpu_flows(allocs, frees, nr, &p->left_out);
	p->operations -= p->left_out;
	for (guint i = 0; i < flows->len; i++)
		add_flow(p, &g_array_index(flows, struct percpu_flow, i));
	return true;
}

static void play(struct play *p)
{
	struct machine *m = slub_machine(p->sl);
	int nr = machine_topology(m)->nr_cpu_ids;
	struct programs *programs = programs_new(m);

	for (int cpu = 0; cpu < nr; cpu++) {
		struct worker *w = &p->workers[cpu];

		if (w->own || w->kept || w->flows->len)
			programs_set(programs, cpu, program, w);
	}
	programs_run(programs);
}

static void report_results(const struct play *p, struct report *r)
{
	struct machine *m = slub_machine(p->sl);
	double s = machine_ns(m, machine_now(m)) * 1e-9;

	report_metric(r, "time_s", "s", false, s);
	report_metric(r, "operations_per_s", "1/s", true,
		      s > 0 ? p->operations / s : 0);
	report_metric(r, "frees_left_out", "objects", false, p->left_out);
	report_operations(r, p->operations);
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	const struct options *o = options;
	struct machine *m = slub_machine(sl);
	const struct topology *t = machine_topology(m);
	struct kmem_cache_args args = cache_args(o);
	struct play p = {.o = o, .sl = sl};
	int first = 0;
	bool ok;

	while (!machine_cpu(m, first))
		first++;
	p.work = machine_cycles(m, o->work_ns);
	p.workers = g_new0(struct worker, t->nr_cpu_ids);
	p.flows = g_ptr_array_new_with_free_func(flow_free);
	for (int cpu = 0; cpu < t->nr_cpu_ids; cpu++) {
		p.workers[cpu].p = &p;
		p.workers[cpu].cpu = machine_cpu(m, cpu);
		p.workers[cpu].flows = g_ptr_array_new();
	}
	p.cache = kmem_cache_create(sl, machine_cpu(m, first), &args);
	ok = setup(&p, error);
	if (ok) {
		play(&p);
		ok = !p.failed;
		if (ok)
			report_results(&p, r);
		else
			programs_out_of_memory(error);
	}
	for (int cpu = 0; cpu < t->nr_cpu_ids; cpu++)
		g_ptr_array_unref(p.workers[cpu].flows);
	g_ptr_array_unref(p.flows);
	g_free(p.workers);
	return ok;
}

const struct workload percpu_workload = {
	.name = "percpu",
	.help = "the allocations and frees per CPU of a posted SLUB_STATS dump",
	.options_size = sizeof(struct options),
	.options = option_table,
	.defaults = defaults,
	.check = check,
	.inputs = inputs,
	.run = run,
};
