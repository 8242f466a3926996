/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fields.h"

#include "model/cache.h"
#include "model/zs_pool.h"

/* A member reaches to the next one of its kind. */
static const struct {
	const char *kind;
	size_t offset;
	const char *name;
} fields[] = {
	{"struct slab", 0, "flags"},
	{"struct slab", 8, "slab_cache"},
	{"struct slab", SLAB_LIST, "slab_list"},
	{"struct slab", SLAB_FREELIST, "freelist"},
	{"struct slab", SLAB_FREELIST + 8, "counters"},
	{"struct slab", SLAB_FREELIST + 16, "refcount"},
	{"kmem_cache", 0, "cpu_slab, sizes"},
	{"kmem_cache", CACHE_NODES, "node[]"},
	{"kmem_cache_cpu", 0, "freelist"},
	{"kmem_cache_cpu", 8, "tid"},
	{"kmem_cache_cpu", 16, "slab"},
	{"kmem_cache_cpu", CPU_PARTIAL, "partial"},
	{"kmem_cache_cpu", CPU_PARTIAL + 8, "lock"},
	{"cpu_stats", 0, "stat[]"},
	{"kmem_cache_node", 0, "list_lock"},
	{"kmem_cache_node", NODE_LIST, "nr_partial"},
	{"kmem_cache_node", NODE_LIST + 8, "partial"},
	{"kmem_cache_node", NODE_NR_SLABS, "nr_slabs"},
	{"kmem_cache_node", NODE_TOTAL_OBJECTS, "total_objects"},
	{"kmem_cache_node", NODE_TOTAL_OBJECTS + 8, "full"},
	{"node_barn", 0, "lock"},
	{"node_barn", BARN_FULL, "sheaves_full"},
	{"node_barn", BARN_EMPTY, "sheaves_empty"},
	{"node_barn", BARN_COUNTS, "nr_full, nr_empty"},
	{"slab_sheaf", 0, "barn_list"},
	{"slab_sheaf", 16, "cache"},
	{"slab_sheaf", SHEAF_SIZE, "size"},
	{"slab_sheaf", SHEAF_HEADER, "objects[]"},
	{"slub_percpu_sheaves", 0, "lock"},
	{"slub_percpu_sheaves", 8, "main"},
	{"slub_percpu_sheaves", 16, "spare"},
	{"slub_percpu_sheaves", 24, "rcu_free"},
	{"per_cpu_pages", 0, "lock, count"},
	{"per_cpu_pages", 8, "high, batch"},
	{"per_cpu_pages", 16, "lists[]"},
	{"zone", 0, "lock"},
	{"zone", 8, "free_area[]"},
	{"zspage", ZSPAGE_FLAGS, "flags, inuse"},
	{"zspage", 8, "freeobj"},
	{"zspage", 16, "first_zpdesc"},
	{"zspage", 24, "list"},
	{"zspage", 40, "pool"},
	{"zspage", ZSPAGE_LOCK, "zsl"},
	{"size_class", CLASS_LOCK, "lock"},
	{"size_class", CLASS_LISTS, "fullness_list[]"},
	{"size_class", CLASS_SIZE, "size, objs_per_zspage"},
	{"size_class", CLASS_STATS, "stats"},
	{"zs_pool", 0, "name"},
	{"zs_pool", POOL_CLASSES, "size_class[]"},
	{"zs_pool", POOL_PAGES, "pages_allocated"},
	{"zs_pool", POOL_PAGES + 8, "stats"},
	{"zs_pool", POOL_LOCK, "lock"},
};

const char *slub_field_name(const char *kind, size_t offset)
{
	const char *name = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (!strcmp(fields[i].kind, kind) && fields[i].offset <= offset)
			name = fields[i].name;
	return name;
}
