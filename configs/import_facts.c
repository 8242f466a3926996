/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/import_facts.h"

#include <string.h>

struct machine_facts *facts_new(const char *name, enum facts_kind kind,
				const char *what)
{
	struct machine_facts *f = g_new0(struct machine_facts, 1);

	f->name = g_strdup(name);
	f->kind = kind;
	f->what = what;
	f->cpus = g_new(struct cpu_facts, TOPOLOGY_MAX_CPUS);
	for (int i = 0; i < TOPOLOGY_MAX_CPUS; i++)
		f->cpus[i] = (struct cpu_facts){
			.online = FACT_UNKNOWN,
			.node = FACT_UNKNOWN,
			.core = FACT_UNKNOWN,
			.socket = FACT_UNKNOWN,
			.l3 = FACT_UNKNOWN,
		};
	f->nodes = g_new0(struct node_facts, TOPOLOGY_MAX_NODES);
	for (int i = 0; i < TOPOLOGY_MAX_NODES; i++) {
		f->nodes[i].memory_kib = FACT_UNKNOWN;
		f->nodes[i].nearest_cpu = FACT_UNKNOWN;
	}
	for (int i = 0; i < 3; i++)
		f->caches[i].kib = FACT_UNKNOWN;
	f->notes = g_ptr_array_new_with_free_func(g_free);
	return f;
}

void facts_free(struct machine_facts *f)
{
	if (!f)
		return;
	for (int i = 0; i < TOPOLOGY_MAX_NODES; i++) {
		g_free(f->nodes[i].row);
		g_free(f->nodes[i].columns);
	}
	g_free(f->name);
	g_free(f->model);
	g_free(f->architecture);
	g_free(f->cpus);
	g_free(f->nodes);
	g_ptr_array_unref(f->notes);
	g_free(f);
}

void facts_note(struct machine_facts *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(f->notes, g_strdup_vprintf(format, args));
	va_end(args);
}

struct cpu_facts *facts_cpu(struct machine_facts *f, int cpu)
{
	g_assert(cpu >= 0 && cpu < TOPOLOGY_MAX_CPUS);
	f->nr_cpu_ids = MAX(f->nr_cpu_ids, cpu + 1);
	f->cpus[cpu].listed = true;
	return &f->cpus[cpu];
}

struct node_facts *facts_node(struct machine_facts *f, int node)
{
	g_assert(node >= 0 && node < TOPOLOGY_MAX_NODES);
	f->nr_node_ids = MAX(f->nr_node_ids, node + 1);
	f->nodes[node].listed = true;
	return &f->nodes[node];
}

struct origin facts_origin(const struct machine_facts *f, int line)
{
	return (struct origin){f->name, line, line};
}

void origin_extend(struct origin *o, const struct machine_facts *f, int line)
{
	if (!o->file)
		*o = facts_origin(f, line);
	o->last = MAX(o->last, line);
}

char *origin_to_string(const struct origin *o)
{
	if (!o->file)
		return g_strdup("nowhere");
	if (!o->first)
		return g_strdup(o->file);
	if (o->last > o->first)
		return g_strdup_printf("%s:%d-%d", o->file, o->first, o->last);
	return g_strdup_printf("%s:%d", o->file, o->first);
}

bool facts_set_node(struct machine_facts *f, const struct id_set *cpus,
		    int node, int *clash)
{
	facts_node(f, node);
	for (int cpu = -1; (cpu = id_set_next(cpus, cpu)) >= 0;) {
		struct cpu_facts *c = facts_cpu(f, cpu);

		*clash = cpu;
		if (c->node != FACT_UNKNOWN && c->node != node)
			return false;
		c->node = node;
	}
	return true;
}

static void merge_int(int *into, int from, int *differ)
{
	if (from == FACT_UNKNOWN)
		return;
	if (*into == FACT_UNKNOWN)
		*into = from;
	else if (*into != from)
		++*differ;
}

static void merge_count(int *into, struct origin *into_from, int from,
			const struct origin *from_from)
{
	if (*into || !from)
		return;
	*into = from;
	*into_from = *from_from;
}

static void merge_ids(struct machine_facts *into,
		      const struct machine_facts *from)
{
	/* ids of different inputs only mean something among themselves */
	bool cores = !into->cores.file, sockets = !into->sockets.file,
	     l3s = !into->l3s.file;

	for (int i = 0; i < from->nr_cpu_ids; i++) {
		const struct cpu_facts *c = &from->cpus[i];
		struct cpu_facts *d = &into->cpus[i];

		if (!c->listed)
			continue;
		if (cores)
			d->core = c->core;
		if (sockets)
			d->socket = c->socket;
		if (l3s)
			d->l3 = c->l3;
	}
	if (cores)
		into->cores = from->cores;
	if (sockets)
		into->sockets = from->sockets;
	if (l3s)
		into->l3s = from->l3s;
}

static void merge_node(struct machine_facts *into,
		       const struct machine_facts *from, int i, int *differ)
{
	const struct node_facts *n = &from->nodes[i];
	struct node_facts *d;

	if (!n->listed)
		return;
	d = facts_node(into, i);
	if (d->memory_kib == FACT_UNKNOWN && n->memory_kib != FACT_UNKNOWN) {
		d->memory_kib = n->memory_kib;
		d->memory = n->memory;
	} else if (n->memory_kib != FACT_UNKNOWN &&
		   !d->memory_kib != !n->memory_kib) {
		++*differ;
	}
	if (d->nearest_cpu == FACT_UNKNOWN)
		d->nearest_cpu = n->nearest_cpu;
	if (!d->row && n->row) {
		d->row = g_memdup2(n->row, n->nr_row * sizeof(*n->row));
		d->columns =
			g_memdup2(n->columns, n->nr_row * sizeof(*n->columns));
		d->nr_row = n->nr_row;
		d->distances = n->distances;
	}
	if (!d->cpus.file)
		d->cpus = n->cpus;
}

void facts_merge(struct machine_facts *into, const struct machine_facts *from)
{
	/* An input that lists the CPUs of nodes lists all that are there. */
	bool lists_cpus = into->cpu_list.file || into->nr_cpu_ids > 0;
	int other_node = 0, other_memory = 0, added = 0;

	merge_ids(into, from);
	for (int i = 0; i < from->nr_cpu_ids; i++) {
		const struct cpu_facts *c = &from->cpus[i];
		struct cpu_facts *d = &into->cpus[i];

		if (!c->listed)
			continue;
		if (!d->listed && lists_cpus && c->online != 0)
			added++;
		/* one that only the completing input has is taken for off */
		if (!d->listed && lists_cpus)
			continue;
		facts_cpu(into, i);
		if (d->online == FACT_UNKNOWN)
			d->online = c->online;
		merge_int(&d->node, c->node, &other_node);
	}
	for (int i = 0; i < from->nr_node_ids; i++)
		merge_node(into, from, i, &other_memory);
	for (int i = 0; i < 3; i++)
		if (into->caches[i].kib == FACT_UNKNOWN)
			into->caches[i] = from->caches[i];
	if (!into->cpu_list.file)
		into->cpu_list = from->cpu_list;
	merge_count(&into->nr_cpus_said, &into->cpus_from, from->nr_cpus_said,
		    &from->cpus_from);
	merge_count(&into->threads_said, &into->threads_from,
		    from->threads_said, &from->threads_from);
	merge_count(&into->cores_said, &into->cores_from, from->cores_said,
		    &from->cores_from);
	merge_count(&into->sockets_said, &into->sockets_from,
		    from->sockets_said, &from->sockets_from);
	merge_count(&into->nodes_said, &into->nodes_from, from->nodes_said,
		    &from->nodes_from);
	merge_count(&into->l3_said, &into->l3_from, from->l3_said,
		    &from->l3_from);
	if (!into->model)
		into->model = g_strdup(from->model);
	if (!into->architecture)
		into->architecture = g_strdup(from->architecture);
	for (guint i = 0; i < from->notes->len; i++)
		facts_note(into, "%s", (char *)from->notes->pdata[i]);
	if (other_node)
		facts_note(into,
			   "%d CPUs are on other nodes in %s than in %s, "
			   "which was believed",
			   other_node, from->name, into->name);
	if (other_memory)
		facts_note(into,
			   "%d nodes have memory in one of %s and %s and "
			   "none in the other; the latter was believed",
			   other_memory, from->name, into->name);
	if (added)
		facts_note(into,
			   "%d CPUs are in %s but not in %s, taken to be "
			   "off line",
			   added, from->name, into->name);
}
