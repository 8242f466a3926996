/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reference: every meeting is a sleep until its date in SimGrid's own time,
 * every equal date a yield, as a plain discrete-event simulation would do it;
 * no shortcut (MACHINE_EXACT_SLOW). Also the price of such a sleep.
 */
#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include <time.h>

#include "sim/engine.h"

static void wait_for_turn(struct engine *e, struct cpu_private *p)
{
	for (;;) {
		if (p->state == RUN_BLOCKED) {
			e->events++;
			sg_actor_suspend(p->actor);
		} else if (simgrid_get_clock() < (double)p->wake_at) {
			e->events++;
			sg_actor_sleep_until((double)p->wake_at);
		} else if (e->current >= 0 ||
			   tree_first(&e->ready) != key_of(p, p->wake_at)) {
			e->events++;
			sg_actor_yield();
		} else {
			break;
		}
	}
	tree_set(&e->ready, p->cpu.id, NEVER);
	e->current = p->cpu.id;
	e->turns++;
}

void slow_hand_over(struct engine *e, struct cpu_private *p)
{
	e->current = -1;
	wait_for_turn(e, p);
}

void slow_wake(struct engine *e, struct cpu_private *p)
{
	e->events++;
	sg_actor_resume(p->actor);
}

static void run_program(int argc, char **argv)
{
	struct cpu_private *p = sg_actor_self_get_data();
	struct engine *e = p->cpu.machine->engine;

	wait_for_turn(e, p);
	p->program(&p->cpu, p->arg);
	p->state = RUN_DONE;
	e->alive--;
	if (tree_first(&e->ready) == NEVER && e->alive)
		engine_deadlock(e);
	e->current = -1;
	if (e->alive)
		return;
	/* the last one: SimGrid's time ends where ours does */
	e->events++;
	sg_actor_sleep_until((double)machine_now(e->machine));
}

void slow_start(struct engine *e)
{
	const struct machine *m = e->machine;
	char *args[] = { NULL };

	for (int i = 0; i < m->topology->nr_cpu_ids; i++) {
		struct cpu_private *p = m->cpus[i];
		g_autofree char *name = NULL;

		if (!p || !p->program)
			continue;
		name = g_strdup_printf("cpu-%d", i);
		p->actor = sg_actor_init(name, platform_host(m, i));
		sg_actor_set_data(p->actor, p);
		sg_actor_start(p->actor, run_program, 0, args);
	}
}

/* ---- the price of a sleep ---- */

/* Dates that coincide as seldom as those at which CPUs meet: SimGrid wakes all
 * of one date in one go, which is cheaper than one by one. */
static void sleeper_main(int argc, char **argv)
{
	uint64_t *rounds = sg_actor_self_get_data();
	uint64_t pid = sg_actor_self_get_pid();

	for (uint64_t i = 0; i < *rounds; i++)
		sg_actor_sleep_for((double)(400 + (i * 1009 + pid * 797) %
							  1201));
}

double machine_measure_sleep(struct machine *m)
{
	uint64_t rounds;
	struct timespec a, b;
	int actors = 0;

	for (int i = 0; i < m->topology->nr_cpu_ids; i++)
		actors += m->cpus[i] && m->cpus[i]->program;
	g_assert(m->timed && actors && !m->engine->running);
	rounds = MAX(1, 50000 / actors);
	for (int i = 0; i < m->topology->nr_cpu_ids; i++) {
		char *args[] = { NULL };
		sg_actor_t actor;

		if (!m->cpus[i] || !m->cpus[i]->program)
			continue;
		actor = sg_actor_init("sleeper", platform_host(m, i));
		sg_actor_set_data(actor, &rounds);
		sg_actor_start(actor, sleeper_main, 0, args);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	simgrid_run();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	return ((double)(b.tv_sec - a.tv_sec) * 1e9 +
		(double)(b.tv_nsec - a.tv_nsec)) /
	       (double)(rounds * actors);
}
