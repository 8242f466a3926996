/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topologies: what is derived, what is refused, and the order of nodes. */
#include "sim/topology.h"

#include <string.h>

/* @cpus_per_node CPUs on each of @nodes nodes; @memory: bit n = node n. */
static struct topology *make(int nodes, int cpus_per_node, unsigned memory)
{
	struct topology *t = topology_new("x", nodes * cpus_per_node, nodes);

	for (int i = 0; i < nodes * cpus_per_node; i++) {
		t->cpus[i].online = true;
		t->cpus[i].node = i / cpus_per_node;
		t->cpus[i].l3 = i / cpus_per_node / 2;
		t->cpus[i].socket = i / cpus_per_node * 2 / nodes;
	}
	for (int i = 0; i < nodes; i++) {
		t->nodes[i].online = true;
		t->nodes[i].memory_bytes = memory >> i & 1 ? 1 << 30 : 0;
	}
	topology_finish(t);
	return t;
}

static void test_derived(void)
{
	struct topology *t = make(4, 2, 5);

	g_assert_cmpint(t->nr_cpus, ==, 8);
	g_assert_cmpint(t->nr_nodes, ==, 4);
	g_assert_cmpint(t->nr_cores, ==, 8);
	g_assert_cmpint(t->nr_l3, ==, 2);
	g_assert_cmpint(t->nr_sockets, ==, 2);
	g_assert_cmpint(t->nodes[3].nr_cpus, ==, 2);
	g_assert_true(topology_node_has_memory(t, 2));
	g_assert_false(topology_node_has_memory(t, 1));
	/* holes own nothing */
	t->cpus[7].online = false;
	t->nodes[1].online = false;
	t->cpus[2].node = t->cpus[3].node = 0;
	topology_finish(t);
	g_assert_cmpint(t->nr_cpus, ==, 7);
	g_assert_cmpint(t->nr_nodes, ==, 3);
	g_assert_cmpint(t->nodes[0].nr_cpus, ==, 4);
	g_assert_cmpint(t->nodes[3].nr_cpus, ==, 1);
	g_assert_null(topology_check(t));
	topology_free(t);
}

static void refused(struct topology *t, const char *what)
{
	g_autofree char *wrong = topology_check(t);

	g_assert_nonnull(wrong);
	if (!strstr(wrong, what))
		g_error("'%s', expected '%s'", wrong, what);
	topology_free(t);
}

static void test_refused(void)
{
	struct topology *t = make(2, 1, 3);

	t->cpus[1].node = 2;
	refused(t, "CPU 1 is on node 2, which does not exist");
	t = make(2, 1, 3);
	t->nodes[1].online = false;
	refused(t, "CPU 1 is on node 1, which does not exist");
	t = make(2, 1, 3);
	t->distances[3] = 12;
	refused(t, "node 1: distance to itself is 12, expected 10");
	t = make(2, 1, 3);
	t->distances[1] = 255;
	refused(t, "node 0: distance to node 1 is 255, expected 10 to 254");
	t = make(2, 1, 3);
	t->distances[2] = 9;
	refused(t, "node 1: distance to node 0 is 9");
	refused(make(2, 1, 0), "no node has memory");
	t = make(1, 1, 1);
	t->cpus[0].online = false;
	topology_finish(t);
	refused(t, "no CPU");
}

static void expect(const struct topology *t, const char *const *lists)
{
	int nr = t->nr_node_ids;
	g_autofree int *orders = g_new0(int, nr * nr);
	g_autofree int *counts = g_new0(int, nr);

	topology_zonelists(t, orders, counts);
	for (int i = 0; i < nr; i++) {
		g_autoptr(GString) list = g_string_new(NULL);

		for (int k = 0; k < counts[i]; k++)
			g_string_append_printf(list, "%s%d", k ? " " : "",
					       orders[i * nr + k]);
		g_assert_cmpstr(list->str, ==, lists[i]);
	}
}

static void distances(struct topology *t, const int *d)
{
	memcpy(t->distances, d,
	       sizeof(int) * t->nr_node_ids * t->nr_node_ids);
	g_assert_null(topology_check(t));
}

/* Those of machines with memory on few nodes, as their kernels had them. */
static void test_memoryless(void)
{
	static const int four[] = { 10, 12, 32, 32, 12, 10, 32, 32,
				    32, 32, 10, 12, 32, 32, 12, 10 };
	static const char *const four_lists[] = { "0 2", "0 2", "2 0", "2 0" };
	static const char *const eight_lists[] = { "1 5", "1 5", "1 5", "1 5",
						   "5 1", "5 1", "5 1", "5 1" };
	int eight[64];
	struct topology *t = make(4, 2, 5);

	distances(t, four);
	expect(t, four_lists);
	topology_free(t);
	t = make(8, 2, 0x22);
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++)
			eight[i * 8 + j] = i == j	  ? 10 :
					   i / 2 == j / 2 ? 11 :
					   i / 4 == j / 4 ? 12 :
							    32;
	distances(t, eight);
	expect(t, eight_lists);
	topology_free(t);
}

/* Equally far nodes take turns in being the first choice: 0 goes to 1, which
 * therefore comes last for 2. */
static void test_turns(void)
{
	static const char *const lists[] = { "0 1 2", "1 2 0", "2 0 1" };
	struct topology *t = make(3, 1, 7);

	expect(t, lists);
	topology_free(t);
}

/* One more for a lower id, one more for a node that has CPUs of its own. */
static void test_penalties(void)
{
	static const char *const cpus[] = { "0 2 1", "1 2 0", "2 0 1" };
	struct topology *t = make(4, 1, 15);
	g_autofree int *orders = g_new0(int, 16), *counts = g_new0(int, 4);

	/* node 1: 2 and 3 before 0, which has the lower id */
	topology_zonelists(t, orders, counts);
	g_assert_cmpint(orders[4 + 3], ==, 0);
	g_assert_cmpint(orders[8 + 1], ==, 3);
	topology_free(t);
	/* node 2 has no CPUs: others like it better than its equals */
	t = make(3, 1, 7);
	t->cpus[2].node = 0;
	topology_finish(t);
	g_assert_cmpint(t->nodes[2].nr_cpus, ==, 0);
	expect(t, cpus);
	topology_free(t);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/topology/derived", test_derived);
	g_test_add_func("/topology/refused", test_refused);
	g_test_add_func("/topology/memoryless", test_memoryless);
	g_test_add_func("/topology/turns", test_turns);
	g_test_add_func("/topology/penalties", test_penalties);
	return g_test_run();
}
