/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-CPU sheaves: the front end that is opt-in in 6.18/6.19 and everything
 * from 7.0 on.
 *
 * The CPU's part is guarded by a local trylock: preemption off and a byte, no
 * atomic. An object that goes through a sheaf is never touched itself.
 */
#include "model/cache.h"

static size_t sheaf_bytes(unsigned capacity)
{
	return SHEAF_HEADER + 8 * (size_t)capacity;
}

/* Memory for one, not counted. */
struct slab_sheaf *sheaf_new(struct cpu *c, struct kmem_cache *s,
			     unsigned capacity)
{
	struct slab_sheaf *sheaf =
		g_malloc0(sizeof(*sheaf) + capacity * sizeof(sim_addr));
	size_t bytes = sheaf_bytes(capacity);

	sheaf->addr = kmem_alloc(s->slub, c->node, bytes);
	sheaf->capacity = capacity;
	sheaf->cache = s;
	list_init(&sheaf->list);
	machine_name_region(s->slub->machine, sheaf->addr, bytes, "slab_sheaf");
	cpu_copy(c, sheaf->addr, 0, bytes); /* it comes zeroed */
	return sheaf;
}

void kmem_free_sheaf(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
	g_assert(!sheaf->size);
	kmem_free(s->slub, sheaf->addr, sheaf_bytes(sheaf->capacity));
	sheaf_destroy(sheaf);
}

struct slab_sheaf *alloc_empty_sheaf(struct cpu *c, struct kmem_cache *s,
				     unsigned gfp)
{
	struct slab_sheaf *sheaf;

	if (gfp & GFP_NO_EXT)
		return NULL;
	enter(s, c, FR_alloc_empty_sheaf);
	cpu_exec(c, s->cost->sheaf_alloc);
	sheaf = sheaf_new(c, s, s->g.sheaf_capacity);
	stat(s, c, stat_sheaf_alloc);
	cpu_leave(c);
	return sheaf;
}

void sheaf_destroy(struct slab_sheaf *sheaf)
{
	g_free(sheaf);
}

void free_empty_sheaf(struct cpu *c, struct kmem_cache *s,
		      struct slab_sheaf *sheaf)
{
	kmem_free_sheaf(s, sheaf);
	stat(s, c, stat_sheaf_free);
}

void init_percpu_sheaves(struct cpu *c, struct kmem_cache *s)
{
	for (int i = 0; i < s->slub->nr_cpu_ids; i++)
		if (s->cpu[i] && cache_has_sheaves(s))
			s->cpu[i]->main =
				alloc_empty_sheaf(c, s, GFP_FOR_KERNEL);
}

void sheaf_flush_unused(struct cpu *c, struct kmem_cache *s,
			struct slab_sheaf *sheaf)
{
	if (!sheaf->size)
		return;
	enter(s, c, FR_sheaf_flush);
	stat_add(s, c, stat_sheaf_flush, sheaf->size);
	for (unsigned i = 0; i < sheaf->size; i += 8)
		cpu_prefetch(c, sheaf_slot(sheaf, i));
	__kmem_cache_free_bulk(c, s, sheaf->size, sheaf->objects);
	sheaf->size = 0;
	cpu_leave(c);
}

static void sheaf_flush_main(struct cpu *c, struct kmem_cache *s)
{
	sim_addr objs[PCS_BATCH_MAX];
	unsigned batch, rest;

	enter(s, c, FR_sheaf_flush);
	do {
		struct slab_sheaf *main = this_cpu(s, c)->main;

		batch = MIN(PCS_BATCH_MAX, main->size);
		main->size -= batch;
		memcpy(objs, main->objects + main->size, batch * sizeof(*objs));
		rest = main->size;
		if (batch)
			__kmem_cache_free_bulk(c, s, batch, objs);
		stat_add(s, c, stat_sheaf_flush, batch);
	} while (rest);
	cpu_leave(c);
}

void pcs_flush_all(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct slab_sheaf *spare = pcs->spare, *rcu_free = pcs->rcu_free;

	pcs->spare = pcs->rcu_free = NULL;
	cpu_write(c, pcs->pcs_line);
	if (spare) {
		sheaf_flush_unused(c, s, spare);
		free_empty_sheaf(c, s, spare);
	}
	if (rcu_free) {
		rcu_free->nobarn = true;
		rcu_free->cpu = c->id;
		call_rcu_sheaf(s->slub, rcu_free);
	}
	sheaf_flush_main(c, s);
}

bool refill_sheaf(struct cpu *c, struct kmem_cache *s,
		  struct slab_sheaf *sheaf, unsigned gfp)
{
	unsigned want = sheaf->capacity - sheaf->size, got;
	sim_addr *to = sheaf->objects + sheaf->size;

	enter(s, c, FR_refill_sheaf);
	cpu_exec(c, s->cost->refill);
	got = s->f->cpu_slabs ? cpu_slab_alloc_bulk(c, s, gfp, want, to)
			      : refill_objects(c, s, to, gfp, want, want);
	/* with cpu slabs below, it's all or nothing from there */
	if (s->f->cpu_slabs && got < want) {
		__kmem_cache_free_bulk(c, s, got, to);
		got = 0;
	}
	for (unsigned i = 0; i < got; i += 8)
		cpu_write(c, sheaf_slot(sheaf, sheaf->size + i));
	sheaf->size += got;
	cpu_write(c, sheaf->addr + SHEAF_SIZE);
	stat_add(s, c, stat_sheaf_refill, got);
	cpu_leave(c);
	return got == want;
}

static struct slab_sheaf *alloc_full_sheaf(struct cpu *c, struct kmem_cache *s,
					   unsigned gfp,
					   struct slab_sheaf *empty)
{
	if (!empty)
		empty = alloc_empty_sheaf(c, s, gfp);
	if (!empty)
		return NULL;
	if (refill_sheaf(c, s, empty, gfp))
		return empty;
	sheaf_flush_unused(c, s, empty);
	free_empty_sheaf(c, s, empty);
	return NULL;
}

/* The full sheaf that was fetched with the lock dropped finds its place. */
static void install_full(struct cpu *c, struct kmem_cache *s,
			 struct node_barn *barn, struct slab_sheaf *full)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);

	cpu_write(c, pcs->pcs_line);
	if (!pcs->main->size) {
		/* cpu-slab kernels give the empty one away at once */
		if (!pcs->spare && !s->f->cpu_slabs)
			pcs->spare = pcs->main;
		else
			barn_put_empty_sheaf(c, barn, pcs->main);
		pcs->main = full;
	} else if (!pcs->spare) {
		pcs->spare = full;
	} else if (!pcs->spare->size) {
		barn_put_empty_sheaf(c, barn, pcs->spare);
		pcs->spare = full;
	} else {
		barn_put_full_sheaf(c, barn, full);
		stat(s, c, stat_barn_put);
	}
}

/* Main is empty: get one that isn't. False: the slow path has to help. */
static bool __pcs_replace_empty_main(struct cpu *c, struct kmem_cache *s,
				     unsigned gfp)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct slab_sheaf *full, *empty = NULL;
	struct node_barn *barn;
	bool may_refill;

	cpu_exec(c, s->cost->sheaf_swap);
	if (pcs->spare && pcs->spare->size) {
		struct slab_sheaf *main = pcs->main;

		pcs->main = pcs->spare;
		pcs->spare = main;
		cpu_write(c, pcs->pcs_line);
		return true;
	}
	barn = get_barn(c, s);
	if (!barn)
		return false;
	full = barn_replace_empty_sheaf(c, barn, pcs->main);
	if (full) {
		stat(s, c, stat_barn_get);
		pcs->main = full;
		cpu_write(c, pcs->pcs_line);
		return true;
	}
	stat(s, c, stat_barn_get_fail);
	may_refill = gfp & (s->f->refill_without_blocking ? GFP_MAY_SPIN
							  : GFP_MAY_BLOCK);
	if (!may_refill)
		return false;
	if (pcs->spare) {
		empty = pcs->spare;
		pcs->spare = NULL;
	} else {
		empty = barn_get_empty_sheaf(c, barn);
	}
	/* the CPU's part is unlocked from here on */
	full = alloc_full_sheaf(c, s, gfp, empty);
	if (!full)
		return false;
	install_full(c, s, barn, full);
	return true;
}

/* What every use of main touches: trylock byte, pointer, size. */
static struct slab_sheaf *touch_main(struct cpu *c, struct kmem_cache_cpu *pcs)
{
	cpu_write(c, pcs->pcs_line);
	cpu_read(c, pcs->main->addr + SHEAF_SIZE);
	return pcs->main;
}

sim_addr alloc_from_pcs(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			int node)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct slab_sheaf *main;
	sim_addr obj;

	if (node != NO_NODE && node != numa_mem_id(s, c)) {
		if (!s->f->cpu_slabs)
			stat(s, c, stat_alloc_node_mismatch);
		return 0;
	}
	main = touch_main(c, pcs);
	if (G_UNLIKELY(!main->size)) {
		bool ok;

		enter(s, c, FR___pcs_replace_empty_main);
		ok = __pcs_replace_empty_main(c, s, gfp);
		cpu_leave(c);
		if (!ok)
			return 0;
		main = touch_main(c, pcs);
	}
	cpu_read(c, sheaf_slot(main, main->size - 1));
	obj = main->objects[main->size - 1];
	if (node != NO_NODE) {
		struct slab *slab = slab_of(s->slub, obj);

		cpu_read(c, slab->line);
		if (slab->node != node) {
			if (!s->f->cpu_slabs)
				stat(s, c, stat_alloc_node_mismatch);
			return 0;
		}
	}
	main->size--;
	cpu_write(c, main->addr + SHEAF_SIZE);
	stat(s, c,
	     s->f->cpu_slabs ? stat_alloc_cpu_sheaf : stat_alloc_fastpath);
	return obj;
}

bool can_free_to_pcs(struct cpu *c, const struct kmem_cache *s, int node)
{
	if (node == numa_mem_id(s, c))
		return true;
	/* a CPU without memory of its own has no local objects to keep */
	return s->f->remote_free_to_sheaf && !s->f->have_memoryless_nodes &&
	       c->node != c->mem_node;
}

/* A new empty sheaf, or the spare just flushed, makes main take objects
 * again, whatever this CPU's sheaves have become meanwhile. */
static void make_room_from_empty(struct cpu *c, struct kmem_cache *s,
				 struct node_barn *barn,
				 struct slab_sheaf *empty)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);

	cpu_write(c, pcs->pcs_line);
	if (!pcs->spare) {
		pcs->spare = pcs->main;
		pcs->main = empty;
	} else if (pcs->main->size < pcs->main->capacity) {
		barn_put_empty_sheaf(c, barn, empty);
	} else if (pcs->spare->size < pcs->spare->capacity) {
		struct slab_sheaf *main = pcs->main;

		pcs->main = pcs->spare;
		pcs->spare = main;
		barn_put_empty_sheaf(c, barn, empty);
	} else {
		stat(s, c, stat_barn_put);
		barn_put_full_sheaf(c, barn, pcs->main);
		pcs->main = empty;
	}
}

/* Steps that bulk free has in common with a single one; @why is the reason
 * if it returns false. */
static bool exchange_full_main(struct cpu *c, struct kmem_cache *s,
			       struct node_barn *barn, enum barn_replace *why)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct slab_sheaf *empty = NULL, *main = pcs->main;

	cpu_exec(c, s->cost->sheaf_swap);
	*why = BARN_NO_EMPTY;
	if (!pcs->spare) {
		empty = barn_get_empty_sheaf(c, barn);
		if (!empty)
			return false;
		pcs->spare = main;
		pcs->main = empty;
	} else if (pcs->spare->size < pcs->spare->capacity) {
		pcs->main = pcs->spare;
		pcs->spare = main;
	} else {
		*why = barn_replace_full_sheaf(c, barn, main, &empty);
		if (*why != BARN_REPLACED)
			return false;
		stat(s, c, stat_barn_put);
		pcs->main = empty;
	}
	cpu_write(c, pcs->pcs_line);
	return true;
}

static bool __pcs_replace_full_main(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct slab_sheaf *empty;
	struct node_barn *barn = get_barn(c, s);
	enum barn_replace why;

	if (!barn)
		return false;
	if (exchange_full_main(c, s, barn, &why))
		return true;
	if (why == BARN_TOO_FULL) {
		/* too many full ones around: the spare's objects go back */
		stat(s, c, stat_barn_put_fail);
		empty = pcs->spare;
		pcs->spare = NULL;
		sheaf_flush_unused(c, s, empty);
	} else {
		empty = alloc_empty_sheaf(c, s, GFP_FOR_NOWAIT);
		/* an allocation of this kind doesn't fail in the model */
		g_assert(empty);
	}
	make_room_from_empty(c, s, barn, empty);
	return true;
}

bool free_to_pcs(struct cpu *c, struct kmem_cache *s, sim_addr obj)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct slab_sheaf *main = touch_main(c, pcs);

	if (G_UNLIKELY(main->size == main->capacity)) {
		bool ok;

		enter(s, c, FR___pcs_replace_full_main);
		ok = __pcs_replace_full_main(c, s);
		cpu_leave(c);
		if (!ok)
			return false;
		main = touch_main(c, pcs);
	}
	cpu_write(c, sheaf_slot(main, main->size));
	main->objects[main->size++] = obj;
	cpu_write(c, main->addr + SHEAF_SIZE);
	stat(s, c, s->f->cpu_slabs ? stat_free_cpu_sheaf : stat_free_fastpath);
	return true;
}

static void touch_slots(struct cpu *c, struct slab_sheaf *sheaf, unsigned from,
			unsigned n, bool write)
{
	if (!c->timed || !n)
		return;
	for (sim_addr a = sheaf_slot(sheaf, from) & ~(sim_addr)(SIM_LINE - 1);
	     a < sheaf_slot(sheaf, from + n); a += SIM_LINE) {
		if (write)
			cpu_write(c, a);
		else
			cpu_prefetch(c, a);
	}
}

unsigned alloc_from_pcs_bulk(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			     unsigned n, sim_addr *objs)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	unsigned done = 0;

	while (done < n) {
		struct slab_sheaf *main = touch_main(c, pcs);
		unsigned batch;

		if (!main->size) {
			struct slab_sheaf *full;
			struct node_barn *barn;

			cpu_exec(c, s->cost->sheaf_swap);
			if (pcs->spare && pcs->spare->size) {
				pcs->main = pcs->spare;
				pcs->spare = main;
				continue;
			}
			barn = get_barn(c, s);
			if (!barn)
				break;
			full = barn_replace_empty_sheaf(c, barn, main);
			if (!full) {
				stat(s, c, stat_barn_get_fail);
				break;
			}
			stat(s, c, stat_barn_get);
			pcs->main = full;
			continue;
		}
		batch = MIN(n - done, main->size);
		main->size -= batch;
		cpu_write(c, main->addr + SHEAF_SIZE);
		touch_slots(c, main, main->size, batch, false);
		memcpy(objs + done, main->objects + main->size,
		       batch * sizeof(*objs));
		cpu_exec(c, batch * s->cost->bulk_alloc_object);
		stat_add(s, c,
			 s->f->cpu_slabs ? stat_alloc_cpu_sheaf
					 : stat_alloc_fastpath,
			 batch);
		done += batch;
	}
	return done;
}

/* Puts @n objects that all may go into sheaves there; returns how many. */
static unsigned push_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
			  sim_addr *objs)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	unsigned done = 0;

	while (done < n) {
		struct slab_sheaf *main = touch_main(c, pcs);
		unsigned batch;

		if (main->size == main->capacity) {
			struct node_barn *barn = get_barn(c, s);
			enum barn_replace why;

			if (!barn)
				break;
			if (!exchange_full_main(c, s, barn, &why)) {
				if (pcs->spare)
					stat(s, c, stat_barn_put_fail);
				break;
			}
			main = touch_main(c, pcs);
		}
		batch = MIN(n - done, main->capacity - main->size);
		memcpy(main->objects + main->size, objs + done,
		       batch * sizeof(*objs));
		touch_slots(c, main, main->size, batch, true);
		main->size += batch;
		cpu_write(c, main->addr + SHEAF_SIZE);
		cpu_exec(c, batch * s->cost->bulk_free_object);
		stat_add(s, c,
			 s->f->cpu_slabs ? stat_free_cpu_sheaf
					 : stat_free_fastpath,
			 batch);
		done += batch;
	}
	return done;
}

/*
 * Objects that may not go into this CPU's sheaves are swapped to the end of
 * the array and freed to their slabs in small batches, in between. Kernels
 * with bulk_free_loses_objects forget what they kept so far if such a batch
 * fills up on the last object scanned: nothing is left to scan, so they do not
 * come back for it.
 */
void free_to_pcs_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
		      sim_addr *objs)
{
	sim_addr remote[PCS_BATCH_MAX];
	unsigned kept = 0, nr_remote = 0, done;

	while (kept < n) {
		struct slab *slab = slab_of(s->slub, objs[kept]);

		cpu_read(c, slab->line);
		if (can_free_to_pcs(c, s, slab->node)) {
			kept++;
			continue;
		}
		remote[nr_remote++] = objs[kept];
		objs[kept] = objs[--n];
		if (nr_remote < PCS_BATCH_MAX)
			continue;
		__kmem_cache_free_bulk(c, s, nr_remote, remote);
		if (!s->f->cpu_slabs)
			stat_add(s, c, stat_free_slowpath, nr_remote);
		nr_remote = 0;
		if (kept == n && s->f->bulk_free_loses_objects) {
			for (unsigned i = 0; i < n; i++)
				g_hash_table_add(
					s->lost,
					g_memdup2(&objs[i], sizeof(*objs)));
			return;
		}
	}
	done = push_bulk(c, s, n, objs);
	if (done < n) {
		__kmem_cache_free_bulk(c, s, n - done, objs + done);
		if (!s->f->cpu_slabs)
			stat_add(s, c, stat_free_slowpath, n - done);
	}
	if (nr_remote) {
		__kmem_cache_free_bulk(c, s, nr_remote, remote);
		if (!s->f->cpu_slabs)
			stat_add(s, c, stat_free_slowpath, nr_remote);
	}
}
