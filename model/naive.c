/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test only, see naive.h: sizes, the calls, and what sysfs shows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/naive_internal.h"

void nv_count(struct naive *n, struct nv_cpu *c, enum slub_stat s, int by)
{
	n->stat[s * n->nr_cpus + c->id] += by;
}

static void free_slab(gpointer p)
{
	struct nv_slab *s = p;

	g_queue_clear(&s->free);
	g_free(s->obj);
	g_free(s);
}

/* ---- sizes ---- */

static int order_of(unsigned long bytes)
{
	int order = 0;

	while ((4096ul << order) < bytes)
		order++;
	return order;
}

static int log2_of(unsigned v)
{
	int bits = 0;

	while (v >>= 1)
		bits++;
	return bits;
}

/* First order from that of @objects on whose waste is below 1/@fraction; 4 if
 * none up to 3 is. */
static int order_with(unsigned size, unsigned objects, int fraction)
{
	for (int o = order_of((unsigned long)objects * size); o <= 3; o++)
		if ((4096ul << o) % size <= (4096ul << o) / fraction)
			return o;
	return 4;
}

static int best_order(struct naive *n, int cpus)
{
	unsigned objects = 4 * (log2_of(cpus) + 2);

	objects = MIN(objects, (4096u << 3) / n->size);
	if (n->f->order_rule == ORDER_BY_FRACTION) {
		for (int f = 16; f >= 2; f /= 2) {
			int o = order_with(n->size, objects, f);

			if (o <= 3)
				return o;
		}
		return order_of(n->size);
	}
	for (; objects > 1; objects--)
		for (int f = 16; f >= 4; f /= 2) {
			int o = order_with(n->size, objects, f);

			if (o <= 3)
				return o;
		}
	return MIN(order_with(n->size, 1, 1), order_of(n->size));
}

static void limit_cpu_partial(struct naive *n)
{
	n->cpu_partial_slabs =
		(2 * n->cpu_partial + n->objects - 1) / n->objects;
}

static unsigned by_size(struct naive *n, const unsigned *v)
{
	return n->size >= 4096 ? v[0] : n->size >= 1024 ? v[1] :
	       n->size >= 256 ? v[2] : v[3];
}

void nv_geometry(struct naive *n, const struct kmem_cache_args *a)
{
	static const unsigned partial_2015[] = { 2, 6, 13, 30 };
	static const unsigned partial[] = { 6, 24, 52, 120 };
	static const unsigned capacity[] = { 4, 12, 26, 60 };
	int cpus = 0;

	for (int i = 0; i < n->t->nr_cpu_ids; i++)
		cpus += n->t->cpus[i].online;
	/* 2015 and a machine of one CPU go by what could be there */
	if (cpus <= 1)
		cpus = n->nr_cpus;
	n->object_size = a->object_size;
	n->align = MAX(a->align, 8);
	if (a->flags & SLAB_HW_ALIGN) {
		unsigned line = 64;

		while (a->object_size <= line / 2)
			line /= 2;
		n->align = MAX(n->align, line);
	}
	n->align = (n->align + 7) / 8 * 8;
	n->size = (a->object_size + 7) / 8 * 8;
	if (a->flags & SLAB_RCU)
		n->size += 8;
	n->size = (n->size + n->align - 1) / n->align * n->align;
	n->slab_order = best_order(n, cpus);
	n->objects = MIN((4096u << n->slab_order) / n->size, 32767);
	n->min_partial = CLAMP(log2_of(n->size) / 2, 5, 10);
	if (n->f->cpu_slabs && n->f->cpu_partial)
		n->cpu_partial = by_size(n, n->f->cpu_partial_in_objects ?
						    partial_2015 : partial);
	limit_cpu_partial(n);
	if (n->f->sheaves == SHEAVES_OPT_IN) {
		n->capacity = a->sheaf_capacity;
	} else if (n->f->sheaves == SHEAVES_ALL) {
		unsigned bytes = 32 + 8 * by_size(n, capacity), bucket = 64;

		while (bucket < bytes)
			bucket *= 2;
		n->capacity = MAX((bucket - 32) / 8, a->sheaf_capacity);
	}
}

/* ---- the machine ---- */

/* Nodes by (distance, id below, CPUs, load), as chapter "page allocator". */
static void build_zonelists(struct naive *n)
{
	g_autofree int *load = g_new0(int, n->nr_nodes);

	for (int from = 0; from < n->nr_nodes; from++) {
		g_autofree bool *used = g_new0(bool, n->nr_nodes);
		int *order = n->order + from * n->nr_nodes, k = 0;
		int last = from;

		if (!n->t->nodes[from].online)
			continue;
		for (;;) {
			int best = -1;
			long best_value = 0;

			for (int i = 0; i < n->nr_nodes; i++) {
				long v = topology_distance(n->t, from, i);

				if (used[i] || !n->node[i].memory)
					continue;
				v += (i < from) + (n->t->nodes[i].nr_cpus > 0);
				v = v * 100000 + load[i];
				if (i == from)
					v = -1;
				if (best < 0 || v < best_value) {
					best = i;
					best_value = v;
				}
			}
			if (best < 0)
				break;
			if (topology_distance(n->t, from, best) !=
			    topology_distance(n->t, from, last))
				load[best]++;
			used[best] = true;
			last = order[k++] = best;
		}
		n->nr_order[from] = k;
	}
}

int nv_nth_node(struct naive *n, int from, unsigned gfp, int k)
{
	if (gfp & GFP_ONLY_NODE)
		return k == 0 && n->node[from].memory ? from : -1;
	return k < n->nr_order[from] ? n->order[from * n->nr_nodes + k] : -1;
}

bool nv_look_elsewhere(struct naive *n)
{
	if (!n->ratio)
		return false;
	/* by chance unless fixed: then only where it makes no difference */
	return n->cycles < 0 || n->cycles % 1024 <= n->ratio;
}

struct naive *naive_new(const struct topology *t, const struct features *f,
			const struct kmem_cache_args *args)
{
	struct naive *n = g_new0(struct naive, 1);

	n->t = t;
	n->f = f;
	n->cycles = -1;
	n->ratio = 1000;
	n->nr_cpus = t->nr_cpu_ids;
	n->nr_nodes = t->nr_node_ids;
	n->cpu = g_new0(struct nv_cpu, n->nr_cpus);
	n->node = g_new0(struct nv_node, n->nr_nodes);
	n->order = g_new0(int, n->nr_nodes * n->nr_nodes);
	n->nr_order = g_new0(int, n->nr_nodes);
	n->stat = g_new0(uint64_t, NR_SLUB_STATS * n->nr_cpus);
	n->slabs = g_hash_table_new_full(NULL, NULL, free_slab, NULL);
	nv_geometry(n, args);
	for (int i = 0; i < n->nr_nodes; i++) {
		n->node[i].memory = topology_node_has_memory(t, i);
		n->node[i].barn = n->capacity && t->nodes[i].online &&
				  (n->node[i].memory ||
				   f->barns_on_memoryless);
	}
	build_zonelists(n);
	for (int i = 0; i < n->nr_cpus; i++) {
		struct nv_cpu *c = &n->cpu[i];

		c->id = i;
		c->node = c->mem_node = t->cpus[i].node;
		if (f->have_memoryless_nodes)
			c->mem_node = nv_nth_node(n, c->node, 0, 0);
		c->batch = g_ptr_array_new();
	}
	nv_sheaves_init(n);
	return n;
}

static void free_sheaf(gpointer p)
{
	struct naive_sheaf *h = p;

	if (!h)
		return;
	g_ptr_array_unref(h->objs);
	g_free(h);
}

void naive_free(struct naive *n)
{
	for (int i = 0; i < n->nr_cpus; i++) {
		struct nv_cpu *c = &n->cpu[i];

		free_sheaf(c->main);
		free_sheaf(c->spare);
		free_sheaf(c->rcu);
		g_queue_clear(&c->freelist);
		g_queue_clear(&c->partial);
		g_ptr_array_unref(c->batch);
	}
	for (int i = 0; i < n->nr_nodes; i++) {
		g_queue_clear(&n->node[i].partial);
		g_queue_clear_full(&n->node[i].full, free_sheaf);
		g_queue_clear_full(&n->node[i].empty, free_sheaf);
	}
	g_queue_clear_full(&n->callbacks, free_sheaf);
	g_hash_table_unref(n->slabs);
	g_free(n->cpu);
	g_free(n->node);
	g_free(n->order);
	g_free(n->nr_order);
	g_free(n->stat);
	g_free(n);
}

void naive_set_cycles(struct naive *n, int64_t cycles)
{
	n->cycles = cycles;
}

/* ---- the calls ---- */

struct naive_obj *naive_alloc(struct naive *n, int cpu, unsigned gfp, int node)
{
	struct nv_cpu *c = &n->cpu[cpu];
	struct naive_obj *o = NULL;

	if (n->capacity && nv_pcs_alloc(n, c, gfp, node, &o))
		return o;
	return n->f->cpu_slabs ? nv_cpu_alloc(n, c, gfp, node) :
				 nv_slow_alloc(n, c, gfp, node);
}

void naive_release(struct naive *n, int cpu, struct naive_obj *o)
{
	struct nv_cpu *c = &n->cpu[cpu];
	GQueue chain = G_QUEUE_INIT;

	if (n->capacity && nv_pcs_free(n, c, o))
		return;
	g_queue_push_head(&chain, o);
	nv_do_free(n, c, o->slab, &chain);
	if (!n->f->cpu_slabs)
		nv_count(n, c, stat_free_slowpath, 1);
}

unsigned naive_alloc_bulk(struct naive *n, int cpu, unsigned gfp,
			  unsigned count, struct naive_obj **p)
{
	struct nv_cpu *c = &n->cpu[cpu];
	unsigned kept = 0, rest, got;

	if (n->capacity)
		kept = nv_pcs_alloc_bulk(n, c, gfp, count, p);
	rest = count - kept;
	if (!rest)
		return count;
	if (n->f->cpu_slabs) {
		got = nv_cpu_alloc_bulk(n, c, gfp, rest, p + kept);
	} else {
		got = nv_refill(n, c, gfp, rest, p + kept);
		if (got == rest)
			nv_count(n, c, stat_alloc_slowpath, rest);
		else
			nv_free_detached(n, c, got, p + kept, false);
	}
	if (got == rest)
		return count;
	nv_free_detached(n, c, kept, p, false);
	return 0;
}

void naive_free_bulk(struct naive *n, int cpu, unsigned count,
		     struct naive_obj **p)
{
	struct nv_cpu *c = &n->cpu[cpu];

	if (n->capacity) {
		nv_pcs_free_bulk(n, c, count, p);
	} else if (n->f->bulk_free == BULK_FREE_DETACHED) {
		nv_free_detached(n, c, count, p, n->f->bulk_free_relinks);
	} else {
		for (unsigned i = 0; i < count; i++) {
			if (n->f->bulk_free == BULK_FREE_SAME_SLAB &&
			    p[i]->slab == c->slab)
				g_queue_push_head(&c->freelist, p[i]);
			else
				naive_release(n, cpu, p[i]);
		}
	}
}

void naive_kfree_rcu(struct naive *n, int cpu, struct naive_obj *o)
{
	struct nv_cpu *c = &n->cpu[cpu];

	if (!n->capacity || !nv_pcs_kfree_rcu(n, c, o))
		g_ptr_array_add(c->batch, o);
}

void naive_barrier(struct naive *n)
{
	for (int i = 0; i < n->nr_cpus; i++)
		nv_retire_rcu(n, &n->cpu[i]);
	nv_run_callbacks(n);
	for (int i = 0; i < n->nr_cpus; i++) {
		GPtrArray *batch = n->cpu[i].batch;
		struct naive_obj **p = (struct naive_obj **)batch->pdata;

		if (n->f->rcu_bulk_free) {
			nv_free_detached(n, &n->cpu[i], batch->len, p,
					 n->f->bulk_free_relinks);
			if (!n->f->cpu_slabs)
				nv_count(n, &n->cpu[i], stat_free_slowpath,
					 batch->len);
		} else {
			for (guint k = 0; k < batch->len; k++)
				naive_release(n, i, p[k]);
		}
		g_ptr_array_set_size(batch, 0);
	}
}

static void flush_all(struct naive *n)
{
	for (int i = 0; i < n->nr_cpus; i++) {
		if (!n->t->cpus[i].online)
			continue;
		if (n->capacity)
			nv_pcs_flush(n, &n->cpu[i]);
		if (n->f->cpu_slabs)
			nv_flush_cpu_slab(n, &n->cpu[i]);
	}
}

/* Fullest first: up to 32 free objects count, others stay where they are. */
static void sort_list(struct naive *n, GQueue *list)
{
	GQueue few[32];
	struct nv_slab *s;
	GQueue many = G_QUEUE_INIT;

	for (int i = 0; i < 32; i++)
		g_queue_init(&few[i]);
	while ((s = g_queue_pop_head(list))) {
		int free = s->objects - s->inuse;

		if (!s->inuse) {
			s->on_list = false;
			nv_discard(n, s);
		} else if (free <= 32) {
			g_queue_push_head(&few[free - 1], s);
		} else {
			g_queue_push_tail(&many, s);
		}
	}
	for (int i = 0; i < 32; i++)
		while ((s = g_queue_pop_head(&few[i])))
			g_queue_push_tail(list, s);
	while ((s = g_queue_pop_head(&many)))
		g_queue_push_tail(list, s);
}

void naive_shrink(struct naive *n)
{
	flush_all(n);
	for (int i = 0; i < n->nr_nodes; i++)
		nv_barn_shrink(n, &n->cpu[0], i);
	for (int i = 0; i < n->nr_nodes; i++)
		sort_list(n, &n->node[i].partial);
}

struct object_place naive_place(const struct naive_obj *o)
{
	return (struct object_place){ o->slab, o->index, o->slab->node };
}

/* ---- sysfs ---- */

static const char cpu_slab_stats[] =
	"alloc_fastpath alloc_slowpath free_fastpath free_slowpath free_frozen "
	"free_add_partial free_remove_partial alloc_from_partial alloc_slab "
	"alloc_refill alloc_node_mismatch free_slab cpuslab_flush "
	"deactivate_full deactivate_empty deactivate_to_head "
	"deactivate_to_tail deactivate_remote_frees deactivate_bypass "
	"order_fallback cmpxchg_double_cpu_fail cmpxchg_double_fail "
	"cpu_partial_alloc cpu_partial_free cpu_partial_node "
	"cpu_partial_drain";
static const char sheaf_stats[] =
	"free_rcu_sheaf free_rcu_sheaf_fail sheaf_flush sheaf_refill "
	"sheaf_alloc sheaf_free barn_get barn_get_fail barn_put barn_put_fail "
	"sheaf_prefill_fast sheaf_prefill_slow sheaf_prefill_oversize "
	"sheaf_return_fast sheaf_return_slow";

static void show_stats(struct naive *n, const char *names, GString *out)
{
	g_auto(GStrv) name = g_strsplit(names, " ", -1);

	for (int i = 0; name[i]; i++) {
		g_autoptr(GString) parts = g_string_new(NULL);
		uint64_t sum = 0;
		int s = slub_stat_find(name[i]);

		g_assert(s >= 0);
		for (int c = 0; c < n->nr_cpus; c++) {
			uint64_t v = n->stat[s * n->nr_cpus + c];

			sum += v;
			if (v)
				g_string_append_printf(
					parts, " C%d=%" G_GUINT64_FORMAT, c, v);
		}
		g_string_append_printf(out, "%s:%" G_GUINT64_FORMAT "%s\n",
				       name[i], sum, parts->str);
	}
}

static void show_nodes(struct naive *n, const char *name, const int *value,
		       GString *out)
{
	int sum = 0;

	for (int i = 0; i < n->nr_nodes; i++)
		sum += value[i];
	g_string_append_printf(out, "%s:%d", name, sum);
	for (int i = 0; i < n->nr_nodes; i++)
		if (value[i])
			g_string_append_printf(out, " N%d=%d", i, value[i]);
	g_string_append_c(out, '\n');
}

static void show_cpu_partial(struct naive *n, GString *out)
{
	g_autoptr(GString) parts = g_string_new(NULL);
	int slabs = 0, objects = 0;

	for (int i = 0; i < n->nr_cpus; i++) {
		struct nv_slab *s = g_queue_peek_head(&n->cpu[i].partial);
		int o;

		if (!s)
			continue;
		o = n->f->cpu_partial_in_objects ?
			    s->pobjects : s->slabs * (int)n->objects / 2;
		slabs += s->slabs;
		objects += o;
		g_string_append_printf(parts, " C%d=%d(%d)", i, o, s->slabs);
	}
	if (!n->f->cpu_partial_in_objects)
		objects = slabs * (int)n->objects / 2;
	g_string_append_printf(out, "slabs_cpu_partial:%d(%d)%s\n", objects,
			       slabs, parts->str);
}

void naive_show(struct naive *n, GString *out)
{
	g_autofree int *v = g_new0(int, 6 * n->nr_nodes);
	int *slabs = v, *total = slabs + n->nr_nodes,
	    *objects = total + n->nr_nodes, *partial = objects + n->nr_nodes,
	    *in_partial = partial + n->nr_nodes,
	    *cpu_slabs = in_partial + n->nr_nodes;

	if (n->f->stat_set == STATS_SHEAVES) {
		show_stats(n, "alloc_fastpath alloc_slowpath free_fastpath "
			      "free_slowpath free_add_partial "
			      "free_remove_partial alloc_slab "
			      "alloc_node_mismatch free_slab order_fallback "
			      "cmpxchg_double_fail", out);
		show_stats(n, sheaf_stats, out);
	} else {
		show_stats(n, cpu_slab_stats, out);
		if (n->f->stat_set == STATS_CPU_SLAB_SHEAVES) {
			show_stats(n, "alloc_cpu_sheaf free_cpu_sheaf", out);
			show_stats(n, sheaf_stats, out);
		}
	}
	for (int i = 0; i < n->nr_nodes; i++) {
		slabs[i] = n->node[i].slabs;
		objects[i] = total[i] = n->node[i].objects;
		partial[i] = n->node[i].partial.length;
		for (GList *l = n->node[i].partial.head; l; l = l->next) {
			struct nv_slab *s = l->data;

			in_partial[i] += s->inuse;
			objects[i] -= s->objects - s->inuse;
		}
	}
	for (int i = 0; i < n->nr_cpus; i++) {
		struct nv_slab *s = g_queue_peek_head(&n->cpu[i].partial);

		if (!n->cpu[i].slab)
			continue;
		cpu_slabs[n->cpu[i].slab->node]++;
		if (s)
			cpu_slabs[s->node] += s->slabs;
	}
	show_nodes(n, "slabs", slabs, out);
	show_nodes(n, "total_objects", total, out);
	show_nodes(n, "objects", objects, out);
	show_nodes(n, "partial", partial, out);
	show_nodes(n, "objects_partial", in_partial, out);
	show_nodes(n, "cpu_slabs", cpu_slabs, out);
	show_cpu_partial(n, out);
	g_string_append_printf(
		out, "slab_size:%u\nobject_size:%u\nalign:%u\norder:%u\n"
		"objs_per_slab:%u\nmin_partial:%u\ncpu_partial:%u\n"
		"remote_node_defrag_ratio:%u\n",
		n->size, n->object_size, n->align, n->slab_order, n->objects,
		n->min_partial, n->cpu_partial, n->ratio / 10);
	if (n->f->sheaves != SHEAVES_NONE)
		g_string_append_printf(out, "sheaf_capacity:%u\n", n->capacity);
}

int naive_store(struct naive *n, const char *attr, const char *value)
{
	unsigned v = strtoul(value, NULL, 10);

	if (!strcmp(attr, "min_partial")) {
		n->min_partial = v;
	} else if (!strcmp(attr, "remote_node_defrag_ratio")) {
		if (v > 100)
			return ERANGE;
		n->ratio = v * 10;
	} else if (!strcmp(attr, "cpu_partial")) {
		if (v && !(n->f->cpu_slabs && n->f->cpu_partial))
			return EINVAL;
		n->cpu_partial = v;
		limit_cpu_partial(n);
		if (n->f->cpu_slabs)
			flush_all(n);
	} else if (!strcmp(attr, "shrink")) {
		if (v != 1)
			return EINVAL;
		naive_shrink(n);
	} else {
		int s = slub_stat_find(attr);

		if (s < 0)
			return EACCES;
		if (v)
			return EINVAL;
		memset(n->stat + s * n->nr_cpus, 0,
		       n->nr_cpus * sizeof(*n->stat));
	}
	return 0;
}
