/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects straight from slabs, for kernels without cpu slabs: many at once for
 * a sheaf or a bulk allocation, or one for an allocation that no sheaf served.
 */
#include "model/cache.h"

/*
 * Moves slabs from the head of @n's list to @private until they promise @max
 * objects; stops before one that would exceed @max once @min are promised.
 * Counts are read without owning the slab: a promise, not more.
 */
static void get_partial_node_bulk(struct cpu *c, struct kmem_cache *s,
				  struct kmem_cache_node *n, unsigned min,
				  unsigned max, bool try,
				  struct list_head *private)
{
	struct list_head *pos, *next;
	unsigned total = 0;

	cpu_exec(c, s->cost->get_partial);
	cpu_read(c, n->line + NODE_LIST);
	cpu_meet(c, s->slub->everyone);
	if (!n->nr_partial)
		return;
	if (!try)
		cpu_lock(c, &n->list_lock);
	else if (!cpu_trylock(c, &n->list_lock))
		return;
	list_for_each_safe (pos, next, &n->partial) {
		struct slab *slab = list_entry(pos, struct slab, list);
		unsigned free;

		cpu_exec(c, s->cost->partial_slab);
		cpu_read(c, slab->line);
		free = slab->objects - slab->inuse;
		if (total >= min && total + free > max)
			break;
		remove_partial(c, n, slab);
		if (s->f->refill_returns_leftovers)
			list_add_tail(&slab->list, private);
		else
			list_add(&slab->list, private); /* reverses them */
		total += free;
		if (total >= max)
			break;
	}
	cpu_unlock(c, &n->list_lock);
}

/* More was in the slab than wanted: the chain from @head goes back. */
static void return_leftovers(struct cpu *c, struct kmem_cache *s,
			     struct slab *slab, uint16_t head,
			     struct list_head *private)
{
	uint16_t tail = head;
	unsigned cnt = 1;

	if (s->f->refill_returns_leftovers) {
		unsigned left = 0;

		/* if nobody freed into it meanwhile it is still full, and one
		 * cmpxchg gives the rest back without a walk or a lock */
		if (slab_cmpxchg(c, slab, meet_slab(c, slab)) &&
		    slab->freelist == NO_OBJECT) {
			for (uint16_t i = head; i != NO_OBJECT;
			     i = slab->next_free[i])
				left++;
			slab->freelist = head;
			slab->inuse -= left;
			list_add(&slab->list, private);
			return;
		}
	}
	for (uint16_t next;
	     (next = get_freepointer(c, slab, tail)) != NO_OBJECT;
	     tail = next) {
		cpu_exec(c, s->cost->walk_object);
		cnt++;
	}
	__slab_free(c, s, slab, head, tail, cnt);
}

/* Slabs that were taken off a list and not needed. */
static void put_back(struct cpu *c, struct kmem_cache *s,
		     struct kmem_cache_node *n, struct list_head *private)
{
	struct slab *discard = NULL;

	if (list_empty(private))
		return;
	cpu_lock(c, &n->list_lock);
	while (!list_empty(private)) {
		struct slab *slab =
			list_entry(private->next, struct slab, list);

		list_del(&slab->list);
		if (!s->f->refill_returns_leftovers && !slab->inuse &&
		    n->nr_partial >= s->g.min_partial) {
			slab->next = discard;
			discard = slab;
			continue;
		}
		add_partial(c, n, slab, s->f->refill_returns_leftovers);
	}
	cpu_unlock(c, &n->list_lock);
	while (discard) {
		struct slab *slab = discard;

		discard = slab->next;
		discard_slab(c, s, slab);
	}
}

static unsigned refill_from_node(struct cpu *c, struct kmem_cache *s,
				 sim_addr *objs, struct kmem_cache_node *n,
				 unsigned min, unsigned max, bool try)
{
	struct list_head private;
	unsigned got = 0;

	list_init(&private);
	get_partial_node_bulk(c, s, n, min, max, try, &private);
	while (got < max && !list_empty(&private)) {
		struct slab *slab = list_entry(private.next, struct slab, list);
		uint16_t i;

		list_del(&slab->list);
		i = take_freelist(c, slab, false);
		while (i != NO_OBJECT && got < max) {
			cpu_exec(c, s->cost->walk_object);
			objs[got++] = object_addr(slab, i);
			i = get_freepointer(c, slab, i);
		}
		if (i != NO_OBJECT)
			return_leftovers(c, s, slab, i, &private);
	}
	put_back(c, s, n, &private);
	return got;
}

unsigned refill_objects(struct cpu *c, struct kmem_cache *s, sim_addr *objs,
			unsigned gfp, unsigned min, unsigned max)
{
	struct kmem_cache_node *n = get_node(s, numa_mem_id(s, c));
	unsigned got = 0;

	enter(s, c, FR_refill_objects);
	if (n)
		got = refill_from_node(c, s, objs, n, min, max, false);
	if (got < min && defrag_ratio_allows(c, s)) {
		int pos = 0;

		enter(s, c, FR___refill_objects_any);
		while (got < min &&
		       (n = next_node_to_rob(c, s, gfp, &pos)) != NULL)
			got += refill_from_node(c, s, objs + got, n, min - got,
						max - got, true);
		cpu_leave(c);
	}
	while (got < min) {
		struct slab *slab = new_slab(c, s, gfp, numa_mem_id(s, c));

		if (!slab)
			break;
		stat(s, c, stat_alloc_slab);
		got += alloc_from_new_slab(c, s, slab, max - got, objs + got);
	}
	cpu_leave(c);
	return got;
}

/* Pops one object off the first slab of a node's list. */
static sim_addr get_from_partial_node(struct cpu *c, struct kmem_cache *s,
				      struct kmem_cache_node *n)
{
	struct slab *slab;
	sim_addr obj = 0;

	if (!n)
		return 0;
	enter(s, c, FR_get_from_partial_node);
	cpu_exec(c, s->cost->get_partial);
	cpu_read(c, n->line + NODE_LIST);
	cpu_meet(c, s->slub->everyone);
	if (!n->nr_partial) {
		cpu_leave(c);
		return 0;
	}
	cpu_lock(c, &n->list_lock);
	if (n->nr_partial) {
		uint16_t i;

		slab = list_entry(n->partial.next, struct slab, list);
		cpu_exec(c, s->cost->partial_slab);
		do {
			uint32_t version = meet_slab(c, slab);

			i = slab->freelist;
			get_freepointer(c, slab, i);
			if (slab_cmpxchg(c, slab, version))
				break;
		} while (true);
		slab->freelist = slab->next_free[i];
		slab->inuse++;
		obj = object_addr(slab, i);
		if (slab->freelist == NO_OBJECT)
			remove_partial(c, n, slab);
	}
	cpu_unlock(c, &n->list_lock);
	cpu_leave(c);
	return obj;
}

static sim_addr get_from_any_partial(struct cpu *c, struct kmem_cache *s,
				     unsigned gfp)
{
	struct kmem_cache_node *n;
	sim_addr obj = 0;
	int pos = 0;

	if (!defrag_ratio_allows(c, s))
		return 0;
	enter(s, c, FR_get_from_any_partial);
	while (!obj && (n = next_node_to_rob(c, s, gfp, &pos)) != NULL)
		obj = get_from_partial_node(c, s, n);
	cpu_leave(c);
	return obj;
}

sim_addr slab_alloc_slow(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			 int node)
{
	bool two_pass = node != NO_NODE && !(gfp & GFP_ONLY_NODE);
	sim_addr obj = 0;

	enter(s, c, FR____slab_alloc);
	cpu_exec(c, s->cost->alloc_slow);
	stat(s, c, stat_alloc_slowpath);
	/* the requested node first, by all means; then anywhere */
	for (int pass = two_pass ? 0 : 1; !obj && pass < 2; pass++) {
		unsigned flags =
			pass ? gfp : (gfp & ~GFP_MAY_BLOCK) | GFP_ONLY_NODE;
		int from = node == NO_NODE ? numa_mem_id(s, c) : node;
		struct slab *slab;

		obj = get_from_partial_node(c, s, get_node(s, from));
		if (!obj && !(node != NO_NODE && flags & GFP_ONLY_NODE))
			obj = get_from_any_partial(c, s, flags);
		if (obj)
			break;
		slab = new_slab(c, s, flags, node);
		if (!slab)
			continue;
		stat(s, c, stat_alloc_slab);
		alloc_from_new_slab(c, s, slab, 1, &obj);
	}
	cpu_leave(c);
	return obj;
}
