/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slabs: where they come from, how their freelists are built and taken, and
 * where they go.
 */
#include "model/cache.h"

struct slab *slab_of(const struct slub *sl, sim_addr obj)
{
	return page_slab(sl->pages, obj);
}

uint16_t get_freepointer(struct cpu *c, struct slab *slab, unsigned i)
{
	cpu_read(c, freeptr_addr(slab, i));
	return slab->next_free[i];
}

void set_freepointer(struct cpu *c, struct slab *slab, unsigned i,
		     uint16_t next)
{
	slab->next_free[i] = next;
	cpu_write(c, freeptr_addr(slab, i));
}

bool slab_cmpxchg(struct cpu *c, struct slab *slab, uint32_t version)
{
	cpu_meet(c, slab->cache->slub->everyone);
	cpu_rmw(c, slab->line + SLAB_FREELIST, RMW_LOCK_CMPXCHG16B);
	if (slab->version == version) {
		slab->version++;
		return true;
	}
	stat(slab->cache, c, stat_cmpxchg_double_fail);
	return false;
}

uint16_t take_freelist(struct cpu *c, struct slab *slab, bool freeze)
{
	while (!slab_cmpxchg(c, slab, meet_slab(c, slab)))
		;

	uint16_t head = slab->freelist;

	slab->freelist = NO_OBJECT;
	slab->inuse = slab->objects;
	slab->frozen = freeze;
	return head;
}

/* Order in which a new slab hands out its objects. */
static void link_new_freelist(struct cpu *c, struct kmem_cache *s,
			      struct slab *slab)
{
	uint16_t *tail = &slab->freelist;

	if (s->random_seq && slab->objects > 1) {
		unsigned n = s->g.objects, at = cpu_random(c) % n;

		/* a smaller fallback slab skips what it doesn't hold */
		for (unsigned i = 0; i < n; i++, at = (at + 1) % n) {
			if (s->random_seq[at] >= slab->objects)
				continue;
			*tail = s->random_seq[at];
			tail = &slab->next_free[*tail];
		}
	} else {
		for (unsigned i = 0; i < slab->objects; i++) {
			*tail = i;
			tail = &slab->next_free[i];
		}
	}
	*tail = NO_OBJECT;
}

/* Writes the free pointers of @head and all behind it. */
static void charge_freelist(struct cpu *c, struct kmem_cache *s,
			    struct slab *slab, uint16_t head)
{
	unsigned insns = s->cost->new_slab_object, n = 0;

	if (!c->timed)
		return;
	if (s->f->freelist_random)
		insns += s->cost->random_object;
	if (s->f->freelist_hardened)
		insns += s->cost->hardened_object;
	for (uint16_t i = head; i != NO_OBJECT; i = slab->next_free[i], n++) {
		cpu_exec(c, insns);
		/* 4 bytes an entry of the permutation, read in sequence */
		if (s->random_seq && n % 16 == 0)
			cpu_prefetch(c, s->random_line + SIM_LINE + 4 * n);
		cpu_write(c, freeptr_addr(slab, i));
	}
}

static bool freelist_is_lazy(const struct kmem_cache *s)
{
	return s->f->bulk_refill_freelist || s->f->bulk_refill_whole_only;
}

struct slab *new_slab(struct cpu *c, struct kmem_cache *s, unsigned gfp,
		      int node)
{
	unsigned order = s->g.order, objects = s->g.objects;
	struct slab *slab;
	sim_addr base;

	enter(s, c, FR_allocate_slab);
	cpu_exec(c, s->cost->new_slab);
	/* the preferred order must not cost reclaim: a page less will do */
	base = alloc_pages(c, s->slub, gfp & ~GFP_MAY_BLOCK, order, node);
	if (!base && s->g.min_order < order) {
		order = s->g.min_order;
		objects = s->g.min_objects;
		base = alloc_pages(c, s->slub, gfp, order, node);
		if (base)
			stat(s, c, stat_order_fallback);
	}
	if (!base) {
		cpu_leave(c);
		return NULL;
	}
	slab = g_malloc0(sizeof(*slab) + objects * sizeof(uint16_t));
	slab->cache = s;
	slab->base = base;
	slab->line = page_struct(s->slub, base);
	slab->node = sim_addr_node(base);
	slab->order = order;
	slab->objects = objects;
	list_init(&slab->list);
	list_add_tail(&slab->all, &s->slabs);
	page_set_slab(s->slub->pages, base, order, slab);
	machine_name_region(s->slub->machine, slab->line, SIM_LINE,
			    "struct slab");
	cpu_write(c, slab->line);
	link_new_freelist(c, s, slab);
	if (!freelist_is_lazy(s))
		charge_freelist(c, s, slab, slab->freelist);
	cpu_leave(c);
	return slab;
}

void free_slab(struct cpu *c, struct kmem_cache *s, struct slab *slab)
{
	enter(s, c, FR_discard_slab);
	cpu_exec(c, s->cost->discard_slab);
	cpu_write(c, slab->line);
	list_del(&slab->all);
	page_set_slab(s->slub->pages, slab->base, slab->order, NULL);
	free_pages(c, s->slub, slab->base, slab->order);
	g_free(slab);
	cpu_leave(c);
}

static void count_slab(struct cpu *c, struct kmem_cache *s, struct slab *slab,
		       int sign)
{
	struct kmem_cache_node *n = get_node(s, slab->node);

	n->nr_slabs += sign;
	n->total_objects += sign * slab->objects;
	cpu_rmw(c, n->line + NODE_NR_SLABS, RMW_LOCK);
	cpu_rmw(c, n->line + NODE_TOTAL_OBJECTS, RMW_LOCK);
}

void inc_slabs_node(struct cpu *c, struct kmem_cache *s, struct slab *slab)
{
	count_slab(c, s, slab, 1);
}

void dec_slabs_node(struct cpu *c, struct kmem_cache *s, struct slab *slab)
{
	count_slab(c, s, slab, -1);
}

void discard_slab(struct cpu *c, struct kmem_cache *s, struct slab *slab)
{
	dec_slabs_node(c, s, slab);
	free_slab(c, s, slab);
}

unsigned alloc_from_new_slab(struct cpu *c, struct kmem_cache *s,
			     struct slab *slab, unsigned n, sim_addr *objs)
{
	bool lazy = freelist_is_lazy(s);
	unsigned taken = 0;

	enter(s, c, FR_alloc_from_new_slab);
	if (s->f->bulk_refill_whole_only &&
	    (n < slab->objects || s->f->freelist_random)) {
		/* only a slab that is taken whole goes without a freelist */
		charge_freelist(c, s, slab, slab->freelist);
		lazy = false;
	}
	while (taken < n && slab->freelist != NO_OBJECT) {
		unsigned i = slab->freelist;

		cpu_exec(c, s->cost->walk_object);
		objs[taken++] = object_addr(slab, i);
		/* a freelist that was just built is read again */
		slab->freelist =
			lazy ? slab->next_free[i] : get_freepointer(c, slab, i);
	}
	slab->inuse = taken;
	if (lazy)
		charge_freelist(c, s, slab, slab->freelist);
	cpu_write(c, slab->line);
	if (slab->freelist != NO_OBJECT) {
		struct kmem_cache_node *node = get_node(s, slab->node);

		cpu_lock(c, &node->list_lock);
		add_partial(c, node, slab, false);
		cpu_unlock(c, &node->list_lock);
	}
	inc_slabs_node(c, s, slab);
	cpu_leave(c);
	return taken;
}
