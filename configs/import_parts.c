/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs share a core, an L3 and a socket: from the ids of the input, else
 * from its counts by a rule that is named, else assumed.
 */
#include "configs/import_resolver.h"

#include <string.h>

/* Renumbers from 0 in the order of the lowest CPU. @key[cpu] any ints. */
static void renumber(struct resolver *r, const int64_t *keys, size_t member)
{
	g_autoptr(GHashTable) ids =
		g_hash_table_new(g_int64_hash, g_int64_equal);

	for (int i = 0; i < r->t->nr_cpu_ids; i++) {
		gpointer id;
		int *to = (int *)((char *)&r->t->cpus[i] + member);

		*to = 0;
		if (!r->t->cpus[i].online)
			continue;
		if (!g_hash_table_lookup_extended(ids, &keys[i], NULL, &id)) {
			id = GINT_TO_POINTER(g_hash_table_size(ids));
			g_hash_table_insert(ids, (gpointer)&keys[i], id);
		}
		*to = GPOINTER_TO_INT(id);
	}
}

/* Fills @keys from a member of cpu_facts; false if a CPU lacks it. */
static bool known_ids(struct resolver *r, size_t member, int64_t *keys)
{
	for (int i = 0; i < r->t->nr_cpu_ids; i++) {
		if (!r->t->cpus[i].online)
			continue;
		if (i >= r->f->nr_cpu_ids)
			return false;
		keys[i] = *(const int *)((const char *)&r->f->cpus[i] + member);
		if (keys[i] == FACT_UNKNOWN)
			return false;
	}
	return true;
}

/* Whether all siblings that a rule gives are on one node. */
static bool same_nodes(struct resolver *r, const int64_t *keys)
{
	g_autofree int *node_of_key = g_new(int, TOPOLOGY_MAX_CPUS);

	memset(node_of_key, -1, TOPOLOGY_MAX_CPUS * sizeof(int));
	for (int i = 0; i < r->t->nr_cpu_ids; i++) {
		if (!r->t->cpus[i].online)
			continue;
		if (node_of_key[keys[i]] >= 0 &&
		    node_of_key[keys[i]] != r->t->cpus[i].node)
			return false;
		node_of_key[keys[i]] = r->t->cpus[i].node;
	}
	return true;
}

static char *core_rule(struct resolver *r, int64_t *keys)
{
	const char *arch = r->f->architecture;
	int T = r->threads, stride = T ? r->total / T : 0;
	/* there firmware numbers the threads of a core consecutively */
	bool adjacent_first = arch && (g_str_has_prefix(arch, "ppc") ||
				       g_str_has_prefix(arch, "s390"));
	char *where = origin_to_string(&r->f->threads_from);
	char *text = NULL;

	for (int attempt = 0; T > 1 && r->total % T == 0 && attempt < 2;
	     attempt++) {
		bool adjacent = adjacent_first == !attempt;

		for (int i = 0; i < r->t->nr_cpu_ids; i++)
			keys[i] = adjacent ? i / T : i % stride;
		if (!same_nodes(r, keys))
			continue;
		text = adjacent
			       ? g_strdup_printf(
					 "%s (%d threads per core); assumed to "
					 "be CPUs %d*i to %d*i+%d",
					 where, T, T, T, T - 1)
			       : g_strdup_printf(
					 "%s (%d threads per core); assumed to "
					 "be CPU i and i+%d",
					 where, T, stride);
		g_free(where);
		return text;
	}
	for (int i = 0; i < r->t->nr_cpu_ids; i++)
		keys[i] = i;
	if (T == 1)
		text = g_strdup_printf("%s: one thread per core", where);
	else
		text = g_strdup("assumed: one thread per core (the input does "
				"not say; lscpu does)");
	g_free(where);
	return text;
}

void resolve_cores(struct resolver *r, int64_t *keys)
{
	if (known_ids(r, offsetof(struct cpu_facts, core), keys))
		r->m->core_from = origin_to_string(&r->f->cores);
	else
		r->m->core_from = core_rule(r, keys);
	renumber(r, keys, offsetof(struct topology_cpu, core));
}

/*
 * Nodes nearer than 20 to each other, in both directions, are of one socket:
 * 20 is what the kernel and most firmware say of another socket, sub-NUMA
 * clusters and nodes per socket are below. Returns how many sockets that are.
 */
static int sockets_by_distance(struct resolver *r, int *socket)
{
	int nr = r->t->nr_node_ids, nr_sockets = 0;
	g_autofree int *queue = g_new(int, nr);

	for (int n = 0; n < nr; n++)
		socket[n] = -1;
	for (int first = 0; first < nr; first++) {
		int head = 0, tail = 0;

		/* memory without CPUs is no socket of its own */
		if (!r->t->nodes[first].nr_cpus || socket[first] >= 0)
			continue;
		socket[first] = nr_sockets++;
		queue[tail++] = first;
		while (head < tail) {
			int a = queue[head++];

			for (int b = 0; b < nr; b++) {
				if (socket[b] >= 0 || !r->t->nodes[b].nr_cpus ||
				    topology_distance(r->t, a, b) >= 20 ||
				    topology_distance(r->t, b, a) >= 20)
					continue;
				socket[b] = socket[a];
				queue[tail++] = b;
			}
		}
	}
	return nr_sockets;
}

static int nodes_with_cpus(const struct topology *t)
{
	int n = 0;

	for (int i = 0; i < t->nr_node_ids; i++)
		n += t->nodes[i].nr_cpus > 0;
	return n;
}

static char *socket_rule(struct resolver *r, int64_t *keys)
{
	struct topology *t = r->t;
	int said = r->f->sockets_said, with = nodes_with_cpus(t);
	g_autofree int *socket = g_new0(int, t->nr_node_ids);
	int by_distance = sockets_by_distance(r, socket), rank = 0;
	g_autofree char *where = origin_to_string(&r->f->sockets_from);
	char *text;

	if (said == 1 || (said == 0 && with == 1)) {
		memset(keys, 0, t->nr_cpu_ids * sizeof(*keys));
		return said ? g_strdup(where)
			    : g_strdup("assumed: one node, one socket");
	}
	if (said > with && t->nr_cores % said == 0) {
		for (int i = 0; i < t->nr_cpu_ids; i++)
			keys[i] = t->cpus[i].core / (t->nr_cores / said);
		return g_strdup_printf("%s (%d sockets); assumed to be %d "
				       "consecutive cores each",
				       where, said, t->nr_cores / said);
	}
	if (said && by_distance == said) {
		text = g_strdup_printf("%s (%d sockets); nodes nearer than 20 "
				       "are of one",
				       where, said);
	} else if (said && with % said == 0) {
		for (int n = 0; n < t->nr_node_ids; n++)
			if (t->nodes[n].nr_cpus)
				socket[n] = rank++ / (with / said);
		text = g_strdup_printf("%s (%d sockets); assumed to have %d "
				       "nodes each, in order",
				       where, said, with / said);
	} else {
		text = g_strdup("assumed: nodes nearer than 20 to each other "
				"are of one socket (the input does not say; "
				"lscpu does)");
	}
	for (int i = 0; i < t->nr_cpu_ids; i++)
		keys[i] = t->cpus[i].online ? socket[t->cpus[i].node] : 0;
	return text;
}

void resolve_sockets(struct resolver *r, int64_t *keys)
{
	if (known_ids(r, offsetof(struct cpu_facts, socket), keys))
		r->m->socket_from = origin_to_string(&r->f->sockets);
	else
		r->m->socket_from = socket_rule(r, keys);
	renumber(r, keys, offsetof(struct topology_cpu, socket));
}

struct core_place {
	int socket, node, core;
};

static int by_place(const void *a, const void *b)
{
	const struct core_place *x = a, *y = b;

	if (x->socket != y->socket)
		return x->socket - y->socket;
	if (x->node != y->node)
		return x->node - y->node;
	return x->core - y->core;
}

/* @said L3 caches over the cores in order of socket and node; false if they
 * don't come out even. */
static bool spread_l3(struct resolver *r, int said, int64_t *keys)
{
	struct topology *t = r->t;
	g_autofree struct core_place *cores =
		g_new0(struct core_place, MAX(t->nr_cores, 1));
	g_autofree int *l3 = g_new0(int, MAX(t->nr_cores, 1));

	if (said > t->nr_cores || t->nr_cores % said || said % t->nr_sockets)
		return false;
	for (int i = t->nr_cpu_ids - 1; i >= 0; i--)
		if (t->cpus[i].online)
			cores[t->cpus[i].core] = (struct core_place){
				t->cpus[i].socket, t->cpus[i].node,
				t->cpus[i].core};
	qsort(cores, t->nr_cores, sizeof(*cores), by_place);
	for (int k = 0; k < t->nr_cores; k++)
		l3[cores[k].core] = k / (t->nr_cores / said);
	for (int i = 0; i < t->nr_cpu_ids; i++)
		keys[i] = t->cpus[i].online ? l3[t->cpus[i].core] : 0;
	return true;
}

void resolve_l3(struct resolver *r, int64_t *keys)
{
	struct topology *t = r->t;
	int said = r->f->l3_said;

	if (known_ids(r, offsetof(struct cpu_facts, l3), keys)) {
		r->m->l3_from = origin_to_string(&r->f->l3s);
	} else if (said && spread_l3(r, said, keys)) {
		g_autofree char *where = origin_to_string(&r->f->l3_from);

		r->m->l3_from = g_strdup_printf(
			"%s (%d instances); assumed to be shared by %d "
			"consecutive cores each",
			where, said, t->nr_cores / said);
	} else {
		for (int i = 0; i < t->nr_cpu_ids; i++)
			keys[i] = (int64_t)t->cpus[i].socket *
					  TOPOLOGY_MAX_NODES +
				  t->cpus[i].node;
		r->m->l3_from = g_strdup("assumed: one L3 per node and socket "
					 "(none in the input; lscpu -p tells)");
	}
	renumber(r, keys, offsetof(struct topology_cpu, l3));
}
