/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler: a closed formula on one CPU, and no task forgotten or run
 * twice at a time on four. Each test has a process of its own (one timed
 * machine per process): test_sched one|four.
 */
#include <string.h>

#include "workloads/sched.h"

#define ROUNDS 1000
#define TASKS 40

struct player {
	struct task task;
	struct player *other;
	struct task_list wait; /* where this one waits for the ball */
	bool ball, running;
	int left;
	struct domain *everyone;
};

/* Waits for the ball, works a while, passes it on. */
static enum step_result play(struct cpu *c, struct task *t)
{
	struct player *p = (struct player *)t;
	struct task *woken;

	g_assert_false(p->running);
	g_assert_cmpint(t->cpu, ==, c->id);
	p->running = true;
	cpu_meet(c, p->everyone);
	if (!p->ball) {
		sched_wait_on(&p->wait, t);
		p->running = false;
		return STEP_WAITS;
	}
	cpu_outside(c, 100);
	cpu_meet(c, p->everyone);
	p->ball = false;
	p->other->ball = true;
	p->running = false;
	woken = task_list_take(&p->other->wait);
	if (woken)
		sched_wake(c, woken);
	return --p->left ? STEP_AGAIN : STEP_ENDS;
}

static const struct machine_params params = {
	.freq_ghz = 1, .ipc = 1, .l1_kib = 32, .l1_ways = 8, .l2_kib = 256,
	.l2_ways = 8, .l3_kib = 8192, .l3_ways = 16,
	.l2_cycles = 1, .l3_cycles = 1, .dram_local_ns = 1,
	.dram_remote_ns = 1, .remote_distance = 20, .mem_bw_gbs = 1000,
	.miss_buffers = 10, .store_buffer = 56, .copy_bytes_per_cycle = 32,
	.context_switch_us = 2, .ipi_us = 3
};
static const struct sched_params sp = { .slice_ms = 3, .wakeup_us = 1, .newidle_us = 0 };

static struct topology *cpus(int n)
{
	struct topology *t = topology_new("test", n, 1);

	t->nodes[0].online = true;
	t->nodes[0].memory_bytes = 1 << 30;
	for (int i = 0; i < n; i++)
		t->cpus[i].online = true;
	topology_finish(t);
	return t;
}

static struct sched *start(struct machine *m, struct player *p, int n)
{
	struct sched *s = sched_new(m, &sp);

	for (int i = 0; i < n; i++) {
		p[i].task.step = play;
		p[i].task.cpu = i % machine_topology(m)->nr_cpu_ids;
		p[i].other = &p[i ^ 1];
		p[i].ball = !(i & 1);
		p[i].left = ROUNDS;
		p[i].everyone = machine_everyone(m);
		sched_add(s, &p[i].task);
	}
	return s;
}

/* Each pass of the ball: 100 cycles of work, a wake-up, a switch. The first
 * pass wakes nobody: the other one waits in the queue already. */
static void test_one(void)
{
	struct topology *t = cpus(1);
	struct machine *m = machine_new(t, &params, MACHINE_UNIFORM, 1);
	struct player p[2] = { 0 };
	struct sched *s = start(m, p, 2);
	struct sched_stats st;

	sched_run(s, NULL, NULL);
	st = sched_stats(s);
	g_assert_cmpuint(st.idle_wakeups, ==, 0);
	g_assert_cmpuint(machine_now(m), ==,
			 2 * ROUNDS * 100 + st.wakeups * 1000 +
				 st.switches * 2000);
	g_assert_cmpuint(st.wakeups, >=, 2 * ROUNDS - 3);
	g_assert_cmpuint(st.switches, >=, st.wakeups);
	sched_free(s);
	machine_free(m);
	topology_free(t);
}

static void test_four(void)
{
	struct topology *t = cpus(4);
	struct machine *m = machine_new(t, &params, MACHINE_UNIFORM, 1);
	struct player p[TASKS] = { 0 };
	struct sched *s = start(m, p, TASKS);
	struct sched_stats st;

	sched_run(s, NULL, NULL);
	st = sched_stats(s);
	for (int i = 0; i < TASKS; i++)
		g_assert_cmpint(p[i].left, ==, 0);
	/* Twenty balls, four CPUs: none is idle for long, so the time is
	 * near the work divided by four. */
	g_assert_cmpuint(machine_now(m), <,
			 1.1 * (TASKS * ROUNDS * 100.0 + st.wakeups * 1000.0 +
				st.switches * 2000.0) / 4);
	sched_free(s);
	machine_free(m);
	topology_free(t);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (argc > 1 && !strcmp(argv[1], "one"))
		g_test_add_func("/sched/one", test_one);
	else
		g_test_add_func("/sched/four", test_four);
	return g_test_run();
}
