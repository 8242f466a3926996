/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmem_cache_alloc() and kmem_cache_free(): one object.
 *
 * Both are written twice. _in_full() goes the kernel's way through whatever
 * front end it has, and is all that --exact-slow knows. Most operations of a
 * kernel with sheaves touch nothing but the CPU's own main sheaf, always the same
 * accesses in the same order: those are _private(), one step of the CPU
 * (sim/step.h), which nobody else can tell from the other way.
 */
#include "model/cache.h"

/* What is seldom done stays out of the way of the rest. */
#define SELDOM __attribute__((noinline))

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

/* What it does with a main sheaf that isn't empty, alloc_private() repeats: each
 * access here, in alloc_from_pcs() and in touch_main(), in this order. */
static SELDOM sim_addr alloc_in_full(struct cpu *c, struct kmem_cache *s,
				      unsigned gfp, int node)
{
	sim_addr obj = 0;

	enter(s, c, FR_kmem_cache_alloc);
	cpu_exec(c, s->cost->alloc_fast);
	cpu_read(c, s->line);
	if (cache_has_sheaves(s))
		obj = alloc_from_pcs(c, s, gfp, node);
	if (!obj)
		obj = s->f->cpu_slabs ? cpu_slab_alloc(c, s, gfp, node)
				      : slab_alloc_slow(c, s, gfp, node);
	if (obj) {
		s->allocs++;
		if (gfp & GFP_ZEROED)
			cpu_copy(c, obj, 0, s->g.object_size);
	}
	cpu_leave(c);
	return obj;
}

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
	if (slot / SIM_LINE != p->slot_line)
		step_move(c, &p->step, ALLOC_SLOT, slot);
	p->main = main;
	p->slot_line = slot / SIM_LINE;
}

static sim_addr alloc_private(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct private_step *p = &pcs->alloc;
	struct slab_sheaf *main = pcs->main;
	sim_addr slot = sheaf_slot(main, main->size - 1);

	if (!main->size || !cpu_may_step(c))
		return 0;
	if (!step_is_told(&p->step))
		tell_alloc(c, s, pcs, slot);
	else if (slot / SIM_LINE != p->slot_line || main->addr != p->main)
		move_alloc(c, p, main->addr, slot);
	step_do(c, &p->step);
	++*p->stat;
	s->allocs++;
	return main->objects[--main->size];
}

sim_addr kmem_cache_alloc_node(struct cpu *c, struct kmem_cache *s,
			       unsigned gfp, int node)
{
	sim_addr obj = 0;

	if (cache_has_sheaves(s) && node == NO_NODE && !(gfp & GFP_ZEROED))
		obj = alloc_private(c, s);
	return obj ? obj : alloc_in_full(c, s, gfp, node);
}

sim_addr kmem_cache_alloc(struct cpu *c, struct kmem_cache *s, unsigned gfp)
{
	return kmem_cache_alloc_node(c, s, gfp, NO_NODE);
}

/* ---- free ---- */

/* The same of free_private(), free_to_pcs() and a main that isn't full. */
static SELDOM void free_in_full(struct cpu *c, struct kmem_cache *s,
				 struct slab *slab, sim_addr obj)
{
	enter(s, c, FR_kmem_cache_free);
	cpu_exec(c, s->cost->free_fast);
	cpu_read(c, s->line);
	cpu_read(c, slab->line);
	s->frees++;
	if (!cache_has_sheaves(s) || !can_free_to_pcs(c, s, slab->node) ||
	    !free_to_pcs(c, s, obj)) {
		slab_free_one(c, s, obj);
		if (!s->f->cpu_slabs)
			stat(s, c, stat_free_slowpath);
	}
	cpu_leave(c);
}

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
	if (slot / SIM_LINE != p->slot_line)
		step_move(c, &p->step, FREE_SLOT, slot);
	if (slab_line != p->slab)
		step_move(c, &p->step, FREE_SLAB, slab_line);
	p->main = main;
	p->slot_line = slot / SIM_LINE;
	p->slab = slab_line;
}

static bool free_private(struct cpu *c, struct kmem_cache *s,
			 sim_addr slab_line, sim_addr obj)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct private_step *p = &pcs->free;
	struct slab_sheaf *main = pcs->main;
	sim_addr slot = sheaf_slot(main, main->size);

	if (main->size == main->capacity || !cpu_may_step(c) ||
	    !can_free_to_pcs(c, s, sim_addr_node(obj)))
		return false;
	if (!step_is_told(&p->step))
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

void kmem_cache_free(struct cpu *c, struct kmem_cache *s, sim_addr obj)
{
	const struct page_owner *of = page_owner(s->slub->pages, obj);

	g_assert(of->slab && of->cache == s);
	if (!cache_has_sheaves(s) || !free_private(c, s, of->line, obj))
		free_in_full(c, s, of->slab, obj);
}
