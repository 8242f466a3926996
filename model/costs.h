/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions per step of the allocator.
 *
 * Filled from configs/costs/NAME.conf (one per kernel generation), where each
 * figure says how it follows from what real kernels retired. Steps are
 * exclusive: a path costs the sum of the steps it goes through. Lines touched,
 * atomics and interrupt masking are not in here; sim/ prices those.
 */
#ifndef MODEL_COSTS_H
#define MODEL_COSTS_H

#include "sim/param.h"

struct insn_costs {
	int64_t caller;	       /* loop and call around one operation */
	int64_t alloc_fast;    /* kmem_cache_alloc to its return, fast path */
	int64_t free_fast;
	int64_t alloc_slow;    /* entry to the slow path, above the fast one */
	int64_t free_slow;     /* __slab_free, above the fast one */
	int64_t get_freelist;
	int64_t get_partial;   /* per call, without the slabs */
	int64_t partial_slab;  /* per slab examined on a node list */
	int64_t any_node;      /* per zone looked at by get_any_partial */
	int64_t list_move;     /* add to or remove from a node list */
	int64_t deactivate;
	int64_t cpu_partial_put, cpu_partial_get;
	int64_t new_slab;      /* allocate_slab without page allocator, objects */
	int64_t new_slab_object; /* per object of the freelist built */
	int64_t walk_object;   /* per object taken from a freelist chain */
	int64_t discard_slab;
	int64_t page_alloc, page_free; /* pcp hit */
	int64_t page_bulk;     /* per block moved between pcp and buddy */
	int64_t sheaf_swap;    /* main and spare */
	int64_t barn_exchange; /* one barn operation */
	int64_t sheaf_alloc;
	int64_t refill;	       /* per refill_sheaf/refill_objects call */
	int64_t bulk_alloc, bulk_alloc_object; /* per call, per object */
	int64_t bulk_free, bulk_free_object;
	int64_t detached_object; /* per object looked at by the builder */
	int64_t random_object, hardened_object; /* extra where configured */
};

extern const struct param_desc insn_cost_table[];

#endif
