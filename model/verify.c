/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checker: proves that every object is in exactly one place and that all
 * counts say what the lists hold. And its own test: ways to break the state,
 * each of which it must notice.
 */
#include "model/cache.h"

struct check {
	struct kmem_cache *s;
	GHashTable *marks; /* slab -> guint8[objects], 1 = found somewhere */
	uint64_t found;	   /* objects in all places but users' hands */
	char *wrong;	   /* the first fault */
};

#define FAULT(v, ...)                                                          \
	do {                                                                   \
		if (!(v)->wrong)                                               \
			(v)->wrong = g_strdup_printf(__VA_ARGS__);             \
	} while (0)

static void mark(struct check *v, struct slab *slab, unsigned i,
		 const char *where)
{
	guint8 *m = slab ? g_hash_table_lookup(v->marks, slab) : NULL;

	if (!m || i >= slab->objects) {
		FAULT(v, "%s holds something that is no object of the cache",
		      where);
		return;
	}
	if (m[i]++)
		FAULT(v, "an object in %s is in another place too", where);
	else
		v->found++;
}

static unsigned mark_chain(struct check *v, struct slab *slab, uint16_t head,
			   const char *where)
{
	unsigned n = 0;

	for (uint16_t i = head; i != NO_OBJECT && !v->wrong;
	     i = slab->next_free[i], n++)
		mark(v, slab, i, where);
	return n;
}

static void check_slabs(struct check *v)
{
	struct list_head *pos;

	list_for_each (pos, &v->s->slabs) {
		struct slab *slab = list_entry(pos, struct slab, all);
		unsigned n = mark_chain(v, slab, slab->freelist,
					"a slab's freelist");

		if (n != (unsigned)slab->objects - slab->inuse)
			FAULT(v,
			      "a slab counts %u in use of %u but has %u on "
			      "its freelist",
			      slab->inuse, slab->objects, n);
	}
}

static void check_sheaf(struct check *v, struct slab_sheaf *sheaf,
			const char *where)
{
	if (!sheaf)
		return;
	if (sheaf->size > sheaf->capacity) {
		FAULT(v, "%s holds %u objects, its capacity is %u", where,
		      sheaf->size, sheaf->capacity);
		return;
	}
	for (unsigned i = 0; i < sheaf->size; i++) {
		struct slab *slab =
			page_slab_checked(v->s->slub->pages, sheaf->objects[i]);

		mark(v, slab, slab ? object_index(slab, sheaf->objects[i]) : 0,
		     where);
	}
}

static void check_cpu(struct check *v, int id, GHashTable *owned)
{
	struct kmem_cache *s = v->s;
	struct kmem_cache_cpu *k = s->cpu[id];
	unsigned n = 0;

	if (k->slab) {
		mark_chain(v, k->slab, k->freelist, "a cpu freelist");
		g_hash_table_add(owned, k->slab);
		if (!k->slab->frozen)
			FAULT(v, "CPU %d's slab is not frozen", id);
	} else if (k->freelist != NO_OBJECT) {
		FAULT(v, "CPU %d has a freelist without a slab", id);
	}
	for (struct slab *p = k->partial; p; p = p->next) {
		g_hash_table_add(owned, p);
		if (p->frozen != s->f->frozen_partial)
			FAULT(v, "a slab on CPU %d's partial list is %sfrozen",
			      id, p->frozen ? "" : "not ");
		n++;
	}
	if (k->partial && k->partial->slabs != n)
		FAULT(v, "CPU %d's partial list counts %u slabs, has %u", id,
		      k->partial->slabs, n);
	if (cache_has_sheaves(s) && !k->main)
		FAULT(v, "CPU %d has no main sheaf", id);
	check_sheaf(v, k->main, "a main sheaf");
	check_sheaf(v, k->spare, "a spare sheaf");
	check_sheaf(v, k->rcu_free, "an rcu sheaf");
}

static void check_sheaf_list(struct check *v, struct list_head *list,
			     unsigned count, bool full, int node)
{
	const char *kind = full ? "full" : "empty";
	struct list_head *pos;
	unsigned n = 0;

	list_for_each (pos, list) {
		struct slab_sheaf *sheaf =
			list_entry(pos, struct slab_sheaf, list);

		if (full ? sheaf->size != sheaf->capacity : sheaf->size != 0)
			FAULT(v,
			      "node %d's barn has a sheaf of %u objects "
			      "among the %s ones",
			      node, sheaf->size, kind);
		check_sheaf(v, sheaf, "a barn's sheaf");
		n++;
	}
	if (n != count)
		FAULT(v, "node %d's barn counts %u %s sheaves, has %u", node,
		      count, kind, n);
}

static void check_node(struct check *v, struct kmem_cache_node *n,
		       GHashTable *listed)
{
	unsigned nr = 0, slabs = 0, objects = 0;
	struct list_head *pos;

	list_for_each (pos, &n->partial) {
		struct slab *slab = list_entry(pos, struct slab, list);

		if (!slab->node_partial)
			FAULT(v, "a slab on node %d's list doesn't know it",
			      n->node);
		if (slab->node != n->node)
			FAULT(v, "a slab of node %d is on node %d's list",
			      slab->node, n->node);
		if (slab->inuse == slab->objects)
			FAULT(v, "a full slab is on node %d's list", n->node);
		g_hash_table_add(listed, slab);
		nr++;
	}
	if (nr != n->nr_partial)
		FAULT(v, "node %d counts %u partial slabs, has %u", n->node,
		      n->nr_partial, nr);
	list_for_each (pos, &v->s->slabs) {
		struct slab *slab = list_entry(pos, struct slab, all);

		if (slab->node == n->node) {
			slabs++;
			objects += slab->objects;
		}
	}
	if (slabs != n->nr_slabs || objects != n->total_objects)
		FAULT(v,
		      "node %d counts %u slabs with %u objects, has %u with "
		      "%u",
		      n->node, n->nr_slabs, n->total_objects, slabs, objects);
}

/* A slab with free objects is on its node's list or a CPU's, never nowhere. */
static void check_homes(struct check *v, GHashTable *owned, GHashTable *listed)
{
	struct list_head *pos;

	list_for_each (pos, &v->s->slabs) {
		struct slab *slab = list_entry(pos, struct slab, all);
		bool on_list = g_hash_table_contains(listed, slab);
		bool on_cpu = g_hash_table_contains(owned, slab);

		if (on_list && on_cpu)
			FAULT(v, "a slab is on a node's list and a CPU's");
		if (slab->node_partial != on_list)
			FAULT(v,
			      "a slab believes wrongly that it is %s its "
			      "node's list",
			      on_list ? "not on" : "on");
		if (slab->inuse < slab->objects && !on_list && !on_cpu)
			FAULT(v, "a slab with free objects is on no list");
		if (slab->frozen && !on_cpu)
			FAULT(v, "a frozen slab belongs to no CPU");
	}
}

static void check_users(struct check *v, const sim_addr *held, size_t n)
{
	struct kmem_cache *s = v->s;
	uint64_t total = 0, lost = g_hash_table_size(s->lost);
	struct list_head *pos;

	if (s->allocs - s->frees != n)
		FAULT(v,
		      "%" G_GUINT64_FORMAT
		      " objects were allocated and %" G_GUINT64_FORMAT
		      " freed, but users hold %zu",
		      s->allocs, s->frees, n);
	list_for_each (pos, &s->slabs)
		total += list_entry(pos, struct slab, all)->objects;
	if (total != v->found + n + lost)
		FAULT(v,
		      "%" G_GUINT64_FORMAT " objects exist, %" G_GUINT64_FORMAT
		      " were found, users hold %zu, %" G_GUINT64_FORMAT
		      " are lost",
		      total, v->found, n, lost);
	for (size_t i = 0; held && i < n; i++) {
		struct slab *slab = page_slab_checked(s->slub->pages, held[i]);

		mark(v, slab, slab ? object_index(slab, held[i]) : 0,
		     "a user's hands");
	}
}

static void check_lists(struct check *v)
{
	struct kmem_cache *s = v->s;
	GHashTable *owned = g_hash_table_new(NULL, NULL);
	GHashTable *listed = g_hash_table_new(NULL, NULL);
	struct list_head *pos;

	for (int i = 0; i < s->slub->nr_cpu_ids; i++)
		if (s->cpu[i])
			check_cpu(v, i, owned);
	for (int i = 0; i < s->slub->nr_node_ids; i++) {
		struct node_barn *b = s->barn[i];

		if (s->node[i])
			check_node(v, s->node[i], listed);
		if (!b)
			continue;
		check_sheaf_list(v, &b->full, b->nr_full, true, i);
		/* the limit is tested without the lock: one more for each CPU
		 * that was at it */
		if (b->nr_full > MAX_FULL_SHEAVES + (unsigned)s->slub->nr_cpu_ids)
			FAULT(v, "node %d's barn has %u full sheaves", i,
			      b->nr_full);
		check_sheaf_list(v, &b->empty, b->nr_empty, false, i);
	}
	list_for_each (pos, &s->slub->rcu) {
		struct slab_sheaf *sheaf =
			list_entry(pos, struct slab_sheaf, list);

		if (sheaf->cache == s)
			check_sheaf(v, sheaf, "an rcu callback's sheaf");
	}
	list_for_each (pos, &s->prefilled)
		check_sheaf(v, list_entry(pos, struct slab_sheaf, list),
			    "a prefilled sheaf");
	for (guint i = 0; i < s->rcu_batch->len; i++) {
		sim_addr obj =
			g_array_index(s->rcu_batch, struct rcu_object, i).obj;
		struct slab *slab = slab_of(s->slub, obj);

		mark(v, slab, object_index(slab, obj), "an rcu batch");
	}
	check_homes(v, owned, listed);
	g_hash_table_unref(owned);
	g_hash_table_unref(listed);
}

char *kmem_cache_verify(struct kmem_cache *s, const sim_addr *held, size_t n)
{
	struct check v = {.s = s};
	struct list_head *pos;

	v.marks = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	list_for_each (pos, &s->slabs) {
		struct slab *slab = list_entry(pos, struct slab, all);

		g_hash_table_insert(v.marks, slab, g_malloc0(slab->objects));
	}
	check_slabs(&v);
	check_lists(&v);
	check_users(&v, held, n);
	g_hash_table_unref(v.marks);
	return v.wrong;
}

uint64_t kmem_cache_live(const struct kmem_cache *s)
{
	return s->allocs - s->frees;
}

/* ---- breaking things ---- */

static struct slab *find_slab(struct kmem_cache *s, bool (*fits)(struct slab *))
{
	struct list_head *pos;

	list_for_each (pos, &s->slabs) {
		struct slab *slab = list_entry(pos, struct slab, all);

		if (fits(slab))
			return slab;
	}
	return NULL;
}

static bool has_free(struct slab *slab)
{
	return slab->freelist != NO_OBJECT;
}
static bool has_two_free(struct slab *slab)
{
	return has_free(slab) && slab->next_free[slab->freelist] != NO_OBJECT;
}
static bool is_listed(struct slab *slab)
{
	return slab->node_partial;
}

static struct slab_sheaf *find_sheaf(struct kmem_cache *s, unsigned size)
{
	for (int i = 0; i < s->slub->nr_cpu_ids; i++)
		if (s->cpu[i] && s->cpu[i]->main &&
		    s->cpu[i]->main->size >= size)
			return s->cpu[i]->main;
	return NULL;
}

static struct node_barn *find_barn(struct kmem_cache *s, bool full)
{
	for (int i = 0; i < s->slub->nr_node_ids; i++)
		if (s->barn[i] && (full ? s->barn[i]->nr_full > 0 : true))
			return s->barn[i];
	return NULL;
}

static struct kmem_cache_cpu *find_cpu_slab(struct kmem_cache *s, bool partial)
{
	for (int i = 0; i < s->slub->nr_cpu_ids; i++)
		if (s->cpu[i] &&
		    (partial ? !!s->cpu[i]->partial : !!s->cpu[i]->slab))
			return s->cpu[i];
	return NULL;
}

#define BREAK(name, type, find, how)                                           \
	static bool break_##name(struct kmem_cache *s)                         \
	{                                                                      \
		type *x = find;                                                \
                                                                               \
		if (!x)                                                        \
			return false;                                          \
		how;                                                           \
		return true;                                                   \
	}

BREAK(inuse, struct slab, find_slab(s, has_free), x->inuse++)
BREAK(cut_freelist, struct slab, find_slab(s, has_two_free),
      x->next_free[x->freelist] = NO_OBJECT)
BREAK(loop_freelist, struct slab, find_slab(s, has_two_free),
      x->next_free[x->next_free[x->freelist]] = x->freelist)
BREAK(lose_flag, struct slab, find_slab(s, is_listed), x->node_partial = false)
BREAK(unlist, struct slab, find_slab(s, is_listed), list_del(&x->list);
      s->node[x->node]->nr_partial--; x->node_partial = false)
BREAK(freeze, struct slab, find_slab(s, is_listed), x->frozen = true)
BREAK(nr_partial, struct slab, find_slab(s, is_listed),
      s->node[x->node]->nr_partial++)
BREAK(nr_slabs, struct slab, find_slab(s, has_free),
      s->node[x->node]->nr_slabs++)
BREAK(total_objects, struct slab, find_slab(s, has_free),
      s->node[x->node]->total_objects--)
BREAK(double_in_sheaf, struct slab_sheaf, find_sheaf(s, 2),
      x->objects[0] = x->objects[1])
BREAK(lose_from_sheaf, struct slab_sheaf, find_sheaf(s, 1), x->size--)
BREAK(overfill_sheaf, struct slab_sheaf, find_sheaf(s, 1),
      x->size = x->capacity + 1)
BREAK(foreign_in_sheaf, struct slab_sheaf, find_sheaf(s, 1),
      x->objects[0] += 1ull << 30)
BREAK(nr_full, struct node_barn, find_barn(s, false), x->nr_full++)
BREAK(nr_empty, struct node_barn, find_barn(s, false), x->nr_empty++)
BREAK(partly_full, struct node_barn, find_barn(s, true),
      list_entry(x->full.next, struct slab_sheaf, list)->size--)
BREAK(cpu_freelist, struct kmem_cache_cpu, find_cpu_slab(s, false),
      x->freelist = x->freelist == NO_OBJECT ? 0 : NO_OBJECT)
BREAK(unfreeze, struct kmem_cache_cpu, find_cpu_slab(s, false),
      x->slab->frozen = false)
BREAK(partial_slabs, struct kmem_cache_cpu, find_cpu_slab(s, true),
      x->partial->slabs++)
BREAK(lose_partial, struct kmem_cache_cpu, find_cpu_slab(s, true),
      x->partial = x->partial->next)
BREAK(user_count, struct kmem_cache, s, x->allocs++)

static bool break_rcu_sheaf(struct kmem_cache *s)
{
	for (int i = 0; i < s->slub->nr_cpu_ids; i++)
		if (s->cpu[i] && s->cpu[i]->rcu_free) {
			s->cpu[i]->rcu_free->size--;
			return true;
		}
	return false;
}

static bool break_rcu_callback(struct kmem_cache *s)
{
	struct list_head *pos;

	list_for_each (pos, &s->slub->rcu) {
		struct slab_sheaf *sheaf =
			list_entry(pos, struct slab_sheaf, list);

		if (sheaf->cache != s)
			continue;
		sheaf->objects[0] = sheaf->objects[1];
		return true;
	}
	return false;
}

static bool break_prefilled(struct kmem_cache *s)
{
	struct list_head *pos;

	list_for_each (pos, &s->prefilled) {
		struct slab_sheaf *sheaf =
			list_entry(pos, struct slab_sheaf, list);

		if (!sheaf->size)
			continue;
		sheaf->size--;
		return true;
	}
	return false;
}

static bool break_rcu_batch(struct kmem_cache *s)
{
	if (!s->rcu_batch->len)
		return false;
	g_array_set_size(s->rcu_batch, s->rcu_batch->len - 1);
	return true;
}

static const struct {
	const char *name;
	bool (*apply)(struct kmem_cache *s);
} corruptions[] = {
	{"a slab's inuse is off by one", break_inuse},
	{"a freelist is cut short", break_cut_freelist},
	{"a freelist runs in a circle", break_loop_freelist},
	{"a listed slab lost its flag", break_lose_flag},
	{"a partial slab fell off its list", break_unlist},
	{"a listed slab is frozen", break_freeze},
	{"nr_partial is off by one", break_nr_partial},
	{"nr_slabs is off by one", break_nr_slabs},
	{"total_objects is off by one", break_total_objects},
	{"a sheaf holds an object twice", break_double_in_sheaf},
	{"a sheaf lost an object", break_lose_from_sheaf},
	{"a sheaf is filled beyond its capacity", break_overfill_sheaf},
	{"a sheaf holds what is no object", break_foreign_in_sheaf},
	{"a barn's nr_full is off by one", break_nr_full},
	{"a barn's nr_empty is off by one", break_nr_empty},
	{"a barn's full sheaf is not full", break_partly_full},
	{"a cpu freelist is replaced", break_cpu_freelist},
	{"a cpu slab is not frozen", break_unfreeze},
	{"a cpu partial list miscounts its slabs", break_partial_slabs},
	{"a cpu partial list lost a slab", break_lose_partial},
	{"the number of held objects is off by one", break_user_count},
	{"an rcu sheaf lost an object", break_rcu_sheaf},
	{"an rcu callback's sheaf holds an object twice", break_rcu_callback},
	{"a prefilled sheaf lost an object", break_prefilled},
	{"an object that waits for its grace period is lost", break_rcu_batch},
};

bool kmem_cache_corrupt(struct kmem_cache *s, int kind)
{
	return corruptions[kind].apply(s);
}

int kmem_cache_corruptions(void)
{
	return G_N_ELEMENTS(corruptions);
}

const char *kmem_cache_corruption_name(int kind)
{
	return corruptions[kind].name;
}
