/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compaction: the emptiest zspages' objects move into the fullest. */
#include "model/zs_pool.h"

static unsigned freeable_zspages(const struct zs_class *class)
{
	uint64_t wasted = class->stats[ZS_STAT_ALLOCATED] -
			  class->stats[ZS_STAT_INUSE];

	return wasted / class->shape.objs_per_zspage;
}

static struct zspage *isolate(struct cpu *c, struct zs_class *class, int from,
			      int to)
{
	int step = from < to ? 1 : -1;

	for (int g = from; g != to + step; g += step)
		if (class->groups[g].head) {
			struct zspage *z = class->groups[g].head->data;

			remove_zspage(c, z);
			return z;
		}
	return NULL;
}

static void lock_both(struct cpu *c, struct zs_pool *pool,
		      struct zs_class *class)
{
	cpu_exec(c, 2 * pool->costs.lock_call);
	cpu_write_lock(c, &pool->lock);
	cpu_lock(c, &class->lock);
}

static void unlock_both(struct cpu *c, struct zs_pool *pool,
			struct zs_class *class)
{
	cpu_exec(c, 2 * pool->costs.lock_call);
	cpu_unlock(c, &class->lock);
	cpu_write_unlock(c, &pool->lock);
}

static void move_object(struct cpu *c, struct zs_pool *pool,
			struct zspage *from, unsigned index, struct zspage *to)
{
	sim_addr handle = from->handle[index];
	zs_obj old = handle_word(pool, handle), now;
	struct zs_place at;

	cpu_exec(c, pool->costs.compact_object);
	cpu_read(c, handle);
	now = obj_malloc(c, pool, to, handle);
	at = obj_to_location(pool, now);
	/* The copy has the header with it; parts on two pages are as good. */
	cpu_copy(c, object_address(to, at.index), object_address(from, index),
		 from->class->shape.size);
	obj_free(c, pool, old);
}

/* In order of index, until either end of the move is reached. */
static void migrate_zspage(struct cpu *c, struct zs_pool *pool,
			   struct zspage *from, struct zspage *to)
{
	unsigned objs = from->class->shape.objs_per_zspage;

	for (unsigned i = 0; i < objs && from->inuse && to->inuse < objs; i++) {
		cpu_read(c, object_address(from, i));
		if (from->handle[i])
			move_object(c, pool, from, i, to);
	}
}

static void putback(struct cpu *c, struct zspage *z)
{
	insert_zspage(c, z, get_fullness_group(z));
}

static uint64_t compact_class(struct cpu *c, struct zs_pool *pool,
			      struct zs_class *class)
{
	struct zspage *to = NULL, *from;
	uint64_t freed = 0;

	lock_both(c, pool, class);
	while (freeable_zspages(class)) {
		if (!to)
			to = isolate(c, class, ZS_ALMOST_FULL, ZS_EMPTY + 1);
		if (!to)
			break;
		from = isolate(c, class, ZS_EMPTY + 1, ZS_ALMOST_FULL);
		if (!from)
			break;
		if (!zspage_write_trylock(c, pool, from)) {
			putback(c, from);
			break;
		}
		migrate_zspage(c, pool, from, to);
		zspage_write_unlock(c, pool, from);
		putback(c, from);
		if (!from->inuse && free_zspage(c, pool, from))
			freed += class->shape.pages_per_zspage;
		if (get_fullness_group(to) == ZS_FULL) {
			/* lets others in between two destinations */
			putback(c, to);
			to = NULL;
			unlock_both(c, pool, class);
			lock_both(c, pool, class);
		}
	}
	if (to)
		putback(c, to);
	unlock_both(c, pool, class);
	return freed;
}

uint64_t zs_compact(struct cpu *c, struct zs_pool *pool)
{
	uint64_t freed = 0;

	cpu_enter(c, pool->frame.compact);
	for (int i = ZS_CLASSES - 1; i >= 0; i--)
		if (pool->class[i]->shape.index == (unsigned)i)
			freed += compact_class(c, pool, pool->class[i]);
	pool->pages_compacted += freed;
	cpu_leave(c);
	return freed;
}

uint64_t zs_compactable(const struct zs_pool *pool)
{
	uint64_t pages = 0;

	for (int i = 0; i < ZS_CLASSES; i++)
		if (pool->class[i]->shape.index == (unsigned)i)
			pages += (uint64_t)freeable_zspages(pool->class[i]) *
				 pool->class[i]->shape.pages_per_zspage;
	return pages;
}
