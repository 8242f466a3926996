/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What distinguishes one kernel's SLUB from another's: a struct of named
 * features and the table that describes it (`slubsim list features`).
 *
 * A variant (configs/variants/NAME.conf) is a value of this struct. Each
 * member is one decision; where the source of the kernel decides in several
 * functions (what frozen_partial means to a free, a deactivation and a list),
 * so do the functions of the same names in model/, and nothing else asks. A
 * feature that needs another (barns need sheaves) says so in features_check().
 */
#ifndef MODEL_FEATURES_H
#define MODEL_FEATURES_H

#include "sim/param.h"

enum sheaves { SHEAVES_NONE, SHEAVES_OPT_IN, SHEAVES_ALL };
enum partial_break {
	PARTIAL_BREAK_OBJECTS, /* free objects taken > cpu_partial / 2 */
	PARTIAL_BREAK_GT,      /* extra slabs > cpu_partial_slabs / 2 */
	PARTIAL_BREAK_GE,      /* the rejected form: >= */
	PARTIAL_BREAK_GT_NONZERO, /* GT, but none where cpu_partial_slabs is 0 */
};
enum bulk_alloc {
	BULK_ALLOC_SINGLY,  /* a loop of kmem_cache_alloc() */
	BULK_ALLOC_INITIAL, /* cpu freelist until it is empty, then singly */
	BULK_ALLOC_SLOWPATH, /* the slow path refills inside the loop */
};
enum bulk_free {
	BULK_FREE_SINGLY,
	BULK_FREE_SAME_SLAB, /* pushes to the cpu slab with interrupts off */
	BULK_FREE_DETACHED,  /* detached freelists, one per slab seen */
};
enum stat_set { STATS_CPU_SLAB, STATS_CPU_SLAB_SHEAVES, STATS_SHEAVES };
enum order_rule { ORDER_BY_OBJECTS, ORDER_BY_FRACTION };

struct features {
	/* front end: cpu slabs */
	bool cpu_slabs;
	bool cpu_partial;
	bool cpu_partial_in_objects; /* limit counts objects, not slabs */
	bool frozen_partial; /* slabs on cpu partial lists are frozen */
	bool deactivate_by_object; /* a cmpxchg for each object given back */
	int partial_break;   /* enum partial_break */
	bool node_two_pass; /* requested node first THISNODE, then any */
	bool bulk_stats;    /* bulk counts its objects as fast path ones */
	bool bulk_slow_stats; /* ... and its slow calls as slow path ones */
	/* front end: sheaves */
	int sheaves; /* enum sheaves */
	bool barns_on_memoryless;
	bool remote_free_to_sheaf; /* on CPUs of memoryless nodes */
	bool refill_without_blocking;
	bool rcu_sheaves;
	bool rcu_bulk_free; /* kfree_rcu() empties arrays by bulk frees */
	/* bulk */
	int bulk_alloc, bulk_free;
	bool bulk_free_relinks; /* a detached freelist ends up reversed */
	bool bulk_free_loses_objects; /* the fault of 7.0 and 7.1 */
	/* slabs */
	bool bulk_refill_freelist; /* a new slab's freelist after the taking */
	bool bulk_refill_whole_only; /* ... only where all of it is taken */
	bool refill_returns_leftovers; /* optimistically, without the list */
	bool freelist_random, freelist_hardened;
	bool freeptr_in_middle;
	int order_rule; /* enum order_rule */
	bool pcp_high_orders; /* per-CPU page lists hold orders 1 to 3 too */
	/* hardware and configuration of the kernel build */
	bool have_memoryless_nodes; /* numa_mem_id() is a node with memory */
	bool slub_stats;
	int stat_set; /* enum stat_set */
};

extern const struct param_desc feature_table[];

/* NULL, or a newly allocated sentence on what contradicts what. */
char *features_check(const struct features *f);

#endif
