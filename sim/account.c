/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cycles by call path and cause.
 *
 * Each CPU has a tree of the call paths that it has been in. Entering a function
 * is mostly the child that was entered last: a program does the same again.
 */
#include "sim/internal.h"

#include <string.h>

struct account {
	GHashTable *frames; /* name -> number + 1 */
	GPtrArray *names;
};

const char *const cause_names[NR_CAUSES] = {
	[CAUSE_INSN] = "insn",
	[CAUSE_L1] = "l1",
	[CAUSE_L2] = "l2",
	[CAUSE_L3] = "l3",
	[CAUSE_DRAM_LOCAL] = "dram_local",
	[CAUSE_DRAM_REMOTE] = "dram_remote",
	[CAUSE_C2C_SMT] = "c2c_smt",
	[CAUSE_C2C_L3] = "c2c_l3",
	[CAUSE_C2C_CROSS_L3] = "c2c_cross_l3",
	[CAUSE_C2C_SOCKET] = "c2c_socket",
	[CAUSE_ATOMIC] = "atomic",
	[CAUSE_IRQ] = "irq",
	[CAUSE_LOCK_WAIT] = "lock_wait",
	[CAUSE_STORE] = "store",
	[CAUSE_BULK] = "bulk",
	[CAUSE_OUTSIDE] = "outside",
	[CAUSE_IDLE] = "idle",
};

struct account *account_new(void)
{
	struct account *a = g_new0(struct account, 1);

	a->frames = g_hash_table_new(g_str_hash, g_str_equal);
	a->names = g_ptr_array_new();
	return a;
}

void account_free(struct account *a)
{
	g_ptr_array_free(a->names, TRUE);
	g_hash_table_destroy(a->frames);
	g_free(a);
}

int machine_frame(struct machine *m, const char *name)
{
	struct account *a = m->account;
	int known = GPOINTER_TO_INT(g_hash_table_lookup(a->frames, name));

	if (known)
		return known - 1;
	g_ptr_array_add(a->names, (gpointer)name);
	g_hash_table_insert(a->frames, (gpointer)name,
			    GINT_TO_POINTER((int)a->names->len));
	return (int)a->names->len - 1;
}

static const char *frame_name(const struct machine *m, int frame)
{
	return m->account->names->pdata[frame];
}

/* ---- paths ---- */

static struct path *new_path(void)
{
	return g_aligned_alloc0(1, sizeof(struct path), 64);
}

void account_attach(struct cpu_private *p)
{
	p->root = new_path();
	p->root->traced = p->cpu.machine->flags & MACHINE_TRACE;
	p->cpu.path = p->root;
	p->cpu.cycles = p->root->cycles;
}

static void free_paths(struct path *path)
{
	while (path) {
		struct path *next = path->sibling;

		free_paths(path->children);
		g_aligned_free(path);
		path = next;
	}
}

void account_detach(struct cpu_private *p)
{
	free_paths(p->root);
}

struct path *__cpu_child(struct cpu *c, int frame)
{
	struct path *child = c->path->children;

	while (child && child->frame != frame)
		child = child->sibling;
	if (!child) {
		child = new_path();
		child->parent = c->path;
		child->frame = frame;
		child->traced = c->path->traced;
		child->sibling = c->path->children;
		c->path->children = child;
	}
	c->path->recent = child;
	return child;
}

void __cpu_trace_enter(struct cpu *c)
{
	trace_enter(priv(c));
}

void __cpu_trace_leave(struct cpu *c)
{
	trace_leave(priv(c), frame_name(c->machine, c->path->frame));
}

static void reset_paths(struct path *path)
{
	for (; path; path = path->sibling) {
		memset(path->cycles, 0, sizeof(path->cycles));
		reset_paths(path->children);
	}
}

void account_reset(struct machine *m)
{
	for (int i = 0; i < m->topology->nr_cpu_ids; i++)
		if (m->cpus[i])
			reset_paths(m->cpus[i]->root);
}

/* ---- what it came to ---- */

struct named_path {
	char *name;
	const struct path *path;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named_path *)a)->name,
		      ((const struct named_path *)b)->name);
}

static void name_paths(const struct machine *m, const struct path *path,
		       const char *caller, GArray *named)
{
	for (; path; path = path->sibling) {
		struct named_path n = { .path = path };

		n.name = !path->parent ?
				 g_strdup("") :
				 g_strconcat(caller, *caller ? ";" : "",
					     frame_name(m, path->frame), NULL);
		g_array_append_val(named, n);
		name_paths(m, path->children, n.name, named);
	}
}

void machine_account(struct machine *m, account_fn fn, void *arg)
{
	for (int cpu = 0; cpu < m->topology->nr_cpu_ids; cpu++) {
		g_autoptr(GArray) named = NULL;

		if (!m->cpus[cpu])
			continue;
		/* which came first is chance, names are not */
		named = g_array_new(FALSE, FALSE, sizeof(struct named_path));
		name_paths(m, m->cpus[cpu]->root, NULL, named);
		g_array_sort(named, by_name);
		for (guint i = 0; i < named->len; i++) {
			struct named_path *n =
				&g_array_index(named, struct named_path, i);

			for (int k = 0; k < NR_CAUSES; k++)
				if (n->path->cycles[k])
					fn(cpu, n->name, k, n->path->cycles[k],
					   arg);
			g_free(n->name);
		}
	}
}
