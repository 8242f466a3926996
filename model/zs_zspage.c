/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zspages: chains of order-0 pages, and the lists they are kept on. */
#include "model/zs_pool.h"

static sim_addr list_head_addr(const struct zs_class *class, int group)
{
	return class->addr + CLASS_LISTS + 16u * group;
}

void class_stat_add(struct cpu *c, struct zs_class *class, int stat, int by)
{
	class->stats[stat] += by;
	cpu_read(c, class->addr + CLASS_STATS + 8u * stat);
	cpu_write(c, class->addr + CLASS_STATS + 8u * stat);
}

int get_fullness_group(const struct zspage *z)
{
	unsigned objs = z->class->shape.objs_per_zspage;

	if (!z->inuse)
		return ZS_EMPTY;
	if (z->inuse == objs)
		return ZS_FULL;
	return 100 * z->inuse / objs / 10 + 1;
}

/* A list operation writes both neighbours: zspages or the list's head. */
static void touch_neighbour(struct cpu *c, const struct zs_class *class,
			    int group, GList *l)
{
	const struct zspage *z = l ? l->data : NULL;

	cpu_write(c, z ? z->addr : list_head_addr(class, group));
}

void insert_zspage(struct cpu *c, struct zspage *z, int group)
{
	GQueue *q = &z->class->groups[group];

	cpu_read(c, list_head_addr(z->class, group));
	touch_neighbour(c, z->class, group, q->head);
	cpu_write(c, list_head_addr(z->class, group));
	cpu_write(c, z->addr);
	g_queue_push_head_link(q, &z->node);
	z->group = group;
	z->isolated = false;
	class_stat_add(c, z->class, group, 1);
}

void remove_zspage(struct cpu *c, struct zspage *z)
{
	GQueue *q = &z->class->groups[z->group];

	cpu_read(c, z->addr);
	touch_neighbour(c, z->class, z->group, z->node.prev);
	touch_neighbour(c, z->class, z->group, z->node.next);
	g_queue_unlink(q, &z->node);
	z->isolated = true;
	class_stat_add(c, z->class, z->group, -1);
}

int fix_fullness_group(struct cpu *c, struct zs_pool *pool, struct zspage *z)
{
	int group = get_fullness_group(z);

	cpu_enter(c, pool->frame.fix_fullness);
	cpu_exec(c, pool->costs.fullness);
	cpu_read(c, z->class->addr + CLASS_SIZE);
	if (group != z->group) {
		cpu_exec(c, pool->costs.fullness_move);
		remove_zspage(c, z);
		insert_zspage(c, z, group);
	}
	cpu_leave(c);
	return group;
}

/* The fullest first; an empty one that could not be freed is the last. */
struct zspage *find_get_zspage(struct cpu *c, struct zs_pool *pool,
			       struct zs_class *class)
{
	for (int g = ZS_ALMOST_FULL; g >= ZS_EMPTY; g--) {
		cpu_exec(c, pool->costs.list_head);
		cpu_read(c, list_head_addr(class, g));
		if (class->groups[g].head)
			return class->groups[g].head->data;
	}
	return NULL;
}

/* Links every object to the next: the first word of each is written. */
static void init_zspage(struct cpu *c, struct zs_pool *pool, struct zspage *z)
{
	unsigned objs = z->class->shape.objs_per_zspage;

	for (unsigned i = 0; i < objs; i++) {
		z->next_free[i] = i + 1 < objs ? (int)i + 1 : -1;
		cpu_exec(c, pool->costs.free_link);
		cpu_write(c, object_address(z, i));
	}
	for (unsigned p = 0; p < z->class->shape.pages_per_zspage; p++)
		cpu_write(c, zspage_struct_page(pool, z, p));
	z->freeobj = 0;
	cpu_write(c, z->addr);
}

static bool get_pages(struct cpu *c, struct zs_pool *pool, struct zspage *z,
		      unsigned gfp, int nid)
{
	unsigned n = z->class->shape.pages_per_zspage;

	for (unsigned i = 0; i < n; i++) {
		z->pages[i] = alloc_pages(c, pool->slub, gfp, 0, nid);
		if (!z->pages[i]) {
			while (i--)
				free_pages(c, pool->slub, z->pages[i], 0);
			return false;
		}
		cpu_exec(c, pool->costs.alloc_zspage_page);
		cpu_write(c, zspage_struct_page(pool, z, i));
	}
	return true;
}

struct zspage *alloc_zspage(struct cpu *c, struct zs_pool *pool,
			    struct zs_class *class, unsigned gfp, int nid)
{
	const struct zs_class_shape *s = &class->shape;
	struct zspage *z;
	sim_addr addr;

	addr = kmem_cache_alloc(c, pool->zspage_cache, gfp | GFP_ZEROED);
	if (!addr)
		return NULL;
	cpu_enter(c, pool->frame.alloc_zspage);
	cpu_exec(c, pool->costs.alloc_zspage);
	z = g_new0(struct zspage, 1);
	z->class = class;
	z->addr = addr;
	z->node.data = z;
	z->isolated = true;
	z->pages = g_new0(sim_addr, s->pages_per_zspage);
	if (!get_pages(c, pool, z, gfp, nid)) {
		kmem_cache_free(c, pool->zspage_cache, addr);
		g_free(z->pages);
		g_free(z);
		cpu_leave(c);
		return NULL;
	}
	z->handle = g_new0(sim_addr, s->objs_per_zspage);
	z->next_free = g_new0(int, s->objs_per_zspage);
	z->id = pool->zspages_made++;
	machine_name_region(slub_machine(pool->slub), addr, ZSPAGE_BYTES,
			    "zspage");
	lock_init(slub_machine(pool->slub), &z->lock,
		  "&zspage->zsl.lock", addr + ZSPAGE_LOCK, NULL);
	for (unsigned i = 0; i < s->pages_per_zspage; i++)
		g_hash_table_insert(pool->frames,
				    GSIZE_TO_POINTER(z->pages[i] / ZS_PAGE), z);
	init_zspage(c, pool, z);
	cpu_leave(c);
	return z;
}

void zspage_release(struct zs_pool *pool, struct zspage *z)
{
	for (unsigned i = 0; i < z->class->shape.pages_per_zspage; i++)
		g_hash_table_remove(pool->frames,
				    GSIZE_TO_POINTER(z->pages[i] / ZS_PAGE));
	lock_destroy(slub_machine(pool->slub), &z->lock);
	g_free(z->pages);
	g_free(z->handle);
	g_free(z->next_free);
	g_free(z);
}

bool free_zspage(struct cpu *c, struct zs_pool *pool, struct zspage *z)
{
	const struct zs_class_shape *s = &z->class->shape;

	g_assert(!z->inuse);
	/* the bit in each struct page, all of them before anything is freed */
	for (unsigned i = 0; i < s->pages_per_zspage; i++)
		cpu_rmw(c, zspage_struct_page(pool, z, i), RMW_LOCK);
	if (z->locked_pages) {
		pool->deferred = true;
		return false;
	}
	cpu_enter(c, pool->frame.free_zspage);
	cpu_exec(c, pool->costs.free_zspage);
	if (!z->isolated)
		remove_zspage(c, z);
	for (unsigned i = 0; i < s->pages_per_zspage; i++) {
		cpu_exec(c, pool->costs.free_zspage_page);
		cpu_write(c, zspage_struct_page(pool, z, i));
		free_pages(c, pool->slub, z->pages[i], 0);
	}
	kmem_cache_free(c, pool->zspage_cache, z->addr);
	class_stat_add(c, z->class, ZS_STAT_ALLOCATED,
		       -(int)s->objs_per_zspage);
	pool->pages_allocated -= s->pages_per_zspage;
	cpu_rmw(c, pool->addr + POOL_PAGES, RMW_LOCK);
	zspage_release(pool, z);
	cpu_leave(c);
	return true;
}
