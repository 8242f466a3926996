/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache as /sys/kernel/slab/NAME shows it, and what writing there does.
 *
 * Counters: the total, then the CPUs whose count is not zero. Objects in
 * sheaves, barns and cpu slabs count as in use, as on a real machine: only node
 * partial lists are looked at.
 */
#include <errno.h>
#include <stdlib.h>

#include "model/cache.h"

typedef void (*show_fn)(const struct kmem_cache *s, GString *out);

static void show_number(GString *out, unsigned long n)
{
	g_string_append_printf(out, "%lu", n);
}

#define SHOW(name, expr)                                                       \
	static void show_##name(const struct kmem_cache *s, GString *out)      \
	{                                                                      \
		show_number(out, expr);                                        \
	}

SHOW(zero, 0)
SHOW(align, s->g.align)
SHOW(cpu_partial, s->g.cpu_partial)
SHOW(destroy_by_rcu, !!(s->flags & SLAB_RCU))
SHOW(hwcache_align, !!(s->flags & SLAB_HW_ALIGN))
SHOW(min_partial, s->g.min_partial)
SHOW(object_size, s->g.object_size)
SHOW(objs_per_slab, s->g.objects)
SHOW(order, s->g.order)
SHOW(reclaim_account, !!(s->flags & SLAB_RECLAIM))
SHOW(remote_node_defrag_ratio, s->remote_node_defrag_ratio / 10)
SHOW(sheaf_capacity, s->g.sheaf_capacity)
SHOW(slab_size, s->g.size)

static void show_nothing(const struct kmem_cache *s, GString *out)
{
}

/* ---- per node ---- */

static void show_nodes(const struct kmem_cache *s, GString *out,
		       const unsigned long *nodes)
{
	unsigned long total = 0;

	for (int i = 0; i < s->slub->nr_node_ids; i++)
		total += nodes[i];
	show_number(out, total);
	for (int i = 0; i < s->slub->nr_node_ids; i++)
		if (nodes[i])
			g_string_append_printf(out, " N%d=%lu", i, nodes[i]);
}

static unsigned long partial_inuse(const struct kmem_cache_node *n,
				   unsigned long *free)
{
	unsigned long inuse = 0;
	struct list_head *pos;

	*free = 0;
	list_for_each (pos, &n->partial) {
		struct slab *slab = list_entry(pos, struct slab, list);

		inuse += slab->inuse;
		*free += slab->objects - slab->inuse;
	}
	return inuse;
}

enum per_node {
	NODE_SLABS,
	NODE_TOTAL,
	NODE_OBJECTS,
	NODE_PARTIAL,
	NODE_INUSE
};

static void show_per_node(const struct kmem_cache *s, GString *out,
			  enum per_node what)
{
	g_autofree unsigned long *nodes =
		g_new0(unsigned long, s->slub->nr_node_ids);

	for (int i = 0; i < s->slub->nr_node_ids; i++) {
		const struct kmem_cache_node *n = s->node[i];
		unsigned long inuse, free;

		if (!n)
			continue;
		inuse = partial_inuse(n, &free);
		nodes[i] = what == NODE_SLABS	  ? n->nr_slabs
			   : what == NODE_TOTAL	  ? n->total_objects
			   : what == NODE_OBJECTS ? n->total_objects - free
			   : what == NODE_PARTIAL ? n->nr_partial
						  : inuse;
	}
	show_nodes(s, out, nodes);
}

static void show_slabs(const struct kmem_cache *s, GString *out)
{
	show_per_node(s, out, NODE_SLABS);
}
static void show_total_objects(const struct kmem_cache *s, GString *out)
{
	show_per_node(s, out, NODE_TOTAL);
}
static void show_objects(const struct kmem_cache *s, GString *out)
{
	show_per_node(s, out, NODE_OBJECTS);
}
static void show_partial(const struct kmem_cache *s, GString *out)
{
	show_per_node(s, out, NODE_PARTIAL);
}
static void show_objects_partial(const struct kmem_cache *s, GString *out)
{
	show_per_node(s, out, NODE_INUSE);
}

/* A CPU's partial slabs are all attributed to the node of the list's head, and
 * only seen where there is a cpu slab too. */
static void show_cpu_slabs(const struct kmem_cache *s, GString *out)
{
	g_autofree unsigned long *nodes =
		g_new0(unsigned long, s->slub->nr_node_ids);

	for (int i = 0; i < s->slub->nr_cpu_ids; i++) {
		const struct kmem_cache_cpu *k = s->cpu[i];

		if (!k || !k->slab)
			continue;
		nodes[k->slab->node]++;
		if (k->partial)
			nodes[k->partial->node] += k->partial->slabs;
	}
	show_nodes(s, out, nodes);
}

/* "objects(slabs)": kernels that limit slabs take them to be half full. */
static void partial_text(const struct kmem_cache *s, GString *out,
			 unsigned slabs, unsigned objects)
{
	if (!s->f->cpu_partial_in_objects)
		objects = slabs * s->g.objects / 2;
	g_string_append_printf(out, "%u(%u)", objects, slabs);
}

static void show_slabs_cpu_partial(const struct kmem_cache *s, GString *out)
{
	unsigned slabs = 0, objects = 0;

	for (int i = 0; i < s->slub->nr_cpu_ids; i++) {
		if (!s->cpu[i] || !s->cpu[i]->partial)
			continue;
		slabs += s->cpu[i]->partial->slabs;
		objects += s->cpu[i]->partial->pobjects;
	}
	partial_text(s, out, slabs, objects);
	for (int i = 0; i < s->slub->nr_cpu_ids; i++) {
		if (!s->cpu[i] || !s->cpu[i]->partial)
			continue;
		g_string_append_printf(out, " C%d=", i);
		partial_text(s, out, s->cpu[i]->partial->slabs,
			     s->cpu[i]->partial->pobjects);
	}
}

/* ---- the table ---- */

static const struct attr {
	const char *name;
	show_fn show;
	bool sheaves_only;
} attrs[] = {
	{"aliases", show_zero},
	{"align", show_align},
	{"cpu_partial", show_cpu_partial},
	{"cpu_slabs", show_cpu_slabs},
	{"ctor", show_nothing},
	{"destroy_by_rcu", show_destroy_by_rcu},
	{"hwcache_align", show_hwcache_align},
	{"min_partial", show_min_partial},
	{"object_size", show_object_size},
	{"objects", show_objects},
	{"objects_partial", show_objects_partial},
	{"objs_per_slab", show_objs_per_slab},
	{"order", show_order},
	{"partial", show_partial},
	{"poison", show_zero},
	{"reclaim_account", show_reclaim_account},
	{"red_zone", show_zero},
	{"remote_node_defrag_ratio", show_remote_node_defrag_ratio},
	{"sanity_checks", show_zero},
	{"sheaf_capacity", show_sheaf_capacity, true},
	{"slab_size", show_slab_size},
	{"slabs", show_slabs},
	{"slabs_cpu_partial", show_slabs_cpu_partial},
	{"store_user", show_zero},
	{"total_objects", show_total_objects},
	{"trace", show_zero},
};

static const struct attr *find_attr(const struct kmem_cache *s,
				    const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(attrs); i++) {
		if (strcmp(attrs[i].name, name))
			continue;
		if (attrs[i].sheaves_only && s->f->stat_set == STATS_CPU_SLAB)
			return NULL;
		return &attrs[i];
	}
	return NULL;
}

static int find_stat(const struct kmem_cache *s, const char *name)
{
	int i = s->f->slub_stats ? slub_stat_find(name) : -1;

	return i >= 0 && slub_stat_in_set(i, s->f->stat_set) ? i : -1;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *kmem_cache_attrs(const struct kmem_cache *s)
{
	if (!s->slub->attr_names) {
		GPtrArray *names = g_ptr_array_new();

		for (size_t i = 0; i < G_N_ELEMENTS(attrs); i++)
			if (find_attr(s, attrs[i].name))
				g_ptr_array_add(names, (char *)attrs[i].name);
		for (int i = 0; i < NR_SLUB_STATS; i++)
			if (find_stat(s, slub_stat_names[i]) >= 0)
				g_ptr_array_add(names,
						(char *)slub_stat_names[i]);
		qsort(names->pdata, names->len, sizeof(char *), compare_names);
		g_ptr_array_add(names, NULL);
		s->slub->attr_names =
			(const char **)g_ptr_array_free(names, FALSE);
	}
	return s->slub->attr_names;
}

uint64_t kmem_cache_stat(const struct kmem_cache *s, enum slub_stat stat,
			 int cpu)
{
	uint64_t sum = 0;

	if (cpu >= 0)
		return s->cpu[cpu] ? s->cpu[cpu]->stat[stat] : 0;
	for (int i = 0; i < s->slub->nr_cpu_ids; i++)
		if (s->cpu[i])
			sum += s->cpu[i]->stat[stat];
	return sum;
}

static void show_stat(const struct kmem_cache *s, GString *out, int stat)
{
	g_string_append_printf(out, "%" G_GUINT64_FORMAT,
			       kmem_cache_stat(s, stat, -1));
	for (int i = 0; i < s->slub->nr_cpu_ids; i++)
		if (s->cpu[i] && s->cpu[i]->stat[stat])
			g_string_append_printf(out, " C%d=%" G_GUINT64_FORMAT,
					       i, s->cpu[i]->stat[stat]);
}

char *kmem_cache_attr_show(const struct kmem_cache *s, const char *name)
{
	const struct attr *attr = find_attr(s, name);
	int stat = find_stat(s, name);
	GString *out;

	if (!attr && stat < 0)
		return NULL;
	out = g_string_new(NULL);
	if (attr)
		attr->show(s, out);
	else
		show_stat(s, out, stat);
	return g_string_free(out, FALSE);
}

/* ---- writing ---- */

static void flush_all(struct kmem_cache *s)
{
	for (int i = 0; i < s->slub->nr_cpu_ids; i++) {
		struct cpu *c = machine_cpu(s->slub->machine, i);

		if (!c)
			continue;
		if (cache_has_sheaves(s))
			pcs_flush_all(c, s);
		if (s->f->cpu_slabs)
			flush_cpu_slab(c, s);
	}
}

/* Frees a node's empty slabs and sorts its list: fullest first. */
static void shrink_node(struct cpu *c, struct kmem_cache *s,
			struct kmem_cache_node *n)
{
	enum { PROMOTE_MAX = 32 };
	struct list_head promote[PROMOTE_MAX], discard, *pos, *next;

	list_init(&discard);
	for (int i = 0; i < PROMOTE_MAX; i++)
		list_init(&promote[i]);
	cpu_lock(c, &n->list_lock);
	list_for_each_safe (pos, next, &n->partial) {
		struct slab *slab = list_entry(pos, struct slab, list);
		unsigned free = slab->objects - slab->inuse;

		cpu_read(c, slab->line);
		if (!slab->inuse) {
			remove_partial(c, n, slab);
			list_add(&slab->list, &discard);
		} else if (free <= PROMOTE_MAX) {
			list_del(&slab->list);
			list_add(&slab->list, &promote[free - 1]);
		}
	}
	for (int i = PROMOTE_MAX - 1; i >= 0; i--)
		list_splice_init(&promote[i], &n->partial);
	cpu_unlock(c, &n->list_lock);
	while (!list_empty(&discard)) {
		struct slab *slab = list_entry(discard.next, struct slab, list);

		list_del(&slab->list);
		discard_slab(c, s, slab);
	}
}

void kmem_cache_shrink(struct cpu *c, struct kmem_cache *s)
{
	flush_all(s);
	for (int i = 0; i < s->slub->nr_node_ids; i++)
		if (s->barn[i])
			barn_shrink(c, s, s->barn[i]);
	for (int i = 0; i < s->slub->nr_node_ids; i++)
		if (s->node[i])
			shrink_node(c, s, s->node[i]);
}

static bool parse_number(const char *text, unsigned long max, unsigned long *n)
{
	guint64 v;

	if (!g_ascii_string_to_unsigned(text, 10, 0, max, &v, NULL))
		return false;
	*n = v;
	return true;
}

int kmem_cache_attr_store(struct cpu *c, struct kmem_cache *s, const char *name,
			  const char *value)
{
	unsigned long n;
	int stat = find_stat(s, name);

	if (!parse_number(value, UINT32_MAX, &n))
		return EINVAL;
	if (stat >= 0) { /* writing 0 clears */
		if (n)
			return EINVAL;
		for (int i = 0; i < s->slub->nr_cpu_ids; i++)
			if (s->cpu[i])
				s->cpu[i]->stat[stat] = 0;
		return 0;
	}
	if (!strcmp(name, "min_partial")) {
		s->g.min_partial = n;
		return 0;
	}
	if (!strcmp(name, "remote_node_defrag_ratio")) {
		if (n > 100)
			return ERANGE;
		s->remote_node_defrag_ratio = n * 10;
		return 0;
	}
	if (!strcmp(name, "cpu_partial")) {
		if (!s->f->cpu_slabs || !s->f->cpu_partial)
			return n ? EINVAL : 0;
		s->g.cpu_partial = n;
		s->g.cpu_partial_slabs = cpu_partial_to_slabs(n, s->g.objects);
		flush_all(s);
		return 0;
	}
	if (!strcmp(name, "shrink")) {
		if (n != 1)
			return EINVAL;
		kmem_cache_shrink(c, s);
		return 0;
	}
	return find_attr(s, name) ? EACCES : ENOENT;
}
