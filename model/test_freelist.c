/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which a slab hands out its objects: by address, or with
 * CONFIG_SLAB_FREELIST_RANDOM a rotation of the cache's permutation.
 */
#include "model/cache.h"
#include "model/test_eras.h"

#define OBJECTS 32 /* of 256 bytes on 16 CPUs: order 1 */

struct fixture {
	struct test_machine *x;
	struct kmem_cache *s;
};

static void start(struct fixture *u, enum era era, bool random, bool hardened,
		  uint64_t seed)
{
	struct features f = era_features(era);
	struct kmem_cache_args args = { .name = "test", .object_size = 256 };

	f.freelist_random = random;
	f.freelist_hardened = hardened;
	u->x = test_machine_new(&f, 16, 1, 1);
	/* test_machine_new()'s seed is fixed */
	slub_free(u->x->sl);
	machine_free(u->x->m);
	u->x->m = machine_new(u->x->t, NULL, MACHINE_TIMELESS, seed);
	u->x->sl = slub_new(u->x->m, &u->x->f, NULL);
	u->s = kmem_cache_create(u->x->sl, test_cpu(u->x, 0), &args);
}

static void stop(struct fixture *u)
{
	test_machine_free(u->x);
}

/* Order of the objects of a new slab of @objects. */
static void hand_out(struct fixture *u, unsigned *order, unsigned objects)
{
	struct cpu *c = test_cpu(u->x, 0);
	struct slab *slab = new_slab(c, u->s, GFP_FOR_KERNEL, NO_NODE);
	unsigned n = 0;

	g_assert_nonnull(slab);
	g_assert_cmpuint(slab->objects, ==, objects);
	for (uint16_t i = slab->freelist; i != NO_OBJECT;
	     i = slab->next_free[i]) {
		g_assert_cmpuint(n, <, objects);
		order[n++] = i;
	}
	g_assert_cmpuint(n, ==, objects);
	free_slab(c, u->s, slab);
}

static void check_permutation(const unsigned *order, unsigned objects)
{
	bool seen[OBJECTS] = { false };

	for (unsigned i = 0; i < objects; i++) {
		g_assert_cmpuint(order[i], <, objects);
		g_assert_false(seen[order[i]]);
		seen[order[i]] = true;
	}
}

static void test_by_address(void)
{
	unsigned order[OBJECTS];
	struct fixture u;

	start(&u, ERA_6_12, false, false, 1);
	hand_out(&u, order, OBJECTS);
	for (unsigned i = 0; i < OBJECTS; i++)
		g_assert_cmpuint(order[i], ==, i);
	stop(&u);
}

/* All slots once; two slabs of a cache are rotations of each other. */
static void test_random(void)
{
	unsigned a[OBJECTS], b[OBJECTS], at = 0, sorted = 0, other = 0;
	struct fixture u;

	start(&u, ERA_6_12, true, false, 1);
	hand_out(&u, a, OBJECTS);
	check_permutation(a, OBJECTS);
	for (int k = 0; k < 20; k++) {
		hand_out(&u, b, OBJECTS);
		check_permutation(b, OBJECTS);
		for (at = 0; b[at] != a[0]; at++)
			;
		other += at != 0;
		for (unsigned i = 0; i < OBJECTS; i++)
			g_assert_cmpuint(a[i], ==, b[(at + i) % OBJECTS]);
	}
	g_assert_cmpuint(other, >, 10);
	for (unsigned i = 0; i < OBJECTS; i++)
		sorted += a[i] == i;
	g_assert_cmpuint(sorted, <, OBJECTS / 2);
	stop(&u);
}

static void test_seeds(void)
{
	unsigned a[OBJECTS], b[OBJECTS];
	struct fixture u;

	start(&u, ERA_7_1, true, true, 5);
	hand_out(&u, a, OBJECTS);
	stop(&u);
	start(&u, ERA_7_1, true, true, 5);
	hand_out(&u, b, OBJECTS);
	stop(&u);
	g_assert_cmpmem(a, sizeof(a), b, sizeof(b));
	start(&u, ERA_7_1, true, true, 6);
	hand_out(&u, b, OBJECTS);
	stop(&u);
	g_assert_cmpint(memcmp(a, b, sizeof(a)), !=, 0);
}

/* Where only single pages are left, a slab has half the objects, and the
 * permutation goes on without those beyond. */
static void test_fallback(void)
{
	struct cpu *c;
	g_autoptr(GArray) pages = g_array_new(FALSE, FALSE, sizeof(sim_addr));
	unsigned whole[OBJECTS], half[OBJECTS], n = 0, at = 0;
	struct fixture u;
	sim_addr page;

	start(&u, ERA_6_12, true, false, 3);
	c = test_cpu(u.x, 0);
	hand_out(&u, whole, OBJECTS);
	/* take everything, highest orders first, then give back odd pages */
	for (int order = 3; order >= 0; order--)
		while ((page = alloc_pages(c, u.x->sl, GFP_FOR_KERNEL, order,
					   NO_NODE)))
			if (!order)
				g_array_append_val(pages, page);
			else
				for (unsigned i = 0; i < 1u << order; i++) {
					sim_addr p = page + i * PAGE_BYTES;

					g_array_append_val(pages, p);
				}
	for (guint i = 0; i < 400; i += 2)
		free_pages(c, u.x->sl, g_array_index(pages, sim_addr, i), 0);
	hand_out(&u, half, OBJECTS / 2);
	check_permutation(half, OBJECTS / 2);
	g_assert_cmpuint(kmem_cache_stat(u.s, stat_order_fallback, -1), ==, 1);
	/* the order of the whole one without the upper half, rotated */
	for (unsigned i = 0; i < OBJECTS; i++)
		if (whole[i] < OBJECTS / 2)
			whole[n++] = whole[i];
	g_assert_cmpuint(n, ==, OBJECTS / 2);
	while (whole[at] != half[0])
		at++;
	for (unsigned i = 0; i < n; i++)
		g_assert_cmpuint(whole[(at + i) % n], ==, half[i]);
	stop(&u);
}

/* Mangled pointers cost instructions and nothing else. */
static void test_hardened(void)
{
	for (int era = 0; era < NR_ERAS; era++) {
		g_autofree char *shown = NULL;

		for (int hardened = 0; hardened < 2; hardened++) {
			g_autoptr(GString) all = g_string_new(NULL);
			sim_addr obj[300];
			struct fixture u;

			start(&u, era, false, hardened, 1);
			slub_set_cycles(u.x->sl, 0);
			for (int i = 0; i < 300; i++)
				obj[i] = kmem_cache_alloc(
					test_cpu(u.x, i % 3), u.s,
					GFP_FOR_KERNEL);
			for (int i = 0; i < 300; i++)
				kmem_cache_free(test_cpu(u.x, i % 5), u.s,
						obj[i]);
			for (const char *const *a = kmem_cache_attrs(u.s); *a;
			     a++) {
				g_autofree char *v =
					kmem_cache_attr_show(u.s, *a);

				g_string_append_printf(all, "%s:%s\n", *a, v);
			}
			stop(&u);
			if (hardened)
				g_assert_cmpstr(shown, ==, all->str);
			else
				shown = g_strdup(all->str);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/freelist/by_address", test_by_address);
	g_test_add_func("/freelist/random", test_random);
	g_test_add_func("/freelist/seeds", test_seeds);
	g_test_add_func("/freelist/fallback", test_fallback);
	g_test_add_func("/freelist/hardened", test_hardened);
	return g_test_run();
}
