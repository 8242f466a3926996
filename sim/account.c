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
	int parent, frame;
	int nr_children; /* size of the table */
	int *children;	 /* by frame; 0 = none */
};

struct account {
	GHashTable *frames; /* name -> number + 1 */
	GPtrArray *names;
	GArray *paths; /* struct path */
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
	struct path root = { .parent = -1, .frame = -1 };

	a->frames = g_hash_table_new(g_str_hash, g_str_equal);
	a->names = g_ptr_array_new();
	a->paths = g_array_new(FALSE, TRUE, sizeof(struct path));
	g_array_append_val(a->paths, root);
	return a;
}

void account_free(struct account *a)
{
	for (guint i = 0; i < a->paths->len; i++)
		g_free(g_array_index(a->paths, struct path, i).children);
	g_array_free(a->paths, TRUE);
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
	if (p->path >= p->cycles_paths) {
		int nr = MAX(16, p->cycles_paths);

		while (nr <= p->path)
			nr *= 2;
		p->cycles_base = g_renew(uint64_t, p->cycles_base,
					 (size_t)nr * NR_CAUSES);
		memset(p->cycles_base + (size_t)p->cycles_paths * NR_CAUSES, 0,
		       sizeof(uint64_t) * NR_CAUSES * (nr - p->cycles_paths));
		p->cycles_paths = nr;
	}
	p->cycles = p->cycles_base + (size_t)p->path * NR_CAUSES;
}

void account_attach(struct machine *m, struct cpu_private *p)
{
	p->path = 0;
	use_row(p);
}

void account_detach(struct cpu_private *p)
{
	g_free(p->cycles_base);
}

static int new_child(struct account *a, int parent, int frame)
{
	struct path child = { .parent = parent, .frame = frame };
	struct path *up = &g_array_index(a->paths, struct path, parent);
	int id = (int)a->paths->len;

	if (frame >= up->nr_children) {
		int nr = MAX((int)a->names->len, frame + 1);

		up->children = g_renew(int, up->children, nr);
		memset(up->children + up->nr_children, 0,
		       sizeof(int) * (nr - up->nr_children));
		up->nr_children = nr;
	}
	up->children[frame] = id;
	g_array_append_val(a->paths, child); /* moves @up */
	return id;
}

void __cpu_enter(struct cpu *c, int frame)
{
	struct cpu_private *p = priv(c);
	struct account *a = c->machine->account;
	const struct path *here = &g_array_index(a->paths, struct path, p->path);
	int child = frame < here->nr_children ? here->children[frame] : 0;

	if (unlikely(!child))
		child = new_child(a, p->path, frame);
	p->path = child;
	if (likely(child < p->cycles_paths))
		p->cycles = p->cycles_base + (size_t)child * NR_CAUSES;
	else
		use_row(p);
}

void __cpu_leave(struct cpu *c)
{
	struct cpu_private *p = priv(c);
	struct account *a = c->machine->account;

	p->path = g_array_index(a->paths, struct path, p->path).parent;
	g_assert(p->path >= 0);
	p->cycles = p->cycles_base + (size_t)p->path * NR_CAUSES;
}

void account_reset(struct machine *m)
{
	for (int i = 0; i < m->topology->nr_cpu_ids; i++)
		if (m->cpus[i] && m->cpus[i]->cycles_base)
			memset(m->cpus[i]->cycles_base, 0,
			       sizeof(uint64_t) * NR_CAUSES *
				       m->cpus[i]->cycles_paths);
}

static char *path_string(const struct account *a, int path)
{
	GPtrArray *parts = g_ptr_array_new();
	char *s;

	while (path > 0) {
		const struct path *p = &g_array_index(a->paths, struct path,
						      path);

		g_ptr_array_insert(parts, 0, a->names->pdata[p->frame]);
		path = p->parent;
	}
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
		sorted[i] = (struct named_path){ path_string(a, i), (int)i };
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
