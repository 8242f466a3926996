/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What accesses cost, against the formulas of memory.c. */
#include "sim/test_sim.h"

struct one_run {
	struct topology *t;
	struct machine_params params;
	unsigned flags;
	struct machine *m;
	sim_addr base[2]; /* 1 MiB on node 0 and node 1 */
};

static void start(struct one_run *r)
{
	r->m = machine_new(r->t, &r->params, r->flags, 1);
	for (int n = 0; n < 2; n++)
		r->base[n] = machine_reserve(
			r->m, n % r->t->nr_node_ids, 1 << 20, 1 << 16);
}

static struct one_run prepare(struct topology *t)
{
	struct one_run r = { .t = t, .params = test_params() };

	return r;
}

/* Cycles that @stmt takes on CPU @c. */
#define COST(c, stmt)                                                          \
	({                                                                     \
		uint64_t before_ = (c)->now;                                   \
		stmt;                                                          \
		(c)->now - before_;                                            \
	})

static void assert_consistent(struct machine *m)
{
	g_autofree char *wrong = machine_check(m);

	g_assert_cmpstr(wrong, ==, NULL);
}

/* ---- one CPU ---- */

static void levels_program(struct cpu *c, void *arg)
{
	struct one_run *r = arg;
	sim_addr a = r->base[0], b = r->base[1];

	g_assert_cmpuint(COST(c, cpu_read(c, a)), ==, 400);
	g_assert_cmpuint(COST(c, cpu_read(c, a + 8)), ==, 0);
	g_assert_cmpuint(COST(c, cpu_read(c, b)), ==, 800);
	/* 16 sets, 4 ways: four more lines of the set drive a out of L1 */
	for (int i = 1; i <= 4; i++)
		cpu_read(c, a + i * 16 * 64);
	g_assert_cmpuint(COST(c, cpu_read(c, a)), ==, 14);
	/* L2: 64 sets, 4 ways */
	for (int i = 2; i <= 5; i++)
		cpu_read(c, a + i * 64 * 64);
	g_assert_cmpuint(COST(c, cpu_read(c, a)), ==, 50);
	/* a write to a line that is ours alone costs nothing more */
	g_assert_cmpuint(COST(c, cpu_write(c, a)), ==, 0);
	g_assert_cmpuint(COST(c, cpu_rmw(c, a, RMW_LOCK)), ==, 10);
	g_assert_cmpuint(COST(c, cpu_rmw(c, a, RMW_CMPXCHG16B)), ==, 15);
	g_assert_cmpuint(COST(c, cpu_exec(c, 10)), ==, 5);
	g_assert_cmpuint(COST(c, cpu_exec(c, 1)), ==, 0);
	g_assert_cmpuint(COST(c, cpu_exec(c, 1)), ==, 1);
	g_assert_cmpuint(COST(c, cpu_irq(c, true)), ==, 26);
	g_assert_cmpuint(COST(c, cpu_irq(c, false)), ==, 7);
	assert_consistent(r->m);
}

static void levels(void *result, void *arg)
{
	struct one_run r = prepare(test_topology(2, 1, 2, 1));

	start(&r);
	run_one(r.m, 0, levels_program, &r);
	machine_free(r.m);
	topology_free(r.t);
}

static void test_levels(void)
{
	in_child(levels, NULL, 0, NULL);
}

static void overlap_program(struct cpu *c, void *arg)
{
	struct one_run *r = arg;
	sim_addr a = r->base[0];

	/* four buffers: four misses overlap, the fifth waits for the first */
	for (int i = 0; i < 4; i++)
		g_assert_cmpuint(COST(c, cpu_prefetch(c, a + i * 64)), ==, 0);
	g_assert_cmpuint(COST(c, cpu_prefetch(c, a + 4 * 64)), ==, 400);
	/* the first four are here, the fifth is on its way */
	for (int i = 0; i < 4; i++) {
		uint64_t wait = COST(c, cpu_read(c, a + i * 64));

		g_assert_cmpuint(wait, <=, 3); /* a line a cycle from DRAM */
	}
	cpu_exec(c, 200);
	g_assert_cmpuint(COST(c, cpu_read(c, a + 4 * 64)), >, 290);
	g_assert_cmpuint(COST(c, cpu_read(c, a + 4 * 64)), ==, 0);
}

static void overlap(void *result, void *arg)
{
	struct one_run r = prepare(test_topology(1, 1, 2, 1));

	start(&r);
	run_one(r.m, 0, overlap_program, &r);
	machine_free(r.m);
	topology_free(r.t);
}

static void test_overlap(void)
{
	in_child(overlap, NULL, 0, NULL);
}

static void stores_program(struct cpu *c, void *arg)
{
	struct one_run *r = arg;
	sim_addr a = r->base[0];
	uint64_t start = c->now;

	/* eight stores that miss enter at once; the ninth waits for the first
	 * to drain, the tenth for nothing more: four drained together */
	for (int i = 0; i < 8; i++)
		g_assert_cmpuint(COST(c, cpu_write(c, a + i * 64)), ==, 0);
	cpu_write(c, a + 8 * 64);
	g_assert_cmpuint(c->now - start, ==, 400);
	/* loads are forwarded */
	g_assert_cmpuint(COST(c, cpu_read(c, a + 8 * 64)), ==, 0);
	/* the atomic waits for all: four buffers, three rounds */
	cpu_rmw(c, a, RMW_LOCK);
	g_assert_cmpuint(c->now - start, >=, 1200 + 10);
	g_assert_cmpuint(c->now - start, <=, 1204 + 10);
}

static void stores(void *result, void *arg)
{
	struct one_run r = prepare(test_topology(1, 1, 2, 1));

	start(&r);
	run_one(r.m, 0, stores_program, &r);
	machine_free(r.m);
	topology_free(r.t);
}

static void test_stores(void)
{
	in_child(stores, NULL, 0, NULL);
}

/* ---- distances ---- */

struct transfer {
	int owner, reader, home; /* CPUs, node */
	uint64_t dirty, clean, upgrade;
	bool inclusive;
	struct one_run r;
};

static void transfer_owner(struct cpu *c, void *arg)
{
	struct transfer *x = arg;
	sim_addr a = x->r.base[x->home];

	cpu_write(c, a);	/* dirty */
	cpu_read(c, a + 64);	/* exclusive */
	cpu_read(c, a + 128);	/* to be shared */
	cpu_read(c, a + 192);
	cpu_idle(c, 10000);
	cpu_meet(c, machine_everyone(x->r.m));
	cpu_idle(c, 10000);
	cpu_meet(c, machine_everyone(x->r.m));
	cpu_idle(c, 10000);
	cpu_meet(c, machine_everyone(x->r.m));
	/* the reader wrote it: ours is gone */
	g_assert_cmpuint(COST(c, cpu_read(c, a + 128)), ==, x->dirty);
}

static void transfer_reader(struct cpu *c, void *arg)
{
	struct transfer *x = arg;
	sim_addr a = x->r.base[x->home];

	cpu_idle(c, 5000);
	cpu_meet(c, machine_everyone(x->r.m));
	g_assert_cmpuint(COST(c, cpu_read(c, a)), ==, x->dirty);
	g_assert_cmpuint(COST(c, cpu_read(c, a)), ==, 0);
	g_assert_cmpuint(COST(c, cpu_read(c, a + 64)), ==, x->dirty);
	g_assert_cmpuint(COST(c, cpu_read(c, a + 128)), ==, x->dirty);
	cpu_idle(c, 10000);
	cpu_meet(c, machine_everyone(x->r.m));
	/* both share it: taking it costs the other's transfer */
	g_assert_cmpuint(COST(c, cpu_rmw(c, a + 128, RMW_LOCK)), ==,
			 x->upgrade + 10);
	g_assert_cmpuint(COST(c, cpu_rmw(c, a + 128, RMW_LOCK)), ==, 10);
	/* read for ownership of what the other has alone */
	g_assert_cmpuint(COST(c, cpu_rmw(c, a + 192, RMW_LOCK)), ==,
			 x->dirty + 10);
	assert_consistent(x->r.m);
}

static void transfer(void *result, void *arg)
{
	struct transfer *x = arg;
	cpu_program programs[16] = { 0 };
	void *args[16];

	x->r = prepare(test_topology(2, 2, 2, 2));
	x->r.params.l3_inclusive = x->inclusive;
	start(&x->r);
	for (int i = 0; i < 16; i++)
		args[i] = x;
	programs[x->owner] = transfer_owner;
	programs[x->reader] = transfer_reader;
	machine_run(x->r.m, programs, args);
	machine_free(x->r.m);
	topology_free(x->r.t);
}

static void test_transfer(void)
{
	/* 2 sockets x 2 L3s x 2 cores, siblings 8 apart */
	struct transfer cases[] = {
		{ 0, 1, 0, 70, 50, 70 },   { 0, 1, 1, 70, 50, 70 },
		{ 0, 2, 0, 300, 400, 300 }, { 0, 2, 1, 600, 800, 600 },
		{ 4, 6, 0, 600, 800, 600 }, { 4, 6, 1, 300, 400, 300 },
		{ 0, 4, 0, 700, 400, 700 }, { 0, 4, 1, 700, 400, 700 },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		for (int inclusive = 0; inclusive < 2; inclusive++) {
			cases[i].inclusive = inclusive;
			in_child(transfer, NULL, 0, &cases[i]);
		}
	}
}

/* ---- line statistics ---- */

struct bounce {
	struct one_run r;
	int lines;
};

/* CPUs 0 and 4 (sockets apart) write one line in turn, 1 reads it at last. */
static void bounce_program(struct cpu *c, void *arg)
{
	struct bounce *b = arg;
	struct machine *m = c->machine;

	for (int i = 0; i < 10; i++) {
		cpu_idle(c, 10000 + (c->id == 4 ? 5000 * !i : 0));
		cpu_meet(c, machine_everyone(m));
		if (c->id != 1)
			cpu_write(c, b->r.base[0] + 16 + 8 * (c->id == 4));
	}
	if (c->id == 1) {
		cpu_idle(c, 100000);
		cpu_meet(c, machine_everyone(m));
		cpu_read(c, b->r.base[0] + 63);
		cpu_read(c, b->r.base[1]);
	}
}

static void check_line(const struct line_stat *s, void *arg)
{
	struct bounce *b = arg;

	b->lines++;
	g_assert_cmpuint(s->line, ==, b->r.base[0]);
	g_assert_cmpstr(s->kind, ==, "counter");
	g_assert_cmpuint(s->stores, ==, 20);
	g_assert_cmpuint(s->loads, ==, 1);
	/* all but the first write find it dirty in the other socket, and so
	 * does the reader, as CPU 4 wrote last */
	g_assert_cmpuint(s->hitm_remote, ==, 19 + 1);
	g_assert_cmpuint(s->hitm_local, ==, 0);
	g_assert_cmpuint(s->dram_local, ==, 1);
	g_assert_cmpuint(s->offsets, ==, 1 << 2 | 1 << 3 | 1 << 7);
	g_assert_cmpint(s->last_cpus[0], ==, 4);
	g_assert_cmpuint(s->last_counts[0], ==, 10);
	g_assert_cmpint(s->last_cpus[1], ==, 0);
	g_assert_cmpuint(s->last_counts[1], ==, 9);
	g_assert_cmpint(s->last_cpus[2], ==, 1);
	g_assert_cmpint(s->last_cpus[3], ==, -1);
}

static void bounce(void *result, void *arg)
{
	struct bounce b = { prepare(test_topology(2, 1, 4, 1)) };
	cpu_program programs[8] = { [0] = bounce_program,
				    [1] = bounce_program,
				    [4] = bounce_program };
	void *args[8] = { &b, &b, &b, &b, &b };
	uint64_t bytes[4];
	sim_addr base;

	b.r.flags = MACHINE_LINE_STATS;
	start(&b.r);
	machine_name_region(b.r.m, b.r.base[0], 128, "page");
	machine_name_region(b.r.m, b.r.base[0], 64, "counter");
	machine_name_region(b.r.m, b.r.base[0] + 96, 32, "tail");
	g_assert_cmpstr(machine_region(b.r.m, b.r.base[0] + 95, &base), ==,
			"page");
	g_assert_cmpuint(base, ==, b.r.base[0]);
	g_assert_cmpstr(machine_region(b.r.m, b.r.base[0] + 104, &base), ==,
			"tail");
	g_assert_cmpuint(base, ==, b.r.base[0] + 96);
	g_assert_null(machine_region(b.r.m, b.r.base[0] + 128, &base));
	machine_run(b.r.m, programs, args);
	machine_line_stats(b.r.m, check_line, &b);
	g_assert_cmpint(b.lines, ==, 1);
	machine_traffic(b.r.m, bytes);
	g_assert_cmpuint(bytes[0], ==, 64); /* CPU 0 read it, node 0's */
	g_assert_cmpuint(bytes[1], ==, 64); /* CPU 1 read node 1's */
	g_assert_cmpuint(bytes[2] + bytes[3], ==, 0);
	machine_free(b.r.m);
	topology_free(b.r.t);
}

static void test_bounce(void)
{
	in_child(bounce, NULL, 0, NULL);
}

/* ---- bandwidth ---- */

/* Everybody streams from one node; it can't serve more than its bandwidth. */
static void stream_program(struct cpu *c, void *arg)
{
	struct one_run *r = arg;

	for (int i = 0; i < 500; i++) {
		cpu_prefetch(c, r->base[0] + (uint64_t)(c->id * 500 + i) * 64);
		if (i % 8 == 0)
			cpu_meet(c, machine_everyone(c->machine));
	}
}

static void stream(void *result, void *arg)
{
	struct one_run r = prepare(test_topology(1, 1, 16, 1));
	double lines = 16 * 500, got;

	/* a line takes 20 cycles; 16 CPUs x 4 buffers could do one in 6 */
	r.params.mem_bw_gbs = 3.2;
	start(&r);
	run_first(r.m, 16, stream_program, &r);
	got = (double)machine_now(r.m) / lines;
	g_assert_cmpfloat(got, >, 0.95 * 20);
	g_assert_cmpfloat(got, <, 1.05 * 20);
	machine_free(r.m);
	topology_free(r.t);
}

static void test_stream(void)
{
	in_child(stream, NULL, 0, NULL);
}

/* ---- more L3s than bits ---- */

#define MANY 80 /* L3s of a core each; one bit of the directory for two */

static void many_program(struct cpu *c, void *arg)
{
	sim_addr lines = *(sim_addr *)arg;

	for (int i = 0; i < 2000; i++) {
		uint64_t r = cpu_random(c);
		sim_addr a = lines + r % 2048 * 64;

		cpu_meet(c, machine_everyone(c->machine));
		if (r >> 20 & 3)
			cpu_read(c, a);
		else
			cpu_write(c, a);
	}
}

static void run_many(void *result, void *arg)
{
	struct topology *t = test_topology(2, MANY / 2, 1, 1);
	struct machine_params p = test_params();
	g_autofree char *wrong = NULL;
	cpu_program program[MANY] = { NULL };
	void *args[MANY] = { NULL };
	struct machine *m;
	sim_addr lines;

	p.l2_kib = 8; /* and much falls out into L3 */
	p.l3_inclusive = *(bool *)arg;
	m = machine_new(t, &p, 0, 1);
	lines = machine_reserve(m, 0, 2048 * 64, 4096);
	for (int i = 0; i < 3; i++) { /* two of them twins */
		program[(int[]){ 3, 67, 10 }[i]] = many_program;
		args[(int[]){ 3, 67, 10 }[i]] = &lines;
	}
	machine_run(m, program, args);
	wrong = machine_check(m);
	g_assert_cmpstr(wrong, ==, NULL);
	machine_free(m);
	topology_free(t);
}

static void test_many_l3s(void)
{
	bool inclusive = false;

	in_child(run_many, NULL, 0, &inclusive);
	inclusive = true;
	in_child(run_many, NULL, 0, &inclusive);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/memory/levels", test_levels);
	g_test_add_func("/memory/overlap", test_overlap);
	g_test_add_func("/memory/stores", test_stores);
	g_test_add_func("/memory/transfer", test_transfer);
	g_test_add_func("/memory/line-stats", test_bounce);
	g_test_add_func("/memory/bandwidth", test_stream);
	g_test_add_func("/memory/many-l3s", test_many_l3s);
	return g_test_run();
}
