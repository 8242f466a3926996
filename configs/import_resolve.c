/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/import_resolver.h"

#include <string.h>

/* The largest that topology files may say (configs/topology.c). */
#define MAX_MEMORY_MB (UINT64_C(1) << 20)

void resolver_note(struct resolver *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(r->m->notes, g_strdup_vprintf(format, args));
	va_end(args);
}

static bool fail(struct resolver *r, const char *what)
{
	return import_fail(r->error, r->f->name, 0, "%s", what);
}

/* ---- CPUs and nodes ---- */

static bool pick_cpus(struct resolver *r)
{
	const struct machine_facts *f = r->f;
	int listed = 0, nr_nodes = 0;

	for (int i = 0; i < f->nr_cpu_ids; i++)
		listed += f->cpus[i].listed && f->cpus[i].online != 0;
	for (int i = 0; i < f->nr_node_ids; i++)
		nr_nodes += f->nodes[i].listed;
	r->total = f->nr_cpu_ids;
	if (!listed)
		r->total = f->nr_cpus_said
				   ? f->nr_cpus_said
				   : nr_nodes * r->options->cpus_per_node;
	if (!r->total)
		return fail(r, "names no CPU, expected CPU lists: give lscpu "
			       "or numactl -H as a second input, or "
			       "--cpus-per-node N");
	if (r->total > TOPOLOGY_MAX_CPUS)
		return fail(r, "more CPUs than the 4096 that can be "
			       "simulated");
	r->t = topology_new("", r->total,
			    MAX(f->nr_node_ids, MAX(f->nodes_said, 1)));
	r->m->topology = r->t;
	for (int i = 0; i < r->total; i++)
		r->t->cpus[i].online = !listed || (f->cpus[i].listed &&
						   f->cpus[i].online != 0);
	r->total = MAX(r->total, f->nr_cpus_said);
	return true;
}

/* Threads per core; lscpu counts those of one core, and where some are off
 * line that one may be the odd one. */
static void pick_threads(struct resolver *r)
{
	const struct machine_facts *f = r->f;
	int cores = f->cores_said * f->sockets_said;

	r->threads = f->threads_said;
	if (!cores || !f->threads_said || cores * f->threads_said == r->total)
		return;
	if (cores > r->total || r->total % cores || r->total / cores > 8)
		return;
	r->threads = r->total / cores;
	resolver_note(
		r,
		"%d thread per core x %d cores x %d sockets are not the %d "
		"CPUs there are; taken as %d threads per core",
		f->threads_said, f->cores_said, f->sockets_said, r->total,
		r->threads);
}

/* Where only the number of nodes is known: equal runs of CPUs, siblings (the
 * second half, as firmware numbers them on x86) beside each other. */
static bool split_into_nodes(struct resolver *r, int nodes)
{
	int threads = MAX(r->threads, 1), per_node;

	if (r->total % (threads * nodes))
		return fail(r, "says how many nodes there are but not which "
			       "CPUs are on them, expected CPU lists: give "
			       "numactl -H as a second input");
	per_node = r->total / threads / nodes;
	for (int i = 0; i < r->t->nr_cpu_ids; i++)
		r->t->cpus[i].node = i % (r->total / threads) / per_node;
	for (int n = 0; n < nodes; n++) {
		r->t->nodes[n].online = true;
		r->m->nodes[n].cpus_from = g_strdup_printf(
			"assumed: %d nodes of %d consecutive cores (%s:%d "
			"gives only the number of nodes)",
			nodes, per_node, r->f->nodes_from.file,
			r->f->nodes_from.first);
	}
	resolver_note(r,
		      "which CPUs are on which node is assumed: %d nodes of %d "
		      "consecutive cores",
		      nodes, per_node);
	return true;
}

static bool homeless(struct resolver *r, const struct id_set *cpus)
{
	g_autofree char *list = id_set_to_list(cpus);

	return import_fail(
		r->error, r->f->name, 0,
		"CPUs %.80s are in no NUMA "
		"node%s, expected all to be: give numactl -H of the "
		"machine as a second input",
		list,
		r->f->kind == FACTS_HWLOC
			? " (hwloc leaves out nodes without memory or "
			  "not allowed)"
			: "");
}

static bool pick_nodes(struct resolver *r)
{
	const struct machine_facts *f = r->f;
	struct id_set without = {0};
	int nr_nodes = 0, some = 0, with = 0;
	const char *how = NULL;

	r->m->nodes = g_new0(struct imported_node, r->t->nr_node_ids);
	for (int i = 0; i < f->nr_node_ids; i++) {
		if (!f->nodes[i].listed)
			continue;
		nr_nodes++;
		some = i;
		r->t->nodes[i].online = true;
		if (f->nodes[i].cpus.file)
			r->m->nodes[i].cpus_from =
				origin_to_string(&f->nodes[i].cpus);
	}
	for (int i = 0; i < r->t->nr_cpu_ids; i++) {
		if (!r->t->cpus[i].online)
			continue;
		r->t->cpus[i].node =
			i < f->nr_cpu_ids ? f->cpus[i].node : FACT_UNKNOWN;
		if (r->t->cpus[i].node >= 0)
			with++;
		else
			id_set_add(&without, i);
	}
	if (!id_set_count(&without))
		return true;
	if (with && (f->kind == FACTS_HWLOC || nr_nodes != 1))
		return homeless(r, &without);
	if (!f->nr_cpu_ids && nr_nodes &&
	    nr_nodes * r->options->cpus_per_node == r->t->nr_cpu_ids) {
		int cpu = 0;

		for (int n = 0; n < f->nr_node_ids; n++) {
			if (!f->nodes[n].listed)
				continue;
			for (int i = 0; i < r->options->cpus_per_node; i++)
				r->t->cpus[cpu++].node = n;
			g_free(r->m->nodes[n].cpus_from);
			r->m->nodes[n].cpus_from =
				g_strdup("option --cpus-per-node");
		}
		return true;
	}
	if (!nr_nodes && f->nodes_said > 1)
		return split_into_nodes(r, f->nodes_said);
	if (nr_nodes > 1 || f->nodes_said > 1 ||
	    (f->kind == FACTS_HWLOC && nr_nodes))
		return homeless(r, &without);
	how = nr_nodes || f->nodes_said
		      ? "the only node"
		      : "assumed: no node in the input, so one";
	r->t->nodes[some].online = true;
	g_free(r->m->nodes[some].cpus_from);
	r->m->nodes[some].cpus_from = g_strdup(how);
	for (int i = 0; i < r->t->nr_cpu_ids; i++)
		r->t->cpus[i].node = some;
	return true;
}

/* ---- memory, distances, places of nodes ---- */

static void pick_memory(struct resolver *r)
{
	const struct machine_facts *f = r->f;
	bool any = false, assumed = false;

	for (int i = 0; i < f->nr_node_ids; i++)
		any |= f->nodes[i].memory_kib != FACT_UNKNOWN;
	for (int i = 0; i < r->t->nr_node_ids; i++) {
		struct topology_node *n = &r->t->nodes[i];
		struct imported_node *in = &r->m->nodes[i];

		if (!n->online)
			continue;
		if (i < f->nr_node_ids && f->nodes[i].memory_kib >= 0) {
			n->memory_bytes = f->nodes[i].memory_kib * 1024;
			if (n->memory_bytes >> 20 > MAX_MEMORY_MB) {
				n->memory_bytes = MAX_MEMORY_MB << 20;
				resolver_note(r,
					      "node %d: more memory than can "
					      "be simulated, cut to "
					      "%" G_GUINT64_FORMAT " MB",
					      i, MAX_MEMORY_MB);
			}
			in->memory_from = origin_to_string(&f->nodes[i].memory);
		} else if (!any && n->nr_cpus) {
			n->memory_bytes =
				(r->options->memory_mb ? r->options->memory_mb
						       : ASSUMED_MEMORY_MB)
				<< 20;
			in->memory_from = g_strdup(
				r->options->memory_mb
					? "option --memory-mb"
					: "assumed: the input does not say "
					  "(numactl -H "
					  "does, as does --memory-mb)");
			assumed |= !r->options->memory_mb;
		} else {
			in->memory_from = g_strdup("unknown, so none");
		}
	}
	if (assumed)
		resolver_note(
			r,
			"no input says how much memory there is: %d MB assumed "
			"for each node with CPUs",
			ASSUMED_MEMORY_MB);
}

static void pick_distances(struct resolver *r)
{
	const struct machine_facts *f = r->f;
	int nr = r->t->nr_node_ids, asymmetric = 0, missing = 0;
	g_autofree bool *known = g_new0(bool, (size_t)nr *nr);

	for (int i = 0; i < f->nr_node_ids; i++) {
		const struct node_facts *n = &f->nodes[i];

		for (int k = 0; k < n->nr_row; k++) {
			if (n->columns[k] >= nr)
				continue;
			r->t->distances[i * nr + n->columns[k]] = n->row[k];
			known[i * nr + n->columns[k]] = true;
		}
		if (n->nr_row)
			r->m->nodes[i].distances_from =
				origin_to_string(&n->distances);
	}
	for (int i = 0; i < nr; i++) {
		if (!r->t->nodes[i].online)
			continue;
		if (!r->m->nodes[i].distances_from)
			r->m->nodes[i].distances_from = g_strdup(
				"assumed: 10 and 20, the kernel's own values "
				"where firmware gives none");
		for (int j = 0; j < nr; j++) {
			if (!r->t->nodes[j].online || i == j)
				continue;
			if (!known[i * nr + j] && known[j * nr + i])
				r->t->distances[i * nr + j] =
					r->t->distances[j * nr + i];
			else if (!known[i * nr + j])
				missing++;
			else if (known[j * nr + i] && i < j)
				asymmetric += topology_distance(r->t, i, j) !=
					      topology_distance(r->t, j, i);
		}
	}
	if (missing)
		resolver_note(
			r,
			"%d distances between nodes are not in the input: 20 "
			"assumed",
			missing);
	if (asymmetric)
		resolver_note(
			r,
			"distances are asymmetric for %d pairs of nodes; kept",
			asymmetric);
}

static void place_nodes(struct resolver *r)
{
	struct topology *t = r->t;

	for (int n = 0; n < t->nr_node_ids; n++) {
		struct imported_node *in = &r->m->nodes[n];
		int cpu = n < r->f->nr_node_ids ? r->f->nodes[n].nearest_cpu
						: FACT_UNKNOWN;
		int best = -1;

		if (!t->nodes[n].online)
			continue;
		for (int i = 0; i < t->nr_cpu_ids && t->nodes[n].nr_cpus; i++)
			if (t->cpus[i].online && t->cpus[i].node == n) {
				t->nodes[n].socket = t->cpus[i].socket;
				in->socket_from = g_strdup("that of its CPUs");
				break;
			}
		if (in->socket_from)
			continue;
		if (cpu >= 0 && cpu < t->nr_cpu_ids && t->cpus[cpu].online) {
			t->nodes[n].socket = t->cpus[cpu].socket;
			in->socket_from = g_strdup_printf("that of CPU %d "
							  "beside it",
							  cpu);
			continue;
		}
		for (int i = 0; i < t->nr_node_ids; i++)
			if (t->nodes[i].nr_cpus &&
			    (best < 0 || topology_distance(t, n, i) <
						 topology_distance(t, n, best)))
				best = i;
		for (int i = 0; i < t->nr_cpu_ids; i++)
			if (best >= 0 && t->cpus[i].online &&
			    t->cpus[i].node == best) {
				t->nodes[n].socket = t->cpus[i].socket;
				break;
			}
		in->socket_from = g_strdup_printf("assumed: that of the "
						  "nearest node with CPUs, %d",
						  best);
	}
}

static void note_assumed(struct resolver *r, const char *key, const char *from)
{
	if (strstr(from, "assumed"))
		resolver_note(r, "%s: %s", key, from);
}

struct imported_machine *facts_resolve(const struct machine_facts *f,
				       const char *name,
				       const struct resolve_options *options,
				       GError **error)
{
	struct imported_machine *m = g_new0(struct imported_machine, 1);
	struct resolver r = {f, options, m, NULL, 0, 0, error};
	g_autofree int64_t *keys = g_new0(int64_t, TOPOLOGY_MAX_CPUS);
	g_autofree char *wrong = NULL;

	m->notes = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < f->notes->len; i++)
		resolver_note(&r, "%s", (char *)f->notes->pdata[i]);
	if (!pick_cpus(&r))
		goto failed;
	pick_threads(&r);
	if (!pick_nodes(&r))
		goto failed;
	g_free(r.t->name);
	r.t->name = g_strdup(name);
	pick_distances(&r);
	resolve_cores(&r, keys);
	topology_finish(r.t);
	resolve_sockets(&r, keys);
	topology_finish(r.t);
	resolve_l3(&r, keys);
	pick_memory(&r);
	place_nodes(&r);
	topology_finish(r.t);
	note_assumed(&r, "core", m->core_from);
	note_assumed(&r, "l3", m->l3_from);
	note_assumed(&r, "socket", m->socket_from);
	wrong = topology_check(r.t);
	if (!wrong)
		return m;
	import_fail(error, f->name, 0, "%s", wrong);
failed:
	imported_machine_free(m);
	return NULL;
}

void imported_machine_free(struct imported_machine *m)
{
	if (!m)
		return;
	for (int i = 0; m->nodes && i < m->topology->nr_node_ids; i++) {
		g_free(m->nodes[i].cpus_from);
		g_free(m->nodes[i].memory_from);
		g_free(m->nodes[i].socket_from);
		g_free(m->nodes[i].distances_from);
	}
	g_free(m->nodes);
	g_free(m->core_from);
	g_free(m->l3_from);
	g_free(m->socket_from);
	g_ptr_array_unref(m->notes);
	topology_free(m->topology);
	g_free(m);
}
