/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cycles by call path and cause.
 *
 * The tree of call paths belongs to the machine: a path is a number, 0 is the
 * root, and each has a table of children indexed by frame, so entering and
 * leaving a function is a table look-up. Each CPU has one row of cycles per
 * path that it has been in.
 */
#include "sim/internal.h"

#include <string.h>

struct path {
	struct path *parent;
	int id, frame;
	int nr_children;	/* size of the table */
	struct path **children; /* by frame; NULL = none */
};

struct account {
	GHashTable *frames; /* name -> number + 1 */
	GPtrArray *names;
	GPtrArray *paths; /* struct path *, by id; 0 is the root */
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

struct account *account_new(struct machine *m)
{
	struct account *a = g_new0(struct account, 1);
	struct path *root = g_new0(struct path, 1);

	a->frames = g_hash_table_new(g_str_hash, g_str_equal);
	a->names = g_ptr_array_new();
	a->paths = g_ptr_array_new();
	g_ptr_array_add(a->paths, root);
	return a;
}

void account_free(struct account *a)
{
	for (guint i = 0; i < a->paths->len; i++) {
		struct path *path = a->paths->pdata[i];

		g_free(path->children);
		g_free(path);
	}
	g_ptr_array_free(a->paths, TRUE);
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

/* Makes the row of @p's current path the one that is charged. */
static void use_row(struct cpu_private *p)
{
	if (p->path->id >= p->cycles_paths) {
		int nr = MAX(16, p->cycles_paths);

		while (nr <= p->path->id)
			nr *= 2;
		p->cycles_base = g_renew(uint64_t, p->cycles_base,
					 (size_t)nr * NR_CAUSES);
		memset(p->cycles_base + (size_t)p->cycles_paths * NR_CAUSES, 0,
		       sizeof(uint64_t) * NR_CAUSES * (nr - p->cycles_paths));
		p->cycles_paths = nr;
	}
	p->cpu.cycles = p->cycles_base + (size_t)p->path->id * NR_CAUSES;
}

void account_attach(struct machine *m, struct cpu_private *p)
{
	p->path = m->account->paths->pdata[0];
	use_row(p);
}

void account_detach(struct cpu_private *p)
{
	g_free(p->cycles_base);
}

static struct path *new_child(struct account *a, struct path *parent, int frame)
{
	struct path *child = g_new0(struct path, 1);

	child->parent = parent;
	child->frame = frame;
	child->id = (int)a->paths->len;
	g_ptr_array_add(a->paths, child);
	if (frame >= parent->nr_children) {
		int nr = MAX((int)a->names->len, frame + 1);

		parent->children = g_renew(struct path *, parent->children, nr);
		memset(parent->children + parent->nr_children, 0,
		       sizeof(*parent->children) * (nr - parent->nr_children));
		parent->nr_children = nr;
	}
	parent->children[frame] = child;
	return child;
}

void __cpu_enter(struct cpu *c, int frame)
{
	struct cpu_private *p = priv(c);
	struct path *here = p->path, *child = NULL;

	if (likely(frame < here->nr_children))
		child = here->children[frame];
	if (unlikely(!child))
		child = new_child(c->machine->account, here, frame);
	p->path = child;
	if (unlikely(p->trace))
		trace_enter(p);
	if (likely(child->id < p->cycles_paths))
		c->cycles = p->cycles_base + (size_t)child->id * NR_CAUSES;
	else
		use_row(p);
}

void __cpu_leave(struct cpu *c)
{
	struct cpu_private *p = priv(c);

	if (unlikely(p->trace))
		trace_leave(p, c->machine->account->names->pdata
				       [p->path->frame]);
	p->path = p->path->parent;
	g_assert(p->path);
	c->cycles = p->cycles_base + (size_t)p->path->id * NR_CAUSES;
}

void account_reset(struct machine *m)
{
	for (int i = 0; i < m->topology->nr_cpu_ids; i++)
		if (m->cpus[i] && m->cpus[i]->cycles_base)
			memset(m->cpus[i]->cycles_base, 0,
			       sizeof(uint64_t) * NR_CAUSES *
				       m->cpus[i]->cycles_paths);
}

static char *path_string(const struct account *a, const struct path *path)
{
	GPtrArray *parts = g_ptr_array_new();
	char *s;

	for (; path->parent; path = path->parent)
		g_ptr_array_insert(parts, 0, a->names->pdata[path->frame]);
	g_ptr_array_add(parts, NULL);
	s = g_strjoinv(";", (char **)parts->pdata);
	g_ptr_array_free(parts, TRUE);
	return s;
}

struct named_path {
	char *name;
	int path;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named_path *)a)->name,
		      ((const struct named_path *)b)->name);
}

void machine_account(struct machine *m, account_fn fn, void *arg)
{
	const struct account *a = m->account;
	guint nr = a->paths->len;
	g_autofree struct named_path *sorted = g_new(struct named_path, nr);

	/* numbers of paths depend on who entered first; names don't */
	for (guint i = 0; i < nr; i++)
		sorted[i] = (struct named_path){ 
			path_string(a, a->paths->pdata[i]), (int)i };
	qsort(sorted, nr, sizeof(*sorted), by_name);
	for (int cpu = 0; cpu < m->topology->nr_cpu_ids; cpu++) {
		const struct cpu_private *p = m->cpus[cpu];

		for (guint i = 0; p && i < nr; i++) {
			if (sorted[i].path >= p->cycles_paths)
				continue;
			for (int k = 0; k < NR_CAUSES; k++) {
				uint64_t n = p->cycles_base[(size_t)
					sorted[i].path * NR_CAUSES + k];

				if (n)
					fn(cpu, sorted[i].name, k, n, arg);
			}
		}
	}
	for (guint i = 0; i < nr; i++)
		g_free(sorted[i].name);
}
