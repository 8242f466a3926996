/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zspair: steady-state pairs of storing a compressed object and freeing one.
 *
 * Each CPU keeps `live` objects of each size in the one pool. A pair stores a
 * new object (zs_malloc and zs_obj_write, or zs_store where the variant has
 * it) from a page that stays in the cache, and frees a random one of the same
 * size that the CPU stored before. `slack` more objects than live are stored
 * and freed first, so that zspages stay partial and no page is allocated in
 * the measured part. Sizes are done in turn, or at random.
 *
 * With one CPU it is the published microbenchmark of 2026, whose loop is not
 * public: 160 of 200 objects live is an assumption, as are the six sizes
 * between 384 and 3136.
 */
#include "workloads/number_list.h"
#include "workloads/programs.h"
#include "workloads/zs.h"

struct zspair_options {
	char *sizes;
	int64_t cpus, live, slack, pairs, warm_pairs, loop_instructions;
	bool random_sizes;
};

#define P(...) PARAM(struct zspair_options, __VA_ARGS__)

static const struct param_desc option_table[] = {
	P(sizes, PARAM_STRING, "bytes", 0, 0,
	  "sizes of the compressed objects, separated by ',' or ';'"),
	P(cpus, PARAM_INT, "CPUs", 1, 4096, "CPUs that use the pool"),
	P(live, PARAM_INT, "objects", 1, 1000000,
	  "objects that each CPU holds of each size"),
	P(slack, PARAM_INT, "objects", 0, 1000000,
	  "more of them that are freed before it begins"),
	P(pairs, PARAM_INT, "pairs", 1, 1000000000,
	  "measured pairs a CPU, all sizes together"),
	P(warm_pairs, PARAM_INT, "pairs", 0, 1000000000,
	  "pairs a CPU before these"),
	P(loop_instructions, PARAM_INT, "instructions", 0, 10000,
	  "the benchmark's own work per pair"),
	P(random_sizes, PARAM_BOOL, "", 0, 0,
	  "sizes at random: in turn, CPUs would follow each other through the "
	  "classes' locks"),
	{ NULL }
};

static void defaults(void *options)
{
	*(struct zspair_options *)options = (struct zspair_options){
		.sizes = g_strdup("384,777,1170,1563,1956,2349,2742,3136"),
		.cpus = 1,
		.live = 160,
		.slack = 40,
		.pairs = 16000,
		.warm_pairs = 4000,
		.loop_instructions = 15,
	};
}

static char *check(const void *options, const struct topology *t)
{
	const struct zspair_options *o = options;
	g_autofree unsigned *sizes = number_list(o->sizes, 1, ZS_MAX_ALLOC);

	if (!sizes)
		return g_strdup_printf("sizes = '%s', expected numbers 1 to "
				       "%u separated by ','",
				       o->sizes ? o->sizes : "", ZS_MAX_ALLOC);
	if (o->cpus > t->nr_cpus)
		return g_strdup_printf("cpus = %" G_GINT64_FORMAT ", expected "
				       "at most the machine's %d", o->cpus,
				       t->nr_cpus);
	return NULL;
}

struct zspair {
	const struct zspair_options *o;
	struct slub *sl;
	const struct zs_build *build;
	struct zs_pool *pool;
	unsigned *sizes, nr_sizes;
	struct zs_line created, begun;
	uint64_t instructions; /* of all CPUs when it began */
	bool failed;
};

struct zspair_cpu {
	struct zspair *b;
	bool first;
	sim_addr page;	/* the compressed data */
	sim_addr *held; /* [size * live + i] */
	double cycles;	/* of the measured part */
};

static sim_addr store(struct cpu *c, struct zspair_cpu *p, unsigned s)
{
	struct zspair *b = p->b;
	sim_addr handle = 0;

	if (zs_save(c, b->pool, p->page, b->sizes[s], GFP_FOR_NOWAIT,
		    c->node, &handle))
		b->failed = true;
	return handle;
}

/* Frees every k-th, so that all zspages keep some of the slack. */
static void fill(struct cpu *c, struct zspair_cpu *p, unsigned s)
{
	int64_t live = p->b->o->live, all = live + p->b->o->slack, kept = 0;
	g_autofree sim_addr *objs = g_new0(sim_addr, all);

	for (int64_t i = 0; i < all; i++)
		objs[i] = store(c, p, s);
	for (int64_t i = 0; i < all; i++) {
		bool keep = (i + 1) * live / all > i * live / all;

		if (keep)
			p->held[s * live + kept++] = objs[i];
		else if (objs[i])
			zs_free(c, p->b->pool, objs[i]);
	}
}

static void pairs(struct cpu *c, struct zspair_cpu *p, int64_t n)
{
	struct zspair *b = p->b;
	int64_t live = b->o->live;

	for (int64_t i = 0; i < n && !b->failed; i++) {
		unsigned s = (b->o->random_sizes ? cpu_random(c) :
						   (uint64_t)i) % b->nr_sizes;
		sim_addr *slot = &p->held[s * live + cpu_random(c) % live];
		sim_addr stored;

		cpu_exec(c, b->o->loop_instructions);
		stored = store(c, p, s);
		if (!stored)
			return;
		zs_free(c, b->pool, *slot);
		*slot = stored;
	}
}

static void zspair_main(struct cpu *c, void *arg)
{
	struct zspair_cpu *p = arg;
	struct zspair *b = p->b;
	uint64_t begin;

	if (p->first)
		b->pool = zs_create_pool(b->sl, c, "zspair", b->build);
	zs_line_wait(c, &b->created);
	for (unsigned s = 0; s < b->nr_sizes; s++)
		fill(c, p, s);
	pairs(c, p, b->o->warm_pairs);
	if (zs_line_wait(c, &b->begun)) {
		machine_account_reset(c->machine);
		b->instructions = machine_stats(c->machine).instructions;
	}
	begin = c->now;
	pairs(c, p, b->o->pairs);
	p->cycles = c->now - begin;
}

static void tell(const struct zspair *b, struct machine *m,
		 struct zspair_cpu *cpus, struct report *r)
{
	int64_t n = b->o->cpus;
	double pairs = b->o->pairs, cycles = 0, rate = 0;
	uint64_t insns = machine_stats(m).instructions - b->instructions;

	for (int64_t i = 0; i < n; i++) {
		cycles += cpus[i].cycles / n;
		rate += pairs / machine_ns(m, cpus[i].cycles) * 1e9;
	}
	report_metric(r, "pair_instructions", "instructions", false,
		      insns / (pairs * n));
	report_metric(r, "pair_cycles", "cycles", false, cycles / pairs);
	report_metric(r, "pair_ns", "ns", false, machine_ns(m, cycles / pairs));
	report_metric(r, "pairs_per_s", "1/s", true, rate);
	report_metric(r, "pool_pages", "pages", false,
		      zs_get_total_pages(b->pool));
	zs_report_classes(r, b->pool, "zspair");
	report_operations(r, 2 * (uint64_t)(pairs * n));
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	const struct zspair_options *o = options;
	struct machine *m = slub_machine(sl);
	const struct topology *t = machine_topology(m);
	struct zspair b = { .o = o, .sl = sl,
			    .build = zs_build_of(sl, error) };
	struct programs *p;
	g_autofree struct zspair_cpu *cpus = g_new0(struct zspair_cpu,
						    o->cpus);
	g_autofree int *ids = g_new(int, o->cpus);
	g_autofree unsigned *sizes = number_list(o->sizes, 1, ZS_MAX_ALLOC);

	if (!b.build)
		return false;
	p = programs_new(m);
	b.sizes = sizes;
	while (sizes[b.nr_sizes])
		b.nr_sizes++;
	zs_line_init(&b.created, o->cpus);
	zs_line_init(&b.begun, o->cpus);
	zs_first_cpus(t, o->cpus, ids);
	for (int64_t i = 0; i < o->cpus; i++) {
		cpus[i] = (struct zspair_cpu){ .b = &b, .first = !i };
		cpus[i].page = machine_reserve(m, t->cpus[ids[i]].node,
					       ZS_PAGE, ZS_PAGE);
		cpus[i].held = g_new0(sim_addr, b.nr_sizes * o->live);
		programs_set(p, ids[i], zspair_main, &cpus[i]);
	}
	programs_run(p);
	if (!b.failed)
		tell(&b, m, cpus, r);
	else
		programs_out_of_memory(error);
	for (int64_t i = 0; i < o->cpus; i++)
		g_free(cpus[i].held);
	zs_line_clear(&b.created);
	zs_line_clear(&b.begun);
	zs_destroy_pool(b.pool);
	return !b.failed;
}

const struct workload zspair_workload = {
	.name = "zspair",
	.help = "pairs of storing and freeing compressed objects in zsmalloc",
	.options_size = sizeof(struct zspair_options),
	.options = option_table,
	.defaults = defaults,
	.check = check,
	.run = run,
};
