/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Topology files. The format, also in configs/README.md:
 *
 *   [topology]
 *   name, description   the file's name if left out; a sentence
 *   machine             whose latencies: a name in configs/machines, or a path
 *   threads             SMT siblings a core, 1 if left out
 *   numbering           split: CPU i and i + CPUs/threads are siblings (x86);
 *                       adjacent: CPUs 2i and 2i + 1 are
 *   core                or: a ;-list of CPU lists, each the siblings of a core
 *   l3                  socket (if left out), node, core, or a ;-list of CPU
 *                       lists
 *   socket              a ;-list of CPU lists; if left out, CPUs are in the
 *                       socket of their node
 *   memory_nodes        a node list: all other nodes become memoryless, these
 *                       share the whole memory evenly
 *   far_distance        replaces the largest distance of the matrix
 *
 *   [node N]            one group a node
 *   cpus                a CPU list; empty or left out: a CPU-less node
 *   memory_mb           0 or left out: a memoryless node
 *   socket              where its memory is attached; if left out, the socket
 *                       of its first CPU
 *   distances           to each node in order of ids, or N:D pairs (others: as
 *                       the other node says, else 20)
 *
 *   [nodes]             or: many equal nodes
 *   count, cores_each   nodes, and cores of each, numbered through
 *   sockets             nodes are divided among them in order; 1 if left out
 *   memory_mb           of each
 *   distance_socket     between nodes of a socket, 12 if left out
 *   distance_other      between sockets, 32 if left out
 *
 * With [nodes], a [node N] may change memory_mb, socket and distances of one.
 *
 *   [machine]           what is known of this very machine (caches), over the
 *                       values of the machine file; importers write it
 *
 * Sockets are numbered as written; cores and L3s by their first CPU.
 *
 * All work happens in arrays of TOPOLOGY_MAX_CPUS and TOPOLOGY_MAX_NODES, so a
 * hostile file can't ask for memory.
 */
#include <string.h>

#include "configs/conf.h"
#include "configs/config.h"
#include "sim/cpulist.h"
#include "configs/topology.h"
#include "configs/topology_draft.h"

/* A node's memory must stay below the node bits of a simulated address. */
enum { MAX_MEMORY_MB = 1 << 20 };

const char *const topology_keys[] = {
	"name", "description", "machine", "threads", "numbering", "core", "l3",
	"socket", "memory_nodes", "far_distance", NULL
};
const char *const topology_nodes_keys[] = {
	"count", "cores_each", "sockets", "memory_mb", "distance_socket",
	"distance_other", NULL
};
const char *const topology_node_keys[] = { "cpus", "memory_mb", "socket",
					   "distances", NULL };

static char *node_group(int node)
{
	return g_strdup_printf("node %d", node);
}

static bool read_memory(struct draft *d, const char *group, double missing,
			double *mb, GError **error)
{
	const struct conf_entry *e = conf_find(d->c, group, "memory_mb");
	double bytes;

	*mb = missing;
	if (!e)
		return true;
	if (!parse_double(e->value, mb) || *mb < 0 || *mb > MAX_MEMORY_MB)
		return conf_fail(error, e, "'%.60s', expected a number from 0 "
				 "to %d MB", e->value, MAX_MEMORY_MB);
	bytes = *mb * (1 << 20);
	if (bytes != (double)(uint64_t)bytes)
		return conf_fail(error, e, "'%.60s', expected whole bytes",
				 e->value);
	return true;
}

static bool take_cpu(struct draft *d, const struct conf_entry *e, int cpu,
		     int node, GError **error)
{
	if (d->online[cpu])
		return conf_fail(error, e, "CPU %d is in node %d too, expected "
				 "each CPU in one node", cpu, d->node_of[cpu]);
	d->online[cpu] = true;
	d->node_of[cpu] = node;
	d->nr_cpus++;
	d->nr_cpu_ids = MAX(d->nr_cpu_ids, cpu + 1);
	return true;
}

static bool read_nodes(struct draft *d, GError **error)
{
	const struct conf *c = d->c;
	int64_t count, cores, sockets;
	double mb;

	if (!conf_group(c, "nodes"))
		return true;
	if (!conf_find(c, "nodes", "count"))
		return conf_fail_missing(error, c, "nodes", "count",
					 "missing, expected how many nodes");
	if (!conf_read_int(c, "nodes", "count", 1, TOPOLOGY_MAX_NODES, 0,
			   &count, error) ||
	    !conf_read_int(c, "nodes", "cores_each", 1, TOPOLOGY_MAX_CPUS, 1,
			   &cores, error) ||
	    !conf_read_int(c, "nodes", "sockets", 1, count, 1, &sockets,
			   error) ||
	    !read_memory(d, "nodes", 0, &mb, error))
		return false;
	if (count * cores * d->threads > TOPOLOGY_MAX_CPUS)
		return conf_fail_missing(error, c, "nodes", "cores_each",
					 "%" G_GINT64_FORMAT " CPUs in all, "
					 "expected at most %d",
					 count * cores * d->threads,
					 TOPOLOGY_MAX_CPUS);
	for (int n = 0; n < count; n++) {
		d->node[n] = true;
		d->memory_mb[n] = mb;
		d->node_socket[n] = n * sockets / count;
	}
	d->nr_node_ids = count;
	for (int core = 0; core < count * cores; core++)
		for (int t = 0; t < d->threads; t++) {
			int cpu = d->adjacent ? core * d->threads + t :
						core + t * count * cores;

			if (!take_cpu(d, NULL, cpu, core / cores, error))
				return false;
		}
	return true;
}

/* The id of "node N"; -1 with @error. */
static int node_id(const struct conf_group *g, const struct conf *c,
		   GError **error)
{
	const char *text = g->name + strlen("node ");
	int64_t id;

	if (!parse_int(text, &id) || id < 0 || id >= TOPOLOGY_MAX_NODES ||
	    (text[0] == '0' && text[1])) {
		conf_fail_missing(error, c, g->name, NULL,
				  "node '%.20s', expected [node 0] to "
				  "[node %d]", text, TOPOLOGY_MAX_NODES - 1);
		return -1;
	}
	return id;
}

static bool read_node(struct draft *d, const struct conf_group *g,
		      GError **error)
{
	const struct conf_entry *e = conf_find(d->c, g->name, "cpus");
	int id = node_id(g, d->c, error);
	g_autofree char *wrong = NULL;

	if (id < 0)
		return false;
	if (conf_group(d->c, "nodes") && id >= d->nr_node_ids)
		return conf_fail_missing(error, d->c, g->name, NULL,
					 "no such node, [nodes] has %d",
					 d->nr_node_ids);
	if (!d->node[id])
		d->node_socket[id] = -1;
	d->node[id] = true;
	d->nr_node_ids = MAX(d->nr_node_ids, id + 1);
	if (!read_memory(d, g->name, d->memory_mb[id], &d->memory_mb[id],
			 error) ||
	    !conf_read_int(d->c, g->name, "socket", 0, TOPOLOGY_MAX_NODES - 1,
			   d->node_socket[id], &d->node_socket[id], error))
		return false;
	if (!e)
		return true;
	if (conf_group(d->c, "nodes"))
		return conf_fail(error, e, "can't be given where [nodes] lays "
				 "out the CPUs");
	wrong = cpulist_parse(e->value, TOPOLOGY_MAX_CPUS, d->set, NULL);
	if (wrong)
		return conf_fail(error, e, "%s", wrong);
	for (int cpu = 0; cpu < TOPOLOGY_MAX_CPUS; cpu++)
		if (d->set[cpu] && !take_cpu(d, e, cpu, id, error))
			return false;
	return true;
}

static bool read_all_nodes(struct draft *d, GError **error)
{
	const struct conf_entry *e;
	int64_t threads;

	if (!conf_read_int(d->c, "topology", "threads", 1,
			   TOPOLOGY_MAX_THREADS, 1, &threads, error))
		return false;
	d->threads = threads;
	e = conf_find(d->c, "topology", "numbering");
	if (e && strcmp(e->value, "split") && strcmp(e->value, "adjacent"))
		return conf_fail(error, e, "'%.60s', expected split or "
				 "adjacent", e->value);
	d->adjacent = e && !strcmp(e->value, "adjacent");
	if (!read_nodes(d, error))
		return false;
	for (guint i = 0; i < d->c->groups->len; i++) {
		const struct conf_group *g = d->c->groups->pdata[i];

		if (g_str_has_prefix(g->name, "node ") &&
		    !read_node(d, g, error))
			return false;
	}
	if (!d->nr_node_ids)
		return conf_fail_missing(error, d->c, "topology", NULL,
					 "no node, expected [node 0] or "
					 "[nodes]");
	if (!d->nr_cpus)
		return conf_fail_missing(error, d->c, "topology", NULL,
					 "no CPU, expected cpus= in a [node "
					 "N]");
	return true;
}

static bool set_distance(struct topology *t, const struct conf_entry *e,
			 int from, int64_t to, const char *text, GError **error)
{
	int64_t v;

	/* 255 is ACPI's "unreachable" */
	if (!parse_int(text, &v) || v < 10 || v > 254)
		return conf_fail(error, e, "'%.20s', expected distances from "
				 "10 to 254", text);
	if ((v == 10) != (from == to) && from == to)
		return conf_fail(error, e, "%d to itself, expected 10", (int)v);
	t->distances[from * t->nr_node_ids + to] = v;
	return true;
}

/* [node N] distances; *said[to] tells which the line gave. */
static bool read_distances(struct draft *d, struct topology *t, int from,
			   bool *said, GError **error)
{
	g_autofree char *group = node_group(from);
	const struct conf_entry *e = conf_find(d->c, group, "distances");
	g_auto(GStrv) words = NULL;
	int to = -1, n = 0, nodes = 0;
	bool pairs;

	if (!e)
		return true;
	words = g_strsplit_set(e->value, " \t,;", 4 * TOPOLOGY_MAX_NODES);
	pairs = strchr(e->value, ':');
	for (int i = 0; i < t->nr_node_ids; i++)
		nodes += d->node[i];
	for (int i = 0; words[i]; i++) {
		char *colon = strchr(words[i], ':');
		int64_t id;

		if (!*words[i])
			continue;
		if (pairs) {
			if (colon)
				*colon = 0;
			if (!colon || !parse_int(words[i], &id) || id < 0 ||
			    id >= t->nr_node_ids || !d->node[id])
				return conf_fail(error, e, "'%.20s', expected "
						 "NODE:DISTANCE of nodes that "
						 "exist", words[i]);
			to = id;
		} else {
			while (++to < t->nr_node_ids && !d->node[to])
				;
			if (++n > nodes)
				break;
		}
		if (!set_distance(t, e, from, to,
				  pairs ? colon + 1 : words[i], error))
			return false;
		said[to] = true;
	}
	if (!pairs && n != nodes)
		return conf_fail(error, e, "%s%d distances, expected %d, one "
				 "to each node", n > nodes ? "more than " : "",
				 MIN(n, nodes), nodes);
	return true;
}

static bool set_distances(struct draft *d, struct topology *t, GError **error)
{
	int nr = t->nr_node_ids;
	bool grid = conf_group(d->c, "nodes");
	g_autofree bool *said = g_new0(bool, (size_t)nr * nr);
	int64_t same, other, far;
	int max = 0;

	if (!conf_read_int(d->c, "nodes", "distance_socket", 11, 254, 12, &same,
			   error) ||
	    !conf_read_int(d->c, "nodes", "distance_other", 11, 254, 32, &other,
			   error) ||
	    !conf_read_int(d->c, "topology", "far_distance", 11, 254, 0, &far,
			   error))
		return false;
	for (int i = 0; i < nr * nr; i++) {
		int a = i / nr, b = i % nr;

		if (grid && a != b)
			t->distances[i] = t->nodes[a].socket ==
					t->nodes[b].socket ? same : other;
	}
	for (int from = 0; from < nr; from++)
		if (!read_distances(d, t, from, said + from * nr, error))
			return false;
	for (int i = 0; i < nr * nr; i++) {
		int back = i % nr * nr + i / nr;

		if (!said[i] && said[back])
			t->distances[i] = t->distances[back];
		if (d->node[i / nr] && d->node[i % nr])
			max = MAX(max, t->distances[i]);
	}
	for (int i = 0; far && i < nr * nr; i++)
		if (t->distances[i] == max && i / nr != i % nr)
			t->distances[i] = far;
	return true;
}

static bool set_memory(struct draft *d, struct topology *t, GError **error)
{
	const struct conf_entry *e = conf_find(d->c, "topology",
					       "memory_nodes");
	g_autofree char *wrong = NULL;
	uint64_t total = 0, nodes = 0;
	int count = 0;

	for (int n = 0; n < d->nr_node_ids; n++) {
		t->nodes[n].online = d->node[n];
		t->nodes[n].memory_bytes = d->memory_mb[n] * (1 << 20);
		total += t->nodes[n].memory_bytes;
	}
	if (!e)
		return true;
	wrong = cpulist_parse(e->value, TOPOLOGY_MAX_NODES, d->set, &count);
	if (wrong)
		return conf_fail(error, e, "%s", wrong);
	nodes = count;
	for (int n = 0; n < TOPOLOGY_MAX_NODES; n++) {
		if (d->set[n] && !d->node[n])
			return conf_fail(error, e, "node %d does not exist, "
					 "expected nodes of the machine", n);
		/* whole pages */
		if (n < d->nr_node_ids)
			t->nodes[n].memory_bytes =
				d->set[n] ? total / nodes & ~4095ull : 0;
		if (n < d->nr_node_ids &&
		    t->nodes[n].memory_bytes > (uint64_t)MAX_MEMORY_MB << 20)
			return conf_fail(error, e, "more than %d MB on a node",
					 MAX_MEMORY_MB);
	}
	return true;
}

struct topology *topology_from_conf(const struct conf *c, GError **error)
{
	g_autofree struct draft *d = g_new0(struct draft, 1);
	g_autofree char *name = g_strdup(conf_get(c, "topology", "name"));
	g_autofree char *wrong = NULL;
	const struct conf_entry *machine = conf_find(c, "topology", "machine");
	struct topology *t;

	d->c = c;
	if (!conf_group(c, "topology")) {
		conf_fail_missing(error, c, "topology", NULL,
				  "missing, expected a topology file");
		return NULL;
	}
	if (!read_all_nodes(d, error))
		return NULL;
	if (!name)
		name = config_base_name(c->file);
	t = topology_new(name, d->nr_cpu_ids, d->nr_node_ids);
	if (machine && strchr(machine->value, '/'))
		t->machine = config_path("machines", machine->value,
					 machine->line ? machine->file : NULL,
					 NULL);
	else if (machine)
		t->machine = g_strdup(machine->value);
	for (int cpu = 0; cpu < d->nr_cpu_ids; cpu++) {
		t->cpus[cpu].online = d->online[cpu];
		t->cpus[cpu].node = d->node_of[cpu];
	}
	if (!set_memory(d, t, error) || !topology_set_parts(d, t, error) ||
	    !set_distances(d, t, error))
		goto failed;
	topology_finish(t);
	wrong = topology_check(t);
	if (wrong) {
		conf_fail_missing(error, c, "topology", NULL, "%s", wrong);
		goto failed;
	}
	return t;
failed:
	topology_free(t);
	return NULL;
}

const struct conf_known topology_known[] = {
	{ "machine", NULL, machine_param_table },
	{ "topology", topology_keys },
	{ "nodes", topology_nodes_keys },
	{ "node ", topology_node_keys },
	{ NULL }
};

struct topology *config_load_topology(const char *name, char **overrides,
				      GError **error)
{
	g_autofree char *path = config_path("topologies", name, NULL, error);
	conf_auto struct conf *c = path ? conf_read(path, error) : NULL;

	if (!c || !conf_override(c, overrides, error) ||
	    !conf_check_known(c, topology_known, error))
		return NULL;
	return topology_from_conf(c, error);
}
