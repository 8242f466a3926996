/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step done at once is the same as its accesses one by one: times, causes, and
 * which lines L1 gives up later.
 */
#include "sim/step.h"
#include "sim/test_sim.h"

#define NR 4
#define STEPS 3000
#define LINES 48 /* three times L1's sets */

struct digest {
	uint64_t now[NR], cause[NR_CAUSES], accesses, instructions;
	unsigned at_once[NR];
};

struct crowd {
	struct machine *m;
	sim_addr lines, shared;
	unsigned flags;
	unsigned at_once[NR];
};

static void one_by_one(struct cpu *c, struct crowd *x, int frame, sim_addr a,
		       sim_addr b)
{
	cpu_enter(c, frame);
	cpu_exec(c, 37);
	cpu_read(c, x->shared);
	cpu_write(c, a);
	cpu_read(c, b);
	cpu_write(c, a + 8);
	cpu_leave(c);
}

static void crowd_program(struct cpu *c, void *arg)
{
	struct crowd *x = arg;
	int frame = machine_frame(x->m, "step");
	sim_addr mine = x->lines + (uint64_t)c->id * LINES * SIM_LINE;
	struct cpu_step st = { 0 };
	sim_addr a = 0, b = 0;

	for (int i = 0; i < STEPS; i++) {
		uint64_t r = cpu_random(c);
		sim_addr to_a = r % 16 ? a : mine + (r >> 8) % LINES * SIM_LINE;
		sim_addr to_b = r % 23 ? b : mine + (r >> 16) % LINES * SIM_LINE;

		if (!a)
			to_a = to_b = mine;
		if (!step_is_here(c, &st)) {
			step_call(c, &st, frame, 37);
			step_read(c, &st, x->shared);
			step_write(c, &st, to_a);
			step_read(c, &st, to_b);
			step_write(c, &st, to_a + 8);
		}
		if (to_a != a) {
			step_move(c, &st, 1, to_a);
			step_move(c, &st, 3, to_a + 8);
		}
		if (to_b != b)
			step_move(c, &st, 2, to_b);
		a = to_a;
		b = to_b;
		if (cpu_may_step(c)) {
			x->at_once[c->id] += cpu_is_quiet(c) && !st.missing &&
					     st.changes == c->l1->changes;
			step_do(c, &st);
		} else {
			one_by_one(c, x, frame, a, b);
		}
		/* others' lines are taken, own ones pushed out */
		if (!(r >> 24 & 7))
			cpu_read(c, mine + (r >> 28) % LINES * SIM_LINE);
		if (!(r >> 40 & 31))
			cpu_write(c, mine + (r >> 28) % LINES * SIM_LINE);
		if (!(r >> 45 & 63)) {
			cpu_meet(c, machine_everyone(x->m));
			cpu_write(c, x->shared);
		}
	}
}

static void add_account(int cpu, const char *path, enum cause cause,
			uint64_t cycles, void *arg)
{
	((struct digest *)arg)->cause[cause] += cycles;
}

static void run_crowd(void *result, void *arg)
{
	struct topology *t = test_topology(1, 2, 1, 2); /* siblings: 0, 2 */
	struct machine_params p = test_params();
	struct digest *d = result;
	struct crowd *x = arg;
	g_autofree char *wrong = NULL;

	x->m = machine_new(t, &p, x->flags, 7);
	x->lines = machine_reserve(x->m, 0, NR * LINES * SIM_LINE, 4096);
	x->shared = machine_reserve(x->m, 0, SIM_LINE, SIM_LINE);
	run_first(x->m, NR, crowd_program, x);
	for (int i = 0; i < NR; i++) {
		d->now[i] = machine_cpu(x->m, i)->now;
		d->at_once[i] = x->at_once[i];
	}
	machine_account(x->m, add_account, d);
	d->accesses = machine_stats(x->m).accesses;
	d->instructions = machine_stats(x->m).instructions;
	wrong = machine_check(x->m);
	g_assert_cmpstr(wrong, ==, NULL);
	machine_free(x->m);
	topology_free(t);
}

static struct digest crowd(unsigned flags)
{
	struct crowd x = { .flags = flags };
	struct digest d = { 0 };

	in_child(run_crowd, &d, sizeof(d), &x);
	return d;
}

static void test_same(void)
{
	struct digest fast = crowd(0), slow = crowd(MACHINE_EXACT_SLOW);

	for (int i = 0; i < NR; i++) {
		g_assert_cmpuint(fast.now[i], ==, slow.now[i]);
		g_assert_cmpuint(fast.at_once[i], >, STEPS / 4);
		g_assert_cmpuint(fast.at_once[i], <, STEPS);
		g_assert_cmpuint(slow.at_once[i], ==, 0);
	}
	for (int i = 0; i < NR_CAUSES; i++)
		g_assert_cmpuint(fast.cause[i], ==, slow.cause[i]);
	g_assert_cmpuint(fast.accesses, ==, slow.accesses);
	g_assert_cmpuint(fast.instructions, ==, slow.instructions);
}

/* Who looks closely sees every access. */
static void test_never(void)
{
	static const unsigned flags[] = { MACHINE_LINE_STATS, MACHINE_TRACE,
					  MACHINE_UNIFORM };

	for (gsize k = 0; k < G_N_ELEMENTS(flags); k++) {
		struct digest d = crowd(flags[k]);

		for (int i = 0; i < NR; i++)
			g_assert_cmpuint(d.at_once[i], ==, 0);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/step/same", test_same);
	g_test_add_func("/step/never", test_never);
	return g_test_run();
}
