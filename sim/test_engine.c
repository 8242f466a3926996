/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order and determinism: the same run with and without shortcuts, under
 * another context factory, on relabelled CPUs, with all latencies scaled.
 */
#include <simgrid/engine.h>

#include "sim/test_sim.h"
#include "sim/trace.h"

#define NR 16
#define STEPS 400
#define LINES 512

struct digest {
	uint64_t now[NR], cause[NR_CAUSES], hash, acquisitions, waited;
	uint64_t traffic[4], events, turns, meets, accesses, instructions;
	uint64_t spans[4], span_wait;
	double clock; /* SimGrid's, as last seen by a CPU */
};

struct chaos {
	struct machine *m;
	struct sim_lock locks[3];
	struct sim_rwlock rwlock;
	struct domain *half, *few;
	sim_addr shared, own[NR];
	uint64_t hash; /* of what happened in shared order */
	uint64_t last_meet;
	double clock;
	unsigned flags;
	bool inclusive;
	bool uneven; /* late starts, early ends, CPUs without a program */
	const char *factory;
};

/* Partners are the same in all of this. */
static bool has_program(const struct chaos *x, int cpu)
{
	return !x->uneven || cpu / 2 != 3;
}

static int steps_of(const struct chaos *x, int cpu)
{
	return x->uneven ? STEPS - 45 * (cpu / 2) : STEPS;
}

/* Farther from each other than SimGrid's clock lags: engine_fast.c. */
static uint64_t start_of(const struct chaos *x, int cpu)
{
	return x->uneven ? 700001 * (uint64_t)cpu : 0;
}

static void note(struct chaos *x, struct cpu *c, uint64_t what)
{
	x->hash = (x->hash ^ (c->now * 31 + what)) * 0x100000001b3u;
	x->hash ^= x->hash >> 29;
}

/* Meeting order is the order of dates. */
static void meet(struct chaos *x, struct cpu *c, struct domain *d)
{
	cpu_meet(c, d);
	g_assert_cmpuint(c->now, >=, x->last_meet);
	x->last_meet = c->now;
	note(x, c, c->id);
	g_assert_cmpfloat(simgrid_get_clock(), <=, (double)c->now);
	g_assert_cmpfloat(simgrid_get_clock(), >=, x->clock);
	x->clock = simgrid_get_clock();
	if (x->flags & MACHINE_EXACT_SLOW)
		g_assert_cmpfloat(x->clock, ==, (double)c->now);
}

static void some_access(struct chaos *x, struct cpu *c, uint64_t r)
{
	sim_addr a = r & 1 ? x->shared : x->own[c->id];

	a += (r >> 8) % LINES * 64 + (r >> 20) % 8 * 8;
	switch (r >> 1 & 7) {
	case 0:
	case 1:
	case 2:
		cpu_read(c, a);
		break;
	case 3:
		cpu_prefetch(c, a);
		break;
	case 4:
	case 5:
		cpu_write(c, a);
		break;
	case 6:
		cpu_rmw(c, a, r >> 30 & 1 ? RMW_LOCK : RMW_CMPXCHG16B);
		break;
	default:
		if (r >> 30 & 1)
			cpu_copy(c, a, 0, 256);
		else
			cpu_copy(c, a, x->own[c->id], 128);
	}
}

static void chaos_program(struct cpu *c, void *arg)
{
	struct chaos *x = arg;
	int frame = machine_frame(c->machine, "step");
	struct cpu *partner = machine_cpu(c->machine, c->id ^ 1);
	uint64_t before = 0;

	for (int i = 0; i < steps_of(x, c->id); i++) {
		uint64_t r = cpu_random(c);
		struct sim_lock *l = &x->locks[r % 3];

		cpu_enter(c, frame);
		cpu_exec(c, (r >> 40) % 100);
		for (int k = r >> 16 & 7; k >= 0; k--)
			some_access(x, c, cpu_random(c));
		cpu_leave(c);
		switch (r >> 3 & 15) {
		case 0:
		case 1:
			meet(x, c, machine_everyone(c->machine));
			break;
		case 2:
			if (c->id < NR / 2)
				cpu_meet(c, x->half);
			if (c->id == 5) /* perhaps nobody to meet */
				cpu_meet(c, x->few);
			note(x, c, 2);
			break;
		case 3:
			cpu_lock(c, l);
			note(x, c, 3);
			some_access(x, c, cpu_random(c) | 1);
			cpu_unlock(c, l);
			break;
		case 4: /* parks inside */
			cpu_lock(c, l);
			cpu_outside(c, 100.5);
			meet(x, c, machine_everyone(c->machine));
			some_access(x, c, cpu_random(c) | 1);
			cpu_unlock(c, l);
			break;
		case 5:
			if (cpu_trylock(c, l)) {
				note(x, c, 5);
				cpu_exec(c, 300);
				cpu_unlock(c, l);
			}
			break;
		case 6:
			cpu_read_lock(c, &x->rwlock);
			note(x, c, 6);
			cpu_exec(c, 100);
			if (r >> 50 & 1)
				meet(x, c, machine_everyone(c->machine));
			cpu_read_unlock(c, &x->rwlock);
			break;
		case 7:
			cpu_write_lock(c, &x->rwlock);
			note(x, c, 7);
			if (r >> 50 & 1)
				meet(x, c, machine_everyone(c->machine));
			cpu_write_unlock(c, &x->rwlock);
			break;
		case 8:
			cpu_idle(c, (r >> 50) % 3000);
			break;
		case 9:
			cpu_irq(c, r >> 50 & 1);
			break;
		default:
			break;
		}
		/* partners take turns in waiting for each other */
		if (i % 50 == 49) {
			if ((c->id ^ i / 50) & 1) {
				cpu_wait(c);
				note(x, c, 9);
			} else {
				cpu_wake(c, partner, c->now + (r >> 50));
			}
		}
		g_assert_cmpuint(c->now, >=, before);
		before = c->now;
	}
}

static void add_account(int cpu, const char *path, enum cause cause,
			uint64_t cycles, void *arg)
{
	struct digest *d = arg;

	d->cause[cause] += cycles;
	d->now[cpu] -= cycles; /* ends at 0: charges sum to the clock */
	g_assert_true(!*path || !strcmp(path, "step"));
}

static void add_lock(const struct lock_stat *s, void *arg)
{
	struct digest *d = arg;

	d->acquisitions += s->acquisitions;
	d->waited += s->wait_total;
}

static void add_span(const struct trace_span *s, void *arg)
{
	struct digest *d = arg;

	d->spans[s->kind]++;
	if (s->kind == TRACE_LOCK_WAIT)
		d->span_wait += s->to - s->from;
	g_assert_cmpuint(s->to, >=, s->from);
	g_assert_cmpstr(s->name, ==,
			s->kind == TRACE_FRAME ? "step" :
			s->kind == TRACE_IDLE  ? "cpu_wait" :
						 s->name);
}

static void run_some(struct chaos *x)
{
	cpu_program programs[NR] = { NULL };
	void *args[NR] = { NULL };

	for (int i = 0; i < NR; i++) {
		if (!has_program(x, i))
			continue;
		programs[i] = chaos_program;
		args[i] = x;
		cpu_idle(machine_cpu(x->m, i), start_of(x, i));
	}
	machine_run(x->m, programs, args);
}

static void run_chaos(void *result, void *arg)
{
	struct chaos *x = arg;
	struct digest *d = result;
	struct topology *t = test_topology(2, 2, 2, 2);
	struct machine_params p = test_params();
	int half[NR / 2], few[] = { 5, 6, 7 };
	uint64_t now[NR];
	g_autofree char *wrong = NULL;

	if (x->factory)
		g_setenv("SLUBSIM_CONTEXTS", x->factory, TRUE);
	p.l3_inclusive = x->inclusive;
	x->m = machine_new(t, &p, x->flags, 42);
	x->shared = machine_reserve(x->m, 1, LINES * 64, 64);
	for (int i = 0; i < NR; i++) {
		x->own[i] = machine_reserve(x->m, i & 1, LINES * 64, 64);
		if (i < NR / 2)
			half[i] = i;
	}
	x->half = machine_domain(x->m, half, NR / 2);
	for (int i = 0; i < 3; i++)
		lock_init(x->m, &x->locks[i], "lock", x->shared + 64 * i, NULL);
	rwlock_init(x->m, &x->rwlock, "rwlock", x->shared + 640, NULL);
	x->few = machine_domain(x->m, few, 3);
	run_some(x);
	for (int i = 0; i < NR; i++)
		now[i] = d->now[i] = machine_cpu(x->m, i)->now;
	machine_account(x->m, add_account, d);
	for (int i = 0; i < NR; i++)
		g_assert_cmpuint(d->now[i], ==, 0);
	memcpy(d->now, now, sizeof(now));
	machine_lock_stats(x->m, add_lock, d);
	machine_traffic(x->m, d->traffic);
	d->events = machine_stats(x->m).engine_events;
	d->turns = machine_stats(x->m).turns;
	d->meets = machine_stats(x->m).meets;
	d->accesses = machine_stats(x->m).accesses;
	d->instructions = machine_stats(x->m).instructions;
	d->hash = x->hash;
	d->clock = x->clock;
	g_assert_cmpuint(machine_trace(x->m, add_span, d), ==, 0);
	wrong = machine_check(x->m);
	g_assert_cmpstr(wrong, ==, NULL);
	machine_free(x->m);
	topology_free(t);
}

static struct digest chaos(struct chaos x)
{
	struct digest d;

	in_child(run_chaos, &d, sizeof(d), &x);
	return d;
}

static void assert_same(const struct digest *a, const struct digest *b)
{
	for (int i = 0; i < NR; i++)
		g_assert_cmpuint(a->now[i], ==, b->now[i]);
	for (int i = 0; i < NR_CAUSES; i++)
		g_assert_cmpuint(a->cause[i], ==, b->cause[i]);
	g_assert_cmpuint(a->hash, ==, b->hash);
	g_assert_cmpuint(a->acquisitions, ==, b->acquisitions);
	g_assert_cmpuint(a->waited, ==, b->waited);
	g_assert_cmpuint(a->meets, ==, b->meets);
	g_assert_cmpuint(a->accesses, ==, b->accesses);
	g_assert_cmpuint(a->instructions, ==, b->instructions);
	g_assert_cmpmem(a->traffic, sizeof(a->traffic), b->traffic,
			sizeof(b->traffic));
}

static void test_repeat(void)
{
	struct digest a = chaos((struct chaos){ 0 });
	struct digest b = chaos((struct chaos){ 0 });

	assert_same(&a, &b);
	g_assert_cmpuint(a.events, ==, b.events);
	g_assert_cmpuint(a.cause[CAUSE_LOCK_WAIT], >, 0);
	g_assert_cmpuint(a.cause[CAUSE_STORE], >, 0);
	g_assert_cmpuint(a.cause[CAUSE_C2C_SMT], >, 0);
	g_assert_cmpuint(a.cause[CAUSE_C2C_SOCKET], >, 0);
	g_assert_cmpuint(a.cause[CAUSE_DRAM_REMOTE], >, 0);
}

static void test_exact_slow(void)
{
	for (int inclusive = 0; inclusive < 2; inclusive++) {
		struct digest a = chaos((struct chaos){
			.inclusive = inclusive });
		struct digest b = chaos((struct chaos){
			.inclusive = inclusive, .flags = MACHINE_EXACT_SLOW });

		assert_same(&a, &b);
	}
}

/* One actor with fibers, or an actor per CPU: neither minds how SimGrid makes
 * its own flows. */
static void test_factories(void)
{
	static const char *const factories[] = { "raw", "ucontext", "thread" };
	struct digest a = chaos((struct chaos){ 0 });

	for (gsize i = 0; i < G_N_ELEMENTS(factories); i++) {
		struct digest b = chaos(
			(struct chaos){ .factory = factories[i] });
		struct digest c = chaos((struct chaos){
			.factory = factories[i], .flags = MACHINE_EXACT_SLOW });

		assert_same(&a, &b);
		assert_same(&a, &c);
	}
}

/* No simcall for a hand-over, one or more for each where all is SimGrid's. */
static void test_events(void)
{
	struct digest fast = chaos((struct chaos){ 0 });
	struct digest slow = chaos((struct chaos){
		.flags = MACHINE_EXACT_SLOW });

	g_assert_cmpuint(fast.turns, >, 1000);
	g_assert_cmpuint(fast.events, <, 10);
	g_assert_cmpuint(slow.events, >=, fast.turns);
}

/* CPUs come and go, and SimGrid's clock follows. */
static void test_uneven(void)
{
	static const char *const factories[] = { "raw", "thread" };
	struct digest fast = chaos((struct chaos){ .uneven = true });
	const struct chaos x = { .uneven = true };

	for (int i = 0; i < NR; i++)
		g_assert_cmpint(fast.now[i] > start_of(&x, i), ==,
				has_program(&x, i));
	g_assert_cmpuint(fast.events, >, 5);
	g_assert_cmpuint(fast.events, <, 50);
	g_assert_cmpfloat(fast.clock, >, (double)start_of(&x, NR / 2));
	for (gsize i = 0; i < G_N_ELEMENTS(factories); i++) {
		struct digest again = chaos((struct chaos){
			.uneven = true, .factory = factories[i] });
		struct digest slow = chaos((struct chaos){
			.uneven = true, .factory = factories[i],
			.flags = MACHINE_EXACT_SLOW });

		assert_same(&fast, &again);
		assert_same(&fast, &slow);
	}
}

/* Looking must not change what is seen. */
static void test_looking(void)
{
	struct digest a = chaos((struct chaos){ 0 });
	struct digest b = chaos((struct chaos){ .flags = MACHINE_LINE_STATS });
	struct digest c = chaos((struct chaos){ .flags = MACHINE_TRACE });

	assert_same(&a, &b);
	assert_same(&a, &c);
	g_assert_cmpuint(c.spans[TRACE_FRAME], ==, NR * STEPS);
	g_assert_cmpuint(c.spans[TRACE_LOCK_HOLD], >, 0);
	g_assert_cmpuint(c.spans[TRACE_LOCK_WAIT], >, 0);
	g_assert_cmpuint(c.spans[TRACE_IDLE], >, 0);
	g_assert_cmpuint(c.span_wait, ==, c.waited);
}

static void test_uniform(void)
{
	struct digest d = chaos((struct chaos){ .flags = MACHINE_UNIFORM });

	for (int i = CAUSE_L1; i <= CAUSE_C2C_SOCKET; i++)
		g_assert_cmpuint(d.cause[i], ==, 0);
	g_assert_cmpuint(d.cause[CAUSE_STORE], ==, 0);
	g_assert_cmpuint(d.cause[CAUSE_ATOMIC], >, 0);
}

/* ---- scaling and relabelling ---- */

struct sym {
	int scale;
	const int *label; /* CPU -> place in the program */
	uint64_t now[8];
};

struct sym_run {
	struct machine *m;
	struct sim_lock lock;
	sim_addr lines;
	const struct sym *sym;
};

static void sym_program(struct cpu *c, void *arg)
{
	struct sym_run *r = arg;
	int scale = r->sym->scale;
	int me = r->sym->label ? r->sym->label[c->id] : c->id;

	/* dates without ties: those go by CPU id */
	cpu_idle(c, (uint64_t)(101 * me) * scale);
	cpu_meet(c, machine_everyone(r->m));
	for (int i = 0; i < 50; i++) {
		cpu_prefetch(c, r->lines + (8 * i + me) * 4096);
		cpu_write(c, r->lines + (8 * i + me) * 4096 + 128);
		cpu_lock(c, &r->lock);
		cpu_read(c, r->lines);
		cpu_write(c, r->lines + 64 * (i % 4));
		cpu_unlock(c, &r->lock);
		cpu_rmw(c, r->lines + (8 * i + me) * 4096, RMW_LOCK);
		cpu_idle(c, (uint64_t)(3001 + 517 * me) * scale);
	}
}

static void run_sym(void *result, void *arg)
{
	struct sym *s = arg, *out = result;
	struct topology *t = test_topology(1, 1, 8, 1);
	struct machine_params p = test_params();
	struct sym_run r = { .sym = s };
	double *latency[] = { &p.l2_cycles, &p.l3_cycles,
			      &p.dram_local_ns, &p.dram_remote_ns,
			      &p.c2c_smt_ns, &p.c2c_l3_ns, &p.c2c_cross_l3_ns,
			      &p.c2c_home_remote_ns, &p.c2c_socket_ns,
			      &p.lock_rmw_cycles };

	for (gsize i = 0; i < G_N_ELEMENTS(latency); i++)
		*latency[i] *= s->scale;
	p.mem_bw_gbs /= s->scale;
	r.m = machine_new(t, &p, 0, 1);
	r.lines = machine_reserve(r.m, 0, 8 * 64 * 4096, 4096);
	lock_init(r.m, &r.lock, "lock", machine_reserve(r.m, 0, 64, 64), NULL);
	run_first(r.m, 8, sym_program, &r);
	for (int i = 0; i < 8; i++)
		out->now[i] = machine_cpu(r.m, i)->now;
	machine_free(r.m);
	topology_free(t);
}

static void test_scale(void)
{
	struct sym one = { .scale = 1 }, four = { .scale = 4 }, a, b;

	in_child(run_sym, &a, sizeof(a), &one);
	in_child(run_sym, &b, sizeof(b), &four);
	for (int i = 0; i < 8; i++)
		g_assert_cmpuint(4 * a.now[i], ==, b.now[i]);
}

static void test_relabel(void)
{
	static const int label[] = { 3, 6, 1, 0, 7, 2, 5, 4 };
	struct sym plain = { .scale = 1 };
	struct sym other = { .scale = 1, .label = label };
	struct sym a, b;

	in_child(run_sym, &a, sizeof(a), &plain);
	in_child(run_sym, &b, sizeof(b), &other);
	for (int i = 0; i < 8; i++)
		g_assert_cmpuint(a.now[label[i]], ==, b.now[i]);
}

/* ---- without time ---- */

static void timeless_program(struct cpu *c, void *arg)
{
	struct sim_lock l;
	int *ran = arg;

	lock_init(c->machine, &l, "lock",
		  machine_reserve(c->machine, c->node, 64, 64), NULL);
	cpu_lock(c, &l);
	g_assert_true(cpu_trylock(c, &l));
	cpu_unlock(c, &l);
	cpu_read(c, l.line);
	cpu_exec(c, 100);
	cpu_meet(c, machine_everyone(c->machine));
	cpu_copy(c, l.line, 0, 64);
	cpu_idle(c, 100);
	g_assert_cmpuint(c->now, ==, 0);
	g_assert_cmpint(*ran, ==, c->id); /* one after the other */
	++*ran;
}

static void test_timeless(void)
{
	struct topology *t = test_topology(2, 1, 2, 1);
	struct machine *m = machine_new(t, NULL, MACHINE_TIMELESS, 1);

	for (int i = 0; i < 2; i++) {
		int ran = 0;

		run_first(m, 4, timeless_program, &ran);
		g_assert_cmpint(ran, ==, 4);
	}
	g_assert_cmpuint(machine_now(m), ==, 0);
	machine_free(m);
	topology_free(t);
}

static void test_random(void)
{
	struct topology *t = test_topology(1, 1, 2, 1);
	struct machine *a = machine_new(t, NULL, MACHINE_TIMELESS, 1);
	struct machine *b = machine_new(t, NULL, MACHINE_TIMELESS, 2);
	struct machine *again = machine_new(t, NULL, MACHINE_TIMELESS, 1);
	uint64_t first = cpu_random(machine_cpu(a, 0));

	g_assert_cmpuint(first, ==, cpu_random(machine_cpu(again, 0)));
	g_assert_cmpuint(first, !=, cpu_random(machine_cpu(a, 1)));
	g_assert_cmpuint(first, !=, cpu_random(machine_cpu(b, 0)));
	machine_free(a);
	machine_free(b);
	machine_free(again);
	topology_free(t);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/engine/timeless", test_timeless);
	g_test_add_func("/engine/random", test_random);
	g_test_add_func("/engine/repeat", test_repeat);
	g_test_add_func("/engine/exact-slow", test_exact_slow);
	g_test_add_func("/engine/factories", test_factories);
	g_test_add_func("/engine/events", test_events);
	g_test_add_func("/engine/uneven", test_uneven);
	g_test_add_func("/engine/looking", test_looking);
	g_test_add_func("/engine/uniform", test_uniform);
	g_test_add_func("/engine/scale", test_scale);
	g_test_add_func("/engine/relabel", test_relabel);
	return g_test_run();
}
