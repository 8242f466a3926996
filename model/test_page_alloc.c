/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages: where they come from, how many at once, and that none is lost. */
#include "model/cache.h"
#include "model/naive_internal.h"
#include "model/test_eras.h"

static struct test_machine *start(enum era era, int cpus, int nodes,
				  unsigned memory)
{
	struct features f = era_features(era);

	return test_machine_new(&f, cpus, nodes, memory);
}

static sim_addr take(struct test_machine *x, int cpu, unsigned order, int node)
{
	return alloc_pages(test_cpu(x, cpu), x->sl, GFP_FOR_KERNEL, order,
			   node);
}

/* Zones of 1 GiB and more: batches of 63, 31, 15, 7 blocks by order. */
static void test_refill(void)
{
	static const unsigned blocks[] = { 63, 31, 15, 7 };
	struct test_machine *x = start(ERA_7_1, 4, 1, 1);
	struct pcp_state p;

	for (unsigned order = 0; order < 4; order++) {
		take(x, order, order, NO_NODE);
		p = page_pcp_state(x->sl->pages, test_cpu(x, order), 0);
		g_assert_cmpuint(p.batch, ==, 63);
		g_assert_cmpuint(p.blocks[order], ==, blocks[order] - 1);
		g_assert_cmpuint(p.count, ==, (blocks[order] - 1) << order);
	}
	test_machine_free(x);
}

/* Refills of single pages one after the other double, up to 32 batches. */
static void test_growing(void)
{
	struct test_machine *x = start(ERA_7_1, 1, 1, 1);
	unsigned refill[8], n = 0;

	for (int i = 0; i < 6000 && n < 8; i++) {
		struct pcp_state before = page_pcp_state(
			x->sl->pages, test_cpu(x, 0), 0), after;

		take(x, 0, 0, NO_NODE);
		after = page_pcp_state(x->sl->pages, test_cpu(x, 0), 0);
		if (after.count > before.count)
			refill[n++] = after.count - before.count + 1;
	}
	g_assert_cmpuint(n, ==, 8);
	g_assert_cmpuint(refill[0], ==, 63);
	for (unsigned i = 1; i < n; i++) {
		g_assert_cmpuint(refill[i], >=, refill[i - 1]);
		g_assert_cmpuint(refill[i], <=, 63 * 32);
	}
	g_assert_cmpuint(refill[2], >, refill[0]);
	test_machine_free(x);
}

/* 2015: single pages only, 31 at a time, at most 186 kept. */
static void test_2015(void)
{
	struct test_machine *x = start(ERA_2015, 1, 1, 1);
	struct pcp_state p;
	sim_addr page[400];

	take(x, 0, 1, NO_NODE);
	p = page_pcp_state(x->sl->pages, test_cpu(x, 0), 0);
	g_assert_cmpuint(p.count, ==, 0);
	for (int i = 0; i < 400; i++)
		page[i] = take(x, 0, 0, NO_NODE);
	p = page_pcp_state(x->sl->pages, test_cpu(x, 0), 0);
	g_assert_cmpuint(p.batch, ==, 31);
	g_assert_cmpuint(p.high, ==, 186);
	for (int i = 0; i < 400; i++) {
		free_pages(test_cpu(x, 0), x->sl, page[i], 0);
		p = page_pcp_state(x->sl->pages, test_cpu(x, 0), 0);
		g_assert_cmpuint(p.count, <=, 186);
	}
	test_machine_free(x);
}

static void test_nodes(void)
{
	/* memory on 0 and 2; 1 is near 0, 3 near 2 */
	struct test_machine *x = start(ERA_7_1, 8, 4, 5);
	static const int nearest[] = { 0, 0, 2, 2 };

	for (int node = 0; node < 4; node++) {
		g_assert_cmpint(sim_addr_node(take(x, 0, 0, node)), ==,
				nearest[node]);
		g_assert_cmpint(sim_addr_node(take(x, 2 * node, 1, NO_NODE)),
				==, nearest[node]);
		/* nothing else will do: memoryless nodes have nothing */
		g_assert_cmpint(!alloc_pages(test_cpu(x, 0), x->sl,
					     GFP_FOR_KERNEL | GFP_ONLY_NODE, 0,
					     node), ==,
				nearest[node] != node);
	}
	/* a page goes to the freeing CPU's list of the page's own zone */
	free_pages(test_cpu(x, 7), x->sl, take(x, 0, 0, 0), 0);
	g_assert_cmpuint(page_pcp_state(x->sl->pages, test_cpu(x, 7), 0).count,
			 ==, 1);
	test_machine_free(x);
}

/* The order of fallback nodes, against a second implementation. */
static void test_zonelists(void)
{
	for (int seed = 0; seed < 500; seed++) {
		g_autoptr(GRand) r = g_rand_new_with_seed(seed);
		int nodes = g_rand_int_range(r, 1, 12);
		struct topology *t = topology_new("x", nodes, nodes);
		struct features f = era_features(ERA_7_1);
		struct kmem_cache_args a = { .object_size = 64 };
		g_autofree int *orders = g_new0(int, nodes * nodes);
		g_autofree int *counts = g_new0(int, nodes);
		struct naive *n;

		for (int i = 0; i < nodes; i++) {
			t->cpus[i].online = true;
			t->cpus[i].node = g_rand_int_range(r, 0, nodes);
			t->nodes[i].online = true;
			t->nodes[i].memory_bytes =
				i == 0 || g_rand_int_range(r, 0, 3) ?
					1ull << 30 : 0;
			for (int j = 0; j < i; j++)
				t->distances[i * nodes + j] =
					t->distances[j * nodes + i] =
						10 + 2 * g_rand_int_range(r, 1,
									  6);
		}
		topology_finish(t);
		topology_zonelists(t, orders, counts);
		n = naive_new(t, &f, &a);
		for (int i = 0; i < nodes; i++) {
			for (int k = 0; k < counts[i]; k++)
				g_assert_cmpint(orders[i * nodes + k], ==,
						nv_nth_node(n, i, 0, k));
			g_assert_cmpint(nv_nth_node(n, i, 0, counts[i]), ==,
					-1);
		}
		naive_free(n);
		topology_free(t);
	}
}

/* Blocks never overlap, are aligned, and all pages come back. */
static void test_conservation(void)
{
	struct test_machine *x = start(ERA_2015, 1, 1, 1);
	g_autoptr(GRand) r = g_rand_new_with_seed(1);
	g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
	struct {
		sim_addr page;
		unsigned order;
	} block[2000] = { { 0 } };
	const uint64_t pages = 1ull << (30 - 12);
	uint64_t left = 0;

	for (int i = 0; i < 60000; i++) {
		int k = g_rand_int_range(r, 0, 2000);
		unsigned order = g_rand_int_range(r, 0, 7);

		if (block[k].page) {
			for (unsigned p = 0; p < 1u << block[k].order; p++)
				g_hash_table_remove(
					used, GSIZE_TO_POINTER(
						      (block[k].page >> 12) +
						      p));
			free_pages(test_cpu(x, 0), x->sl, block[k].page,
				   block[k].order);
			block[k].page = 0;
			continue;
		}
		block[k].page = take(x, 0, order, NO_NODE);
		block[k].order = order;
		g_assert_cmpuint(block[k].page, !=, 0);
		g_assert_cmpuint(block[k].page & ((4096u << order) - 1), ==, 0);
		for (unsigned p = 0; p < 1u << order; p++)
			g_assert_true(g_hash_table_add(
				used, GSIZE_TO_POINTER((block[k].page >> 12) +
						       p)));
	}
	for (int k = 0; k < 2000; k++)
		if (block[k].page)
			free_pages(test_cpu(x, 0), x->sl, block[k].page,
				   block[k].order);
	/* merged again but for what the CPU keeps: at most 186 pages */
	while (take(x, 0, 10, NO_NODE))
		left += 1024;
	g_assert_cmpuint(left, >=, pages - 186 * 1024);
	while (take(x, 0, 0, NO_NODE))
		left++;
	g_assert_cmpuint(left, ==, pages);
	test_machine_free(x);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/page_alloc/refill", test_refill);
	g_test_add_func("/page_alloc/growing", test_growing);
	g_test_add_func("/page_alloc/2015", test_2015);
	g_test_add_func("/page_alloc/nodes", test_nodes);
	g_test_add_func("/page_alloc/zonelists", test_zonelists);
	g_test_add_func("/page_alloc/conservation", test_conservation);
	return g_test_run();
}
