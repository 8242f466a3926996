/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kfree_rcu(): objects collect in a sheaf of their own; a full one waits for a
 * grace period and then becomes a full sheaf of the barn.
 *
 * Grace periods end at kfree_rcu_barrier() and nowhere else: a simulation has
 * no other quiescent moment of its own. Callbacks run on the CPU that queued
 * them, as the kernel counts them, in the order in which they were queued.
 * Objects outside sheaves come last, CPU by CPU; the kernel frees those from a
 * worker on no CPU in particular, here it is the one that handed them in.
 */
#include "model/cache.h"

void call_rcu_sheaf(struct slub *sl, struct slab_sheaf *sheaf)
{
	list_add_tail(&sheaf->list, &sl->rcu);
}

/* The CPU's sheaf for freed objects, NULL if none is to be had. */
static struct slab_sheaf *rcu_sheaf(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct node_barn *barn;

	if (pcs->rcu_free)
		return pcs->rcu_free;
	if (pcs->spare && !pcs->spare->size) {
		pcs->rcu_free = pcs->spare;
		pcs->spare = NULL;
		return pcs->rcu_free;
	}
	barn = get_barn(c, s);
	if (!barn)
		return NULL;
	pcs->rcu_free = barn_get_empty_sheaf(c, barn);
	if (!pcs->rcu_free)
		pcs->rcu_free = alloc_empty_sheaf(c, s, GFP_FOR_NOWAIT);
	return pcs->rcu_free;
}

static bool free_to_rcu_sheaf(struct cpu *c, struct kmem_cache *s, sim_addr obj)
{
	struct slab_sheaf *sheaf = rcu_sheaf(c, s);

	if (!sheaf) {
		stat(s, c, stat_free_rcu_sheaf_fail);
		return false;
	}
	sheaf->objects[sheaf->size] = obj;
	cpu_write(c, sheaf_slot(sheaf, sheaf->size));
	sheaf->size++;
	cpu_write(c, sheaf->addr + SHEAF_SIZE);
	if (sheaf->size == sheaf->capacity) {
		this_cpu(s, c)->rcu_free = NULL;
		sheaf->node =
			s->f->barns_on_memoryless ? c->node : numa_mem_id(s, c);
		sheaf->cpu = c->id;
		call_rcu_sheaf(s->slub, sheaf);
	}
	stat(s, c, stat_free_rcu_sheaf);
	return true;
}

void kfree_rcu(struct cpu *c, struct kmem_cache *s, sim_addr obj)
{
	struct slab *slab = slab_of(s->slub, obj);
	struct rcu_object o = {obj, c->id};

	enter(s, c, FR_kfree_rcu);
	cpu_exec(c, s->cost->free_fast);
	cpu_read(c, slab->line);
	s->frees++;
	if (!cache_has_sheaves(s) || !s->f->rcu_sheaves ||
	    slab->node != numa_mem_id(s, c) || !free_to_rcu_sheaf(c, s, obj))
		g_array_append_val(s->rcu_batch, o);
	cpu_leave(c);
}

/* The grace period of a full (or flushed) sheaf is over. */
static void rcu_free_sheaf(struct slub *sl, struct slab_sheaf *sheaf)
{
	struct kmem_cache *s = sheaf->cache;
	struct cpu *c = machine_cpu(sl->machine, sheaf->cpu);
	struct node_barn *barn = sheaf->nobarn ? NULL : s->barn[sheaf->node];

	enter(s, c, FR_rcu_free_sheaf);
	if (barn && barn->nr_full < MAX_FULL_SHEAVES) {
		stat(s, c, stat_barn_put);
		barn_put_full_sheaf(c, barn, sheaf);
		cpu_leave(c);
		return;
	}
	if (barn)
		stat(s, c, stat_barn_put_fail);
	sheaf_flush_unused(c, s, sheaf);
	if (barn && barn->nr_empty < MAX_EMPTY_SHEAVES)
		barn_put_empty_sheaf(c, barn, sheaf);
	else
		free_empty_sheaf(c, s, sheaf);
	cpu_leave(c);
}

/* What one CPU handed in goes straight to slabs, as bulk frees of a mixed
 * array do, or one by one. */
static void free_batch_of(struct cpu *c, struct kmem_cache *s, GArray *objs)
{
	sim_addr *obj = (sim_addr *)objs->data;

	if (s->f->rcu_bulk_free) {
		slab_free_bulk(c, s, objs->len, obj);
		if (!s->f->cpu_slabs)
			stat_add(s, c, stat_free_slowpath, objs->len);
		return;
	}
	for (guint i = 0; i < objs->len; i++) {
		s->frees--; /* counted when it was handed in */
		kmem_cache_free(c, s, obj[i]);
	}
}

static void free_batch(struct slub *sl, struct kmem_cache *s)
{
	g_autoptr(GArray) batch = g_steal_pointer(&s->rcu_batch);

	s->rcu_batch = g_array_new(FALSE, FALSE, sizeof(struct rcu_object));
	for (int cpu = 0; cpu < sl->nr_cpu_ids; cpu++) {
		g_autoptr(GArray) objs =
			g_array_new(FALSE, FALSE, sizeof(sim_addr));

		for (guint i = 0; i < batch->len; i++) {
			struct rcu_object *o =
				&g_array_index(batch, struct rcu_object, i);

			if (o->cpu == cpu)
				g_array_append_val(objs, o->obj);
		}
		if (objs->len)
			free_batch_of(machine_cpu(sl->machine, cpu), s, objs);
	}
}

void kfree_rcu_barrier(struct cpu *c, struct slub *sl)
{
	/* sheaves still filling are queued behind those that are full */
	for (struct kmem_cache *s = sl->caches; s; s = s->next) {
		for (int i = 0; i < sl->nr_cpu_ids; i++) {
			struct kmem_cache_cpu *pcs = s->cpu[i];

			if (!pcs || !pcs->rcu_free)
				continue;
			pcs->rcu_free->nobarn = true;
			pcs->rcu_free->cpu = i;
			call_rcu_sheaf(sl, pcs->rcu_free);
			pcs->rcu_free = NULL;
		}
	}
	while (!list_empty(&sl->rcu)) {
		struct slab_sheaf *sheaf =
			list_entry(sl->rcu.next, struct slab_sheaf, list);

		list_del(&sheaf->list);
		rcu_free_sheaf(sl, sheaf);
	}
	for (struct kmem_cache *s = sl->caches; s; s = s->next)
		free_batch(sl, s);
}
