/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Topologies as the text of a config file, always in the explicit form.
 */
#include "sim/cpulist.h"
#include "configs/topology.h"

enum part { PART_CORE, PART_L3, PART_SOCKET };

static int part_of(const struct topology_cpu *c, enum part part)
{
	return part == PART_CORE ? c->core : part == PART_L3 ? c->l3 :
							       c->socket;
}

/* The CPU lists of parts 0.. separated by ';'. */
static void write_lists(GKeyFile *file, const struct topology *t,
			const char *key, enum part part, int nr)
{
	g_autofree bool *set = g_new(bool, t->nr_cpu_ids);
	g_autoptr(GString) s = g_string_new(NULL);

	for (int n = 0; n < nr; n++) {
		g_autofree char *list = NULL;

		for (int i = 0; i < t->nr_cpu_ids; i++)
			set[i] = t->cpus[i].online &&
				 part_of(&t->cpus[i], part) == n;
		list = cpulist_format(set, t->nr_cpu_ids);
		g_string_append_printf(s, "%s%s", n ? ";" : "", list);
	}
	g_key_file_set_string(file, "topology", key, s->str);
}

static void write_node(GKeyFile *file, const struct topology *t, int n)
{
	const struct topology_node *node = &t->nodes[n];
	g_autofree bool *set = g_new(bool, t->nr_cpu_ids);
	g_autofree char *group = g_strdup_printf("node %d", n);
	g_autofree char *cpus = NULL;
	g_autofree char *mb = param_number(
		(double)node->memory_bytes / (1 << 20));
	g_autoptr(GString) distances = g_string_new(NULL);

	for (int i = 0; i < t->nr_cpu_ids; i++)
		set[i] = t->cpus[i].online && t->cpus[i].node == n;
	cpus = cpulist_format(set, t->nr_cpu_ids);
	for (int to = 0; to < t->nr_node_ids; to++)
		if (t->nodes[to].online)
			g_string_append_printf(distances, "%s%d",
					       distances->len ? " " : "",
					       topology_distance(t, n, to));
	g_key_file_set_string(file, group, "cpus", cpus);
	g_key_file_set_string(file, group, "memory_mb", mb);
	g_key_file_set_integer(file, group, "socket", node->socket);
	g_key_file_set_string(file, group, "distances", distances->str);
}

void topology_to_conf(GKeyFile *file, const struct topology *t)
{
	g_key_file_set_string(file, "topology", "name", t->name);
	if (t->machine)
		g_key_file_set_string(file, "topology", "machine", t->machine);
	write_lists(file, t, "core", PART_CORE, t->nr_cores);
	write_lists(file, t, "l3", PART_L3, t->nr_l3);
	write_lists(file, t, "socket", PART_SOCKET, t->nr_sockets);
	for (int n = 0; n < t->nr_node_ids; n++)
		if (t->nodes[n].online)
			write_node(file, t, n);
}
