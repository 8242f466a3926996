/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creation of allocators and caches, and the bulk entry points; those for single
 * objects are in single.c. Each picks the front end of its kernel and does
 * nothing else.
 */
#include "model/cache.h"

static const char *const frame_names[NR_SLUB_FRAMES] = {
#define X(name) #name,
	SLUB_FRAMES(X)
#undef X
};

struct slub *slub_new(struct machine *m, const struct features *f,
		      const struct insn_costs *costs)
{
	static const struct insn_costs no_costs;
	struct slub *sl = g_new0(struct slub, 1);

	sl->machine = m;
	sl->f = f;
	sl->cost = costs ? costs : &no_costs;
	sl->nr_cpu_ids = machine_topology(m)->nr_cpu_ids;
	sl->nr_node_ids = machine_topology(m)->nr_node_ids;
	sl->last_cache = &sl->caches;
	sl->kmalloc = g_hash_table_new(NULL, NULL);
	sl->kmem_free = g_hash_table_new_full(NULL, NULL, NULL,
					      (GDestroyNotify)g_array_unref);
	sl->fixed_cycles = -1;
	sl->tuning = CACHE_TUNING_NONE;
	sl->everyone = machine_everyone(m);
	list_init(&sl->rcu);
	for (int i = 0; i < NR_SLUB_FRAMES; i++)
		sl->frame[i] = machine_frame(m, frame_names[i]);
	sl->pages = page_allocator_new(sl);
	return sl;
}

struct machine *slub_machine(const struct slub *sl)
{
	return sl->machine;
}

void slub_set_zs_build(struct slub *sl, const struct zs_build *b)
{
	sl->zs_build = b;
}

const struct zs_build *slub_zs_build(const struct slub *sl)
{
	return sl->zs_build;
}

void slub_tune(struct slub *sl, const struct cache_tuning *tuning)
{
	sl->tuning = *tuning;
}

void slub_set_cycles(struct slub *sl, int64_t cycles)
{
	sl->fixed_cycles = cycles;
}

/* ---- memory of the allocator itself ---- */

static gpointer free_list_key(int node, unsigned size)
{
	return GSIZE_TO_POINTER((gsize)node << 32 | size);
}

sim_addr kmem_alloc(struct slub *sl, int node, size_t bytes)
{
	unsigned size = kmalloc_size(bytes);
	const int *order;
	GArray *list;
	sim_addr a;

	if (!size) /* large sheaves: whole pages */
		size = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	/* memory for a node that has none comes from its nearest */
	page_zonelist(sl->pages, node, &order);
	node = order[0];
	list = g_hash_table_lookup(sl->kmem_free, free_list_key(node, size));
	if (list && list->len) {
		a = g_array_index(list, sim_addr, list->len - 1);
		g_array_set_size(list, list->len - 1);
		return a;
	}
	/* kmalloc aligns by the power of two that divides the size */
	return machine_reserve(sl->machine, node, size,
			       MIN(size & -size, PAGE_BYTES));
}

void kmem_free(struct slub *sl, sim_addr addr, size_t bytes)
{
	unsigned size = kmalloc_size(bytes);
	int node = sim_addr_node(addr);
	gpointer key;
	GArray *list;

	if (!size)
		size = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	key = free_list_key(node, size);
	list = g_hash_table_lookup(sl->kmem_free, key);
	if (!list) {
		list = g_array_new(FALSE, FALSE, sizeof(sim_addr));
		g_hash_table_insert(sl->kmem_free, key, list);
	}
	g_array_append_val(list, addr);
}

/* ---- caches ---- */

char *kmem_cache_args_check(const struct kmem_cache_args *a)
{
	if (a->object_size < 8 || a->object_size > PAGE_BYTES << SLUB_MAX_ORDER)
		return g_strdup_printf("object size %u, expected 8 to %u bytes",
				       a->object_size,
				       PAGE_BYTES << SLUB_MAX_ORDER);
	if (a->align & (a->align - 1) || a->align > PAGE_BYTES)
		return g_strdup_printf("alignment %u, expected a power of two "
				       "up to %u",
				       a->align, PAGE_BYTES);
	if (a->sheaf_capacity > 1024)
		return g_strdup_printf("sheaf capacity %u, expected 0 to 1024",
				       a->sheaf_capacity);
	return NULL;
}

static void create_cpus(struct kmem_cache *s)
{
	struct slub *sl = s->slub;

	s->cpu = g_new0(struct kmem_cache_cpu *, sl->nr_cpu_ids);
	for (int i = 0; i < sl->nr_cpu_ids; i++) {
		struct cpu *c = machine_cpu(sl->machine, i);
		struct kmem_cache_cpu *p;

		if (!c)
			continue;
		p = s->cpu[i] = g_aligned_alloc0(1, sizeof(*p), 64);
		p->freelist = NO_OBJECT;
		p->line = machine_reserve(sl->machine, c->mem_node, SIM_LINE,
					  SIM_LINE);
		p->pcs_line = machine_reserve(sl->machine, c->mem_node, 32, 32);
		p->stat_line = machine_reserve(sl->machine, c->mem_node,
					       4 * NR_SLUB_STATS, 8);
		machine_name_region(sl->machine, p->line, SIM_LINE,
				    "kmem_cache_cpu");
		machine_name_region(sl->machine, p->pcs_line, 32,
				    "slub_percpu_sheaves");
		machine_name_region(sl->machine, p->stat_line,
				    4 * NR_SLUB_STATS, "cpu_stats");
	}
}

static void create_nodes(struct cpu *c, struct kmem_cache *s)
{
	struct slub *sl = s->slub;
	const struct topology *t = machine_topology(sl->machine);

	s->node = g_new0(struct kmem_cache_node *, sl->nr_node_ids);
	s->barn = g_new0(struct node_barn *, sl->nr_node_ids);
	for (int i = 0; i < sl->nr_node_ids; i++) {
		bool memory = topology_node_has_memory(t, i);

		if (memory) {
			struct kmem_cache_node *n =
				g_new0(struct kmem_cache_node, 1);

			s->node[i] = n;
			n->node = i;
			n->line = machine_reserve(sl->machine, i, 2 * SIM_LINE,
						  2 * SIM_LINE);
			machine_name_region(sl->machine, n->line, SIM_LINE,
					    "kmem_cache_node");
			lock_init(sl->machine, &n->list_lock, "&n->list_lock",
				  n->line, sl->everyone);
			list_init(&n->partial);
		}
		if (cache_has_sheaves(s) && t->nodes[i].online &&
		    (memory || s->f->barns_on_memoryless))
			s->barn[i] = barn_create(c, s, i);
	}
}

/* One permutation of a slab's objects for the life of the cache. */
static void create_random_seq(struct cpu *c, struct kmem_cache *s)
{
	unsigned n = s->g.objects;

	s->random_line = machine_reserve(s->slub->machine, c->mem_node,
					 SIM_LINE + 4 * n, SIM_LINE);
	if (!s->f->freelist_random || n < 2)
		return;
	s->random_seq = g_new(uint16_t, n);
	for (unsigned i = 0; i < n; i++)
		s->random_seq[i] = i;
	for (unsigned i = n - 1; i > 0; i--) {
		unsigned k = cpu_random(c) % (i + 1);
		uint16_t swap = s->random_seq[i];

		s->random_seq[i] = s->random_seq[k];
		s->random_seq[k] = swap;
	}
}

static void apply_tuning(struct kmem_cache *s, const struct cache_tuning *t)
{
	if (t->sheaf_capacity > 0 && s->g.sheaf_capacity)
		s->g.sheaf_capacity = t->sheaf_capacity;
	if (t->min_partial >= 0)
		s->g.min_partial = t->min_partial;
	if (t->cpu_partial >= 0 && s->f->cpu_slabs && s->f->cpu_partial) {
		s->g.cpu_partial = t->cpu_partial;
		s->g.cpu_partial_slabs =
			cpu_partial_to_slabs(t->cpu_partial, s->g.objects);
	}
	if (t->remote_node_defrag_ratio >= 0)
		s->remote_node_defrag_ratio = 10 * t->remote_node_defrag_ratio;
}

struct kmem_cache *kmem_cache_create(struct slub *sl, struct cpu *c,
				     const struct kmem_cache_args *a)
{
	struct kmem_cache *s = g_new0(struct kmem_cache, 1);
	int nr_cpus = machine_topology(sl->machine)->nr_cpus;
	size_t bytes = CACHE_NODES + CACHE_NODE_BYTES * sl->nr_node_ids;
	char *wrong = kmem_cache_args_check(a);

	if (wrong)
		g_error("kmem_cache_create(%s): %s", a->name, wrong);
	s->name = g_strdup(a->name);
	s->slub = sl;
	s->f = sl->f;
	s->cost = sl->cost;
	s->flags = a->flags;
	s->g = kmem_cache_geometry(sl->f, a, nr_cpus);
	/* floor(x / size) = x * reciprocal >> 64 for all x of a slab */
	s->reciprocal = UINT64_MAX / s->g.size + 1;
	s->remote_node_defrag_ratio = 1000;
	apply_tuning(s, &sl->tuning);
	s->line = machine_reserve(sl->machine, c->mem_node, bytes, SIM_LINE);
	machine_name_region(sl->machine, s->line, bytes, "kmem_cache");
	s->lost = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					NULL);
	s->rcu_batch = g_array_new(FALSE, FALSE, sizeof(struct rcu_object));
	list_init(&s->slabs);
	list_init(&s->prefilled);
	cpu_enter(c, sl->frame[FR_kmem_cache_create]);
	create_cpus(s);
	create_nodes(c, s);
	create_random_seq(c, s);
	init_percpu_sheaves(c, s);
	cpu_leave(c);
	*sl->last_cache = s;
	sl->last_cache = &s->next;
	return s;
}

struct kmem_cache *slub_next_cache(struct slub *sl, struct kmem_cache *prev)
{
	return prev ? prev->next : sl->caches;
}

const char *kmem_cache_name(const struct kmem_cache *s)
{
	return s->name;
}

unsigned kmem_cache_object_size(const struct kmem_cache *s)
{
	return s->g.size;
}

unsigned kmem_cache_objs_per_slab(const struct kmem_cache *s)
{
	return s->g.objects;
}

unsigned kmem_cache_order(const struct kmem_cache *s)
{
	return s->g.order;
}

struct kmem_cache *kmalloc_cache(struct slub *sl, struct cpu *c, size_t bytes)
{
	unsigned size = kmalloc_size(bytes);
	struct kmem_cache *s;

	g_assert(size);
	s = g_hash_table_lookup(sl->kmalloc, GUINT_TO_POINTER(size));
	if (!s) {
		g_autofree char *name =
			size >= 1024
				? g_strdup_printf("kmalloc-%uk", size / 1024)
				: g_strdup_printf("kmalloc-%u", size);
		struct kmem_cache_args args = {
			.name = name,
			.object_size = size,
			/* powers of two are aligned to their size */
			.align = size & (size - 1) ? 8 : MIN(size, PAGE_BYTES),
		};

		s = kmem_cache_create(sl, c, &args);
		g_hash_table_insert(sl->kmalloc, GUINT_TO_POINTER(size), s);
	}
	return s;
}

struct object_place kmem_cache_place(const struct kmem_cache *s, sim_addr obj)
{
	struct slab *slab = slab_of(s->slub, obj);

	return (struct object_place){slab, object_index(slab, obj), slab->node};
}

/* ---- bulk ---- */

static unsigned alloc_bulk_singly(struct cpu *c, struct kmem_cache *s,
				  unsigned gfp, unsigned n, sim_addr *objs)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		objs[i] = kmem_cache_alloc(c, s, gfp);
		if (!objs[i])
			break;
		s->allocs--; /* the bulk call counts them */
	}
	return i;
}

static unsigned alloc_bulk_from_slabs(struct cpu *c, struct kmem_cache *s,
				      unsigned gfp, unsigned n, sim_addr *objs)
{
	unsigned got;

	if (!s->f->cpu_slabs) {
		got = refill_objects(c, s, objs, gfp, n, n);
		/* the allocation hooks see each object, whatever its way */
		cpu_exec(c, got * s->cost->bulk_alloc_object);
		if (got == n)
			stat_add(s, c, stat_alloc_slowpath, n);
		return got;
	}
	if (s->f->bulk_alloc == BULK_ALLOC_SINGLY)
		return alloc_bulk_singly(c, s, gfp, n, objs);
	got = cpu_slab_alloc_bulk(c, s, gfp, n, objs);
	if (got < n && s->f->bulk_alloc == BULK_ALLOC_INITIAL)
		got += alloc_bulk_singly(c, s, gfp, n - got, objs + got);
	return got;
}

/* What a failed bulk allocation got so far. */
static void give_back(struct cpu *c, struct kmem_cache *s, unsigned n,
		      sim_addr *objs)
{
	if (s->f->bulk_free == BULK_FREE_DETACHED) {
		__kmem_cache_free_bulk(c, s, n, objs);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		s->frees--; /* no caller had it */
		kmem_cache_free(c, s, objs[i]);
	}
}

unsigned kmem_cache_alloc_bulk(struct cpu *c, struct kmem_cache *s,
			       unsigned gfp, unsigned n, sim_addr *objs)
{
	unsigned kept = 0, got;

	if (!n)
		return 0;
	enter(s, c, FR_kmem_cache_alloc_bulk);
	cpu_exec(c, s->cost->bulk_alloc);
	cpu_read(c, s->line);
	if (cache_has_sheaves(s))
		kept = alloc_from_pcs_bulk(c, s, gfp, n, objs);
	got = kept;
	if (got < n)
		got += alloc_bulk_from_slabs(c, s, gfp, n - got, objs + got);
	if (got < n) {
		/* each layer gives back its own, the lower one first */
		give_back(c, s, got - kept, objs + kept);
		give_back(c, s, kept, objs);
		got = 0;
	}
	s->allocs += got;
	if (gfp & GFP_ZEROED)
		for (unsigned i = 0; i < got; i++)
			cpu_copy(c, objs[i], 0, s->g.object_size);
	cpu_leave(c);
	return got;
}

/* 2015, between single frees and detached freelists: one irq section, left
 * for every object that isn't of the cpu slab. */
static void free_bulk_same_slab(struct cpu *c, struct kmem_cache *s, unsigned n,
				sim_addr *objs)
{
	struct kmem_cache_cpu *k = this_cpu(s, c);

	cpu_irq(c, false);
	cpu_read(c, k->line);
	for (unsigned i = 0; i < n; i++) {
		struct slab *slab = slab_of(s->slub, objs[i]);
		unsigned at = object_index(slab, objs[i]);

		cpu_exec(c, s->cost->bulk_free_object);
		cpu_read(c, slab->line);
		if (slab == k->slab) {
			set_freepointer(c, slab, at, k->freelist);
			k->freelist = at;
			continue;
		}
		__slab_free(c, s, slab, at, at, 1);
		cpu_irq(c, false);
	}
	cpu_write(c, k->line);
}

void kmem_cache_free_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
			  sim_addr *objs)
{
	if (!n)
		return;
	enter(s, c, FR_kmem_cache_free_bulk);
	cpu_exec(c, s->cost->bulk_free);
	cpu_read(c, s->line);
	s->frees += n;
	if (cache_has_sheaves(s)) {
		free_to_pcs_bulk(c, s, n, objs);
	} else if (s->f->bulk_free == BULK_FREE_DETACHED) {
		slab_free_bulk(c, s, n, objs);
		if (!s->f->cpu_slabs)
			stat_add(s, c, stat_free_slowpath, n);
	} else if (s->f->bulk_free == BULK_FREE_SAME_SLAB) {
		free_bulk_same_slab(c, s, n, objs);
	} else {
		for (unsigned i = 0; i < n; i++) {
			s->frees--;
			kmem_cache_free(c, s, objs[i]);
		}
	}
	cpu_leave(c);
}

/* ---- teardown: the C memory only, nothing is simulated ---- */

static void destroy_sheaves(struct list_head *list)
{
	struct list_head *pos, *next;

	list_for_each_safe (pos, next, list)
		sheaf_destroy(list_entry(pos, struct slab_sheaf, list));
}

static void cache_destroy(struct kmem_cache *s)
{
	struct slub *sl = s->slub;
	struct list_head *pos, *next;

	for (int i = 0; i < sl->nr_cpu_ids; i++) {
		if (!s->cpu[i])
			continue;
		sheaf_destroy(s->cpu[i]->main);
		sheaf_destroy(s->cpu[i]->spare);
		sheaf_destroy(s->cpu[i]->rcu_free);
		g_aligned_free(s->cpu[i]);
	}
	for (int i = 0; i < sl->nr_node_ids; i++) {
		if (s->barn[i]) {
			destroy_sheaves(&s->barn[i]->full);
			destroy_sheaves(&s->barn[i]->empty);
			lock_destroy(sl->machine, &s->barn[i]->lock);
			g_free(s->barn[i]);
		}
		if (s->node[i]) {
			lock_destroy(sl->machine, &s->node[i]->list_lock);
			g_free(s->node[i]);
		}
	}
	list_for_each_safe (pos, next, &s->slabs)
		g_free(list_entry(pos, struct slab, all));
	destroy_sheaves(&s->prefilled);
	g_hash_table_unref(s->lost);
	g_array_unref(s->rcu_batch);
	g_free(s->random_seq);
	g_free(s->cpu);
	g_free(s->node);
	g_free(s->barn);
	g_free(s->name);
	g_free(s);
}

void slub_free(struct slub *sl)
{
	if (!sl)
		return;
	destroy_sheaves(&sl->rcu);
	while (sl->caches) {
		struct kmem_cache *s = sl->caches;

		sl->caches = s->next;
		cache_destroy(s);
	}
	page_allocator_free(sl->pages);
	g_hash_table_unref(sl->kmalloc);
	g_hash_table_unref(sl->kmem_free);
	g_free(sl->attr_names);
	g_free(sl);
}
