/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random scripts on a pool and on the naive second implementation: after each
 * step the file of debugfs and every object's place must be the same, and the
 * checker must be content. Then that the checker notices what is broken.
 */
#include <errno.h>

#include "model/test_zs_naive.h"
#include "model/zsmalloc.h"
#include "sim/topology.h"

struct bench {
	struct topology *t;
	struct machine *m;
	struct features f;
	struct slub *sl;
	struct zs_build build;
	struct zs_pool *pool;
	struct zs_naive *naive;
	sim_addr buffer;
	GArray *held, *locked; /* sim_addr; struct lock_pair */
	GRand *rand;
	const char *phase;
};

struct lock_pair {
	sim_addr page;
	uint64_t naive;
};

static void bench_init(struct bench *b, guint32 seed, unsigned chain,
		       bool store)
{
	*b = (struct bench){ .rand = g_rand_new_with_seed(seed) };
	b->t = topology_new("two", 2, 2);
	for (int i = 0; i < 2; i++) {
		b->t->cpus[i].online = b->t->nodes[i].online = true;
		b->t->cpus[i].node = b->t->cpus[i].socket = i;
		b->t->cpus[i].l3 = b->t->nodes[i].socket = i;
		b->t->nodes[i].memory_bytes = 8ull << 30;
	}
	topology_finish(b->t);
	b->m = machine_new(b->t, NULL, MACHINE_TIMELESS, seed);
	b->f = (struct features){ .sheaves = SHEAVES_ALL, .slub_stats = true,
				  .stat_set = STATS_SHEAVES };
	b->sl = slub_new(b->m, &b->f, NULL);
	zs_features_defaults(&b->build.features);
	b->build.features.chain_size = chain;
	b->build.features.zs_store = store;
	b->build.features.copy_in_class_lock = store;
	b->pool = zs_create_pool(b->sl, machine_cpu(b->m, 0), "test",
				 &b->build);
	b->naive = zs_naive_new(chain);
	b->buffer = machine_reserve(b->m, 0, ZS_PAGE, ZS_PAGE);
	b->held = g_array_new(FALSE, FALSE, sizeof(sim_addr));
	b->locked = g_array_new(FALSE, FALSE, sizeof(struct lock_pair));
}

static void bench_clear(struct bench *b)
{
	zs_destroy_pool(b->pool);
	zs_naive_free_pool(b->naive);
	slub_free(b->sl);
	machine_free(b->m);
	topology_free(b->t);
	g_array_unref(b->held);
	g_array_unref(b->locked);
	g_rand_free(b->rand);
}

static void check(struct bench *b)
{
	g_autofree char *ours = zs_classes_show(b->pool);
	g_autofree char *theirs = zs_naive_classes(b->naive);
	g_autofree char *wrong = zs_verify(
		b->pool, (sim_addr *)b->held->data, b->held->len);

	g_assert_cmpstr(wrong, ==, NULL);
	g_assert_cmpstr(ours, ==, theirs);
	g_assert_cmpuint(zs_get_total_pages(b->pool), ==,
			 zs_naive_pages(b->naive));
	for (guint i = 0; i < b->held->len; i++) {
		sim_addr h = g_array_index(b->held, sim_addr, i);
		uint64_t zspage, zspage2;
		unsigned index, index2;

		zs_handle_place(b->pool, h, &zspage, &index);
		zs_naive_place(b->naive, h, &zspage2, &index2);
		g_assert_cmpuint(zspage, ==, zspage2);
		g_assert_cmpuint(index, ==, index2);
	}
}

static void do_alloc(struct bench *b, struct cpu *c)
{
	/* few sizes, so that zspages fill; now and then any size */
	static const unsigned few[] = { 40, 777, 2048, 3136, 4096 };
	unsigned size = g_rand_int_range(b->rand, 0, 8) ?
				few[g_rand_int_range(b->rand, 0, 5)] :
				(unsigned)g_rand_int_range(b->rand, 1, 4097);
	sim_addr handle;

	g_assert_cmpint(zs_save(c, b->pool, b->buffer, size, GFP_FOR_KERNEL,
				NO_NODE, &handle), ==, 0);
	zs_naive_malloc(b->naive, handle, size);
	g_array_append_val(b->held, handle);
}

static sim_addr pick(struct bench *b, bool remove)
{
	guint i = g_rand_int_range(b->rand, 0, b->held->len);
	sim_addr h = g_array_index(b->held, sim_addr, i);

	if (remove)
		g_array_remove_index_fast(b->held, i);
	return h;
}

static void do_lock(struct bench *b)
{
	sim_addr h = pick(b, false);
	struct lock_pair l = { zs_page_lock(b->pool, h),
			       zs_naive_lock(b->naive, h) };

	g_array_append_val(b->locked, l);
}

static void do_unlock(struct bench *b)
{
	guint i = g_rand_int_range(b->rand, 0, b->locked->len);
	struct lock_pair l = g_array_index(b->locked, struct lock_pair, i);

	zs_page_unlock(b->pool, l.page);
	zs_naive_unlock(b->naive, l.naive);
	g_array_remove_index_fast(b->locked, i);
}

static void step(struct bench *b, int grow)
{
	struct cpu *c = machine_cpu(b->m, g_rand_int_range(b->rand, 0, 2));
	int what = g_rand_int_range(b->rand, 0, 100);

	if (what < grow || !b->held->len) {
		do_alloc(b, c);
	} else if (what < 90) {
		sim_addr h = pick(b, true);

		zs_free(c, b->pool, h);
		zs_naive_free(b->naive, h);
	} else if (what < 92) {
		sim_addr h = pick(b, false);

		zs_obj_read_begin(c, b->pool, h, 30, b->buffer);
		zs_obj_read_end(c, b->pool, h);
	} else if (what < 94) {
		do_lock(b);
	} else if (what < 96 && b->locked->len) {
		do_unlock(b);
	} else if (what < 98) {
		zs_free_deferred(c, b->pool);
		zs_naive_free_deferred(b->naive);
	} else {
		uint64_t could = zs_compactable(b->pool);
		uint64_t freed = zs_compact(c, b->pool);

		g_assert_cmpuint(freed, ==, zs_naive_compact(b->naive));
		g_assert_cmpuint(freed, <=, could);
	}
}

static void run_script(guint32 seed, unsigned chain, bool store)
{
	struct bench b;

	bench_init(&b, seed, chain, store);
	for (int i = 0; i < 900; i++) {
		step(&b, i % 300 < 150 ? 65 : 25);
		if (i % 5 == 0)
			check(&b);
	}
	check(&b);
	bench_clear(&b);
}

static void test_random(void)
{
	for (guint32 seed = 1; seed <= 12; seed++)
		run_script(seed, 4 + seed % 13, seed % 2);
}

static void test_limits(void)
{
	struct bench b;
	struct cpu *c;
	sim_addr h;

	bench_init(&b, 1, 8, false);
	c = machine_cpu(b.m, 0);
	g_assert_cmpint(zs_malloc(c, b.pool, 0, 0, NO_NODE, &h), ==, EINVAL);
	g_assert_cmpint(zs_malloc(c, b.pool, 4097, 0, NO_NODE, &h), ==,
			ENOSPC);
	check(&b);
	bench_clear(&b);
}

/* Fills three zspages and frees most: what is left fits into one. */
static void test_compact(void)
{
	struct bench b;
	struct cpu *c;
	GArray *all = g_array_new(FALSE, FALSE, sizeof(sim_addr));
	sim_addr h;

	bench_init(&b, 1, 8, false);
	c = machine_cpu(b.m, 0);
	for (int i = 0; i < 27; i++) { /* 9 objects of 7 pages each */
		zs_malloc(c, b.pool, 3136, GFP_FOR_KERNEL, NO_NODE, &h);
		g_array_append_val(all, h);
	}
	g_assert_cmpuint(zs_get_total_pages(b.pool), ==, 21);
	for (int i = 0; i < 27; i++) {
		h = g_array_index(all, sim_addr, i);
		if (i % 3)
			zs_free(c, b.pool, h);
		else
			g_array_append_val(b.held, h);
	}
	g_assert_cmpuint(zs_compactable(b.pool), ==, 14);
	g_assert_cmpuint(zs_compact(c, b.pool), ==, 14);
	g_assert_cmpuint(zs_get_total_pages(b.pool), ==, 7);
	g_assert_cmpstr(zs_verify(b.pool, (sim_addr *)b.held->data, 9), ==,
			NULL);
	g_array_unref(all);
	bench_clear(&b);
}

static void test_notices(void)
{
	for (int kind = 0; kind < zs_corruptions(); kind++) {
		g_autofree char *wrong = NULL;
		struct bench b;

		bench_init(&b, 7, 8, false);
		for (int i = 0; i < 50; i++)
			do_alloc(&b, machine_cpu(b.m, 0));
		check(&b);
		g_assert_true(zs_corrupt(b.pool, kind));
		wrong = zs_verify(b.pool, (sim_addr *)b.held->data,
				  b.held->len);
		g_assert_nonnull(wrong);
		g_test_message("%d: %s", kind, wrong);
		bench_clear(&b);
	}
}

static void test_handles_are_slab_objects(void)
{
	struct bench b;

	bench_init(&b, 1, 8, false);
	for (int i = 0; i < 100; i++)
		do_alloc(&b, machine_cpu(b.m, 0));
	for (struct kmem_cache *s = slub_next_cache(b.sl, NULL); s;
	     s = slub_next_cache(b.sl, s))
		if (!g_strcmp0(kmem_cache_name(s), "zs_handle")) {
			g_autofree char *wrong = kmem_cache_verify(
				s, (sim_addr *)b.held->data, b.held->len);

			g_assert_cmpuint(kmem_cache_object_size(s), ==, 8);
			g_assert_cmpstr(wrong, ==, NULL);
			bench_clear(&b);
			return;
		}
	g_assert_not_reached();
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/zsmalloc/limits", test_limits);
	g_test_add_func("/zsmalloc/random-against-naive", test_random);
	g_test_add_func("/zsmalloc/compact", test_compact);
	g_test_add_func("/zsmalloc/checker-notices", test_notices);
	g_test_add_func("/zsmalloc/handles", test_handles_are_slab_objects);
	return g_test_run();
}
