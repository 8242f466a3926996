/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/zsmalloc.h"

#include <errno.h>

#include "model/zs_pool.h"

static void class_lock(struct cpu *c, struct zs_pool *pool,
		       struct zs_class *class)
{
	cpu_exec(c, pool->costs.lock_call);
	cpu_lock(c, &class->lock);
}

static void class_unlock(struct cpu *c, struct zs_pool *pool,
			 struct zs_class *class)
{
	cpu_exec(c, pool->costs.lock_call);
	cpu_unlock(c, &class->lock);
}

static void pool_read_lock(struct cpu *c, struct zs_pool *pool)
{
	cpu_exec(c, pool->costs.lock_call);
	cpu_read_lock(c, &pool->lock);
}

static void pool_read_unlock(struct cpu *c, struct zs_pool *pool)
{
	cpu_exec(c, pool->costs.lock_call);
	cpu_read_unlock(c, &pool->lock);
}

static struct zs_class *class_of(struct cpu *c, struct zs_pool *pool,
				 unsigned slot)
{
	cpu_read(c, pool->addr + POOL_CLASSES + 8u * slot);
	return pool->class[slot];
}

/* An object of a partial zspage, if there is one; under class->lock. */
static struct zspage *take_existing(struct cpu *c, struct zs_pool *pool,
				    struct zs_class *class, sim_addr handle,
				    zs_obj *obj)
{
	struct zspage *z;

	cpu_enter(c, pool->frame.find);
	z = find_get_zspage(c, pool, class);
	cpu_leave(c);
	if (z)
		*obj = obj_malloc(c, pool, z, handle);
	return z;
}

/* The first object of a zspage that nobody else has seen; the same. */
static void take_first(struct cpu *c, struct zs_pool *pool,
		       struct zs_class *class, struct zspage *z,
		       sim_addr handle, zs_obj *obj)
{
	*obj = obj_malloc(c, pool, z, handle);
	cpu_exec(c, pool->costs.fullness);
	insert_zspage(c, z, get_fullness_group(z));
	pool->pages_allocated += class->shape.pages_per_zspage;
	cpu_rmw(c, pool->addr + POOL_PAGES, RMW_LOCK);
	class_stat_add(c, class, ZS_STAT_ALLOCATED,
		       class->shape.objs_per_zspage);
}

/* zs_store()'s copy in the place where the object was taken, or behind the
 * class lock with the zspage pinned. */
static void store_locked(struct cpu *c, struct zs_pool *pool,
			 struct zspage *z, zs_obj obj, sim_addr from,
			 unsigned size)
{
	const struct zs_features *f = &pool->build->features;

	if (!from || !f->copy_in_class_lock)
		return;
	if (f->zspage_lock_in_store)
		zspage_read_lock(c, pool, z);
	obj_write(c, pool, obj, from, size);
	if (f->zspage_lock_in_store)
		zspage_read_unlock(c, pool, z);
}

/* Both ways to allocate: @from is 0, or what zs_store() writes. */
static int allocate(struct cpu *c, struct zs_pool *pool, sim_addr from,
		    unsigned size, unsigned gfp, int nid, sim_addr *handle)
{
	struct zs_class *class;
	struct zspage *z;
	zs_obj obj = 0;
	bool store_outside = from && !pool->build->features.copy_in_class_lock;

	*handle = 0;
	if (!size)
		return EINVAL;
	if (size > ZS_MAX_ALLOC)
		return ENOSPC;
	zs_exec(c, pool, pool->costs.malloc, pool->costs.malloc_branches);
	*handle = kmem_cache_alloc(c, pool->handle_cache, gfp);
	if (!*handle)
		return ENOMEM;
	class = class_of(c, pool, zs_class_index(size));

	class_lock(c, pool, class);
	z = take_existing(c, pool, class, *handle, &obj);
	if (z) {
		store_locked(c, pool, z, obj, from, size);
		fix_fullness_group(c, pool, z);
	} else {
		class_unlock(c, pool, class);
		z = alloc_zspage(c, pool, class, gfp, nid);
		if (!z) {
			kmem_cache_free(c, pool->handle_cache, *handle);
			*handle = 0;
			return ENOMEM;
		}
		class_lock(c, pool, class);
		take_first(c, pool, class, z, *handle, &obj);
		store_locked(c, pool, z, obj, from, size);
	}
	class_stat_add(c, class, ZS_STAT_INUSE, 1);
	if (store_outside)
		zspage_read_lock(c, pool, z);
	class_unlock(c, pool, class);
	if (store_outside) {
		obj_write(c, pool, obj, from, size);
		zspage_read_unlock(c, pool, z);
	}
	return 0;
}

int zs_malloc(struct cpu *c, struct zs_pool *pool, unsigned size, unsigned gfp,
	      int nid, sim_addr *handle)
{
	int err;

	cpu_enter(c, pool->frame.malloc);
	err = allocate(c, pool, 0, size, gfp, nid, handle);
	cpu_leave(c);
	return err;
}

int zs_store(struct cpu *c, struct zs_pool *pool, sim_addr from, unsigned size,
	     unsigned gfp, int nid, sim_addr *handle)
{
	int err;

	g_assert(pool->build->features.zs_store && from);
	cpu_enter(c, pool->frame.store);
	err = allocate(c, pool, from, size, gfp, nid, handle);
	cpu_leave(c);
	return err;
}

int zs_save(struct cpu *c, struct zs_pool *pool, sim_addr from, unsigned size,
	    unsigned gfp, int nid, sim_addr *handle)
{
	int err;

	if (pool->build->features.zs_store)
		return zs_store(c, pool, from, size, gfp, nid, handle);
	err = zs_malloc(c, pool, size, gfp, nid, handle);
	if (!err)
		zs_obj_write(c, pool, *handle, from, size);
	return err;
}

/*
 * From a handle to its place. Under the pool's lock, as compaction rewrites
 * handles: who holds a class's lock or pins the zspage may let go of it.
 */
static struct zs_place look_up(struct cpu *c, struct zs_pool *pool,
			       sim_addr handle)
{
	struct zs_place at;

	cpu_read(c, handle);
	at = obj_to_location(pool, handle_word(pool, handle));
	cpu_read(c, zspage_struct_page(pool, at.zspage, at.page));
	cpu_read(c, at.zspage->addr + ZSPAGE_FLAGS);
	return at;
}

static struct zs_place look_up_and_pin(struct cpu *c, struct zs_pool *pool,
				       sim_addr handle)
{
	struct zs_place at;

	pool_read_lock(c, pool);
	at = look_up(c, pool, handle);
	zspage_read_lock(c, pool, at.zspage);
	pool_read_unlock(c, pool);
	class_of(c, pool, at.zspage->class->shape.index);
	cpu_read(c, at.zspage->class->addr + CLASS_SIZE);
	return at;
}

void zs_obj_write(struct cpu *c, struct zs_pool *pool, sim_addr handle,
		  sim_addr from, unsigned len)
{
	struct zs_place at;

	cpu_enter(c, pool->frame.write);
	cpu_exec(c, pool->costs.write);
	at = look_up_and_pin(c, pool, handle);
	object_copy_in(c, pool, at, from, len);
	zspage_read_unlock(c, pool, at.zspage);
	cpu_leave(c);
}

sim_addr zs_obj_read_begin(struct cpu *c, struct zs_pool *pool,
			   sim_addr handle, unsigned len, sim_addr bounce)
{
	struct zs_place at;
	sim_addr where;
	unsigned first;

	cpu_enter(c, pool->frame.read);
	cpu_exec(c, pool->costs.read_begin);
	at = look_up_and_pin(c, pool, handle);
	where = object_address(at.zspage, at.index) +
		(at.zspage->class->shape.huge ? 0 : ZS_HANDLE_SIZE);
	if (object_spans(at.zspage, at.index, len)) {
		first = ZS_PAGE - where % ZS_PAGE;
		cpu_exec(c, 2 * pool->costs.copy_call +
				    pool->costs.copy_64_bytes *
					    (len / SIM_LINE));
		cpu_copy(c, bounce, where, first);
		cpu_copy(c, bounce + first, at.zspage->pages[at.page + 1],
			 len - first);
		where = bounce;
	}
	cpu_leave(c);
	return where;
}

void zs_obj_read_end(struct cpu *c, struct zs_pool *pool, sim_addr handle)
{
	struct zs_place at;

	cpu_enter(c, pool->frame.read);
	cpu_exec(c, pool->costs.read_end);
	at = look_up(c, pool, handle); /* pinned: it can't have moved */
	zspage_read_unlock(c, pool, at.zspage);
	cpu_leave(c);
}

void zs_free(struct cpu *c, struct zs_pool *pool, sim_addr handle)
{
	struct zs_class *class;
	struct zs_place at;

	cpu_enter(c, pool->frame.free);
	cpu_exec(c, pool->costs.free);
	pool_read_lock(c, pool);
	at = look_up(c, pool, handle);
	class = class_of(c, pool, at.zspage->class->shape.index);
	class_lock(c, pool, class);
	pool_read_unlock(c, pool);
	class_stat_add(c, class, ZS_STAT_INUSE, -1);
	obj_free(c, pool, handle_word(pool, handle));
	g_hash_table_remove(pool->words, GSIZE_TO_POINTER(handle));
	if (fix_fullness_group(c, pool, at.zspage) == ZS_EMPTY)
		free_zspage(c, pool, at.zspage);
	class_unlock(c, pool, class);
	kmem_cache_free(c, pool->handle_cache, handle);
	cpu_leave(c);
}

sim_addr zs_page_lock(struct zs_pool *pool, sim_addr handle)
{
	struct zs_place at = obj_to_location(pool, handle_word(pool, handle));

	at.zspage->locked_pages++;
	return at.zspage->pages[at.page];
}

void zs_page_unlock(struct zs_pool *pool, sim_addr page)
{
	struct zspage *z = g_hash_table_lookup(pool->frames,
					       GSIZE_TO_POINTER(page / ZS_PAGE));

	g_assert(z && z->locked_pages > 0);
	z->locked_pages--;
}

/* The worker takes all empty zspages of a class at once and waits for their
 * pages' locks; here those whose pages are still locked stay for its next
 * run, as nobody would wake it otherwise. */
void zs_free_deferred(struct cpu *c, struct zs_pool *pool)
{
	pool->deferred = false;
	for (int i = 0; i < ZS_CLASSES; i++) {
		struct zs_class *class = pool->class[i];
		GList *l, *next;

		if (class->shape.index != (unsigned)i)
			continue;
		class_lock(c, pool, class);
		for (l = class->groups[ZS_EMPTY].head; l; l = next) {
			next = l->next;
			free_zspage(c, pool, l->data);
		}
		class_unlock(c, pool, class);
	}
}
