/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * null: every CPU allocates an object and frees it, again and again.
 *
 * The null case of callers: after the first pair nothing leaves the front end
 * of the CPU, no line is shared and no lock taken, so that the result is the
 * least an allocation and a free can cost, whatever the number of CPUs. (Not
 * so on a memoryless node of 7.0, which has no front end there.) And the
 * smallest workload there is: what another one must have is here.
 */
#include "workloads/programs.h"
#include "workloads/workload.h"

struct null_options {
	int64_t object_size, pairs;
};

static const struct param_desc option_table[] = {
	PARAM(struct null_options, object_size, PARAM_INT, "bytes", 8, 8192,
	      "size of an object"),
	PARAM(struct null_options, pairs, PARAM_INT, "pairs", 1, 1e9,
	      "timed pairs on each CPU"),
	{ NULL }
};

static void defaults(void *options)
{
	*(struct null_options *)options = (struct null_options){
		.object_size = 256,
		.pairs = 10000,
	};
}

struct null {
	int64_t pairs;
	struct kmem_cache *cache;
	uint64_t *cycles; /* by CPU id */
	bool failed;
};

static void pair(struct cpu *c, struct null *n)
{
	sim_addr object = kmem_cache_alloc(c, n->cache, GFP_FOR_KERNEL);

	if (object)
		kmem_cache_free(c, n->cache, object);
	else
		n->failed = true;
}

static void null_main(struct cpu *c, void *arg)
{
	struct null *n = arg;
	uint64_t begin;

	/* the first gets the slab or sheaf that all others then use */
	pair(c, n);
	begin = c->now;
	for (int64_t i = 0; i < n->pairs && !n->failed; i++)
		pair(c, n);
	n->cycles[c->id] = c->now - begin;
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	const struct null_options *o = options;
	struct machine *m = slub_machine(sl);
	const struct topology *t = machine_topology(m);
	struct kmem_cache_args args = { .name = "null",
					.object_size = o->object_size };
	struct programs *p = programs_new(m);
	g_autofree uint64_t *cycles = g_new0(uint64_t, t->nr_cpu_ids);
	struct null n = { .pairs = o->pairs, .cycles = cycles };
	uint64_t sum = 0;

	for (int id = 0; id < t->nr_cpu_ids; id++) {
		if (!t->cpus[id].online)
			continue;
		programs_set(p, id, null_main, &n);
		if (!n.cache)
			n.cache = kmem_cache_create(sl, machine_cpu(m, id),
						    &args);
	}
	programs_run(p);
	if (n.failed)
		return programs_out_of_memory(error);
	for (int id = 0; id < t->nr_cpu_ids; id++)
		sum += cycles[id];
	report_metric(r, "pair_cycles", "cycles", false,
		      (double)sum / o->pairs / t->nr_cpus);
	report_operations(r, 2 * (uint64_t)(o->pairs + 1) * t->nr_cpus);
	return true;
}

const struct workload null_workload = {
	.name = "null",
	.help = "an allocation and its free, again and again, on every CPU",
	.options_size = sizeof(struct null_options),
	.options = option_table,
	.defaults = defaults,
	.run = run,
};
