/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sheaves that a caller holds: it fills one where it may block and pops objects
 * off it later where it must not (the maple tree's way since 6.18).
 *
 * Only for caches with sheaves. The sheaf is the caller's until it is returned;
 * what is left in it then stays in the cache's hands.
 */
#ifndef MODEL_PREFILL_H
#define MODEL_PREFILL_H

#include "model/slub.h"

struct slab_sheaf;

/* A sheaf of @size objects or more; NULL if there is no memory, or @size is 0.
 * One beyond the cache's capacity is made for the occasion. */
struct slab_sheaf *kmem_cache_prefill_sheaf(struct cpu *c, struct kmem_cache *s,
					    unsigned gfp, unsigned size);
/* 0 if it is empty. Never takes a lock, never counts. */
sim_addr kmem_cache_alloc_from_sheaf(struct cpu *c, struct kmem_cache *s,
				     struct slab_sheaf *sheaf);
/* It becomes the CPU's spare as it is, or goes to the barn filled up again, or
 * back to its slabs. */
void kmem_cache_return_sheaf(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			     struct slab_sheaf *sheaf);
unsigned kmem_cache_sheaf_size(const struct slab_sheaf *sheaf);

#endif
