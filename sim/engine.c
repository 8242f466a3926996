/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who runs when.
 *
 * Exactly one CPU simulates at any moment. It gives way to others when it meets
 * them while one of them is behind, when it waits, and when its program ends;
 * the next is always the earliest CPU that can act, by (date, CPU id). So
 * everything that happens after a meeting happens in the order of the dates at
 * which CPUs met, over the whole machine: caches and memory controllers are
 * shared by CPUs that share nothing else, and they too must see one order.
 *
 * A CPU that meets before all others simply goes on. How the others get their
 * turn is engine_fast.c's or, for comparison, engine_slow.c's business.
 */
#include <simgrid/engine.h>

#include <string.h>

#include "sim/engine.h"

G_STATIC_ASSERT(TOPOLOGY_MAX_CPUS <= 1 << ID_BITS);
G_STATIC_ASSERT(MACHINE_MAX_DATE - 1 <= NEVER >> ID_BITS);

static void tree_init(struct tree *t, int nr)
{
	t->leaves = 2;
	while (t->leaves < nr)
		t->leaves *= 2;
	t->keys = g_new(uint64_t, 2 * t->leaves);
	for (int i = 0; i < 2 * t->leaves; i++)
		t->keys[i] = NEVER;
}

struct engine *engine_new(struct machine *m)
{
	struct engine *e = g_new0(struct engine, 1);

	e->machine = m;
	e->current = -1;
	tree_init(&e->ready, m->topology->nr_cpu_ids);
	return e;
}

void engine_free(struct engine *e)
{
	g_free(e->ready.keys);
	g_free(e);
}

uint64_t engine_events(const struct engine *e)
{
	return e->events;
}

uint64_t engine_turns(const struct engine *e)
{
	return e->turns;
}

void engine_deadlock(struct engine *e)
{
	g_autoptr(GString) who = g_string_new(NULL);

	for (int i = 0; i < e->machine->topology->nr_cpu_ids; i++) {
		const struct cpu_private *p = e->machine->cpus[i];

		if (p && p->state == RUN_BLOCKED)
			g_string_append_printf(who, "%sCPU %d (%s)",
					       who->len ? ", " : "", i,
					       p->blocked_on);
	}
	g_error("deadlock at cycle %" G_GUINT64_FORMAT ": %s wait for each "
		"other", machine_now(e->machine), who->str);
}

static void hand_over(struct engine *e, struct cpu_private *p)
{
	if (tree_first(&e->ready) == NEVER)
		engine_deadlock(e);
	if (e->machine->slow)
		slow_hand_over(e, p);
	else
		fast_hand_over(e, p);
}

void engine_pass(struct cpu_private *p)
{
	struct engine *e = p->cpu.machine->engine;

	if (!e->running)
		return; /* before the first program all is in one flow */
	/* what is done in another CPU's name must not meet anybody */
	g_assert(e->current == p->cpu.id);
	if (!e->machine->slow &&
	    key_of(p, p->cpu.now) < tree_first(&e->ready))
		return;
	p->wake_at = p->cpu.now;
	tree_set(&e->ready, p->cpu.id, key_of(p, p->cpu.now));
	hand_over(e, p);
}

void __cpu_meet(struct cpu *c, struct domain *d)
{
	struct cpu_private *p = priv(c);

	p->meets++;
	if (d->only == c->id)
		return; /* nobody to meet */
	engine_pass(p);
}

void engine_block(struct cpu_private *p, const char *on, enum cause cause)
{
	struct engine *e = p->cpu.machine->engine;

	g_assert(e->running && e->current == p->cpu.id);
	p->state = RUN_BLOCKED;
	p->blocked_on = on;
	hand_over(e, p);
	g_assert(p->wake_at >= p->cpu.now);
	if (p->trace && cause == CAUSE_IDLE)
		trace_span(p, TRACE_IDLE, on, 0, p->cpu.now, p->wake_at);
	charge(p, cause, p->wake_at - p->cpu.now);
}

void engine_wake(struct cpu_private *p, uint64_t at)
{
	struct engine *e = p->cpu.machine->engine;

	g_assert(p->state == RUN_BLOCKED);
	p->state = RUN_READY;
	p->wake_at = MAX(at, p->cpu.now);
	tree_set(&e->ready, p->cpu.id, key_of(p, p->wake_at));
	if (e->machine->slow)
		slow_wake(e, p);
}

void cpu_wait(struct cpu *c)
{
	struct cpu_private *p = priv(c);

	g_assert(c->timed);
	if (p->wake_pending) {
		p->wake_pending = false;
		if (p->pending_at > c->now)
			charge(p, CAUSE_IDLE, p->pending_at - c->now);
		return;
	}
	p->waiting = true;
	engine_block(p, "cpu_wait", CAUSE_IDLE);
}

void cpu_wake(struct cpu *waker, struct cpu *sleeper, uint64_t at)
{
	struct cpu_private *p = priv(sleeper);

	g_assert(at >= waker->now);
	if (p->waiting) {
		p->waiting = false;
		engine_wake(p, at);
	} else if (p->state != RUN_DONE) {
		/* it will find this one before it sleeps; the earliest wins */
		if (!p->wake_pending || at < p->pending_at)
			p->pending_at = at;
		p->wake_pending = true;
	}
}

void engine_run(struct machine *m)
{
	struct engine *e = m->engine;

	g_assert(!e->clock && !e->events && !e->running);
	for (int i = 0; i < m->topology->nr_cpu_ids; i++) {
		struct cpu_private *p = m->cpus[i];

		if (!p || !p->program)
			continue;
		p->state = RUN_READY;
		p->wake_at = p->cpu.now;
		tree_set(&e->ready, i, key_of(p, p->cpu.now));
		e->alive++;
	}
	if (!e->alive)
		return;
	e->running = true;
	if (m->slow)
		slow_start(e);
	else
		fast_start(e);
	simgrid_run();
	e->running = false;
	g_assert(!e->alive);
	if (!m->slow)
		fast_end(e);
	g_assert((uint64_t)simgrid_get_clock() == machine_now(m));
}
