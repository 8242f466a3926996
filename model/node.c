/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node's partial list, and the slow half of free that feeds it.
 */
#include "model/cache.h"

void add_partial(struct cpu *c, struct kmem_cache_node *n, struct slab *slab,
		 bool tail)
{
	struct list_head *neighbour;

	cpu_exec(c, slab->cache->cost->list_move);
	n->nr_partial++;
	neighbour = tail ? n->partial.prev : n->partial.next;
	if (tail)
		list_add_tail(&slab->list, &n->partial);
	else
		list_add(&slab->list, &n->partial);
	slab->node_partial = true;
	cpu_write(c, n->line + NODE_LIST);
	cpu_write(c, slab->line + SLAB_LIST);
	if (neighbour != &n->partial)
		cpu_write(c,
			  list_entry(neighbour, struct slab, list)->line + SLAB_LIST);
}

void remove_partial(struct cpu *c, struct kmem_cache_node *n, struct slab *slab)
{
	cpu_exec(c, slab->cache->cost->list_move);
	for (int k = 0; k < 2; k++) {
		struct list_head *nb = k ? slab->list.prev : slab->list.next;

		if (nb != &n->partial)
			cpu_write(c,
				  list_entry(nb, struct slab, list)->line + SLAB_LIST);
	}
	list_del(&slab->list);
	slab->node_partial = false;
	n->nr_partial--;
	cpu_write(c, n->line + NODE_LIST);
	cpu_write(c, slab->line + SLAB_LIST);
}

bool defrag_ratio_allows(struct cpu *c, struct kmem_cache *s)
{
	struct slub *sl = s->slub;
	uint64_t cycles = sl->fixed_cycles >= 0 ? (uint64_t)sl->fixed_cycles
						: cpu_random(c);

	/* the ratio runs to 1000, the clock to 1023: the default looks at
	 * other nodes in 1001 of 1024 tries */
	return s->remote_node_defrag_ratio &&
	       cycles % 1024 <= s->remote_node_defrag_ratio;
}

struct kmem_cache_node *next_node_to_rob(struct cpu *c, struct kmem_cache *s,
					 unsigned gfp, int *pos)
{
	int from = numa_mem_id(s, c);
	const int *order;
	int nr = page_zonelist(s->slub->pages, from, &order);

	while (*pos < nr) {
		int node = order[(*pos)++];
		struct kmem_cache_node *n = get_node(s, node);

		/* the list without fallback holds the own node only */
		if (gfp & GFP_ONLY_NODE && node != from)
			break;
		cpu_exec(c, s->cost->any_node);
		if (!n)
			continue;
		cpu_read(c, n->line + NODE_LIST);
		cpu_meet(c, s->slub->everyone);
		if (n->nr_partial > s->g.min_partial)
			return n;
	}
	return NULL;
}

/*
 * What a free into a slab found there: decided before the cmpxchg, acted upon
 * after it.
 */
struct free_view {
	bool was_full, was_frozen, becomes_empty;
	bool node_partial; /* known only under the list_lock */
	struct kmem_cache_node *locked;
};

static void look_before_free(struct cpu *c, struct kmem_cache *s,
			     struct slab *slab, uint16_t tail, unsigned cnt,
			     struct free_view *v)
{
	bool cpu_partial = s->f->cpu_slabs && s->f->cpu_partial;

	v->was_full = slab->freelist == NO_OBJECT;
	v->was_frozen = slab->frozen;
	v->becomes_empty = slab->inuse == cnt;
	v->node_partial = false;
	v->locked = NULL;
	set_freepointer(c, slab, tail, slab->freelist);
	if (v->was_frozen || !(v->becomes_empty || v->was_full))
		return;
	/* a slab that was full goes to the cpu partial list, without a lock */
	if (cpu_partial && v->was_full)
		return;
	/* speculatively: it will have to be moved on or off the list */
	v->locked = get_node(s, slab->node);
	cpu_lock(c, &v->locked->list_lock);
	v->node_partial = slab->node_partial;
}

static void after_lockless_free(struct cpu *c, struct kmem_cache *s,
				struct slab *slab, const struct free_view *v)
{
	if (!s->f->cpu_slabs)
		return;
	if (v->was_frozen) {
		stat(s, c, stat_free_frozen);
	} else if (s->f->cpu_partial && v->was_full) {
		put_cpu_partial(c, s, slab, true);
		stat(s, c, stat_cpu_partial_free);
	}
}

void __slab_free(struct cpu *c, struct kmem_cache *s, struct slab *slab,
		 uint16_t head, uint16_t tail, unsigned cnt)
{
	struct free_view v;
	struct kmem_cache_node *n;
	uint32_t version;

	enter(s, c, FR___slab_free);
	cpu_exec(c, s->cost->free_slow);
	if (s->f->cpu_slabs)
		stat(s, c, stat_free_slowpath);
	for (;;) {
		version = meet_slab(c, slab);
		look_before_free(c, s, slab, tail, cnt, &v);
		if (slab_cmpxchg(c, slab, version))
			break;
		if (v.locked)
			cpu_unlock(c, &v.locked->list_lock);
	}
	slab->freelist = head;
	slab->inuse -= cnt;
	/* 2015 to 6.1: whoever puts it on a cpu partial list freezes it */
	if (s->f->frozen_partial && s->f->cpu_partial && v.was_full &&
	    !v.was_frozen)
		slab->frozen = true;

	n = v.locked;
	if (!n) {
		after_lockless_free(c, s, slab, &v);
		cpu_leave(c);
		return;
	}
	if (!v.was_full && !v.node_partial) {
		/* somebody has taken it off the list and will deal with it */
		cpu_unlock(c, &n->list_lock);
		cpu_leave(c);
		return;
	}
	if (v.becomes_empty && n->nr_partial >= s->g.min_partial) {
		if (!v.was_full) {
			remove_partial(c, n, slab);
			stat(s, c, stat_free_remove_partial);
		}
		cpu_unlock(c, &n->list_lock);
		stat(s, c, stat_free_slab);
		discard_slab(c, s, slab);
		cpu_leave(c);
		return;
	}
	if (v.was_full) {
		add_partial(c, n, slab, true);
		stat(s, c, stat_free_add_partial);
	}
	cpu_unlock(c, &n->list_lock);
	cpu_leave(c);
}

void slab_free_one(struct cpu *c, struct kmem_cache *s, sim_addr obj)
{
	struct slab *slab = slab_of(s->slub, obj);
	unsigned i = object_index(slab, obj);

	if (s->f->cpu_slabs)
		cpu_slab_free(c, s, slab, i, i, 1);
	else
		__slab_free(c, s, slab, i, i, 1);
}
