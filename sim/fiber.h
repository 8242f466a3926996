/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows of control that take turns in one thread, by Boost.Context: a switch
 * saves the registers that a call must keep and loads another flow's, without
 * a word to SimGrid.
 *
 * A fiber has a stack of its own, and before it room that nobody may touch, more
 * than any function's locals: an overflow is a fault, not another's data.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stddef.h>

/* Bytes, multiples of the host's page; what is never touched costs nothing. */
#define FIBER_STACK (128 * 1024)
#define FIBER_GUARD (64 * 1024)

struct fiber {
	void *context; /* where it goes on */
	void *stack;   /* NULL: the flow that was there before */
	struct fiber *left; /* who switched to it last */
	void (*fn)(void *arg);
	void *arg;
};

/*
 * At the first switch to it, @f calls fn(arg) on a new stack, which must not
 * return: a fiber's last act is to switch away. The stack begins @colour cache
 * lines below its end: stacks that all begin at the same offset of a page would
 * share a few sets of the host's caches.
 */
void fiber_init(struct fiber *f, void (*fn)(void *arg), void *arg,
		unsigned colour);
/* Frees the stack. Not for the one that runs. */
void fiber_fini(struct fiber *f);

/* Goes on with @to; returns when somebody switches back to @from, which the
 * caller runs on. */
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
