/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a /sys/devices/system tree to facts. Old kernels have masks where new
 * ones have lists as well, and other names for the same; either is taken.
 */
#include "configs/import_tree.h"

#include <string.h>

struct reader {
	const struct import_tree *t;
	struct machine_facts *f;
	GError **error;
};

/* The error names the file inside the tree: sysfs files have one line. */
static bool bad(struct reader *r, const char *file, const char *content,
		const char *expected)
{
	return import_fail(r->error, import_tree_name(r->t), 0,
			   "%s: \"%.60s\", expected %s", file, content,
			   expected);
}

/* Reads FOLDER/LIST or FOLDER/MASK into @set. False with an error if there is
 * one and it's broken; *@found tells whether there was one. */
static bool get_cpus(struct reader *r, const char *folder, const char *list,
		     const char *mask, struct id_set *set, bool *found)
{
	g_autofree char *l = import_tree_get(r->t, "%s/%s", folder, list);
	g_autofree char *m = NULL;
	const char *end, *what = NULL;

	memset(set, 0, sizeof(*set));
	*found = true;
	if (l) {
		end = id_set_parse_list(set, l, TOPOLOGY_MAX_CPUS, &what);
		if (end && !*end)
			return true;
		return bad(r, folder, l, what ? what : "a list of CPUs");
	}
	m = mask ? import_tree_get(r->t, "%s/%s", folder, mask) : NULL;
	*found = m != NULL;
	if (m && !id_set_parse_mask(set, m, TOPOLOGY_MAX_CPUS))
		return bad(r, folder, m, "a mask of CPUs");
	return true;
}

static int get_int(struct reader *r, const char *folder, const char *name)
{
	g_autofree char *s = import_tree_get(r->t, "%s/%s", folder, name);
	const char *p = s;
	uint64_t v;

	return s && import_uint(&p, INT32_MAX, &v) && !*p ? (int)v
							  : FACT_UNKNOWN;
}

/* The lowest CPU of a sharing set stands for the core, socket or L3. */
static bool get_first(struct reader *r, const char *folder, const char *list,
		      const char *mask, int *first)
{
	struct id_set set;
	bool found;

	if (!get_cpus(r, folder, list, mask, &set, &found))
		return false;
	if (found && *first == FACT_UNKNOWN)
		*first = id_set_next(&set, -1);
	return true;
}

static bool take_cache(struct reader *r, int cpu, int index, bool *more)
{
	g_autofree char *folder =
		g_strdup_printf("cpu/cpu%d/cache/index%d", cpu, index);
	g_autofree char *type = import_tree_get(r->t, "%s/type", folder);
	g_autofree char *size = import_tree_get(r->t, "%s/size", folder);
	int level = get_int(r, folder, "level");
	struct cache_facts *c;
	struct id_set set;
	bool found;

	*more = level != FACT_UNKNOWN;
	if (level < 1 || level > 3 || (type && !strcmp(type, "Instruction")))
		return true;
	if (!get_cpus(r, folder, "shared_cpu_list", "shared_cpu_map", &set,
		      &found))
		return false;
	if (level == 3 && found) {
		r->f->cpus[cpu].l3 = id_set_next(&set, -1);
		origin_extend(&r->f->l3s, r->f, 0);
	}
	c = &r->f->caches[level - 1];
	if (c->kib == FACT_UNKNOWN && size) {
		const char *p = size;
		int ways = get_int(r, folder, "ways_of_associativity");

		c->kib = facts_parse_size(&p);
		if (c->kib < 0)
			return bad(r, folder, size, "a size");
		c->ways = MAX(ways, 0);
		c->shared = found ? id_set_count(&set) : 0;
		c->from = facts_origin(r->f, 0);
	}
	return true;
}

static bool take_cpu(struct reader *r, int cpu, bool online_known,
		     const struct id_set *online)
{
	g_autofree char *folder = g_strdup_printf("cpu/cpu%d/topology", cpu);
	struct cpu_facts *c = facts_cpu(r->f, cpu);
	g_autofree char *state = import_tree_get(r->t, "cpu/cpu%d/online", cpu);
	bool more = true;
	int package, core_id;

	c->online = online_known ? id_set_has(online, cpu)
				 : !(state && *state == '0');
	if (!c->online)
		return true;
	if (!get_first(r, folder, "thread_siblings_list", "thread_siblings",
		       &c->core) ||
	    !get_first(r, folder, "core_cpus_list", "core_cpus", &c->core))
		return false;
	package = get_int(r, folder, "physical_package_id");
	core_id = get_int(r, folder, "core_id");
	if (c->core == FACT_UNKNOWN && package >= 0 && package < 32768 &&
	    core_id >= 0 && core_id < 32768)
		c->core = TOPOLOGY_MAX_CPUS + (package << 15) + core_id;
	c->socket = package;
	if (!get_first(r, folder, "package_cpus_list", "package_cpus",
		       &c->socket) ||
	    !get_first(r, folder, "core_siblings_list", "core_siblings",
		       &c->socket))
		return false;
	if (c->core != FACT_UNKNOWN)
		origin_extend(&r->f->cores, r->f, 0);
	if (c->socket != FACT_UNKNOWN)
		origin_extend(&r->f->sockets, r->f, 0);
	for (int index = 0; more && index < 16; index++)
		if (!take_cache(r, cpu, index, &more))
			return false;
	return true;
}

static bool take_memory(struct reader *r, int node)
{
	g_autofree char *meminfo =
		import_tree_get(r->t, "node/node%d/meminfo", node);
	const char *s = meminfo ? strstr(meminfo, "MemTotal:") : NULL;
	struct node_facts *n = &r->f->nodes[node];
	uint64_t kib;

	if (!s)
		return true;
	s = import_skip_blanks(s + strlen("MemTotal:"));
	if (!import_uint(&s, UINT64_C(1) << 50, &kib))
		return bad(r, "meminfo", s, "MemTotal in kB");
	n->memory_kib = kib;
	n->memory = facts_origin(r->f, 0);
	return true;
}

static bool take_distances(struct reader *r, int node,
			   const struct id_set *columns)
{
	g_autofree char *row =
		import_tree_get(r->t, "node/node%d/distance", node);
	struct node_facts *n = &r->f->nodes[node];
	const char *s = row;
	uint64_t d;

	if (!row)
		return true;
	n->row = g_new(int, TOPOLOGY_MAX_NODES);
	n->columns = g_new(int, TOPOLOGY_MAX_NODES);
	while (n->nr_row < TOPOLOGY_MAX_NODES && import_uint(&s, 255, &d)) {
		n->row[n->nr_row++] = d;
		s = import_skip_blanks(s);
	}
	if (*s)
		return bad(r, "distance", s, "distances up to 255");
	n->distances = facts_origin(r->f, 0);
	if (n->nr_row == id_set_count(columns)) {
		int id = -1;

		for (int i = 0; i < n->nr_row; i++)
			n->columns[i] = id = id_set_next(columns, id);
		return true;
	}
	/* a node's folder is missing in the copy; see import_numactl.c */
	if (n->nr_row != r->f->nr_node_ids)
		return bad(r, "distance", row,
			   "as many values as there are "
			   "nodes");
	for (int i = 0; i < n->nr_row; i++)
		n->columns[i] = i;
	facts_note(r->f,
		   "node %d: %d distances for %d nodes, taken as those "
		   "to nodes 0 to %d",
		   node, n->nr_row, id_set_count(columns), n->nr_row - 1);
	return true;
}

static bool take_nodes(struct reader *r)
{
	const struct id_set *nodes = import_tree_nodes(r->t);
	struct id_set online = *nodes, cpus;
	g_autofree char *list = import_tree_get(r->t, "node/online");
	const char *what = NULL, *end;
	int clash;
	bool found;

	if (list) {
		memset(&online, 0, sizeof(online));
		end = id_set_parse_list(&online, list, TOPOLOGY_MAX_NODES,
					&what);
		if (!end || *end)
			return bad(r, "node/online", list, "a list of nodes");
	}
	for (int i = -1; (i = id_set_next(nodes, i)) >= 0;)
		facts_node(r->f, i);
	for (int i = -1; (i = id_set_next(nodes, i)) >= 0;) {
		g_autofree char *folder = g_strdup_printf("node/node%d", i);

		if (!get_cpus(r, folder, "cpulist", "cpumap", &cpus, &found))
			return false;
		if (found && !facts_set_node(r->f, &cpus, i, &clash))
			return import_fail(r->error, import_tree_name(r->t), 0,
					   "CPU %d is on node %d and on node "
					   "%d, expected one node",
					   clash, r->f->cpus[clash].node, i);
		if (found)
			r->f->nodes[i].cpus = facts_origin(r->f, 0);
		if (!take_memory(r, i) || !take_distances(r, i, &online))
			return false;
	}
	return true;
}

struct machine_facts *facts_from_tree(const struct import_tree *t,
				      GError **error)
{
	struct reader r = {.t = t, .error = error};
	g_autofree char *list = import_tree_get(t, "cpu/online");
	struct id_set online = {0};
	const char *what = NULL, *end = NULL;
	bool fine = true;

	r.f = facts_new(import_tree_name(t), FACTS_SYSFS,
			"/sys/devices/system");
	if (list) {
		end = id_set_parse_list(&online, list, TOPOLOGY_MAX_CPUS,
					&what);
		if (!end || *end)
			fine = bad(&r, "cpu/online", list, "a list of CPUs");
	}
	for (int i = -1;
	     fine && (i = id_set_next(import_tree_cpus(t), i)) >= 0;)
		fine = take_cpu(&r, i, list != NULL, &online);
	r.f->cpu_list = facts_origin(r.f, 0);
	if (fine)
		fine = take_nodes(&r);
	if (fine)
		return r.f;
	facts_free(r.f);
	return NULL;
}
