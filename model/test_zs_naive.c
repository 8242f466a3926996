/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/test_zs_naive.h"

struct page_group { /* a zspage */
	uint64_t number, arrived; /* when it came to its present group */
	unsigned class_size, pages, objects;
	GArray *slots; /* handle of each object, 0 = free */
	GArray *taken_next; /* free indices, the last one is taken next */
	int locks, level;
};

struct zs_naive {
	unsigned chain;
	GPtrArray *all;
	uint64_t made, clock;
};

static void group_free(gpointer p)
{
	struct page_group *g = p;

	g_array_unref(g->slots);
	g_array_unref(g->taken_next);
	g_free(g);
}

struct zs_naive *zs_naive_new(unsigned chain_size)
{
	struct zs_naive *n = g_new0(struct zs_naive, 1);

	n->chain = chain_size;
	n->all = g_ptr_array_new_with_free_func(group_free);
	return n;
}

void zs_naive_free_pool(struct zs_naive *n)
{
	g_ptr_array_unref(n->all);
	g_free(n);
}

/* ---- sizes: found by trying all ---- */

static unsigned pages_of(const struct zs_naive *n, unsigned size)
{
	unsigned best = 1;

	for (unsigned k = 32; k <= 4096; k *= 2)
		if (size == k)
			return 1;
	for (unsigned p = 1; p <= n->chain; p++)
		if (p * 4096 - p * 4096 / size * size <
		    best * 4096 - best * 4096 / size * size)
			best = p;
	return best;
}

/* The size that serves a request: round up, then as far as neighbours are
 * alike in pages and objects. */
static unsigned size_of(const struct zs_naive *n, unsigned request)
{
	unsigned size = 32;

	while (size < request + 8 && size < 4096)
		size += 16;
	while (size < 4096 &&
	       pages_of(n, size) == pages_of(n, size + 16) &&
	       pages_of(n, size) * 4096 / size ==
		       pages_of(n, size + 16) * 4096 / (size + 16))
		size += 16;
	return size;
}

static unsigned used(const struct page_group *g)
{
	unsigned k = 0;

	for (guint i = 0; i < g->slots->len; i++)
		k += g_array_index(g->slots, uint64_t, i) != 0;
	return k;
}

/* 0 nothing, 1..9 tenths, 10 more, 11 all. */
static int level(const struct page_group *g)
{
	unsigned k = used(g);

	if (k == 0)
		return 0;
	if (k == g->objects)
		return 11;
	for (int tenth = 1;; tenth++)
		if (100 * k / g->objects < 10u * tenth)
			return tenth;
}

static void settle(struct zs_naive *n, struct page_group *g, bool again)
{
	if (again || g->level != level(g)) {
		g->level = level(g);
		g->arrived = ++n->clock;
	}
}

static void put(struct page_group *g, uint64_t handle)
{
	guint last = g->taken_next->len - 1;
	unsigned i = g_array_index(g->taken_next, unsigned, last);

	g_array_set_size(g->taken_next, last);
	g_array_index(g->slots, uint64_t, i) = handle;
}

static void take(struct page_group *g, unsigned i)
{
	g_array_index(g->slots, uint64_t, i) = 0;
	g_array_append_val(g->taken_next, i);
}

/* Of a size, the last to arrive at the best level from @from to @to. */
static struct page_group *best(struct zs_naive *n, unsigned size, int from,
			       int to, const struct page_group *but)
{
	for (int l = from; l != to + (to > from ? 1 : -1);
	     l += to > from ? 1 : -1) {
		struct page_group *newest = NULL;

		for (guint i = 0; i < n->all->len; i++) {
			struct page_group *g = n->all->pdata[i];

			if (g->class_size == size && g->level == l &&
			    g != but &&
			    (!newest || g->arrived > newest->arrived))
				newest = g;
		}
		if (newest)
			return newest;
	}
	return NULL;
}

void zs_naive_malloc(struct zs_naive *n, uint64_t handle, unsigned size)
{
	unsigned class_size = size_of(n, size);
	struct page_group *g = best(n, class_size, 10, 0, NULL);

	if (g) {
		put(g, handle);
		settle(n, g, false);
		return;
	}
	g = g_new0(struct page_group, 1);
	g->number = n->made++;
	g->class_size = class_size;
	g->pages = pages_of(n, class_size);
	g->objects = g->pages * 4096 / class_size;
	g->slots = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	g_array_set_size(g->slots, g->objects);
	g->taken_next = g_array_new(FALSE, FALSE, sizeof(unsigned));
	for (unsigned i = g->objects; i--;)
		g_array_append_val(g->taken_next, i);
	g_ptr_array_add(n->all, g);
	put(g, handle);
	settle(n, g, true);
}

static struct page_group *find(struct zs_naive *n, uint64_t handle,
			       unsigned *at)
{
	for (guint i = 0; i < n->all->len; i++) {
		struct page_group *g = n->all->pdata[i];

		for (*at = 0; *at < g->objects; ++*at)
			if (g_array_index(g->slots, uint64_t, *at) == handle)
				return g;
	}
	g_assert_not_reached();
}

static bool drop_if_empty(struct zs_naive *n, struct page_group *g)
{
	if (used(g) || g->locks)
		return false;
	g_ptr_array_remove(n->all, g);
	return true;
}

void zs_naive_free(struct zs_naive *n, uint64_t handle)
{
	unsigned at;
	struct page_group *g = find(n, handle, &at);

	take(g, at);
	settle(n, g, false);
	drop_if_empty(n, g);
}

void zs_naive_place(struct zs_naive *n, uint64_t handle, uint64_t *zspage,
		    unsigned *index)
{
	*zspage = find(n, handle, index)->number;
}

uint64_t zs_naive_lock(struct zs_naive *n, uint64_t handle)
{
	unsigned at;
	struct page_group *g = find(n, handle, &at);

	g->locks++;
	return g->number;
}

void zs_naive_unlock(struct zs_naive *n, uint64_t zspage)
{
	for (guint i = 0; i < n->all->len; i++) {
		struct page_group *g = n->all->pdata[i];

		if (g->number == zspage)
			g->locks--;
	}
}

void zs_naive_free_deferred(struct zs_naive *n)
{
	for (guint i = n->all->len; i--;)
		drop_if_empty(n, n->all->pdata[i]);
}

/* ---- compaction ---- */

static unsigned spare_zspages(struct zs_naive *n, unsigned size)
{
	unsigned free_slots = 0, objects = pages_of(n, size) * 4096 / size;

	for (guint i = 0; i < n->all->len; i++) {
		struct page_group *g = n->all->pdata[i];

		if (g->class_size == size)
			free_slots += g->objects - used(g);
	}
	return free_slots / objects;
}

static uint64_t compact_size(struct zs_naive *n, unsigned size)
{
	struct page_group *to = NULL, *from;
	uint64_t freed = 0;

	while (spare_zspages(n, size)) {
		if (!to)
			to = best(n, size, 10, 1, NULL);
		from = to ? best(n, size, 1, 10, to) : NULL;
		if (!from)
			break;
		for (unsigned i = 0; i < from->objects; i++) {
			uint64_t h = g_array_index(from->slots, uint64_t, i);

			if (!h || used(to) == to->objects)
				continue;
			put(to, h);
			take(from, i);
		}
		settle(n, from, true);
		if (!used(from)) {
			unsigned pages = from->pages;

			if (drop_if_empty(n, from))
				freed += pages;
		}
		if (used(to) == to->objects) {
			settle(n, to, true);
			to = NULL;
		}
	}
	if (to)
		settle(n, to, true);
	return freed;
}

uint64_t zs_naive_compact(struct zs_naive *n)
{
	uint64_t freed = 0;

	for (unsigned size = 4096; size >= 32; size -= 16)
		if (size_of(n, size - 8) == size)
			freed += compact_size(n, size);
	return freed;
}

/* ---- what is shown ---- */

uint64_t zs_naive_pages(struct zs_naive *n)
{
	uint64_t pages = 0;

	for (guint i = 0; i < n->all->len; i++)
		pages += ((struct page_group *)n->all->pdata[i])->pages;
	return pages;
}

static void add_line(struct zs_naive *n, GString *out, unsigned low,
		     unsigned high)
{
	uint64_t at[12] = { 0 }, objects = 0, in_use = 0, pages = 0;

	for (guint i = 0; i < n->all->len; i++) {
		struct page_group *g = n->all->pdata[i];

		if (g->class_size < low || g->class_size > high)
			continue;
		at[g->level]++;
		objects += g->objects;
		in_use += used(g);
		pages += g->pages;
	}
	for (int l = 1; l < 12; l++)
		g_string_append_printf(out, "%9d ", (int)at[l]);
	g_string_append_printf(out, "%13d %10d %10d ", (int)objects,
			       (int)in_use, (int)pages);
}

char *zs_naive_classes(struct zs_naive *n)
{
	GString *out = g_string_new(
		" class  size       10%       20%       30%       40%       50%"
		"       60%       70%       80%       90%       99%      100% "
		"obj_allocated   obj_used pages_used pages_per_zspage "
		"freeable\n");
	int freeable = 0;

	for (unsigned size = 32; size <= 4096; size += 16) {
		int spare = spare_zspages(n, size) * pages_of(n, size);

		if (size_of(n, size - 8) != size)
			continue;
		g_string_append_printf(out, " %5u %5u ", (size - 32) / 16,
				       size);
		add_line(n, out, size, size);
		g_string_append_printf(out, "%16u %8d\n", pages_of(n, size),
				       spare);
		freeable += spare;
	}
	g_string_append(out, "\n Total       ");
	add_line(n, out, 0, 4096);
	g_string_append_printf(out, "%16s %8d\n\n", "", freeable);
	return g_string_free(out, FALSE);
}
