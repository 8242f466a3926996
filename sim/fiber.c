/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/fiber.h"

#include <glib.h>
#include <sys/mman.h>

#include "sim/machine.h"

/* Boost.Context's functions have C linkage, but their header is C++: this is
 * its interface since 1.61 (boost/context/detail/fcontext.hpp). */
struct transfer {
	void *context; /* of the one who jumped here */
	void *data;    /* what he passed */
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *stack_end, size_t bytes,
		    void (*fn)(struct transfer t));

/* Whoever was left for the fiber that goes on here goes on at t.context. */
static void arrive(struct transfer t)
{
	struct fiber *self = t.data;

	self->left->context = t.context;
}

static void begin(struct transfer t)
{
	struct fiber *self = t.data;

	arrive(t);
	self->fn(self->arg);
	g_assert_not_reached();
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
	to->left = from;
	arrive(jump_fcontext(to->context, to));
}

void fiber_init(struct fiber *f, void (*fn)(void *arg), void *arg,
		unsigned colour)
{
	size_t bytes = FIBER_GUARD + FIBER_STACK;
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack, FIBER_GUARD, PROT_NONE))
		g_error("no memory for a stack of %zu bytes", bytes);
	*f = (struct fiber){ .stack = stack, .fn = fn, .arg = arg };
	f->context = make_fcontext(stack + bytes - (size_t)colour * SIM_LINE,
				   FIBER_STACK - (size_t)colour * SIM_LINE,
				   begin);
}

void fiber_fini(struct fiber *f)
{
	if (f->stack)
		munmap(f->stack, FIBER_GUARD + FIBER_STACK);
	f->stack = NULL;
}
