/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Topology files: which CPUs share a core, an L3, a socket.
 */
#include <string.h>

#include "sim/cpulist.h"
#include "configs/topology_draft.h"

/*
 * A ;-list of CPU lists: gives each CPU the index of the list it is in, in
 * out[cpu]. Every CPU must be in exactly one. A list may be empty if @empty_too
 * (a socket without CPUs).
 */
static bool read_lists(struct draft *d, const struct conf_entry *e, int *out,
		       bool empty_too, GError **error)
{
	g_auto(GStrv) lists = g_strsplit(e->value, ";", TOPOLOGY_MAX_CPUS + 1);
	int n = 0;

	for (int cpu = 0; cpu < TOPOLOGY_MAX_CPUS; cpu++)
		out[cpu] = -1;
	for (int i = 0; lists[i]; i++) {
		g_autofree char *wrong = NULL;
		int count = 0;

		if (!*g_strstrip(lists[i]) && !lists[i + 1])
			break; /* a ';' at the end */
		wrong = cpulist_parse(lists[i], TOPOLOGY_MAX_CPUS, d->set,
				      &count);
		if (!wrong && !count && !empty_too)
			wrong = g_strdup("an empty list, expected CPUs between "
					 "two ';'");
		if (wrong)
			return conf_fail(error, e, "%s", wrong);
		for (int cpu = 0; cpu < TOPOLOGY_MAX_CPUS; cpu++) {
			if (!d->set[cpu])
				continue;
			if (!d->online[cpu])
				return conf_fail(error, e, "CPU %d is in no "
						 "node, expected only CPUs of "
						 "nodes", cpu);
			if (out[cpu] >= 0)
				return conf_fail(error, e, "CPU %d is in two "
						 "lists, expected one", cpu);
			out[cpu] = n;
		}
		n++;
	}
	for (int cpu = 0; cpu < d->nr_cpu_ids; cpu++)
		if (d->online[cpu] && out[cpu] < 0)
			return conf_fail(error, e, "CPU %d is in no list, "
					 "expected every CPU in one", cpu);
	return true;
}

/* Whether no core has more CPUs than a machine may have threads. */
static bool check_threads(struct draft *d, const struct conf_entry *e,
			  const int *of, GError **error)
{
	g_autofree int *nr = g_new0(int, TOPOLOGY_MAX_CPUS);

	for (int cpu = 0; cpu < d->nr_cpu_ids; cpu++)
		if (d->online[cpu] && ++nr[of[cpu]] > TOPOLOGY_MAX_THREADS)
			return conf_fail(error, e, "CPU %d is one too many in "
					 "its list, expected at most %d", cpu,
					 TOPOLOGY_MAX_THREADS);
	return true;
}

static bool set_cores(struct draft *d, struct topology *t, int *of,
		      GError **error)
{
	const struct conf_entry *e = conf_find(d->c, "topology", "core");
	const struct conf_entry *threads = conf_find(d->c, "topology",
						     "threads");
	int cores = d->nr_cpus / d->threads, seen = 0;

	if (e && threads)
		return conf_fail(error, e, "can't be given together with "
				 "threads");
	if (e && (!read_lists(d, e, of, false, error) ||
		  !check_threads(d, e, of, error)))
		return false;
	if (d->threads > 1 && (d->nr_cpus % d->threads ||
			       d->nr_cpu_ids != d->nr_cpus))
		return conf_fail(error, threads, "%d, but there are %d CPUs "
				 "with ids up to %d: expected core= lists",
				 d->threads, d->nr_cpus, d->nr_cpu_ids - 1);
	for (int cpu = 0; cpu < d->nr_cpu_ids; cpu++) {
		if (!d->online[cpu])
			continue;
		if (e)
			t->cpus[cpu].core = of[cpu];
		else if (d->threads == 1)
			t->cpus[cpu].core = seen++;
		else
			t->cpus[cpu].core = d->adjacent ? cpu / d->threads :
							  cpu % cores;
	}
	return true;
}

static bool set_sockets(struct draft *d, struct topology *t, int *of,
			GError **error)
{
	const struct conf_entry *e = conf_find(d->c, "topology", "socket");

	if (e && !read_lists(d, e, of, true, error))
		return false;
	for (int cpu = 0; cpu < d->nr_cpu_ids; cpu++) {
		int64_t *socket = &d->node_socket[d->node_of[cpu]];

		if (!d->online[cpu])
			continue;
		if (e && *socket < 0)
			*socket = of[cpu];
		t->cpus[cpu].socket = e ? of[cpu] : MAX(*socket, 0);
	}
	for (int n = 0; n < d->nr_node_ids; n++)
		t->nodes[n].socket = MAX(d->node_socket[n], 0);
	return true;
}

/* Gives CPUs with equal key(cpu) the same L3. */
static void l3_by(struct topology *t, int (*key)(const struct topology_cpu *))
{
	for (int cpu = 0; cpu < t->nr_cpu_ids; cpu++)
		t->cpus[cpu].l3 = key(&t->cpus[cpu]);
}

/* Numbers cores (or L3s) in the order of their first CPU, without holes: how
 * they were written leaves no trace. */
static void renumber(struct topology *t, int *of, bool cores)
{
	int n = 0;

	for (int i = 0; i < TOPOLOGY_MAX_CPUS; i++)
		of[i] = -1;
	for (int cpu = 0; cpu < t->nr_cpu_ids; cpu++) {
		int *id = cores ? &t->cpus[cpu].core : &t->cpus[cpu].l3;

		if (!t->cpus[cpu].online)
			continue;
		if (of[*id] < 0)
			of[*id] = n++;
		*id = of[*id];
	}
}

static int key_node(const struct topology_cpu *c)
{
	return c->node;
}

static int key_core(const struct topology_cpu *c)
{
	return c->core;
}

static int key_socket(const struct topology_cpu *c)
{
	return c->socket;
}

static bool set_l3(struct draft *d, struct topology *t, int *of, GError **error)
{
	const struct conf_entry *e = conf_find(d->c, "topology", "l3");

	if (!e || !strcmp(e->value, "socket")) {
		l3_by(t, key_socket);
	} else if (!strcmp(e->value, "node")) {
		l3_by(t, key_node);
	} else if (!strcmp(e->value, "core")) {
		l3_by(t, key_core);
	} else if (g_ascii_isalpha(e->value[0])) {
		return conf_fail(error, e, "'%.60s', expected socket, node, "
				 "core or CPU lists separated by ';'",
				 e->value);
	} else {
		if (!read_lists(d, e, of, false, error))
			return false;
		for (int cpu = 0; cpu < d->nr_cpu_ids; cpu++)
			if (d->online[cpu])
				t->cpus[cpu].l3 = of[cpu];
	}
	return true;
}

/* What hangs together must be together: a core in an L3, an L3 in a socket. */
static bool check_nesting(struct draft *d, struct topology *t, int *of,
			  GError **error)
{
	for (int level = 0; level < 2; level++) {
		for (int i = 0; i < TOPOLOGY_MAX_CPUS; i++)
			of[i] = -1;
		for (int cpu = 0; cpu < d->nr_cpu_ids; cpu++) {
			const struct topology_cpu *a = &t->cpus[cpu], *b;
			int inner = level ? a->l3 : a->core;

			if (!a->online)
				continue;
			if (of[inner] < 0) {
				of[inner] = cpu;
				continue;
			}
			b = &t->cpus[of[inner]];
			if (level ? a->socket == b->socket : a->l3 == b->l3)
				continue;
			return conf_fail_missing(
				error, d->c, "topology", level ? "l3" : "core",
				"CPUs %d and %d share %s but not %s", of[inner],
				cpu, level ? "an L3" : "a core",
				level ? "a socket" : "an L3");
		}
	}
	return true;
}

bool topology_set_parts(struct draft *d, struct topology *t, GError **error)
{
	g_autofree int *of = g_new(int, TOPOLOGY_MAX_CPUS);

	if (!set_cores(d, t, of, error) || !set_sockets(d, t, of, error) ||
	    !set_l3(d, t, of, error) || !check_nesting(d, t, of, error))
		return false;
	renumber(t, of, true);
	renumber(t, of, false);
	return true;
}
