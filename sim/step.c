/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/step.h"

#include "sim/memory_internal.h"

/* Access @i is a hit in @way. */
static void found(const struct cpu *c, struct cpu_step *st, int i,
		  struct l1_way *way)
{
	st->way[i] = way;
	st->missing &= ~(1 << i);
	c->l1->watched[way - c->l1->ways] = 1;
}

/* Notes where access @i would hit now, or that it would not. */
static void look(const struct cpu *c, struct cpu_step *st, int i)
{
	struct l1_way *way = st->way[i];

	if ((way->tag | st->ignore[i]) != st->want[i])
		way = cpu_l1_look(c, st->want[i], !st->ignore[i]);
	if (way)
		found(c, st, i, way);
	else
		st->missing |= 1 << i;
}

/* The same after it was made: the line is there, though its hint may be another
 * line's by now. */
static void look_well(const struct cpu *c, struct cpu_step *st, int i)
{
	const struct cpu_private *p = (const struct cpu_private *)c;
	struct l1_way *way = l1_find(c->machine->memory->caches, p->core,
				     st->want[i] / SIM_LINE);

	if (way && (way->tag | st->ignore[i]) == st->want[i])
		found(c, st, i, way);
}

static void walk(struct cpu *c, struct cpu_step *st)
{
	cpu_enter(c, st->path->frame);
	cpu_exec(c, st->insns);
	for (int i = 0; i < st->nr; i++) {
		if (st->ignore[i])
			cpu_read(c, st->want[i]);
		else
			cpu_write(c, st->want[i]);
	}
	cpu_leave(c);
}

void __step_look_and_do(struct cpu *c, struct cpu_step *st)
{
	if (st->changes != c->l1->changes) {
		st->changes = c->l1->changes;
		for (int i = 0; i < st->nr; i++)
			look(c, st, i);
	}
	if (cpu_is_quiet(c) && !st->missing) {
		__step_do_at_once(c, st);
		return;
	}
	walk(c, st);
	for (unsigned which = st->missing; which; which &= which - 1)
		look_well(c, st, __builtin_ctz(which));
}

void step_call(struct cpu *c, struct cpu_step *st, int frame, unsigned insns)
{
	st->path = cpu_child(c, frame);
	st->insns = insns;
	st->nr = 0;
	st->missing = 0;
}

void step_move(const struct cpu *c, struct cpu_step *st, int i, sim_addr a)
{
	g_assert(i >= 0 && i < st->nr);
	st->want[i] = (a & ~(sim_addr)(SIM_LINE - 1)) | c->l1_thread;
	look(c, st, i);
}

static void step_access(const struct cpu *c, struct cpu_step *st, sim_addr a,
			uint8_t ignore)
{
	g_assert(st->nr < STEP_ACCESSES);
	st->way[st->nr] = c->l1->ways; /* anyone: its tag will be looked at */
	st->ignore[st->nr] = ignore;
	st->nr++;
	step_move(c, st, st->nr - 1, a);
}

void step_read(const struct cpu *c, struct cpu_step *st, sim_addr a)
{
	step_access(c, st, a, L1_WRITABLE);
}

void step_write(const struct cpu *c, struct cpu_step *st, sim_addr a)
{
	step_access(c, st, a, 0);
}
