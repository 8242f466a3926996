/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checker: everything counted a second time from the objects. */
#include "model/zs_pool.h"

static char *verify_zspage(const struct zs_pool *pool, const struct zspage *z,
			   int group)
{
	const struct zs_class_shape *s = &z->class->shape;
	unsigned used = 0, free = 0;

	for (unsigned i = 0; i < s->objs_per_zspage; i++) {
		struct zs_place at;

		if (!z->handle[i])
			continue;
		used++;
		if (!g_hash_table_contains(pool->words,
					   GSIZE_TO_POINTER(z->handle[i])))
			return g_strdup_printf(
				"zspage %" G_GUINT64_FORMAT ": object %u "
				"belongs to a handle that is free", z->id, i);
		at = obj_to_location(pool, handle_word(pool, z->handle[i]));
		if (at.zspage != z || at.index != i)
			return g_strdup_printf(
				"zspage %" G_GUINT64_FORMAT ": the handle of "
				"object %u names another place", z->id, i);
	}
	for (int i = z->freeobj; i >= 0; i = z->next_free[i]) {
		if (z->handle[i] || ++free > s->objs_per_zspage)
			return g_strdup_printf(
				"zspage %" G_GUINT64_FORMAT ": its free list "
				"holds a used object or is a ring", z->id);
	}
	if (used != z->inuse || used + free != s->objs_per_zspage)
		return g_strdup_printf(
			"zspage %" G_GUINT64_FORMAT ": %u used and %u free of "
			"%u objects, inuse says %u",
			z->id, used, free, s->objs_per_zspage, z->inuse);
	if (z->group != group || get_fullness_group(z) != group)
		return g_strdup_printf(
			"zspage %" G_GUINT64_FORMAT ": on the list of group "
			"%d, but its fullness is %d",
			z->id, group, get_fullness_group(z));
	return NULL;
}

static char *verify_class(const struct zs_pool *pool,
			  const struct zs_class *class, uint64_t *pages)
{
	uint64_t zspages = 0, used = 0;

	for (int g = 0; g < ZS_GROUPS; g++) {
		for (GList *l = class->groups[g].head; l; l = l->next) {
			const struct zspage *z = l->data;
			char *wrong = verify_zspage(pool, z, g);

			if (wrong)
				return wrong;
			used += z->inuse;
		}
		if (class->groups[g].length != class->stats[g])
			return g_strdup_printf(
				"class %u: %u zspages in group %d, counted %"
				G_GUINT64_FORMAT, class->shape.index,
				class->groups[g].length, g, class->stats[g]);
		zspages += class->groups[g].length;
	}
	*pages += zspages * class->shape.pages_per_zspage;
	if (used != class->stats[ZS_STAT_INUSE] ||
	    zspages * class->shape.objs_per_zspage !=
		    class->stats[ZS_STAT_ALLOCATED])
		return g_strdup_printf(
			"class %u: %" G_GUINT64_FORMAT " objects used in %"
			G_GUINT64_FORMAT " zspages, counted %"
			G_GUINT64_FORMAT " used of %" G_GUINT64_FORMAT,
			class->shape.index, used, zspages,
			class->stats[ZS_STAT_INUSE],
			class->stats[ZS_STAT_ALLOCATED]);
	return NULL;
}

char *zs_verify(const struct zs_pool *pool, const sim_addr *held, size_t n)
{
	uint64_t pages = 0;

	for (int i = 0; i < ZS_CLASSES; i++) {
		char *wrong;

		if (pool->class[i]->shape.index != (unsigned)i)
			continue;
		wrong = verify_class(pool, pool->class[i], &pages);
		if (wrong)
			return wrong;
	}
	if (pages != pool->pages_allocated)
		return g_strdup_printf("%" G_GUINT64_FORMAT
				       " pages in zspages, counted %"
				       G_GUINT64_FORMAT,
				       pages, pool->pages_allocated);
	if (g_hash_table_size(pool->words) != n)
		return g_strdup_printf("%u handles are allocated, the caller "
				       "holds %zu",
				       g_hash_table_size(pool->words), n);
	for (size_t i = 0; held && i < n; i++)
		if (!g_hash_table_contains(pool->words,
					   GSIZE_TO_POINTER(held[i])))
			return g_strdup_printf("handle %zu of the caller's is "
					       "not allocated", i);
	return NULL;
}

/* A zspage with used objects and, if @partial, with free ones. */
static struct zspage *victim(const struct zs_pool *pool, bool partial)
{
	for (int i = 0; i < ZS_CLASSES; i++)
		for (int g = 1; g < (partial ? ZS_FULL : ZS_GROUPS); g++)
			if (pool->class[i]->groups[g].head)
				return pool->class[i]->groups[g].head->data;
	return NULL;
}

enum {
	BREAK_INUSE, BREAK_GROUP, BREAK_COUNT, BREAK_HANDLE, BREAK_RING,
	BREAK_PAGES, BREAK_OBJECT, NR_BREAKS
};

int zs_corruptions(void)
{
	return NR_BREAKS;
}

bool zs_corrupt(struct zs_pool *pool, int kind)
{
	struct zspage *z = victim(pool, kind == BREAK_RING);
	unsigned i = 0;

	if (!z)
		return false;
	while (!z->handle[i])
		i++;
	switch (kind) {
	case BREAK_INUSE:
		z->inuse--;
		break;
	case BREAK_GROUP:
		z->group = z->group == ZS_FULL ? ZS_EMPTY + 1 : ZS_FULL;
		break;
	case BREAK_COUNT:
		z->class->stats[ZS_STAT_INUSE]++;
		break;
	case BREAK_HANDLE:
		g_hash_table_remove(pool->words,
				    GSIZE_TO_POINTER(z->handle[i]));
		break;
	case BREAK_RING:
		z->next_free[z->freeobj] = z->freeobj;
		break;
	case BREAK_PAGES:
		pool->pages_allocated++;
		break;
	case BREAK_OBJECT:
		z->handle[i] = 0;
		break;
	default:
		return false;
	}
	return true;
}
