/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bulk_refill: whole slabs by kmem_cache_alloc_bulk() (slub_bulk_bench).
 *
 * For each object size a private cache; bulks of as many objects as a slab
 * holds until total_mb are out. Some untimed rounds of allocating everything
 * and freeing everything come first; then one round of allocation is timed.
 * Nothing touches the objects but the allocator. Reported: ns per object.
 *
 * The published table's guest was some times slower throughout than its host:
 * scale multiplies the result and nothing else.
 */
#include "workloads/bulk.h"
#include "workloads/number_list.h"
#include "workloads/programs.h"

#define MIN_SIZE 8 /* bytes of an object */
#define MAX_SIZE 8192

#define P(...) PARAM(struct bulk_refill_options, __VA_ARGS__)

static const struct param_desc option_table[] = {
	P(sizes, PARAM_STRING, "bytes", 0, 0,
	  "object sizes, separated by ',' or ';'"),
	P(total_mb, PARAM_DOUBLE, "MiB", 0.01, 1048576,
	  "objects held at once"),
	P(warm_rounds, PARAM_INT, "rounds", 0, 1000,
	  "untimed rounds of allocating and freeing everything"),
	P(cpu, PARAM_INT, "", 0, 4095, "the CPU it runs on"),
	P(scale, PARAM_DOUBLE, "", 0.001, 1000,
	  "factor on the time: how much slower the guest is than its host"),
	{ NULL }
};

static void defaults(void *options)
{
	*(struct bulk_refill_options *)options = (struct bulk_refill_options){
		.sizes = g_strdup("16,32,64,128,256,512"),
		.total_mb = 256,
		.warm_rounds = 3,
		.scale = 1,
	};
}

static char *check(const void *options, const struct topology *t)
{
	const struct bulk_refill_options *o = options;
	g_autofree unsigned *sizes = number_list(o->sizes, MIN_SIZE, MAX_SIZE);
	double memory = topology_memory(t);

	if (!sizes)
		return g_strdup_printf("sizes = '%s', expected numbers of "
				       "bytes, %d to %d, separated by ','",
				       o->sizes ? o->sizes : "", MIN_SIZE,
				       MAX_SIZE);
	if (o->cpu >= t->nr_cpu_ids || !t->cpus[o->cpu].online)
		return g_strdup_printf("cpu = %" G_GINT64_FORMAT
				       ", expected a CPU of this machine",
				       o->cpu);
	if (o->total_mb * 1048576 > memory * 0.9)
		return g_strdup_printf("total_mb = %g, expected at most 90 %% "
				       "of the machine's %.0f MiB",
				       o->total_mb, memory / 1048576);
	return NULL;
}

struct refill {
	const struct bulk_refill_options *o;
	struct slub *sl;
	struct report *r;
	unsigned *sizes;
	uint64_t operations;
	bool failed;
	int frame_timed, frame_warm;
};

static bool allocate_all(struct cpu *c, struct refill *f, struct kmem_cache *s,
			 unsigned batch, size_t bulks, sim_addr *objs)
{
	for (size_t i = 0; i < bulks; i++)
		if (kmem_cache_alloc_bulk(c, s, GFP_FOR_KERNEL, batch,
					  objs + i * batch) != batch)
			return false;
	f->operations += (uint64_t)bulks * batch;
	return true;
}

static void free_all(struct cpu *c, struct refill *f, struct kmem_cache *s,
		     unsigned batch, size_t bulks, sim_addr *objs)
{
	for (size_t i = 0; i < bulks; i++)
		kmem_cache_free_bulk(c, s, batch, objs + i * batch);
	f->operations += (uint64_t)bulks * batch;
}

static void one_size(struct cpu *c, struct refill *f, unsigned size)
{
	const struct bulk_refill_options *o = f->o;
	struct machine *m = slub_machine(f->sl);
	g_autofree char *name = g_strdup_printf("slub_bulk_bench-%u", size);
	struct kmem_cache_args args = { .name = name, .object_size = size };
	struct kmem_cache *s = kmem_cache_create(f->sl, c, &args);
	unsigned batch = kmem_cache_objs_per_slab(s);
	size_t bulks = MAX(1, o->total_mb * 1048576 / ((double)batch * size));
	g_autofree sim_addr *objs = g_new(sim_addr, bulks * batch);
	uint64_t begin;

	cpu_enter(c, f->frame_warm);
	for (int64_t i = 0; i < o->warm_rounds; i++) {
		if (!allocate_all(c, f, s, batch, bulks, objs)) {
			f->failed = true;
			return;
		}
		free_all(c, f, s, batch, bulks, objs);
	}
	cpu_leave(c);
	cpu_enter(c, f->frame_timed);
	begin = c->now;
	f->failed = !allocate_all(c, f, s, batch, bulks, objs);
	if (!f->failed)
		report_series(f->r, "object_ns", "ns", "obj_size", size,
			      o->scale * machine_ns(m, c->now - begin) /
				      ((double)bulks * batch));
	cpu_leave(c);
	if (f->failed)
		return;
	free_all(c, f, s, batch, bulks, objs);
}

static void refill_main(struct cpu *c, void *arg)
{
	struct refill *f = arg;

	for (unsigned *size = f->sizes; *size && !f->failed; size++)
		one_size(c, f, *size);
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	const struct bulk_refill_options *o = options;
	struct machine *m = slub_machine(sl);
	struct refill f = {
		.o = o,
		.sl = sl,
		.r = r,
		.frame_timed = machine_frame(m, "timed"),
		.frame_warm = machine_frame(m, "warm_up"),
	};
	struct programs *p = programs_new(m);
	g_autofree unsigned *sizes = number_list(o->sizes, MIN_SIZE, MAX_SIZE);

	f.sizes = sizes;
	programs_set(p, o->cpu, refill_main, &f);
	programs_run(p);
	report_operations(r, f.operations);
	return !f.failed || programs_out_of_memory(error);
}

const struct workload bulk_refill_workload = {
	.name = "bulk_refill",
	.help = "whole slabs by bulk allocation until much memory is out",
	.options_size = sizeof(struct bulk_refill_options),
	.options = option_table,
	.defaults = defaults,
	.check = check,
	.run = run,
};
