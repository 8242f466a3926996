/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who runs when.
 *
 * Each CPU with a program is a SimGrid actor. Exactly one of them simulates at
 * any moment: the one with the baton. A CPU gives the baton away when it meets
 * others while one of them is behind, when it waits, and when its program ends;
 * the next is always the earliest CPU that can act, by (date, CPU id). So
 * everything that happens after a meeting happens in the order of the dates at
 * which CPUs met, over the whole machine: caches and memory controllers are
 * shared by CPUs that share nothing else, and they too must see one order.
 *
 * The dates at which the CPUs that don't have the baton are parked are the
 * leaves of a tournament tree, its root the earliest. A CPU that meets before
 * the root's date simply goes on: no engine event at all.
 *
 * Two ways to hand over, with the same order:
 *  - fast: resume the next actor, suspend oneself. SimGrid's clock follows in
 *    steps of CLOCK_STEP: it never passes a CPU that can still act, lags the
 *    earliest one by a step at most, and ends at the last CPU's date.
 *  - MACHINE_EXACT_SLOW: every meeting is a sleep until its date in SimGrid's
 *    own time, every equal date a yield, as a plain discrete-event simulation
 *    would do it; no shortcut.
 */
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include <string.h>
#include <time.h>

#include "sim/internal.h"

#define ID_BITS 12 /* TOPOLOGY_MAX_CPUS */
#define NEVER UINT64_MAX
#define CLOCK_STEP ((uint64_t)1 << 20)

G_STATIC_ASSERT(TOPOLOGY_MAX_CPUS <= 1 << ID_BITS);

/* The least of one key per CPU. */
struct tree {
	uint64_t *keys; /* [1] is the root, leaves from [leaves] on */
	int leaves;
};

struct engine {
	struct machine *machine;
	struct tree ready; /* CPUs that can act and don't have the baton */
	int baton; /* CPU id, -1 = free to take (slow mode) */
	bool running;
	uint64_t clock; /* SimGrid's, as far as we moved it */
	uint64_t events;
	int alive; /* CPUs whose program has not returned */
};

static uint64_t key_of(const struct cpu_private *p, uint64_t date)
{
	return date << ID_BITS | (uint64_t)p->cpu.id;
}

static int id_of(uint64_t key)
{
	return (int)(key & ((1 << ID_BITS) - 1));
}

static void tree_init(struct tree *t, int nr)
{
	t->leaves = 2;
	while (t->leaves < nr)
		t->leaves *= 2;
	t->keys = g_new(uint64_t, 2 * t->leaves);
	for (int i = 0; i < 2 * t->leaves; i++)
		t->keys[i] = NEVER;
}

static void tree_set(struct tree *t, int id, uint64_t key)
{
	uint64_t *keys = t->keys;
	int i = t->leaves + id;

	keys[i] = key;
	while (i > 1) {
		uint64_t least = MIN(keys[i], keys[i ^ 1]);

		i >>= 1;
		if (keys[i] == least)
			break;
		keys[i] = least;
	}
}

static uint64_t tree_first(const struct tree *t)
{
	return t->keys[1];
}

struct engine *engine_new(struct machine *m)
{
	struct engine *e = g_new0(struct engine, 1);

	e->machine = m;
	tree_init(&e->ready, m->topology->nr_cpu_ids);
	e->baton = -1;
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

/* All that could run wait for each other: a bug of the program simulated. */
static G_NORETURN void deadlock(struct engine *e)
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

/* ---- the fast way ---- */

static void give_baton(struct engine *e)
{
	uint64_t next = tree_first(&e->ready), date = next >> ID_BITS;

	if (date >= e->clock + CLOCK_STEP) {
		/* nobody else has anything to do: SimGrid moves its clock */
		e->events++;
		sg_actor_sleep_until((double)date);
		e->clock = date;
	}
	tree_set(&e->ready, id_of(next), NEVER);
	e->baton = id_of(next);
	e->events++;
	sg_actor_resume(e->machine->cpus[e->baton]->actor);
}

/* The baton may be back before we are suspended: SimGrid lets all that are
 * awake run until their next call. Then the resume went to one awake, which is
 * nothing to SimGrid, and so nothing is lost. */
static void wait_for_baton(struct engine *e, struct cpu_private *p)
{
	while (e->baton != p->cpu.id) {
		e->events++;
		sg_actor_suspend(p->actor);
	}
}

/* ---- the slow way ---- */

static void slow_wait(struct engine *e, struct cpu_private *p)
{
	for (;;) {
		if (p->state == RUN_BLOCKED) {
			e->events++;
			sg_actor_suspend(p->actor);
		} else if (simgrid_get_clock() < (double)p->wake_at) {
			e->events++;
			sg_actor_sleep_until((double)p->wake_at);
		} else if (e->baton >= 0 ||
			   tree_first(&e->ready) != key_of(p, p->wake_at)) {
			e->events++;
			sg_actor_yield();
		} else {
			break;
		}
	}
	tree_set(&e->ready, p->cpu.id, NEVER);
	e->baton = p->cpu.id;
}

/* Gives the baton away and returns when it is back: @p is parked at wake_at,
 * or blocked until somebody sets that. */
static void hand_over(struct engine *e, struct cpu_private *p)
{
	uint64_t next = tree_first(&e->ready);

	if (next == NEVER)
		deadlock(e);
	if (e->machine->slow) {
		e->baton = -1;
		slow_wait(e, p);
		return;
	}
	give_baton(e);
	wait_for_baton(e, p);
}

void engine_pass(struct cpu_private *p)
{
	struct engine *e = p->cpu.machine->engine;

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
	if (e->machine->slow) {
		e->events++;
		sg_actor_resume(p->actor);
	}
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

static void sleeper_main(int argc, char **argv)
{
	uint64_t *rounds = sg_actor_self_get_data();

	for (uint64_t i = 0; i < *rounds; i++)
		sg_actor_sleep_for((double)(1 + (i * 13 + (uintptr_t)
						 sg_actor_self_get_pid() * 7) %
							17));
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

/*
 * The stacks of all actors begin at the same offset of a page: what they touch
 * at each turn would share a few sets of the host's caches. So each begins a
 * few lines further on.
 */
#define STACK_COLOURS 61

static void actor_main(int argc, char **argv)
{
	struct cpu_private *p = sg_actor_self_get_data();
	struct engine *e = p->cpu.machine->engine;
	char *gap = g_alloca((size_t)(1 + p->cpu.id % STACK_COLOURS) *
			     SIM_LINE);

	__asm__ volatile("" : : "r"(gap) : "memory"); /* keep it */
	if (e->machine->slow)
		slow_wait(e, p);
	else
		wait_for_baton(e, p);
	p->program(&p->cpu, p->arg);
	p->state = RUN_DONE;
	e->alive--;
	if (tree_first(&e->ready) == NEVER) {
		if (e->alive)
			deadlock(e);
		/* the last one: SimGrid's time ends where ours does */
		e->events++;
		sg_actor_sleep_until((double)machine_now(e->machine));
		return;
	}
	if (e->machine->slow)
		e->baton = -1;
	else
		give_baton(e);
}

void engine_run(struct machine *m)
{
	struct engine *e = m->engine;

	g_assert(!e->clock && !e->events && !e->running);
	for (int i = 0; i < m->topology->nr_cpu_ids; i++) {
		struct cpu_private *p = m->cpus[i];
		g_autofree char *name = NULL;
		char *args[] = { NULL };

		if (!p || !p->program)
			continue;
		name = g_strdup_printf("cpu-%d", i);
		p->actor = sg_actor_init(name, platform_host(m, i));
		sg_actor_set_data(p->actor, p);
		p->state = RUN_READY;
		tree_set(&e->ready, i, key_of(p, p->cpu.now));
		p->wake_at = p->cpu.now;
		e->alive++;
		sg_actor_start(p->actor, actor_main, 0, args);
	}
	if (!e->alive)
		return;
	if (!m->slow) {
		e->baton = id_of(tree_first(&e->ready));
		tree_set(&e->ready, e->baton, NEVER);
	}
	e->running = true;
	simgrid_run();
	e->running = false;
	g_assert(!e->alive);
	g_assert((uint64_t)simgrid_get_clock() == machine_now(m));
}
