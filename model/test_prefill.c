/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefilled sheaves: their counters, and the naive implementation's. */
#include "model/prefill.h"

#include "model/cache.h"
#include "model/naive.h"
#include "model/test_eras.h"

#define SHEAVES 12
#define SLOTS 400

static struct kmem_cache *create(struct test_machine *x, unsigned capacity)
{
	struct kmem_cache_args args = { .name = "test", .object_size = 256,
					.sheaf_capacity = capacity };

	slub_set_cycles(x->sl, 0);
	return kmem_cache_create(x->sl, test_cpu(x, 0), &args);
}

static unsigned count(struct kmem_cache *s, enum slub_stat stat)
{
	return kmem_cache_stat(s, stat, -1);
}

/* 7.1, capacity 28, one CPU: each way a sheaf comes and goes. */
static void test_ways(void)
{
	struct features f = era_features(ERA_7_1);
	struct test_machine *x = test_machine_new(&f, 1, 1, 1);
	struct kmem_cache *s = create(x, 0);
	struct cpu *c = test_cpu(x, 0);
	struct slab_sheaf *a, *b, *big;
	sim_addr obj;
	char *wrong;

	g_assert_null(kmem_cache_prefill_sheaf(c, s, GFP_FOR_KERNEL, 0));
	/* nothing there: a new one, filled to its capacity */
	a = kmem_cache_prefill_sheaf(c, s, GFP_FOR_KERNEL, 5);
	g_assert_cmpuint(kmem_cache_sheaf_size(a), ==, 28);
	g_assert_cmpuint(count(s, stat_sheaf_prefill_slow), ==, 1);
	g_assert_cmpuint(count(s, stat_barn_get_fail), ==, 1);
	g_assert_cmpuint(count(s, stat_sheaf_refill), ==, 28);
	g_assert_cmpuint(count(s, stat_sheaf_alloc), ==, 2);
	/* partly used up it becomes the spare, and is the next one's */
	for (int i = 0; i < 20; i++)
		g_assert_cmpuint(kmem_cache_alloc_from_sheaf(c, s, a), !=, 0);
	kmem_cache_return_sheaf(c, s, GFP_FOR_KERNEL, a);
	g_assert_cmpuint(count(s, stat_sheaf_return_fast), ==, 1);
	b = kmem_cache_prefill_sheaf(c, s, GFP_FOR_KERNEL, 8);
	g_assert_true(a == b);
	g_assert_cmpuint(count(s, stat_sheaf_prefill_fast), ==, 1);
	g_assert_cmpuint(kmem_cache_sheaf_size(b), ==, 8);
	/* a second one; the first back is the spare, the second is filled up
	 * and goes to the barn */
	a = kmem_cache_prefill_sheaf(c, s, GFP_FOR_KERNEL, 28);
	obj = kmem_cache_alloc_from_sheaf(c, s, a);
	kmem_cache_return_sheaf(c, s, GFP_FOR_KERNEL, b);
	kmem_cache_return_sheaf(c, s, GFP_FOR_KERNEL, a);
	g_assert_cmpuint(count(s, stat_sheaf_return_slow), ==, 1);
	g_assert_cmpuint(count(s, stat_barn_put), ==, 1);
	g_assert_cmpuint(count(s, stat_sheaf_refill), ==, 28 + 28 + 1);
	kmem_cache_free(c, s, obj);
	/* the spare first, then the barn's full one */
	b = kmem_cache_prefill_sheaf(c, s, GFP_FOR_KERNEL, 1);
	g_assert_cmpuint(kmem_cache_sheaf_size(b), ==, 8);
	a = kmem_cache_prefill_sheaf(c, s, GFP_FOR_KERNEL, 1);
	g_assert_cmpuint(kmem_cache_sheaf_size(a), ==, 28);
	g_assert_cmpuint(count(s, stat_barn_get), ==, 1);
	/* beyond the capacity: made for the occasion, then flushed */
	big = kmem_cache_prefill_sheaf(c, s, GFP_FOR_KERNEL, 100);
	g_assert_cmpuint(kmem_cache_sheaf_size(big), ==, 100);
	g_assert_cmpuint(count(s, stat_sheaf_prefill_oversize), ==, 1);
	g_assert_cmpuint(count(s, stat_alloc_slowpath), ==, 100);
	for (int i = 0; i < 100; i++)
		g_assert_cmpuint(kmem_cache_alloc_from_sheaf(c, s, big), !=, 0);
	g_assert_cmpuint(kmem_cache_alloc_from_sheaf(c, s, big), ==, 0);
	wrong = kmem_cache_verify(s, NULL, 120);
	g_assert_cmpstr(wrong, ==, NULL);
	kmem_cache_return_sheaf(c, s, GFP_FOR_KERNEL, big);
	g_assert_cmpuint(count(s, stat_sheaf_free), ==, 0);
	test_machine_free(x);
}

/* Random use together with single operations, against the naive one. */
static void test_naive(gconstpointer data)
{
	enum era era = GPOINTER_TO_INT(data);
	struct features f = era_features(era);

	for (int seed = 0; seed < 30; seed++) {
		g_autoptr(GRand) r = g_rand_new_with_seed(seed);
		struct test_machine *x = test_machine_new(&f, 4, 2, seed % 3 ?
							  3 : 1);
		struct kmem_cache_args args = { .object_size = 256,
						.sheaf_capacity = 8 };
		struct kmem_cache *s = create(x, 8);
		struct naive *n = naive_new(x->t, &x->f, &args);
		struct slab_sheaf *sheaf[SHEAVES] = { NULL };
		struct naive_sheaf *twin[SHEAVES] = { NULL };
		struct naive_obj *obj[SLOTS] = { NULL };
		sim_addr addr[SLOTS] = { 0 };
		g_autoptr(GString) shown = g_string_new(NULL);
		g_auto(GStrv) line = NULL;

		for (int i = 0; i < 1500; i++) {
			int cpu = g_rand_int_range(r, 0, 4);
			int k = g_rand_int_range(r, 0, SHEAVES);
			int slot = g_rand_int_range(r, 0, SLOTS);
			unsigned size = g_rand_int_range(r, 1, 45);
			unsigned gfp = GFP_FOR_KERNEL |
				       (g_rand_int_range(r, 0, 9) ?
						0 : GFP_ONLY_NODE);
			struct cpu *c = test_cpu(x, cpu);
			int what = g_rand_int_range(r, 0, 9);

			if (what == 0 && !sheaf[k]) {
				sheaf[k] = kmem_cache_prefill_sheaf(c, s, gfp,
								    size);
				twin[k] = naive_prefill(n, cpu, gfp, size);
				g_assert_cmpint(!sheaf[k], ==, !twin[k]);
			} else if (what == 1 && sheaf[k]) {
				kmem_cache_return_sheaf(c, s, gfp, sheaf[k]);
				naive_return(n, cpu, gfp, twin[k]);
				sheaf[k] = NULL;
			} else if (what < 6 && !addr[slot]) {
				if (what < 4 && sheaf[k]) {
					addr[slot] = kmem_cache_alloc_from_sheaf(
						c, s, sheaf[k]);
					obj[slot] = naive_from_sheaf(twin[k]);
				} else {
					addr[slot] = kmem_cache_alloc(
						c, s, GFP_FOR_KERNEL);
					obj[slot] = naive_alloc(
						n, cpu, GFP_FOR_KERNEL,
						NO_NODE);
				}
				g_assert_cmpint(!addr[slot], ==, !obj[slot]);
			} else if (what >= 6 && addr[slot]) {
				kmem_cache_free(c, s, addr[slot]);
				naive_release(n, cpu, obj[slot]);
				addr[slot] = 0;
			}
		}
		for (int i = 0; i < SHEAVES; i++)
			if (sheaf[i]) {
				kmem_cache_return_sheaf(test_cpu(x, 0), s,
							GFP_FOR_KERNEL,
							sheaf[i]);
				naive_return(n, 0, GFP_FOR_KERNEL, twin[i]);
			}
		naive_show(n, shown);
		line = g_strsplit(shown->str, "\n", -1);
		for (int i = 0; line[i] && *line[i]; i++) {
			g_auto(GStrv) part = g_strsplit(line[i], ":", 2);
			g_autofree char *v = kmem_cache_attr_show(s, part[0]);

			if (g_strcmp0(v, part[1]))
				g_error("%s, seed %d: %s is %s, naive %s",
					era_names[era], seed, part[0], v,
					part[1]);
		}
		naive_free(n);
		test_machine_free(x);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/prefill/ways", test_ways);
	for (int era = ERA_6_19; era < NR_ERAS; era++) {
		g_autofree char *path = g_strdup_printf("/prefill/naive/%s",
							era_names[era]);

		g_test_add_data_func(path, GINT_TO_POINTER(era), test_naive);
	}
	return g_test_run();
}
