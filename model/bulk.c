/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bulk free by detached freelists: neighbours in the array that lie in one
 * slab are linked first and go back to it in one step.
 */
#include "model/cache.h"

struct detached_freelist {
	struct slab *slab;
	uint16_t head, tail;
	unsigned cnt;
};

/*
 * Takes the last object of @objs and all others of its slab that a backward
 * scan finds before it has seen three of other slabs; moves them to the end of
 * the array. Returns how many objects are left in front.
 */
static unsigned build_detached_freelist(struct cpu *c, struct kmem_cache *s,
					unsigned n, sim_addr *objs,
					struct detached_freelist *df)
{
	unsigned lookahead = 3, left;

	enter(s, c, FR_build_detached_freelist);
	cpu_exec(c, s->cost->detached_object);
	df->slab = slab_of(s->slub, objs[--n]);
	cpu_read(c, df->slab->line);
	df->head = df->tail = object_index(df->slab, objs[n]);
	df->cnt = 1;
	set_freepointer(c, df->slab, df->head, NO_OBJECT);
	left = n;
	while (n) {
		sim_addr obj = objs[--n];
		struct slab *slab = slab_of(s->slub, obj);

		cpu_exec(c, s->cost->detached_object);
		cpu_read(c, slab->line);
		if (slab == df->slab) {
			unsigned i = object_index(slab, obj);

			set_freepointer(c, slab, i, df->head);
			df->head = i;
			df->cnt++;
			left--;
			objs[n] = objs[left];
			objs[left] = obj;
			continue;
		}
		if (!--lookahead)
			break;
	}
	cpu_leave(c);
	return left;
}

/*
 * The hook that sees every object on its way out of a caller's hands links the
 * ones it lets through anew: what was collected first is handed out first.
 */
static void slab_free_freelist_hook(struct cpu *c, struct kmem_cache *s,
				    struct detached_freelist *df)
{
	uint16_t head = NO_OBJECT, i = df->head;

	df->tail = df->head;
	while (i != NO_OBJECT) {
		uint16_t next = get_freepointer(c, df->slab, i);

		cpu_exec(c, s->cost->walk_object);
		set_freepointer(c, df->slab, i, head);
		head = i;
		i = next;
	}
	df->head = head;
}

static void free_detached(struct cpu *c, struct kmem_cache *s, unsigned n,
			  sim_addr *objs, bool hook)
{
	struct detached_freelist df;

	while (n) {
		n = build_detached_freelist(c, s, n, objs, &df);
		if (hook)
			slab_free_freelist_hook(c, s, &df);
		if (s->f->cpu_slabs)
			cpu_slab_free(c, s, df.slab, df.head, df.tail, df.cnt);
		else
			__slab_free(c, s, df.slab, df.head, df.tail, df.cnt);
	}
}

void __kmem_cache_free_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
			    sim_addr *objs)
{
	free_detached(c, s, n, objs, false);
}

void slab_free_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
		    sim_addr *objs)
{
	free_detached(c, s, n, objs, s->f->bulk_free_relinks);
}
