/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations and frees that nobody else can notice, each in one step.
 *
 * Most operations of a kernel with sheaves touch lines that are all in this
 * CPU's L1. What slub.c and sheaf.c do for them one after the other is done at
 * once here (sim/step.h); where anything is otherwise nothing is done at all
 * and they go through it. --exact-slow never comes here.
 */
#include "model/cache.h"

/* What is seldom done stays out of the way of the rest. */
#define SELDOM __attribute__((noinline, cold))

/* The steps' accesses, in order. */
enum { ALLOC_CACHE, ALLOC_PCS, ALLOC_SIZE, ALLOC_SLOT, ALLOC_NEW_SIZE };
enum {
	FREE_CACHE, FREE_SLAB, FREE_PCS, FREE_SIZE, FREE_SLOT, FREE_NEW_SIZE
};

static void tell_stat(struct cpu *c, const struct kmem_cache *s,
		      struct kmem_cache_cpu *pcs, struct private_step *p,
		      enum slub_stat stat)
{
	p->stat = &pcs->stat[stat];
	if (s->f->slub_stats)
		step_write(c, &p->step, pcs->stat_line + 4 * stat);
}

/* ---- allocation ---- */

static SELDOM void tell_alloc(struct cpu *c, struct kmem_cache *s,
		       struct kmem_cache_cpu *pcs, sim_addr slot)
{
	struct private_step *p = &pcs->alloc;

	p->main = pcs->main->addr;
	p->slot_line = slot / SIM_LINE;
	step_call(c, &p->step, s->slub->frame[FR_kmem_cache_alloc],
		  s->cost->alloc_fast);
	step_read(c, &p->step, s->line);
	step_write(c, &p->step, pcs->pcs_line);
	step_read(c, &p->step, p->main + SHEAF_SIZE);
	step_read(c, &p->step, slot);
	step_write(c, &p->step, p->main + SHEAF_SIZE);
	tell_stat(c, s, pcs, p,
		  s->f->cpu_slabs ? stat_alloc_cpu_sheaf : stat_alloc_fastpath);
}

/* Main is another sheaf, or the slot is in another line. */
static SELDOM void move_alloc(struct cpu *c, struct private_step *p,
		       sim_addr main, sim_addr slot)
{
	if (main != p->main) {
		step_move(c, &p->step, ALLOC_SIZE, main + SHEAF_SIZE);
		step_move(c, &p->step, ALLOC_NEW_SIZE, main + SHEAF_SIZE);
	}
	step_move(c, &p->step, ALLOC_SLOT, slot);
	p->main = main;
	p->slot_line = slot / SIM_LINE;
}

sim_addr alloc_private(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct private_step *p = &pcs->alloc;
	struct slab_sheaf *main = pcs->main;
	sim_addr slot = sheaf_slot(main, main->size - 1);

	if (!main->size || !cpu_may_step(c))
		return 0;
	if (!step_is_here(c, &p->step))
		tell_alloc(c, s, pcs, slot);
	else if (slot / SIM_LINE != p->slot_line || main->addr != p->main)
		move_alloc(c, p, main->addr, slot);
	step_do(c, &p->step);
	++*p->stat;
	s->allocs++;
	return main->objects[--main->size];
}

/* ---- free ---- */

static SELDOM void tell_free(struct cpu *c, struct kmem_cache *s,
		      struct kmem_cache_cpu *pcs, sim_addr slab_line,
		      sim_addr slot)
{
	struct private_step *p = &pcs->free;

	p->main = pcs->main->addr;
	p->slot_line = slot / SIM_LINE;
	p->slab = slab_line;
	step_call(c, &p->step, s->slub->frame[FR_kmem_cache_free],
		  s->cost->free_fast);
	step_read(c, &p->step, s->line);
	step_read(c, &p->step, slab_line);
	step_write(c, &p->step, pcs->pcs_line);
	step_read(c, &p->step, p->main + SHEAF_SIZE);
	step_write(c, &p->step, slot);
	step_write(c, &p->step, p->main + SHEAF_SIZE);
	tell_stat(c, s, pcs, p,
		  s->f->cpu_slabs ? stat_free_cpu_sheaf : stat_free_fastpath);
}

/* Main, the slot's line or the object's slab is another. */
static SELDOM void move_free(struct cpu *c, struct private_step *p,
		      sim_addr main, sim_addr slab_line, sim_addr slot)
{
	if (main != p->main) {
		step_move(c, &p->step, FREE_SIZE, main + SHEAF_SIZE);
		step_move(c, &p->step, FREE_NEW_SIZE, main + SHEAF_SIZE);
	}
	step_move(c, &p->step, FREE_SLOT, slot);
	step_move(c, &p->step, FREE_SLAB, slab_line);
	p->main = main;
	p->slot_line = slot / SIM_LINE;
	p->slab = slab_line;
}

bool free_private(struct cpu *c, struct kmem_cache *s, sim_addr slab_line,
		  sim_addr obj)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct private_step *p = &pcs->free;
	struct slab_sheaf *main = pcs->main;
	sim_addr slot = sheaf_slot(main, main->size);

	if (main->size == main->capacity || !cpu_may_step(c) ||
	    !can_free_to_pcs(c, s, sim_addr_node(obj)))
		return false;
	if (!step_is_here(c, &p->step))
		tell_free(c, s, pcs, slab_line, slot);
	else if (slot / SIM_LINE != p->slot_line || slab_line != p->slab ||
		 main->addr != p->main)
		move_free(c, p, main->addr, slab_line, slot);
	step_do(c, &p->step);
	++*p->stat;
	s->frees++;
	main->objects[main->size++] = obj;
	return true;
}
