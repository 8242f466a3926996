/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The .conf text of an imported machine; every value below where it's from. */
#include "configs/import_resolve.h"

#include <string.h>

#include "configs/import_caches.h"

/* Printable and on one line: names come from the input. */
static void append_line(GString *s, const char *key, const char *value)
{
	g_string_append(s, key);
	for (const char *c = value; *c; c++)
		g_string_append_c(s, (unsigned char)*c < ' ' || *c == 0x7f ||
						     *c == '\\'
					     ? '?'
					     : *c);
	g_string_append_c(s, '\n');
}

static void append_comment(GString *s, const char *what, const char *value)
{
	g_autofree char *key = g_strdup_printf("# %s: ", what);

	append_line(s, key, value);
}

static void append_lists(GString *s, const struct topology *t, const char *key,
			 size_t member, int nr)
{
	g_autofree struct id_set *sets = g_new0(struct id_set, MAX(nr, 1));

	for (int i = 0; i < t->nr_cpu_ids; i++)
		if (t->cpus[i].online)
			id_set_add(
				&sets[*(const int *)((const char *)&t->cpus[i] +
						     member)],
				i);
	g_string_append_printf(s, "%s=", key);
	for (int k = 0; k < nr; k++) {
		g_autofree char *list = id_set_to_list(&sets[k]);

		g_string_append_printf(s, "%s%s", k ? ";" : "", list);
	}
	g_string_append_c(s, '\n');
}

static void append_node(GString *s, const struct imported_machine *m, int n)
{
	const struct topology *t = m->topology;
	const struct imported_node *in = &m->nodes[n];
	struct id_set cpus = {0};
	g_autofree char *list = NULL;

	for (int i = 0; i < t->nr_cpu_ids; i++)
		if (t->cpus[i].online && t->cpus[i].node == n)
			id_set_add(&cpus, i);
	list = id_set_to_list(&cpus);
	g_string_append_printf(s, "\n[node %d]\n", n);
	append_comment(s, "cpus",
		       in->cpus_from ? in->cpus_from : "none in the input");
	g_string_append_printf(s, "cpus=%s\n", list);
	append_comment(s, "memory_mb", in->memory_from);
	g_string_append_printf(s, "memory_mb=%" G_GUINT64_FORMAT "\n",
			       t->nodes[n].memory_bytes >> 20);
	append_comment(s, "socket", in->socket_from);
	g_string_append_printf(s, "socket=%d\n", t->nodes[n].socket);
	append_comment(s, "distances", in->distances_from);
	g_string_append(s, "distances=");
	for (int j = 0, k = 0; j < t->nr_node_ids; j++)
		if (t->nodes[j].online)
			g_string_append_printf(s, "%s%d", k++ ? " " : "",
					       topology_distance(t, n, j));
	g_string_append_c(s, '\n');
}

char *imported_machine_to_conf(const struct imported_machine *m,
			       const struct machine_facts *f,
			       const char *inputs, const char *machine,
			       const char *machine_lines)
{
	const struct topology *t = m->topology;
	GString *s = g_string_new(NULL);
	g_autofree char *description = NULL;

	append_line(s, "# Written by slubsim import topology from ", inputs);
	g_string_append(s, "# Above each value stands FILE:LINE of the input, "
			   "a conclusion or an assumption.\n");
	for (guint i = 0; i < m->notes->len; i++)
		append_comment(s, "note", m->notes->pdata[i]);
	g_string_append(s, "\n[topology]\n");
	append_line(s, "name=", t->name);
	description = g_strdup_printf(
		"%s%s%d CPUs, %d nodes", f->model ? f->model : "",
		f->model ? ", " : "", t->nr_cpus, t->nr_nodes);
	append_line(s, "description=", description);
	if (machine) {
		append_comment(s, "machine", "option --machine");
		append_line(s, "machine=", machine);
	}
	append_comment(s, "core", m->core_from);
	append_lists(s, t, "core", offsetof(struct topology_cpu, core),
		     t->nr_cores);
	append_comment(s, "l3", m->l3_from);
	append_lists(s, t, "l3", offsetof(struct topology_cpu, l3), t->nr_l3);
	append_comment(s, "socket", m->socket_from);
	append_lists(s, t, "socket", offsetof(struct topology_cpu, socket),
		     t->nr_sockets);
	if (machine_lines)
		g_string_append(s, machine_lines);
	for (int n = 0; n < t->nr_node_ids; n++)
		if (t->nodes[n].online)
			append_node(s, m, n);
	return g_string_free(s, FALSE);
}
