/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bulk: allocate N objects, free all N, again and again, on one CPU.
 *
 * The form of slab_bulk_test01: objects are allocated one by one or by
 * kmem_cache_alloc_bulk(), are not written, and are freed in the order in
 * which they came, one by one or by kmem_cache_free_bulk(). The sizes N are
 * done one after the other on one cache, as the module does, so each starts
 * from the slabs that the one before left. Reported per object: one
 * allocation and one free.
 *
 * The module's own cache is merged with others of its size: their objects may
 * hold part of its slabs (merged_held, merged_slabs).
 */
#include "workloads/bulk.h"
#include "workloads/number_list.h"
#include "workloads/programs.h"

static const char *const api_names[] = { "single", "bulk", "both", NULL };

#define P(...) PARAM(struct bulk_options, __VA_ARGS__)
#define C(...) PARAM_CHOICE(struct bulk_options, __VA_ARGS__)

static const struct param_desc option_table[] = {
	P(object_size, PARAM_INT, "bytes", 8, 8192, "size of an object"),
	P(hwcache_align, PARAM_BOOL, "", 0, 0, "objects begin at cache lines"),
	P(sizes, PARAM_STRING, "objects", 0, 0,
	  "numbers N of objects held at once, separated by ',' or ';'"),
	P(rounds, PARAM_INT, "rounds", 1, 1000000000,
	  "timed rounds of allocating and freeing N"),
	P(warm_rounds, PARAM_INT, "rounds", 0, 1000000000,
	  "untimed rounds before these"),
	C(alloc, api_names,
	  "allocate singly, by bulk, or both after each other"),
	C(free, api_names, "the same for freeing"),
	P(cpu, PARAM_INT, "", 0, 4095, "the CPU it runs on"),
	P(merged_slabs, PARAM_INT, "slabs", 0, 100000,
	  "slabs of other users of the merged cache, partly full"),
	P(merged_held, PARAM_DOUBLE, "", 0, 1,
	  "share of the objects of those slabs that their users hold"),
	{ NULL }
};

static void defaults(void *options)
{
	*(struct bulk_options *)options = (struct bulk_options){
		.object_size = 256,
		.hwcache_align = true,
		.sizes = g_strdup("1,2,3,4,8,16,30,32,34,48,64,128,158,250"),
		.rounds = 200,
		.warm_rounds = 50,
		.alloc = BULK_API_BULK,
		.free = BULK_API_SINGLE,
	};
}

static char *check(const void *options, const struct topology *t)
{
	const struct bulk_options *o = options;
	g_autofree unsigned *sizes = number_list(o->sizes, 1,
						 BULK_MAX_SIZE);

	if (!sizes)
		return g_strdup_printf("sizes = '%s', expected numbers 1 to "
				       "%d separated by ','",
				       o->sizes ? o->sizes : "",
				       BULK_MAX_SIZE);
	if (o->cpu >= t->nr_cpu_ids || !t->cpus[o->cpu].online)
		return g_strdup_printf("cpu = %" G_GINT64_FORMAT
				       ", expected a CPU of this machine",
				       o->cpu);
	return NULL;
}

struct bulk {
	const struct bulk_options *o;
	struct slub *sl;
	struct report *r;
	unsigned *sizes;
	uint64_t operations;
	bool failed;
	int frame_single, frame_bulk;
};

static bool allocate(struct cpu *c, struct bulk *b, struct kmem_cache *s,
		     bool by_bulk, unsigned n, sim_addr *objs)
{
	if (by_bulk)
		return kmem_cache_alloc_bulk(c, s, GFP_FOR_ATOMIC, n, objs) ==
		       n;
	for (unsigned i = 0; i < n; i++) {
		objs[i] = kmem_cache_alloc(c, s, GFP_FOR_ATOMIC);
		if (!objs[i])
			return false;
	}
	return true;
}

static void release(struct cpu *c, struct kmem_cache *s, bool by_bulk,
		    unsigned n, sim_addr *objs)
{
	if (by_bulk) {
		kmem_cache_free_bulk(c, s, n, objs);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		kmem_cache_free(c, s, objs[i]);
}

/* Cycles of @rounds rounds. */
static uint64_t rounds(struct cpu *c, struct bulk *b, struct kmem_cache *s,
		       bool bulk_alloc, bool bulk_free, unsigned n,
		       int64_t nr_rounds, sim_addr *objs)
{
	uint64_t begin = c->now;

	for (int64_t i = 0; i < nr_rounds && !b->failed; i++) {
		if (!allocate(c, b, s, bulk_alloc, n, objs)) {
			b->failed = true;
			break;
		}
		release(c, s, bulk_free, n, objs);
		b->operations += 2 * n;
	}
	return c->now - begin;
}

/* What other users of the merged cache left: slabs of which they hold a
 * share, spread evenly, the freed rest on the partial lists and the cpu slab. */
static void merge(struct cpu *c, struct bulk *b, struct kmem_cache *s)
{
	size_t n = b->o->merged_slabs * kmem_cache_objs_per_slab(s);
	g_autofree sim_addr *objs = g_new(sim_addr, n);
	double kept = 0;

	for (size_t i = 0; i < n; i++) {
		objs[i] = kmem_cache_alloc(c, s, GFP_FOR_KERNEL);
		if (!objs[i]) {
			b->failed = true;
			return;
		}
	}
	for (size_t i = 0; i < n; i++) {
		kept += b->o->merged_held;
		if (kept >= 1)
			kept -= 1;
		else
			kmem_cache_free(c, s, objs[i]);
	}
}

static void bulk_main(struct cpu *c, void *arg)
{
	struct bulk *b = arg;
	const struct bulk_options *o = b->o;
	struct kmem_cache_args args = {
		.name = "slab_bulk_test01",
		.object_size = o->object_size,
		.flags = o->hwcache_align ? SLAB_HW_ALIGN : 0,
	};
	struct kmem_cache *s = kmem_cache_create(b->sl, c, &args);
	g_autofree sim_addr *objs = g_new(sim_addr, BULK_MAX_SIZE);

	if (o->merged_slabs)
		merge(c, b, s);
	machine_account_reset(slub_machine(b->sl));
	for (unsigned *n = b->sizes; *n && !b->failed; n++) {
		for (int api = BULK_API_SINGLE; api <= BULK_API_BULK; api++) {
			bool by_bulk = api == BULK_API_BULK;
			bool free_by_bulk = o->free == BULK_API_BULK ||
					    (o->free == BULK_API_BOTH &&
					     by_bulk);
			const char *name = by_bulk ? "bulk_pair_cycles" :
						     "single_pair_cycles";
			uint64_t cycles;

			if (o->alloc != BULK_API_BOTH && o->alloc != api)
				continue;
			cpu_enter(c, by_bulk ? b->frame_bulk :
					       b->frame_single);
			rounds(c, b, s, by_bulk, free_by_bulk, *n,
			       o->warm_rounds, objs);
			cycles = rounds(c, b, s, by_bulk, free_by_bulk, *n,
					o->rounds, objs);
			cpu_leave(c);
			report_series(b->r, o->alloc == BULK_API_BOTH ?
				      name : "pair_cycles", "cycles", "bulk",
				      *n, (double)cycles / (o->rounds * *n));
		}
	}
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	const struct bulk_options *o = options;
	struct machine *m = slub_machine(sl);
	struct bulk b = {
		.o = o,
		.sl = sl,
		.r = r,
		.frame_single = machine_frame(m, "singly"),
		.frame_bulk = machine_frame(m, "by_bulk"),
	};
	struct programs *p = programs_new(m);
	g_autofree unsigned *sizes = number_list(o->sizes, 1,
						 BULK_MAX_SIZE);

	b.sizes = sizes;
	programs_set(p, o->cpu, bulk_main, &b);
	programs_run(p);
	report_operations(r, b.operations);
	return !b.failed || programs_out_of_memory(error);
}

const struct workload bulk_workload = {
	.name = "bulk",
	.help = "allocate N objects, free N, again and again, on one CPU",
	.options_size = sizeof(struct bulk_options),
	.options = option_table,
	.defaults = defaults,
	.check = check,
	.run = run,
};
