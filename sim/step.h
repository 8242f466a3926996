/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step that a CPU does over and over: a function called, some instructions in
 * it, accesses to a few lines, the same or nearly so each time. It is told once,
 * in the program's order,
 *
 *	step_call(c, st, frame, insns);
 *	step_read(c, st, a);
 *	step_write(c, st, b);
 *
 * and then done again and again by step_do(). As long as all accesses are hits
 * in L1 and nothing is under way in the CPU's memory system, nothing can come of
 * it but the instructions' time and the order in which L1's lines were used: it
 * is done at once. The ways of its lines are watched, so that until one of their
 * tags changes, one comparison tells. Otherwise it goes access by access. Either
 * gives what the single calls would give, bit for bit.
 *
 * Only for CPUs that cpu_may_step(): where each access is looked at, none may be
 * left out.
 */
#ifndef SIM_STEP_H
#define SIM_STEP_H

#include "sim/machine.h"

#define STEP_ACCESSES 8

/* All zero before its first use; belongs to one CPU. */
struct cpu_step {
	uint64_t changes;  /* of L1 when its lines were last looked for */
	struct path *path; /* of the function, as last called; NULL: untold */
	unsigned insns;
	uint16_t nr, missing; /* accesses; bit i: number i is no hit */
	struct l1_way *way[STEP_ACCESSES]; /* where its lines were */
	uint64_t want[STEP_ACCESSES];	   /* tags that make these hits */
	uint8_t ignore[STEP_ACCESSES];	   /* bits of them that don't matter */
};

void step_call(struct cpu *c, struct cpu_step *st, int frame, unsigned insns);
void step_read(const struct cpu *c, struct cpu_step *st, sim_addr a);
void step_write(const struct cpu *c, struct cpu_step *st, sim_addr a);
/* Access number @i, which stays a read or a write, goes to @a from now on. */
void step_move(const struct cpu *c, struct cpu_step *st, int i, sim_addr a);

static inline bool step_is_told(const struct cpu_step *st)
{
	return st->path;
}

__attribute__((noinline)) void __step_look_and_do(struct cpu *c,
						  struct cpu_step *st);

static inline void __step_do_at_once(struct cpu *c, const struct cpu_step *st)
{
	uint64_t sum = c->frac + st->insns * c->insn_frac;
	struct l1_way *const *way = st->way, *const *end = way + st->nr;
	uint64_t tick = c->l1->tick;

	for (; way != end; way++)
		(*way)->stamp = ++tick;
	c->l1->tick = tick;
	c->instructions += st->insns;
	c->steps++;
	c->frac = sum & (((uint64_t)1 << CYCLE_FRAC_BITS) - 1);
	c->now += sum >> CYCLE_FRAC_BITS;
	st->path->cycles[CAUSE_INSN] += sum >> CYCLE_FRAC_BITS;
}

/* Does it, called from wherever @c is. */
static inline void step_do(struct cpu *c, struct cpu_step *st)
{
	if (st->path->parent != c->path)
		st->path = cpu_child(c, st->path->frame);
	if (cpu_is_quiet(c) && st->changes == c->l1->changes && !st->missing)
		__step_do_at_once(c, st);
	else
		__step_look_and_do(c, st);
}

#endif
