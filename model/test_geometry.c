/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes of slabs, lists and sheaves. The table is that of the kmalloc sizes of
 * 7.1 by CPUs; real kernels' sizes are compared in results/test_golden.c.
 */
#include "model/geometry.h"
#include "model/naive_internal.h"
#include "model/test_eras.h"

static struct geometry geometry(enum era era, unsigned size, unsigned flags,
				unsigned capacity, int cpus)
{
	struct features f = era_features(era);
	struct kmem_cache_args a = { .name = "x", .object_size = size,
				     .flags = flags,
				     .sheaf_capacity = capacity };

	return kmem_cache_geometry(&f, &a, cpus);
}

static void test_table(void)
{
	static const int cpus[4] = { 4, 16, 64, 128 };
	static const struct {
		unsigned size;
		struct {
			unsigned order, objects;
		} at[4];
		unsigned cpu_partial_slabs, capacity; /* with 16 CPUs */
	} table[] = {
		{ 16, { { 0, 256 }, { 0, 256 }, { 0, 256 }, { 0, 256 } }, 1, 60 },
		{ 32, { { 0, 128 }, { 0, 128 }, { 0, 128 }, { 0, 128 } }, 2, 60 },
		{ 64, { { 0, 64 }, { 0, 64 }, { 0, 64 }, { 0, 64 } }, 4, 60 },
		{ 128, { { 0, 32 }, { 0, 32 }, { 0, 32 }, { 1, 64 } }, 8, 60 },
		{ 192, { { 0, 21 }, { 1, 42 }, { 1, 42 }, { 1, 42 } }, 6, 60 },
		{ 256, { { 0, 16 }, { 1, 32 }, { 1, 32 }, { 2, 64 } }, 4, 28 },
		{ 512, { { 1, 16 }, { 2, 32 }, { 2, 32 }, { 3, 64 } }, 4, 28 },
		{ 1024, { { 2, 16 }, { 3, 32 }, { 3, 32 }, { 3, 32 } }, 2, 12 },
		{ 2048, { { 3, 16 }, { 3, 16 }, { 3, 16 }, { 3, 16 } }, 3, 12 },
		{ 4096, { { 3, 8 }, { 3, 8 }, { 3, 8 }, { 3, 8 } }, 2, 4 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		for (int k = 0; k < 4; k++) {
			struct geometry g = geometry(ERA_7_1, table[i].size, 0,
						     0, cpus[k]);

			g_assert_cmpuint(g.size, ==, table[i].size);
			g_assert_cmpuint(g.order, ==, table[i].at[k].order);
			g_assert_cmpuint(g.objects, ==, table[i].at[k].objects);
			g_assert_cmpuint(g.sheaf_capacity, ==,
					 table[i].capacity);
		}
		g_assert_cmpuint(geometry(ERA_6_12, table[i].size, 0, 0, 16)
					 .cpu_partial_slabs, ==,
				 table[i].cpu_partial_slabs);
	}
}

static void test_rules(void)
{
	struct geometry g;

	/* bio-256 on 64 CPUs: 256 + pointer, aligned by lines; order 2 */
	g = geometry(ERA_7_0, 256, SLAB_HW_ALIGN | SLAB_RCU, 0, 64);
	g_assert_cmpuint(g.size, ==, 320);
	g_assert_cmpuint(g.order, ==, 2);
	g_assert_cmpuint(g.objects, ==, 51);
	g_assert_cmpuint(g.sheaf_capacity, ==, 28);
	g_assert_cmpuint(g.offset, ==, 256);
	/* where the free pointer lies */
	g_assert_cmpuint(geometry(ERA_2015, 256, 0, 0, 4).offset, ==, 0);
	g_assert_cmpuint(geometry(ERA_6_1, 256, 0, 0, 4).offset, ==, 128);
	g_assert_cmpuint(geometry(ERA_7_1, 72, 0, 0, 4).offset, ==, 32);
	/* small objects share a line, by halves of it */
	g_assert_cmpuint(geometry(ERA_7_1, 20, SLAB_HW_ALIGN, 0, 4).size, ==,
			 32);
	/* a creator may ask for more, and in 6.19 must ask */
	g_assert_cmpuint(geometry(ERA_7_1, 256, 0, 100, 4).sheaf_capacity, ==,
			 100);
	g_assert_cmpuint(geometry(ERA_7_1, 256, 0, 3, 4).sheaf_capacity, ==,
			 28);
	g_assert_cmpuint(geometry(ERA_6_19, 256, 0, 32, 4).sheaf_capacity, ==,
			 32);
	g_assert_cmpuint(geometry(ERA_6_19, 256, 0, 0, 4).sheaf_capacity, ==,
			 0);
	g_assert_cmpuint(geometry(ERA_6_12, 256, 0, 32, 4).sheaf_capacity, ==,
			 0);
	g_assert_cmpuint(geometry(ERA_7_1, 256, SLAB_NO_SHEAVES, 0, 4)
				 .sheaf_capacity, ==, 0);
	/* limits in objects, by era */
	g_assert_cmpuint(geometry(ERA_2015, 64, 0, 0, 4).cpu_partial, ==, 30);
	g_assert_cmpuint(geometry(ERA_2015, 4096, 0, 0, 4).cpu_partial, ==, 2);
	g_assert_cmpuint(geometry(ERA_6_1, 64, 0, 0, 4).cpu_partial, ==, 120);
	g_assert_cmpuint(geometry(ERA_7_0, 64, 0, 0, 4).cpu_partial, ==, 0);
	g_assert_cmpuint(geometry(ERA_7_1, 64, 0, 0, 4).min_partial, ==, 5);
	g_assert_cmpuint(geometry(ERA_7_1, 8192, 0, 0, 4).min_partial, ==, 6);
	g_assert_cmpuint(cpu_partial_to_slabs(0, 32), ==, 0);
	g_assert_cmpuint(cpu_partial_to_slabs(1, 32), ==, 1);
	g_assert_cmpuint(cpu_partial_to_slabs(16, 32), ==, 1);
	g_assert_cmpuint(cpu_partial_to_slabs(17, 32), ==, 2);
}

static void test_kmalloc(void)
{
	g_assert_cmpuint(kmalloc_size(1), ==, 8);
	g_assert_cmpuint(kmalloc_size(9), ==, 16);
	g_assert_cmpuint(kmalloc_size(65), ==, 96);
	g_assert_cmpuint(kmalloc_size(97), ==, 128);
	g_assert_cmpuint(kmalloc_size(129), ==, 192);
	g_assert_cmpuint(kmalloc_size(193), ==, 256);
	g_assert_cmpuint(kmalloc_size(4097), ==, 8192);
	g_assert_cmpuint(kmalloc_size(8193), ==, 0);
}

/* Every size, all generations: what holds always, and the naive rule. */
static void test_all_sizes(void)
{
	static const int cpus[] = { 1, 2, 7, 24, 192, 512 };

	for (int era = 0; era < NR_ERAS; era++)
		for (unsigned size = 1; size <= 8192; size += size < 600 ? 1 : 7)
			for (size_t k = 0; k < G_N_ELEMENTS(cpus); k++) {
				struct features f = era_features(era);
				struct kmem_cache_args a = {
					.object_size = size,
					.flags = size % 3 ? 0 : SLAB_RCU,
				};
				struct geometry g =
					kmem_cache_geometry(&f, &a, cpus[k]);
				struct topology *t = topology_new("x", cpus[k],
								  1);
				struct naive n = { .t = t, .f = &f,
						   .nr_cpus = cpus[k] };

				for (int i = 0; i < cpus[k]; i++)
					t->cpus[i].online = true;
				g_assert_cmpuint(g.size, >=, size);
				g_assert_cmpuint(g.size % 8, ==, 0);
				g_assert_cmpuint(g.objects, ==,
						 (4096u << g.order) / g.size);
				g_assert_cmpuint(g.objects, >, 0);
				g_assert_cmpuint(g.order, <=, 3);
				g_assert_cmpuint(g.min_order, <=, g.order);
				g_assert_cmpuint(g.min_objects, ==,
						 (4096u << g.min_order) /
							 g.size);
				nv_geometry(&n, &a);
				g_assert_cmpuint(g.size, ==, n.size);
				g_assert_cmpuint(g.order, ==, n.slab_order);
				g_assert_cmpuint(g.min_partial, ==,
						 n.min_partial);
				g_assert_cmpuint(g.cpu_partial, ==,
						 n.cpu_partial);
				g_assert_cmpuint(g.sheaf_capacity, ==,
						 n.capacity);
				topology_free(t);
			}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/geometry/table", test_table);
	g_test_add_func("/geometry/rules", test_rules);
	g_test_add_func("/geometry/kmalloc", test_kmalloc);
	g_test_add_func("/geometry/all_sizes", test_all_sizes);
	return g_test_run();
}
