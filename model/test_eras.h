/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test only: features of each generation and small machines, for tests of
 * model/ that need no config file. results/test_differential.c holds them to
 * the shipped variants.
 */
#ifndef MODEL_TEST_ERAS_H
#define MODEL_TEST_ERAS_H

#include "model/slub.h"

enum era { ERA_2015, ERA_6_1, ERA_6_12, ERA_6_19, ERA_7_0, ERA_7_1, ERA_7_2,
	   NR_ERAS };

static const char *const era_names[NR_ERAS] = { "2015", "6.1", "6.12", "6.19",
						"7.0", "7.1", "7.2" };

static inline struct features era_features(enum era era)
{
	struct features f = {
		.cpu_slabs = era < ERA_7_0,
		.cpu_partial = era < ERA_7_0,
		.cpu_partial_in_objects = era == ERA_2015,
		.frozen_partial = era <= ERA_6_1,
		.deactivate_by_object = era == ERA_2015,
		.partial_break = era == ERA_2015 ? PARTIAL_BREAK_OBJECTS :
				 era == ERA_6_1	 ? PARTIAL_BREAK_GT :
						   PARTIAL_BREAK_GT_NONZERO,
		.node_two_pass = era >= ERA_6_12,
		.bulk_stats = era >= ERA_6_12,
		.bulk_slow_stats = era >= ERA_6_1,
		.sheaves = era < ERA_6_19  ? SHEAVES_NONE :
			   era == ERA_6_19 ? SHEAVES_OPT_IN :
					     SHEAVES_ALL,
		.rcu_sheaves = era >= ERA_6_19,
		.rcu_bulk_free = era >= ERA_6_1,
		.refill_without_blocking = era >= ERA_7_0,
		.barns_on_memoryless = era >= ERA_7_1,
		.remote_free_to_sheaf = era >= ERA_7_1,
		.bulk_alloc = BULK_ALLOC_SLOWPATH,
		.bulk_free = BULK_FREE_DETACHED,
		.bulk_free_relinks = era >= ERA_6_1,
		.bulk_free_loses_objects = era == ERA_7_0 || era == ERA_7_1,
		.bulk_refill_freelist = era == ERA_7_2,
		.refill_returns_leftovers = era == ERA_7_2,
		.freeptr_in_middle = era >= ERA_6_1,
		.order_rule = era <= ERA_6_1 ? ORDER_BY_OBJECTS :
					       ORDER_BY_FRACTION,
		.pcp_high_orders = era >= ERA_6_1,
		.stat_set = era < ERA_6_19  ? STATS_CPU_SLAB :
			    era == ERA_6_19 ? STATS_CPU_SLAB_SHEAVES :
					      STATS_SHEAVES,
		.slub_stats = true,
	};

	return f;
}

/*
 * @cpus CPUs spread over @nodes nodes at distances 10, 12 (pairs) and 32. Bit n
 * of @memory: node n has @bytes of it.
 */
static inline struct topology *test_node_topology(int cpus, int nodes,
						  unsigned memory,
						  uint64_t bytes)
{
	struct topology *t = topology_new("test", cpus, nodes);
	char *wrong;

	for (int i = 0; i < cpus; i++) {
		t->cpus[i].online = true;
		t->cpus[i].node = i * nodes / cpus;
	}
	for (int i = 0; i < nodes; i++) {
		t->nodes[i].online = true;
		t->nodes[i].memory_bytes = memory >> i & 1 ? bytes : 0;
		for (int j = 0; j < nodes; j++)
			t->distances[i * nodes + j] = i == j	     ? 10 :
						      i / 2 == j / 2 ? 12 :
								       32;
	}
	topology_finish(t);
	wrong = topology_check(t);
	g_assert_cmpstr(wrong, ==, NULL);
	return t;
}

/* A timeless machine with an allocator on it. */
struct test_machine {
	struct topology *t;
	struct features f;
	struct machine *m;
	struct slub *sl;
};

static inline struct test_machine *
test_machine_new(const struct features *f, int cpus, int nodes, unsigned memory)
{
	struct test_machine *x = g_new0(struct test_machine, 1);

	x->f = *f;
	x->t = test_node_topology(cpus, nodes, memory, 1ull << 30);
	x->m = machine_new(x->t, NULL, MACHINE_TIMELESS, 1);
	x->sl = slub_new(x->m, &x->f, NULL);
	return x;
}

static inline void test_machine_free(struct test_machine *x)
{
	slub_free(x->sl);
	machine_free(x->m);
	topology_free(x->t);
	g_free(x);
}

static inline struct cpu *test_cpu(struct test_machine *x, int id)
{
	return machine_cpu(x->m, id);
}

#endif
