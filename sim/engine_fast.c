/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-overs that SimGrid needn't know of.
 *
 * CPUs that can meet are advanced together: as fibers of one SimGrid actor. A
 * CPU that gives way switches straight to the next in the order; whatever their
 * number, that is no engine event. SimGrid's clock follows in steps of
 * CLOCK_STEP: it never passes a CPU that can still act, lags the earliest one
 * by a step at most when one gives way, and ends at the last CPU's date.
 */
#include <simgrid/actor.h>

#include "sim/engine.h"
#include "sim/fiber.h"

#define CLOCK_STEP ((uint64_t)1 << 20)

/* Where on a page a CPU's stack begins: see fiber.h. */
#define STACK_COLOURS 61

/* Whether all may go on without SimGrid. */
static bool is_near(const struct engine *e, uint64_t date)
{
	return date < e->clock + CLOCK_STEP;
}

static void switch_to(struct engine *e, struct fiber *from, uint64_t next)
{
	tree_set(&e->ready, id_of(next), NEVER);
	e->turns++;
	e->current = id_of(next);
	fiber_switch(from, &e->fibers[id_of(next)]);
}

void fast_hand_over(struct engine *e, struct cpu_private *p)
{
	uint64_t next = tree_first(&e->ready);
	struct fiber *self = &e->fibers[p->cpu.id];

	if (likely(is_near(e, date_of(next))))
		switch_to(e, self, next);
	else
		fiber_switch(self, e->root);
}

static void run_program(void *arg)
{
	struct cpu_private *p = arg;
	struct engine *e = p->cpu.machine->engine;

	p->program(&p->cpu, p->arg);
	p->state = RUN_DONE;
	e->alive--;
	fiber_switch(&e->fibers[p->cpu.id], e->root);
}

static void move_clock(struct engine *e, uint64_t date)
{
	e->events++;
	sg_actor_sleep_until((double)date);
	e->clock = date;
}

/* The actor: moves SimGrid's clock and lets the CPUs run in between. */
static void advance_all(int argc, char **argv)
{
	struct engine *e = sg_actor_self_get_data();
	struct fiber root = { 0 };

	e->root = &root;
	while (e->alive) {
		uint64_t next = tree_first(&e->ready);

		if (next == NEVER)
			engine_deadlock(e);
		if (!is_near(e, date_of(next)))
			move_clock(e, date_of(next));
		switch_to(e, &root, next);
	}
	move_clock(e, machine_now(e->machine));
	e->root = NULL;
}

void fast_start(struct engine *e)
{
	const struct machine *m = e->machine;
	int nr = m->topology->nr_cpu_ids;
	char *args[] = { NULL };
	sg_actor_t actor;

	e->fibers = g_new0(struct fiber, nr);
	for (int i = 0; i < nr; i++)
		if (m->cpus[i] && m->cpus[i]->program)
			fiber_init(&e->fibers[i], run_program, m->cpus[i],
				   1 + i % STACK_COLOURS);
	actor = sg_actor_init("cpus", platform_host(m, id_of(tree_first(&e->ready))));
	sg_actor_set_data(actor, e);
	sg_actor_start(actor, advance_all, 0, args);
}

void fast_end(struct engine *e)
{
	for (int i = 0; i < e->machine->topology->nr_cpu_ids; i++)
		fiber_fini(&e->fibers[i]);
	g_free(e->fibers);
	e->fibers = NULL;
}
