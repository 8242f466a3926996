/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step that a CPU does over and over: a function called, some instructions in
 * it, accesses to a few lines. As long as all of those are hits in L1 and
 * nothing is under way in the CPU's memory system, nothing can come of it but
 * the instructions' time and the order in which L1's lines were used. So it is
 * told once, access by access in the program's order,
 *
 *	step_call(c, st, frame, insns);
 *	step_read(c, st, a);
 *	step_write(c, st, b);
 *
 * and done at once, again and again: if (step_holds(c, st)) step_do(c, st). That
 * gives what the single calls would give, bit for bit. While no tag of the
 * core's L1 has changed, to hold is one comparison.
 *
 * MACHINE_EXACT_SLOW, traces, line statistics and uniform machines are never
 * quiet, so no step ever holds there.
 */
#ifndef SIM_STEP_H
#define SIM_STEP_H

#include "sim/machine.h"

#define STEP_ACCESSES 8

/* All zero before its first use; belongs to one CPU. */
struct cpu_step {
	uint64_t changes;  /* of L1 when it was last seen to hold */
	struct path *path; /* of the function */
	unsigned insns;
	int nr;
	struct l1_way *way[STEP_ACCESSES]; /* where its lines were */
	uint64_t want[STEP_ACCESSES];	   /* tags that make these hits */
	uint8_t ignore[STEP_ACCESSES];	   /* bits of them that don't matter */
};

void step_call(struct cpu *c, struct cpu_step *st, int frame, unsigned insns);
void step_read(const struct cpu *c, struct cpu_step *st, sim_addr a);
void step_write(const struct cpu *c, struct cpu_step *st, sim_addr a);
/* Access number @i, which stays a read or a write, goes to @a from now on. */
void step_move(const struct cpu *c, struct cpu_step *st, int i, sim_addr a);

/* Whether it was told for the place where @c is now. */
static inline bool step_is_here(const struct cpu *c, const struct cpu_step *st)
{
	return st->path && st->path->parent == c->path;
}

__attribute__((noinline)) bool __step_look(const struct cpu *c,
					   struct cpu_step *st);

static inline bool step_holds(const struct cpu *c, struct cpu_step *st)
{
	return cpu_is_quiet(c) &&
	       (st->changes == c->l1->changes || __step_look(c, st));
}

/* Does it. It must hold. */
static inline void step_do(struct cpu *c, const struct cpu_step *st)
{
	uint64_t sum = c->frac + st->insns * c->insn_frac;
	struct l1_way *const *way = st->way, *const *end = way + st->nr;
	uint64_t tick = c->l1->tick;

	for (; way != end; way++)
		(*way)->stamp = ++tick;
	c->l1->tick = tick;
	c->instructions += st->insns;
	c->frac = sum & (((uint64_t)1 << CYCLE_FRAC_BITS) - 1);
	c->now += sum >> CYCLE_FRAC_BITS;
	st->path->cycles[CAUSE_INSN] += sum >> CYCLE_FRAC_BITS;
}

#endif
