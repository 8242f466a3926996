/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/prefill.h"

#include "model/cache.h"

static struct slab_sheaf *prefill_oversize(struct cpu *c, struct kmem_cache *s,
					   unsigned gfp, unsigned size)
{
	struct slab_sheaf *sheaf = sheaf_new(c, s, size);
	unsigned got;

	stat(s, c, stat_sheaf_prefill_oversize);
	got = s->f->cpu_slabs ?
		      cpu_slab_alloc_bulk(c, s, gfp, size, sheaf->objects) :
		      refill_objects(c, s, sheaf->objects, gfp, size, size);
	if (got < size) {
		__kmem_cache_free_bulk(c, s, got, sheaf->objects);
		kmem_free_sheaf(s, sheaf);
		return NULL;
	}
	if (!s->f->cpu_slabs)
		stat_add(s, c, stat_alloc_slowpath, size);
	sheaf->size = size;
	return sheaf;
}

/* The CPU's spare whatever is in it, or the barn's best. */
static struct slab_sheaf *take_sheaf(struct cpu *c, struct kmem_cache *s)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct slab_sheaf *sheaf = pcs->spare;
	struct node_barn *barn;

	cpu_write(c, pcs->pcs_line);
	if (sheaf) {
		pcs->spare = NULL;
		stat(s, c, stat_sheaf_prefill_fast);
		return sheaf;
	}
	stat(s, c, stat_sheaf_prefill_slow);
	barn = get_barn(c, s);
	if (barn)
		sheaf = barn_get_full_or_empty_sheaf(c, barn);
	stat(s, c, sheaf && sheaf->size ? stat_barn_get : stat_barn_get_fail);
	return sheaf;
}

struct slab_sheaf *kmem_cache_prefill_sheaf(struct cpu *c, struct kmem_cache *s,
					    unsigned gfp, unsigned size)
{
	struct slab_sheaf *sheaf;

	g_assert(cache_has_sheaves(s));
	if (!size)
		return NULL;
	enter(s, c, FR_kmem_cache_prefill_sheaf);
	if (size > s->g.sheaf_capacity) {
		sheaf = prefill_oversize(c, s, gfp, size);
	} else {
		sheaf = take_sheaf(c, s);
		if (!sheaf)
			sheaf = alloc_empty_sheaf(c, s, gfp);
		if (sheaf && sheaf->size < size &&
		    !refill_sheaf(c, s, sheaf, gfp)) {
			sheaf_flush_unused(c, s, sheaf);
			free_empty_sheaf(c, s, sheaf);
			sheaf = NULL;
		}
	}
	if (sheaf)
		list_add_tail(&sheaf->list, &s->prefilled);
	cpu_leave(c);
	return sheaf;
}

sim_addr kmem_cache_alloc_from_sheaf(struct cpu *c, struct kmem_cache *s,
				     struct slab_sheaf *sheaf)
{
	if (!sheaf->size)
		return 0;
	cpu_exec(c, s->cost->alloc_fast);
	sheaf->size--;
	cpu_read(c, sheaf_slot(sheaf, sheaf->size));
	cpu_write(c, sheaf->addr + SHEAF_SIZE);
	s->allocs++;
	return sheaf->objects[sheaf->size];
}

void kmem_cache_return_sheaf(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			     struct slab_sheaf *sheaf)
{
	struct kmem_cache_cpu *pcs = this_cpu(s, c);
	struct node_barn *barn = get_barn(c, s);

	enter(s, c, FR_kmem_cache_return_sheaf);
	list_del(&sheaf->list);
	if (sheaf->capacity != s->g.sheaf_capacity) {
		sheaf_flush_unused(c, s, sheaf);
		kmem_free_sheaf(s, sheaf);
	} else if (!pcs->spare) {
		cpu_write(c, pcs->pcs_line);
		pcs->spare = sheaf;
		stat(s, c, stat_sheaf_return_fast);
	} else {
		stat(s, c, stat_sheaf_return_slow);
		if (barn && barn->nr_full < MAX_FULL_SHEAVES &&
		    refill_sheaf(c, s, sheaf, gfp)) {
			barn_put_full_sheaf(c, barn, sheaf);
			stat(s, c, stat_barn_put);
		} else {
			sheaf_flush_unused(c, s, sheaf);
			free_empty_sheaf(c, s, sheaf);
		}
	}
	cpu_leave(c);
}

unsigned kmem_cache_sheaf_size(const struct slab_sheaf *sheaf)
{
	return sheaf->size;
}
