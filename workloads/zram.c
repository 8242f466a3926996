/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zram: CPUs store, load and free pages of one compressed block device.
 *
 * A device has `slots` pages. Each CPU does its operations on slots drawn at
 * random, in the given mix. A store compresses a page, takes an object for it
 * and frees the one that the slot had; a load reads the object into a page and
 * decompresses it; a free drops it. Any CPU may free what any other stored, as
 * with swap slots. A slot is locked while it is worked on; who finds it locked
 * takes the next one. Pages of one word have no object.
 *
 * Compression is work outside the allocator: only its time counts.
 */
#include "workloads/programs.h"
#include "workloads/zram_sizes.h"
#include "workloads/zs.h"

struct zram_options {
	char *sizes;
	int64_t cpus, slots, operations, store, load, compact_every;
	double filled, compress_ns, decompress_ns;
};

#define P(...) PARAM(struct zram_options, __VA_ARGS__)

static const struct param_desc option_table[] = {
	P(sizes, PARAM_STRING, "", 0, 0,
	  "compressed sizes: even, anon, or a file of SIZE WEIGHT lines"),
	P(cpus, PARAM_INT, "CPUs", 1, 4096, "CPUs that use the device"),
	P(slots, PARAM_INT, "pages", 64, 100000000, "pages of the device"),
	P(filled, PARAM_DOUBLE, "", 0, 1, "share of them stored before it "
					  "begins"),
	P(operations, PARAM_INT, "operations", 1, 1000000000,
	  "measured operations a CPU"),
	P(store, PARAM_INT, "%", 0, 100, "of them are stores"),
	P(load, PARAM_INT, "%", 0, 100, "are loads; the rest frees"),
	P(compact_every, PARAM_INT, "operations", 0, 1000000000,
	  "the first CPU compacts after that many of its own, 0 = never"),
	P(compress_ns, PARAM_DOUBLE, "ns", 0, 1000000,
	  "compressing a page"),
	P(decompress_ns, PARAM_DOUBLE, "ns", 0, 1000000,
	  "decompressing a page"),
	{ NULL }
};

static void defaults(void *options)
{
	*(struct zram_options *)options = (struct zram_options){
		.sizes = g_strdup("anon"),
		.cpus = 4,
		.slots = 16384,
		.filled = 0.75,
		.operations = 10000,
		.store = 40,
		.load = 35,
		/* lzo-rle at about 1.6 and 4 GB/s: guesses */
		.compress_ns = 2500,
		.decompress_ns = 1000,
	};
}

static char *check(const void *options, const struct topology *t)
{
	const struct zram_options *o = options;
	g_autoptr(GError) error = NULL;
	struct size_mix *mix = size_mix_new(o->sizes ? o->sizes : "", &error);

	if (!mix)
		return g_strdup_printf("sizes: %s", error->message);
	size_mix_free(mix);
	if (o->cpus > t->nr_cpus)
		return g_strdup_printf("cpus = %" G_GINT64_FORMAT ", expected "
				       "at most the machine's %d", o->cpus,
				       t->nr_cpus);
	if (o->store + o->load > 100)
		return g_strdup_printf("store = %" G_GINT64_FORMAT
				       ", expected at most 100 %% with load = "
				       "%" G_GINT64_FORMAT,
				       o->store, o->load);
	if (o->cpus * 4 > o->slots)
		return g_strdup_printf("slots = %" G_GINT64_FORMAT ", expected "
				       "at least 4 a CPU", o->slots);
	return NULL;
}

struct slot {
	sim_addr handle; /* 0 = none */
	unsigned size;
	bool stored, locked;
};

enum operation { STORE, LOAD, FREE, NR_OPERATIONS };
static const char *const operation_names[] = { "store", "load", "free" };

struct zram {
	const struct zram_options *o;
	struct slub *sl;
	const struct zs_build *build;
	struct zs_pool *pool;
	struct size_mix *mix;
	struct slot *slots;
	sim_addr table; /* zram->table: 16 bytes a slot */
	struct zs_line created, begun;
	uint64_t instructions, compacted;
	bool failed;
};

struct zram_cpu {
	struct zram *z;
	int64_t nr;
	sim_addr page, buffer; /* plain and compressed, per CPU */
	uint64_t done[NR_OPERATIONS], cycles[NR_OPERATIONS], total;
};

static struct slot *lock_slot(struct cpu *c, struct zram *z, uint64_t at)
{
	int64_t n = z->o->slots, i = at % n;

	cpu_meet(c, machine_everyone(c->machine));
	while (z->slots[i].locked)
		i = (i + 1) % n;
	z->slots[i].locked = true;
	cpu_rmw(c, z->table + 16 * i, RMW_LOCK);
	return &z->slots[i];
}

static void unlock_slot(struct cpu *c, struct zram *z, struct slot *s)
{
	cpu_meet(c, machine_everyone(c->machine));
	s->locked = false;
	cpu_write(c, z->table + 16 * (s - z->slots));
}

static void empty_slot(struct cpu *c, struct zram *z, struct slot *s)
{
	if (s->handle)
		zs_free(c, z->pool, s->handle);
	s->handle = 0;
	s->stored = false;
}

/* What compresses no better than a whole page's class is stored whole, in a
 * page of its own. */
static void store(struct cpu *c, struct zram_cpu *p, uint64_t at)
{
	struct zram *z = p->z;
	unsigned size = size_mix_draw(z->mix, cpu_random(c));
	sim_addr handle = 0;
	struct slot *s;

	if (size + ZS_HANDLE_SIZE > 3632)
		size = ZS_PAGE;
	cpu_outside(c, machine_cycles(c->machine, size ? z->o->compress_ns :
							 0));
	if (size && zs_save(c, z->pool, p->buffer, size, GFP_FOR_NOWAIT,
			    c->node, &handle))
		z->failed = true;
	s = lock_slot(c, z, at);
	empty_slot(c, z, s);
	s->handle = handle;
	s->size = size;
	s->stored = true;
	unlock_slot(c, z, s);
}

static void load(struct cpu *c, struct zram_cpu *p, uint64_t at)
{
	struct zram *z = p->z;
	struct slot *s = lock_slot(c, z, at);

	if (s->handle) {
		zs_obj_read_begin(c, z->pool, s->handle, s->size, p->buffer);
		cpu_outside(c, machine_cycles(c->machine,
					      z->o->decompress_ns));
		zs_obj_read_end(c, z->pool, s->handle);
	}
	unlock_slot(c, z, s);
}

static void drop(struct cpu *c, struct zram_cpu *p, uint64_t at)
{
	struct slot *s = lock_slot(c, p->z, at);

	empty_slot(c, p->z, s);
	unlock_slot(c, p->z, s);
}

static void operate(struct cpu *c, struct zram_cpu *p)
{
	const struct zram_options *o = p->z->o;
	int64_t what = cpu_random(c) % 100;
	uint64_t at = cpu_random(c), begin = c->now;
	enum operation op = what < o->store ? STORE :
			    what < o->store + o->load ? LOAD : FREE;

	if (op == STORE)
		store(c, p, at);
	else if (op == LOAD)
		load(c, p, at);
	else
		drop(c, p, at);
	p->done[op]++;
	p->cycles[op] += c->now - begin;
}

static void zram_main(struct cpu *c, void *arg)
{
	struct zram_cpu *p = arg;
	struct zram *z = p->z;
	int64_t fill = z->o->slots * z->o->filled;
	uint64_t begin;

	if (!p->nr)
		z->pool = zs_create_pool(z->sl, c, "zram0", z->build);
	zs_line_wait(c, &z->created);
	for (int64_t i = p->nr; i < fill && !z->failed; i += z->o->cpus)
		store(c, p, i);
	if (zs_line_wait(c, &z->begun)) {
		machine_account_reset(c->machine);
		z->instructions = machine_stats(c->machine).instructions;
	}
	begin = c->now;
	for (int64_t i = 1; i <= z->o->operations && !z->failed; i++) {
		operate(c, p);
		if (!p->nr && z->o->compact_every &&
		    i % z->o->compact_every == 0)
			z->compacted += zs_compact(c, z->pool);
	}
	p->total = c->now - begin;
}

static void tell(const struct zram *z, struct machine *m,
		 const struct zram_cpu *cpus, struct report *r)
{
	double all = (double)z->o->operations * z->o->cpus, rate = 0;
	uint64_t insns = machine_stats(m).instructions - z->instructions;

	for (int64_t i = 0; i < z->o->cpus; i++)
		rate += z->o->operations / machine_ns(m, cpus[i].total) * 1e9;
	report_metric(r, "ops_per_s", "1/s", true, rate);
	for (int op = 0; op < NR_OPERATIONS; op++) {
		g_autofree char *name = g_strdup_printf("%s_ns",
							operation_names[op]);
		double done = 0, cycles = 0;

		for (int64_t i = 0; i < z->o->cpus; i++) {
			done += cpus[i].done[op];
			cycles += cpus[i].cycles[op];
		}
		if (done)
			report_metric(r, name, "ns", false,
				      machine_ns(m, cycles / done));
	}
	report_metric(r, "op_instructions", "instructions", false,
		      insns / all);
	report_metric(r, "pool_pages", "pages", false,
		      zs_get_total_pages(z->pool));
	report_metric(r, "compactable_pages", "pages", false,
		      zs_compactable(z->pool));
	if (z->o->compact_every)
		report_metric(r, "compacted_pages", "pages", true,
			      z->compacted);
	zs_report_classes(r, z->pool, "zram0");
	report_operations(r, all);
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	const struct zram_options *o = options;
	struct machine *m = slub_machine(sl);
	const struct topology *t = machine_topology(m);
	struct zram z = { .o = o, .sl = sl, .build = zs_build_of(sl, error) };
	struct programs *p;
	g_autofree struct zram_cpu *cpus = g_new0(struct zram_cpu, o->cpus);
	g_autofree int *ids = g_new(int, o->cpus);
	g_autofree struct slot *slots = g_new0(struct slot, o->slots);

	if (!z.build)
		return false;
	z.mix = size_mix_new(o->sizes, error);
	if (!z.mix)
		return false;
	z.slots = slots;
	p = programs_new(m);
	zs_first_cpus(t, o->cpus, ids);
	z.table = machine_reserve(m, t->cpus[ids[0]].node, 16 * o->slots,
				  SIM_LINE);
	zs_line_init(&z.created, o->cpus);
	zs_line_init(&z.begun, o->cpus);
	for (int64_t i = 0; i < o->cpus; i++) {
		int node = t->cpus[ids[i]].node;

		cpus[i] = (struct zram_cpu){ .z = &z, .nr = i };
		cpus[i].page = machine_reserve(m, node, ZS_PAGE, ZS_PAGE);
		cpus[i].buffer = machine_reserve(m, node, ZS_PAGE, ZS_PAGE);
		programs_set(p, ids[i], zram_main, &cpus[i]);
	}
	programs_run(p);
	if (z.failed)
		programs_out_of_memory(error);
	else
		tell(&z, m, cpus, r);
	zs_line_clear(&z.created);
	zs_line_clear(&z.begun);
	zs_destroy_pool(z.pool);
	size_mix_free(z.mix);
	return !z.failed;
}

const struct workload zram_workload = {
	.name = "zram",
	.help = "stores, loads and frees of compressed pages on a block device",
	.options_size = sizeof(struct zram_options),
	.options = option_table,
	.defaults = defaults,
	.check = check,
	.run = run,
};
