/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/topology.h"

#include <string.h>

struct topology *topology_new(const char *name, int nr_cpu_ids, int nr_node_ids)
{
	struct topology *t = g_new0(struct topology, 1);

	g_assert(nr_cpu_ids > 0 && nr_cpu_ids <= TOPOLOGY_MAX_CPUS);
	g_assert(nr_node_ids > 0 && nr_node_ids <= TOPOLOGY_MAX_NODES);
	t->name = g_strdup(name);
	t->nr_cpu_ids = nr_cpu_ids;
	t->nr_node_ids = nr_node_ids;
	t->cpus = g_new0(struct topology_cpu, nr_cpu_ids);
	t->nodes = g_new0(struct topology_node, nr_node_ids);
	t->distances = g_new(int, (size_t)nr_node_ids * nr_node_ids);
	for (int i = 0; i < nr_node_ids; i++)
		for (int j = 0; j < nr_node_ids; j++)
			t->distances[i * nr_node_ids + j] = i == j ? 10 : 20;
	for (int i = 0; i < nr_cpu_ids; i++)
		t->cpus[i].core = i;
	return t;
}

void topology_free(struct topology *t)
{
	if (!t)
		return;
	g_free(t->name);
	g_free(t->machine);
	g_free(t->cpus);
	g_free(t->nodes);
	g_free(t->distances);
	g_free(t);
}

void topology_finish(struct topology *t)
{
	t->nr_cpus = t->nr_nodes = 0;
	t->nr_cores = t->nr_l3 = t->nr_sockets = 0;
	for (int n = 0; n < t->nr_node_ids; n++) {
		struct topology_node *node = &t->nodes[n];

		node->nr_cpus = 0;
		if (!node->online)
			continue;
		t->nr_nodes++;
		t->nr_sockets = MAX(t->nr_sockets, node->socket + 1);
	}
	for (int i = 0; i < t->nr_cpu_ids; i++) {
		const struct topology_cpu *c = &t->cpus[i];

		if (!c->online)
			continue;
		t->nr_cpus++;
		t->nr_cores = MAX(t->nr_cores, c->core + 1);
		t->nr_l3 = MAX(t->nr_l3, c->l3 + 1);
		t->nr_sockets = MAX(t->nr_sockets, c->socket + 1);
		if (c->node >= 0 && c->node < t->nr_node_ids)
			t->nodes[c->node].nr_cpus++;
	}
}

char *topology_check(const struct topology *t)
{
	bool memory = false;

	if (!t->nr_cpus)
		return g_strdup("no CPU, expected at least one");
	for (int i = 0; i < t->nr_cpu_ids; i++) {
		const struct topology_cpu *c = &t->cpus[i];

		if (!c->online)
			continue;
		if (c->node < 0 || c->node >= t->nr_node_ids ||
		    !t->nodes[c->node].online)
			return g_strdup_printf("CPU %d is on node %d, which "
					       "does not exist", i, c->node);
	}
	for (int i = 0; i < t->nr_node_ids; i++) {
		if (!t->nodes[i].online)
			continue;
		memory |= t->nodes[i].memory_bytes > 0;
		for (int j = 0; j < t->nr_node_ids; j++) {
			int d = topology_distance(t, i, j);

			if (!t->nodes[j].online)
				continue;
			if (i == j && d != 10)
				return g_strdup_printf(
					"node %d: distance to itself is %d, "
					"expected 10", i, d);
			/* 255 is ACPI's "unreachable" */
			if (d < 10 || d > 254)
				return g_strdup_printf(
					"node %d: distance to node %d is %d, "
					"expected 10 to 254", i, j, d);
		}
	}
	if (!memory)
		return g_strdup("no node has memory, expected at least one");
	return NULL;
}

/* The unused node with memory that is best after @used, or -1. */
static int next_best_node(const struct topology *t, int from, const bool *used,
			  const int *load)
{
	int best = -1;
	int64_t best_value = INT64_MAX;

	if (!used[from] && topology_node_has_memory(t, from))
		return from;
	for (int n = 0; n < t->nr_node_ids; n++) {
		int64_t value;

		if (used[n] || !topology_node_has_memory(t, n))
			continue;
		value = topology_distance(t, from, n) + (n < from) +
			(t->nodes[n].nr_cpus > 0);
		value = value * TOPOLOGY_MAX_NODES + load[n];
		if (value < best_value) {
			best_value = value;
			best = n;
		}
	}
	return best;
}

void topology_zonelists(const struct topology *t, int *orders, int *counts)
{
	int nr = t->nr_node_ids;
	g_autofree int *load = g_new0(int, nr);
	g_autofree bool *used = g_new(bool, nr);

	for (int from = 0; from < nr; from++) {
		int prev = from, n;

		counts[from] = 0;
		if (!t->nodes[from].online)
			continue;
		memset(used, 0, nr * sizeof(*used));
		while ((n = next_best_node(t, from, used, load)) >= 0) {
			used[n] = true;
			/* nodes at one distance take turns in being first */
			if (topology_distance(t, from, n) !=
			    topology_distance(t, from, prev))
				load[n]++;
			orders[from * nr + counts[from]++] = n;
			prev = n;
		}
	}
}
