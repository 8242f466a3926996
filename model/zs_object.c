/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects in zspages: the location word, taking and giving back a slot, and
 * the pin that keeps an object where it is while it is read or written.
 */
#include "model/zs_pool.h"

static unsigned object_offset(const struct zspage *z, unsigned index)
{
	return z->class->shape.size * index;
}

sim_addr object_address(const struct zspage *z, unsigned index)
{
	unsigned off = object_offset(z, index);

	return z->pages[off / ZS_PAGE] + off % ZS_PAGE;
}

static zs_obj location_to_obj(const struct zspage *z, unsigned index)
{
	uint64_t frame = object_address(z, index) / ZS_PAGE;

	return frame << ZS_INDEX_BITS | index;
}

zs_obj handle_word(const struct zs_pool *pool, sim_addr handle)
{
	gpointer word = g_hash_table_lookup(pool->words,
					    GSIZE_TO_POINTER(handle));

	g_assert(word);
	return GPOINTER_TO_SIZE(word);
}

struct zs_place obj_to_location(const struct zs_pool *pool, zs_obj obj)
{
	struct zs_place at;

	at.zspage = g_hash_table_lookup(pool->frames,
					GSIZE_TO_POINTER(obj >> ZS_INDEX_BITS));
	g_assert(at.zspage);
	at.index = obj & ((1u << ZS_INDEX_BITS) - 1);
	at.page = object_offset(at.zspage, at.index) / ZS_PAGE;
	return at;
}

bool object_spans(const struct zspage *z, unsigned index, unsigned len)
{
	unsigned off = object_offset(z, index) % ZS_PAGE;

	if (!z->class->shape.huge)
		off += ZS_HANDLE_SIZE;
	return off + len > ZS_PAGE;
}

zs_obj obj_malloc(struct cpu *c, struct zs_pool *pool, struct zspage *z,
		  sim_addr handle)
{
	const struct zs_costs *k = &pool->costs;
	unsigned index = z->freeobj, page = object_offset(z, index) / ZS_PAGE;
	sim_addr object = object_address(z, index);
	zs_obj obj;

	g_assert(z->freeobj >= 0);
	cpu_enter(c, pool->frame.obj_malloc);
	zs_exec(c, pool, k->obj_malloc, k->obj_malloc_branches);
	cpu_read(c, z->addr + ZSPAGE_FLAGS);
	cpu_read(c, z->class->addr + CLASS_SIZE);
	for (unsigned i = 0; i < page; i++) { /* the chain, from its first page */
		cpu_exec(c, k->hop);
		cpu_read(c, zspage_struct_page(pool, z, i));
	}
	cpu_read(c, object);
	z->freeobj = z->next_free[index];
	cpu_write(c, z->class->shape.huge ?
			     zspage_struct_page(pool, z, page) : object);
	z->handle[index] = handle;
	z->inuse++;
	cpu_write(c, z->addr + ZSPAGE_FLAGS);
	obj = location_to_obj(z, index);
	g_hash_table_insert(pool->words, GSIZE_TO_POINTER(handle),
			    GSIZE_TO_POINTER(obj));
	cpu_write(c, handle);
	cpu_leave(c);
	return obj;
}

void obj_free(struct cpu *c, struct zs_pool *pool, zs_obj obj)
{
	const struct zs_costs *k = &pool->costs;
	struct zs_place at = obj_to_location(pool, obj);
	struct zspage *z = at.zspage;

	g_assert(z->handle[at.index]);
	cpu_enter(c, pool->frame.obj_free);
	zs_exec(c, pool, k->obj_free, k->obj_free_branches);
	cpu_read(c, zspage_struct_page(pool, z, at.page));
	cpu_read(c, z->addr + ZSPAGE_FLAGS);
	cpu_write(c, z->class->shape.huge ?
			     zspage_struct_page(pool, z, at.page) :
			     object_address(z, at.index));
	z->handle[at.index] = 0;
	z->next_free[at.index] = z->freeobj;
	z->freeobj = at.index;
	z->inuse--;
	cpu_write(c, z->addr + ZSPAGE_FLAGS);
	cpu_leave(c);
}

static void copy_part(struct cpu *c, const struct zs_costs *k, sim_addr to,
		      sim_addr from, unsigned len)
{
	cpu_exec(c, k->copy_call + k->copy_64_bytes * (len / SIM_LINE));
	cpu_copy(c, to, from, len);
}

void object_copy_in(struct cpu *c, struct zs_pool *pool, struct zs_place at,
		    sim_addr from, unsigned len)
{
	const struct zs_costs *k = &pool->costs;
	struct zspage *z = at.zspage;
	sim_addr to = object_address(z, at.index);
	unsigned first;

	g_assert(len <= z->class->shape.size -
				(z->class->shape.huge ? 0 : ZS_HANDLE_SIZE));
	if (!z->class->shape.huge)
		to += ZS_HANDLE_SIZE;
	if (!object_spans(z, at.index, len)) {
		copy_part(c, k, to, from, len);
		return;
	}
	first = ZS_PAGE - to % ZS_PAGE; /* never 0: offsets step by 16 */
	copy_part(c, k, to, from, first);
	cpu_exec(c, k->write_second_page);
	cpu_read(c, zspage_struct_page(pool, z, at.page));
	copy_part(c, k, z->pages[at.page + 1], from + first, len - first);
}

void obj_write(struct cpu *c, struct zs_pool *pool, zs_obj obj, sim_addr from,
	       unsigned len)
{
	const struct zs_costs *k = &pool->costs;
	struct zs_place at = obj_to_location(pool, obj);

	cpu_enter(c, pool->frame.obj_write);
	zs_exec(c, pool, k->obj_write, k->obj_write_branches);
	cpu_read(c, zspage_struct_page(pool, at.zspage, at.page));
	object_copy_in(c, pool, at, from, len);
	cpu_leave(c);
}

static void zspage_lock(struct cpu *c, struct zs_pool *pool, struct zspage *z)
{
	cpu_exec(c, pool->costs.lock_call);
	cpu_lock(c, &z->lock);
}

static void zspage_unlock(struct cpu *c, struct zs_pool *pool,
			  struct zspage *z)
{
	cpu_exec(c, pool->costs.lock_call);
	cpu_unlock(c, &z->lock);
}

void zspage_read_lock(struct cpu *c, struct zs_pool *pool, struct zspage *z)
{
	zspage_lock(c, pool, z);
	g_assert(z->readers >= 0); /* writers hold the pool lock against us */
	z->readers++;
	cpu_write(c, z->addr + ZSPAGE_LOCK);
	zspage_unlock(c, pool, z);
}

void zspage_read_unlock(struct cpu *c, struct zs_pool *pool, struct zspage *z)
{
	zspage_lock(c, pool, z);
	g_assert(z->readers > 0);
	z->readers--;
	cpu_write(c, z->addr + ZSPAGE_LOCK);
	zspage_unlock(c, pool, z);
}

/* A writer keeps the spinlock: readers of its zspage wait for it. */
bool zspage_write_trylock(struct cpu *c, struct zs_pool *pool,
			  struct zspage *z)
{
	zspage_lock(c, pool, z);
	if (z->readers) {
		zspage_unlock(c, pool, z);
		return false;
	}
	z->readers = -1;
	return true;
}

void zspage_write_unlock(struct cpu *c, struct zs_pool *pool,
			 struct zspage *z)
{
	g_assert(z->readers == -1);
	z->readers = 0;
	zspage_unlock(c, pool, z);
}
