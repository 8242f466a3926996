/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that wait, are woken, end, or are alone; each by fibers and by SimGrid
 * alone.
 */
#include <simgrid/engine.h>

#include "sim/test_sim.h"

#define MIDDLE ((uint64_t)1 << 20) /* engine_fast.c's CLOCK_STEP */

static const unsigned ways[] = { 0, MACHINE_EXACT_SLOW };

/* What the programs of a case share. */
struct stage {
	struct machine *m;
	struct sim_lock lock;
	int order[64], nr; /* who came when */
	double clock;	   /* SimGrid's, the last seen */
};

/* A case: CPUs 0..@cpus-1 but those of @absent run @program. */
struct play {
	const char *name;
	int cpus;
	unsigned absent; /* bit i: CPU i has no program */
	cpu_program program;
	uint64_t start[4];
	uint64_t end[4];	 /* clocks expected, 0 if absent */
	int order[64];		 /* expected, from 1 on; 0 ends */
	uint64_t events[2];	 /* expected, by ways[]; 0 = whatever */
};

static void come(struct stage *x, struct cpu *c)
{
	cpu_meet(c, machine_everyone(x->m));
	g_assert_cmpint(x->nr, <, G_N_ELEMENTS(x->order));
	x->order[x->nr++] = c->id + 1;
	g_assert_cmpfloat(simgrid_get_clock(), >=, x->clock);
	x->clock = simgrid_get_clock();
	g_assert_cmpfloat(x->clock, <=, (double)c->now);
}

/* ---- programs ---- */

static void wake_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	if (c->id == 0) {
		cpu_wait(c); /* woken in time */
		g_assert_cmpuint(c->now, ==, 700);
		cpu_idle(c, 2000);
		come(x, c);
		cpu_wait(c); /* the wake came first, at 1500 */
	} else {
		cpu_idle(c, 500);
		cpu_wake(c, machine_cpu(x->m, 0), 700);
		cpu_idle(c, 1000);
		come(x, c);
		cpu_wake(c, machine_cpu(x->m, 0), c->now);
	}
}

/* Before it waits the earliest counts, and both are one. */
static void two_wakes_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	if (c->id == 0) {
		cpu_idle(c, 100);
		come(x, c);
		cpu_wait(c);
		g_assert_cmpuint(c->now, ==, 700);
		cpu_wait(c);
	} else {
		cpu_idle(c, 10);
		come(x, c);
		cpu_wake(c, machine_cpu(x->m, 0), 900);
		cpu_wake(c, machine_cpu(x->m, 0), 700);
		cpu_wake(c, machine_cpu(x->m, 0), 800);
		cpu_idle(c, 2000);
		come(x, c);
		cpu_wake(c, machine_cpu(x->m, 0), 2500);
	}
}

/* Who is woken already is woken: a second one is the next wait's. */
static void late_wake_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	if (c->id == 0) {
		cpu_wait(c);
		g_assert_cmpuint(c->now, ==, 600);
		cpu_wait(c);
	} else {
		cpu_idle(c, 500);
		come(x, c);
		cpu_wake(c, machine_cpu(x->m, 0), 600);
		cpu_wake(c, machine_cpu(x->m, 0), 650);
	}
}

/* Who is ahead of his waker goes on where he was. */
static void ahead_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	if (c->id == 0) {
		cpu_idle(c, 1000);
		cpu_wait(c);
	} else {
		cpu_idle(c, 500);
		come(x, c);
		cpu_wake(c, machine_cpu(x->m, 0), c->now);
	}
}

/* Who has ended stays where he is. */
static void ended_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	cpu_idle(c, c->id ? 100 : 10);
	come(x, c);
	if (c->id)
		cpu_wake(c, machine_cpu(x->m, 0), 5000);
}

/* Each ends before the next begins to matter. */
static void early_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	for (int i = 0; i <= c->id; i++) {
		come(x, c);
		cpu_idle(c, 1000);
	}
}

static void alone_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	for (int i = 0; i < 5; i++) {
		come(x, c);
		cpu_idle(c, MIDDLE);
	}
	cpu_wake(c, c, c->now + 7); /* by itself */
	cpu_wait(c);
}

/* Dates just below, at and above those that SimGrid must be told of. */
static void far_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	for (int i = 0; i < 6; i++) {
		cpu_idle(c, MIDDLE - 1 + i % 3);
		come(x, c);
	}
}

static const struct play plays[] = {
	{ "woken", 2, 0, wake_program, .end = { 2700, 1500 },
	  .order = { 2, 1 } },
	{ "two-wakes", 2, 0, two_wakes_program, .end = { 2500, 2010 },
	  .order = { 2, 1, 2 } },
	{ "late-wake", 2, 0, late_wake_program, .end = { 650, 500 },
	  .order = { 2 } },
	{ "ahead", 2, 0, ahead_program, .end = { 1000, 500 },
	  .order = { 2 } },
	{ "ended", 2, 0, ended_program, .end = { 10, 100 },
	  .order = { 1, 2 } },
	{ "early-ends", 4, 0, early_program, .end = { 1000, 2000, 3000, 4000 },
	  .order = { 1, 2, 3, 4, 2, 3, 4, 3, 4, 4 } },
	{ "late-starts", 3, 0, early_program,
	  .start = { 3 * MIDDLE, 5, MIDDLE },
	  .end = { 3 * MIDDLE + 1000, 2005, MIDDLE + 3000 },
	  .order = { 2, 2, 3, 3, 3, 1 }, .events = { 3 } },
	{ "without-program", 4, 5, early_program, .end = { 0, 2000, 0, 4000 },
	  .order = { 2, 4, 2, 4, 4, 4 } },
	{ "alone", 4, 11, alone_program, .end = { 0, 0, 5 * MIDDLE + 7 },
	  .order = { 3, 3, 3, 3, 3 }, .events = { 1, 1 } },
	{ "far", 2, 0, far_program, .end = { 6 * MIDDLE, 6 * MIDDLE },
	  .order = { 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 } },
	{ "nobody", 2, 3, far_program },
};

/* ---- runs ---- */

struct staging {
	const struct play *play;
	unsigned flags;
	struct machine_stats stats;
	uint64_t end[4];
};

static void run_play(void *result, void *arg)
{
	struct staging *s = arg, *out = result;
	const struct play *play = s->play;
	struct topology *t = test_topology(1, 1, 4, 1);
	struct machine_params p = test_params();
	struct stage x = { 0 };
	cpu_program programs[4] = { NULL };
	void *args[4] = { &x, &x, &x, &x };

	x.m = machine_new(t, &p, s->flags, 1);
	lock_init(x.m, &x.lock, "lock", machine_reserve(x.m, 0, 64, 64), NULL);
	for (int i = 0; i < play->cpus; i++) {
		if (!(play->absent >> i & 1))
			programs[i] = play->program;
		cpu_idle(machine_cpu(x.m, i), play->start[i]);
	}
	machine_run(x.m, programs, args);
	g_assert_cmpmem(x.order, sizeof(x.order), play->order,
			sizeof(play->order));
	for (int i = 0; i < 4; i++)
		out->end[i] = machine_cpu(x.m, i)->now;
	g_assert_cmpfloat(simgrid_get_clock(), ==, (double)machine_now(x.m));
	out->stats = machine_stats(x.m);
	machine_free(x.m);
	topology_free(t);
}

static void test_play(gconstpointer data)
{
	const struct play *play = data;

	for (gsize k = 0; k < G_N_ELEMENTS(ways); k++) {
		struct staging s = { .play = play, .flags = ways[k] }, out;

		in_child(run_play, &out, sizeof(out), &s);
		for (int i = 0; i < 4; i++)
			g_assert_cmpuint(out.end[i], ==, play->end[i]);
		if (play->events[k])
			g_assert_cmpuint(out.stats.engine_events, ==,
					 play->events[k]);
	}
}

/* ---- deadlocks ---- */

static void wait_program(struct cpu *c, void *arg)
{
	cpu_wait(c);
}

/* The others end first. */
static void left_program(struct cpu *c, void *arg)
{
	if (c->id)
		cpu_idle(c, 5000 / c->id);
	else
		cpu_wait(c);
}

/* ... and with a lock in hand. */
static void kept_program(struct cpu *c, void *arg)
{
	struct stage *x = arg;

	cpu_idle(c, c->id ? 10 : 4000);
	cpu_lock(c, &x->lock);
}

static const struct deadlock {
	const char *name;
	cpu_program program;
	const char *message;
} deadlocks[] = {
	{ "all", wait_program,
	  "*deadlock at cycle 0: CPU 0 (cpu_wait), CPU 1 (cpu_wait)*" },
	{ "left", left_program,
	  "*deadlock at cycle 5000: CPU 0 (cpu_wait) wait*" },
	{ "kept", kept_program, "*deadlock at cycle *: CPU 0 (lock) wait*" },
};

static void test_deadlock(const struct deadlock *d, unsigned flags)
{
	if (g_test_subprocess()) {
		struct topology *t = test_topology(1, 1, 2, 1);
		struct machine_params p = test_params();
		struct stage x = { .m = machine_new(t, &p, flags, 1) };

		lock_init(x.m, &x.lock, "lock",
			  machine_reserve(x.m, 0, 64, 64), NULL);
		run_first(x.m, 2, d->program, &x);
		return;
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_failed();
	g_test_trap_assert_stderr(d->message);
}

static void test_deadlock_fast(gconstpointer data)
{
	test_deadlock(data, 0);
}

static void test_deadlock_slow(gconstpointer data)
{
	test_deadlock(data, MACHINE_EXACT_SLOW);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(plays); i++) {
		g_autofree char *name =
			g_strdup_printf("/wait/%s", plays[i].name);

		g_test_add_data_func(name, &plays[i], test_play);
	}
	for (gsize i = 0; i < G_N_ELEMENTS(deadlocks); i++) {
		g_autofree char *fast = g_strdup_printf(
			"/wait/deadlock/fast/%s", deadlocks[i].name);
		g_autofree char *slow = g_strdup_printf(
			"/wait/deadlock/slow/%s", deadlocks[i].name);

		g_test_add_data_func(fast, &deadlocks[i], test_deadlock_fast);
		g_test_add_data_func(slow, &deadlocks[i], test_deadlock_slow);
	}
	return g_test_run();
}
