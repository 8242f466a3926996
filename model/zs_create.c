/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making and unmaking a pool: its caches, its classes, their addresses. */
#include <string.h>

#include "model/zs_pool.h"

static void name_frames(struct machine *m, struct zs_frames *f)
{
	f->malloc = machine_frame(m, "zs_malloc");
	f->store = machine_frame(m, "zs_store");
	f->free = machine_frame(m, "zs_free");
	f->write = machine_frame(m, "zs_obj_write");
	f->read = machine_frame(m, "zs_obj_read");
	f->obj_malloc = machine_frame(m, "obj_malloc");
	f->obj_free = machine_frame(m, "obj_free");
	f->obj_write = machine_frame(m, "obj_write");
	f->find = machine_frame(m, "find_get_zspage");
	f->fix_fullness = machine_frame(m, "fix_fullness_group");
	f->alloc_zspage = machine_frame(m, "alloc_zspage");
	f->free_zspage = machine_frame(m, "free_zspage");
	f->compact = machine_frame(m, "zs_compact");
}

/* One cache for all pools, made by the first, unless each has its own. */
static struct kmem_cache *get_cache(struct slub *sl, struct cpu *c,
				    const char *kind, const char *pool,
				    unsigned size)
{
	g_autofree char *own = pool ? g_strdup_printf("%s-%s", kind, pool) :
				      NULL;
	const char *name = own ? own : kind;
	struct kmem_cache_args args = { .name = name, .object_size = size };

	for (struct kmem_cache *s = slub_next_cache(sl, NULL); s;
	     s = slub_next_cache(sl, s))
		if (!strcmp(kmem_cache_name(s), name))
			return s;
	return kmem_cache_create(sl, c, &args);
}

static sim_addr kzalloc(struct slub *sl, struct cpu *c, size_t bytes)
{
	return kmem_cache_alloc(c, kmalloc_cache(sl, c, bytes),
				GFP_FOR_KERNEL | GFP_ZEROED);
}

static struct zs_class *new_class(struct slub *sl, struct cpu *c,
				  const struct zs_class_shape *shape)
{
	struct zs_class *class = g_new0(struct zs_class, 1);

	class->shape = *shape;
	class->addr = kzalloc(sl, c, CLASS_BYTES);
	machine_name_region(slub_machine(sl), class->addr, CLASS_BYTES,
			    "size_class");
	lock_init(slub_machine(sl), &class->lock, "&class->lock",
		  class->addr + CLASS_LOCK, NULL);
	for (int g = 0; g < ZS_GROUPS; g++)
		g_queue_init(&class->groups[g]);
	return class;
}

struct zs_pool *zs_create_pool(struct slub *sl, struct cpu *c,
			       const char *name, const struct zs_build *b)
{
	struct machine *m = slub_machine(sl);
	struct zs_class_shape shapes[ZS_CLASSES];
	struct zs_pool *pool = g_new0(struct zs_pool, 1);
	const char *own = b->features.caches_per_pool ? name : NULL;

	pool->name = g_strdup(name);
	pool->slub = sl;
	pool->build = b;
	zs_costs_of(&b->codegen, &b->features, &pool->costs);
	name_frames(m, &pool->frame);
	pool->words = g_hash_table_new(NULL, NULL);
	pool->frames = g_hash_table_new(NULL, NULL);
	pool->handle_cache = get_cache(sl, c, "zs_handle", own,
				       ZS_HANDLE_SIZE);
	pool->zspage_cache = get_cache(sl, c, "zspage", own, ZSPAGE_BYTES);
	pool->addr = kzalloc(sl, c, POOL_BYTES);
	machine_name_region(m, pool->addr, POOL_BYTES, "zs_pool");
	rwlock_init(m, &pool->lock, "&pool->lock", pool->addr + POOL_LOCK,
		    NULL);
	zs_class_shapes(b->features.chain_size, shapes);
	for (int i = ZS_CLASSES - 1; i >= 0; i--)
		pool->class[i] = shapes[i].index == (unsigned)i ?
					 new_class(sl, c, &shapes[i]) :
					 pool->class[i + 1];
	return pool;
}

static void destroy_class(struct zs_pool *pool, struct zs_class *class)
{
	for (int g = 0; g < ZS_GROUPS; g++)
		while (class->groups[g].head) {
			GList *l = class->groups[g].head;

			g_queue_unlink(&class->groups[g], l);
			zspage_release(pool, l->data);
		}
	lock_destroy(slub_machine(pool->slub), &class->lock);
	g_free(class);
}

void zs_destroy_pool(struct zs_pool *pool)
{
	for (int i = 0; i < ZS_CLASSES; i++)
		if (pool->class[i]->shape.index == (unsigned)i)
			destroy_class(pool, pool->class[i]);
	lock_destroy(slub_machine(pool->slub), &pool->lock.wait);
	g_hash_table_destroy(pool->words);
	g_hash_table_destroy(pool->frames);
	g_free(pool->name);
	g_free(pool);
}
