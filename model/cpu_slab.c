/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front end of kernels up to 6.19: one slab per CPU whose freelist the CPU
 * owns, and a list of partial slabs behind it.
 *
 * frozen_partial: up to 6.7 every slab that a CPU holds is frozen, so that no
 * one else puts it on a list; since then only the current cpu slab is, and
 * whoever frees into a slab on a cpu partial list finds it merely not on its
 * node's list.
 */
#include "model/cache.h"

static bool node_match(const struct slab *slab, int node)
{
	return node == NO_NODE || slab->node == node;
}

/* Pushes all objects of the chain from @head but the last on the slab's own
 * freelist, each by a cmpxchg16b; returns the last. */
static uint16_t give_back_singly(struct cpu *c, struct kmem_cache *s,
				 struct slab *slab, uint16_t head)
{
	uint16_t next;

	while (head != NO_OBJECT &&
	       (next = get_freepointer(c, slab, head)) != NO_OBJECT) {
		cpu_exec(c, s->cost->walk_object);
		for (;;) {
			uint32_t version = meet_slab(c, slab);

			set_freepointer(c, slab, head, slab->freelist);
			if (slab_cmpxchg(c, slab, version))
				break;
		}
		slab->freelist = head;
		slab->inuse--;
		head = next;
	}
	return head;
}

/*
 * A slab that no CPU uses any more gets the CPU's freelist from @head on back
 * in front of its own, and its place: discarded, on its node's list, or (full)
 * nowhere.
 */
static void deactivate_slab(struct cpu *c, struct kmem_cache *s,
			    struct slab *slab, uint16_t head)
{
	struct kmem_cache_node *n = get_node(s, slab->node);
	enum slub_stat where = stat_deactivate_to_head;
	bool lock_early = s->f->frozen_partial;
	uint16_t tail = NO_OBJECT;
	unsigned cnt = 0;
	uint32_t version;

	enter(s, c, FR_deactivate_slab);
	cpu_exec(c, s->cost->deactivate);
	meet_slab(c, slab);
	if (slab->freelist != NO_OBJECT) {
		stat(s, c, stat_deactivate_remote_frees);
		where = stat_deactivate_to_tail;
	}
	if (s->f->deactivate_by_object)
		head = give_back_singly(c, s, slab, head);
	for (uint16_t i = head; i != NO_OBJECT; cnt++) {
		cpu_exec(c, s->cost->walk_object);
		tail = i;
		i = get_freepointer(c, slab, i);
	}
	if (lock_early)
		cpu_lock(c, &n->list_lock);
	do {
		version = meet_slab(c, slab);
		if (tail != NO_OBJECT)
			set_freepointer(c, slab, tail, slab->freelist);
	} while (!slab_cmpxchg(c, slab, version));
	slab->frozen = false;
	if (tail != NO_OBJECT) {
		slab->freelist = head;
		slab->inuse -= cnt;
	}
	if (!slab->inuse && n->nr_partial >= s->g.min_partial) {
		if (lock_early)
			cpu_unlock(c, &n->list_lock);
		stat(s, c, stat_deactivate_empty);
		discard_slab(c, s, slab);
		stat(s, c, stat_free_slab);
	} else if (slab->freelist != NO_OBJECT) {
		if (!lock_early)
			cpu_lock(c, &n->list_lock);
		add_partial(c, n, slab, where == stat_deactivate_to_tail);
		cpu_unlock(c, &n->list_lock);
		stat(s, c, where);
	} else {
		if (lock_early)
			cpu_unlock(c, &n->list_lock);
		stat(s, c, stat_deactivate_full);
	}
	cpu_leave(c);
}

static void deactivate_cpu_slab(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);
	struct slab *slab = k->slab;
	uint16_t head = k->freelist;

	k->slab = NULL;
	k->freelist = NO_OBJECT;
	cpu_write(c, k->line);
	deactivate_slab(c, s, slab, head);
}

/*
 * What others have freed into the cpu slab becomes the CPU's freelist. If
 * there is nothing the slab is let go: it is full and on no list.
 */
static uint16_t get_freelist(struct cpu *c, struct kmem_cache *s,
			     struct slab *slab)
{
	uint32_t version;
	uint16_t head;

	cpu_exec(c, s->cost->get_freelist);
	do {
		version = meet_slab(c, slab);
		head = slab->freelist;
	} while (!slab_cmpxchg(c, slab, version));
	slab->freelist = NO_OBJECT;
	slab->inuse = slab->objects;
	slab->frozen = head != NO_OBJECT;
	return head;
}

/* ---- cpu partial lists ---- */

/* A chain of slabs that a CPU gives up, each to its node. */
static void __put_partials(struct cpu *c, struct kmem_cache *s,
			   struct slab *chain)
{
	struct kmem_cache_node *n = NULL;
	struct slab *discard = NULL;

	enter(s, c, FR___put_partials);
	while (chain) {
		struct slab *slab = chain;
		struct kmem_cache_node *own = get_node(s, slab->node);

		chain = slab->next;
		slab->next = NULL;
		if (own != n) {
			if (n)
				cpu_unlock(c, &n->list_lock);
			n = own;
			cpu_lock(c, &n->list_lock);
		}
		if (s->f->frozen_partial) {
			while (!slab_cmpxchg(c, slab, meet_slab(c, slab)))
				;
			slab->frozen = false;
		}
		if (!slab->inuse && n->nr_partial >= s->g.min_partial) {
			slab->next = discard;
			discard = slab;
		} else {
			add_partial(c, n, slab, true);
			stat(s, c, stat_free_add_partial);
		}
	}
	if (n)
		cpu_unlock(c, &n->list_lock);
	while (discard) {
		struct slab *slab = discard;

		discard = slab->next;
		stat(s, c, stat_deactivate_empty);
		discard_slab(c, s, slab);
		stat(s, c, stat_free_slab);
	}
	cpu_leave(c);
}

/* 2015 limits the free objects that were there when slabs were put. */
static bool cpu_partial_is_full(const struct kmem_cache *s,
				const struct slab *head)
{
	if (s->f->cpu_partial_in_objects)
		return head->pobjects > s->g.cpu_partial;
	return head->slabs >= s->g.cpu_partial_slabs;
}

void put_cpu_partial(struct cpu *c, struct kmem_cache *s, struct slab *slab,
		     bool drain)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);
	struct slab *old = k->partial, *put = NULL;

	enter(s, c, FR_put_cpu_partial);
	cpu_exec(c, s->cost->cpu_partial_put);
	cpu_irq(c, true);
	cpu_read(c, k->line + CPU_PARTIAL);
	if (old) {
		cpu_read(c, old->line + SLAB_CHAIN);
		if (drain && cpu_partial_is_full(s, old)) {
			put = old;
			old = NULL;
		}
	}
	slab->slabs = (old ? old->slabs : 0) + 1;
	slab->pobjects =
		(old ? old->pobjects : 0) + slab->objects - slab->inuse;
	slab->next = old;
	k->partial = slab;
	cpu_write(c, slab->line + SLAB_LIST);
	cpu_write(c, k->line + CPU_PARTIAL);
	if (put) {
		__put_partials(c, s, put);
		stat(s, c, stat_cpu_partial_drain);
	}
	if (s->f->cpu_partial_in_objects && !s->g.cpu_partial) {
		/* without a limit 2015 kernels keep nothing at all */
		k->partial = NULL;
		__put_partials(c, s, slab);
	}
	cpu_leave(c);
}

/* ---- slabs from node lists ---- */

/*
 * Takes a slab off its list for this CPU. Up to 6.7 this also freezes it, under
 * the lock, and the first one (@head given) loses its freelist there.
 */
static void acquire_slab(struct cpu *c, struct kmem_cache *s,
			 struct kmem_cache_node *n, struct slab *slab,
			 uint16_t *head)
{
	remove_partial(c, n, slab);
	if (!s->f->frozen_partial)
		return;
	if (head) {
		*head = take_freelist(c, slab, true);
		return;
	}
	while (!slab_cmpxchg(c, slab, meet_slab(c, slab)))
		;
	slab->frozen = true;
}

static bool enough_partials(const struct kmem_cache *s, unsigned extra,
			    unsigned objects)
{
	unsigned slabs = s->g.cpu_partial_slabs;

	switch (s->f->partial_break) {
	case PARTIAL_BREAK_OBJECTS:
		return objects > s->g.cpu_partial / 2;
	case PARTIAL_BREAK_GT:
		return extra > slabs / 2;
	case PARTIAL_BREAK_GE:
		return extra >= slabs / 2;
	default:
		return !slabs || extra > slabs / 2;
	}
}

/* The first slab of the list, for use; further ones for the CPU's own list. */
static struct slab *get_partial_node(struct cpu *c, struct kmem_cache *s,
				     struct kmem_cache_node *n, uint16_t *head)
{
	struct slab *first = NULL;
	struct list_head *pos, *next;
	unsigned extra = 0, objects = 0;

	if (!n)
		return NULL;
	enter(s, c, FR_get_partial_node);
	cpu_exec(c, s->cost->get_partial);
	cpu_read(c, n->line + NODE_LIST);
	cpu_meet(c, s->slub->everyone);
	if (!n->nr_partial) {
		cpu_leave(c);
		return NULL;
	}
	cpu_lock(c, &n->list_lock);
	list_for_each_safe (pos, next, &n->partial) {
		struct slab *slab = list_entry(pos, struct slab, list);

		cpu_exec(c, s->cost->partial_slab);
		cpu_read(c, slab->line);
		objects += slab->objects - slab->inuse;
		acquire_slab(c, s, n, slab, first ? NULL : head);
		if (!first) {
			stat(s, c, stat_alloc_from_partial);
			first = slab;
		} else {
			put_cpu_partial(c, s, slab, false);
			stat(s, c, stat_cpu_partial_node);
			extra++;
		}
		if (!s->f->cpu_partial || enough_partials(s, extra, objects))
			break;
	}
	cpu_unlock(c, &n->list_lock);
	if (first && !s->f->frozen_partial)
		*head = take_freelist(c, first, true);
	cpu_leave(c);
	return first;
}

static struct slab *get_any_partial(struct cpu *c, struct kmem_cache *s,
				    unsigned gfp, uint16_t *head)
{
	struct kmem_cache_node *n;
	struct slab *slab = NULL;
	int pos = 0;

	if (!defrag_ratio_allows(c, s))
		return NULL;
	enter(s, c, FR_get_any_partial);
	while (!slab && (n = next_node_to_rob(c, s, gfp, &pos)) != NULL)
		slab = get_partial_node(c, s, n, head);
	cpu_leave(c);
	return slab;
}

static struct slab *get_partial(struct cpu *c, struct kmem_cache *s,
				unsigned gfp, int node, uint16_t *head)
{
	int from = node == NO_NODE ? numa_mem_id(s, c) : node;
	struct slab *slab = get_partial_node(c, s, get_node(s, from), head);

	if (slab)
		return slab;
	/* a node that was asked for: older kernels look nowhere else */
	if (node != NO_NODE && (!s->f->node_two_pass || gfp & GFP_ONLY_NODE))
		return NULL;
	return get_any_partial(c, s, gfp, head);
}

/* ---- allocation ---- */

/* @slab becomes the cpu slab, with the freelist from @head on; pops one. */
static sim_addr load_freelist(struct cpu *c, struct kmem_cache *s,
			      struct slab *slab, uint16_t head)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);

	k->slab = slab;
	k->freelist = get_freepointer(c, slab, head);
	cpu_write(c, k->line);
	return object_addr(slab, head);
}

static struct slab *pop_cpu_partial(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);
	struct slab *slab = k->partial;

	cpu_exec(c, s->cost->cpu_partial_get);
	cpu_irq(c, true);
	cpu_read(c, slab->line + SLAB_LIST);
	k->partial = slab->next;
	slab->next = NULL;
	cpu_write(c, k->line + CPU_PARTIAL);
	return slab;
}

/* A slab from the CPU's own partial list; NULL if none fits. */
static struct slab *cpu_partial_slab(struct cpu *c, struct kmem_cache *s,
				     int node, uint16_t *head)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);

	while (k->partial) {
		struct slab *slab = pop_cpu_partial(c, s);

		if (s->f->frozen_partial) {
			/* becomes the cpu slab first, whatever its node */
			stat(s, c, stat_cpu_partial_alloc);
			k->slab = slab;
			k->freelist = NO_OBJECT;
			if (!node_match(slab, node)) {
				stat(s, c, stat_alloc_node_mismatch);
				deactivate_cpu_slab(c, s);
				continue;
			}
			*head = get_freelist(c, s, slab);
			if (*head == NO_OBJECT) {
				k->slab = NULL;
				stat(s, c, stat_deactivate_bypass);
				continue;
			}
			stat(s, c, stat_alloc_refill);
			return slab;
		}
		if (node_match(slab, node)) {
			*head = get_freelist(c, s, slab);
			stat(s, c, stat_cpu_partial_alloc);
			return slab;
		}
		__put_partials(c, s, slab);
	}
	return NULL;
}

/* A slab from a node's list or the page allocator, taken for this CPU. */
static struct slab *shared_slab(struct cpu *c, struct kmem_cache *s,
				unsigned gfp, int node, uint16_t *head)
{
	bool two_pass = s->f->node_two_pass && node != NO_NODE &&
			!(gfp & GFP_ONLY_NODE);

	for (int pass = two_pass ? 0 : 1; pass < 2; pass++) {
		unsigned flags =
			pass ? gfp : (gfp & ~GFP_MAY_BLOCK) | GFP_ONLY_NODE;
		struct slab *slab = get_partial(c, s, flags, node, head);

		if (slab)
			return slab;
		slab = new_slab(c, s, flags, node);
		if (!slab)
			continue;
		stat(s, c, stat_alloc_slab);
		*head = slab->freelist;
		slab->freelist = NO_OBJECT;
		slab->inuse = slab->objects;
		slab->frozen = true;
		cpu_write(c, slab->line);
		inc_slabs_node(c, s, slab);
		return slab;
	}
	return NULL;
}

static sim_addr ___slab_alloc(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			      int node)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);
	struct slab *slab;
	uint16_t head = NO_OBJECT;
	sim_addr obj = 0;

	enter(s, c, FR____slab_alloc);
	cpu_exec(c, s->cost->alloc_slow);
	cpu_irq(c, true);
	/* nothing of this cache can ever be on a node without slab memory */
	if (node != NO_NODE && !get_node(s, node))
		node = NO_NODE;
	if (k->slab && !node_match(k->slab, node)) {
		stat(s, c, stat_alloc_node_mismatch);
		deactivate_cpu_slab(c, s);
	}
	if (k->slab) {
		/* a node without slab memory was asked for, and it's as good
		 * as any other */
		head = k->freelist;
		if (head == NO_OBJECT) {
			head = get_freelist(c, s, k->slab);
			if (head != NO_OBJECT)
				stat(s, c, stat_alloc_refill);
		}
		if (head != NO_OBJECT) {
			obj = load_freelist(c, s, k->slab, head);
			cpu_leave(c);
			return obj;
		}
		k->slab = NULL;
		cpu_write(c, k->line);
		stat(s, c, stat_deactivate_bypass);
	}
	slab = cpu_partial_slab(c, s, node, &head);
	if (!slab)
		slab = shared_slab(c, s, gfp, node, &head);
	if (slab) {
		if (k->slab && k->slab != slab) {
			/* an interrupt's allocation got one meanwhile */
			deactivate_cpu_slab(c, s);
			stat(s, c, stat_cpuslab_flush);
		}
		obj = load_freelist(c, s, slab, head);
	}
	cpu_leave(c);
	return obj;
}

/* Pops the CPU's freelist, which is not empty. */
static sim_addr pop_fast(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);
	struct slab *slab = k->slab;
	uint16_t i = k->freelist;

	k->freelist = get_freepointer(c, slab, i);
	return object_addr(slab, i);
}

sim_addr cpu_slab_alloc(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			int node)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);
	sim_addr obj;

	cpu_read(c, k->line);
	if (k->slab && node != NO_NODE)
		cpu_read(c, k->slab->line);
	if (!k->slab || k->freelist == NO_OBJECT ||
	    !node_match(k->slab, node)) {
		stat(s, c, stat_alloc_slowpath);
		return ___slab_alloc(c, s, gfp, node);
	}
	obj = pop_fast(c, s);
	cpu_rmw(c, k->line, RMW_CMPXCHG16B);
	if (k->freelist != NO_OBJECT)
		cpu_prefetch(c, freeptr_addr(k->slab, k->freelist));
	stat(s, c, stat_alloc_fastpath);
	return obj;
}

unsigned cpu_slab_alloc_bulk(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			     unsigned n, sim_addr *objs)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);
	unsigned i;

	cpu_irq(c, s->f->bulk_stats);
	cpu_read(c, k->line);
	for (i = 0; i < n; i++) {
		if (k->slab && k->freelist != NO_OBJECT) {
			objs[i] = pop_fast(c, s);
			cpu_exec(c, s->cost->bulk_alloc_object);
			if (s->f->bulk_stats)
				stat(s, c, stat_alloc_fastpath);
			continue;
		}
		if (s->f->bulk_alloc == BULK_ALLOC_INITIAL)
			break;
		cpu_write(c, k->line);
		if (s->f->bulk_slow_stats)
			stat(s, c, stat_alloc_slowpath);
		objs[i] = ___slab_alloc(c, s, gfp, NO_NODE);
		if (!objs[i])
			break;
		cpu_irq(c, s->f->bulk_stats);
	}
	cpu_write(c, k->line);
	return i;
}

/* ---- free ---- */

void cpu_slab_free(struct cpu *c, struct kmem_cache *s, struct slab *slab,
		   uint16_t head, uint16_t tail, unsigned cnt)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);

	cpu_read(c, k->line);
	if (slab != k->slab) {
		__slab_free(c, s, slab, head, tail, cnt);
		return;
	}
	set_freepointer(c, slab, tail, k->freelist);
	k->freelist = head;
	cpu_rmw(c, k->line, RMW_CMPXCHG16B);
	stat_add(s, c, stat_free_fastpath, s->f->bulk_stats ? cnt : 1);
}

void flush_cpu_slab(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);

	if (k->slab) {
		deactivate_cpu_slab(c, s);
		stat(s, c, stat_cpuslab_flush);
	}
	if (k->partial) {
		struct slab *chain = k->partial;

		k->partial = NULL;
		__put_partials(c, s, chain);
	}
}
