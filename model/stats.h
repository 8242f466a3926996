/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SLUB_STATS counters of all generations, and which a generation has.
 *
 * When each is counted is told where it is counted. Kernels count in 32 bits;
 * slubsim keeps 64 and writes what fits (a wrapped counter helps nobody).
 */
#ifndef MODEL_STATS_H
#define MODEL_STATS_H

#include <stdbool.h>

#define SLUB_STATS(X)                                                          \
	X(alloc_cpu_sheaf) X(alloc_fastpath) X(alloc_slowpath)                 \
	X(free_cpu_sheaf) X(free_rcu_sheaf) X(free_rcu_sheaf_fail)             \
	X(free_fastpath) X(free_slowpath) X(free_frozen)                       \
	X(free_add_partial) X(free_remove_partial)                             \
	X(alloc_from_partial) X(alloc_slab) X(alloc_refill)                    \
	X(alloc_node_mismatch) X(free_slab) X(cpuslab_flush)                   \
	X(deactivate_full) X(deactivate_empty) X(deactivate_to_head)           \
	X(deactivate_to_tail) X(deactivate_remote_frees)                       \
	X(deactivate_bypass) X(order_fallback)                                 \
	X(cmpxchg_double_cpu_fail) X(cmpxchg_double_fail)                      \
	X(cpu_partial_alloc) X(cpu_partial_free) X(cpu_partial_node)           \
	X(cpu_partial_drain)                                                   \
	X(sheaf_flush) X(sheaf_refill) X(sheaf_alloc) X(sheaf_free)            \
	X(barn_get) X(barn_get_fail) X(barn_put) X(barn_put_fail)              \
	X(sheaf_prefill_fast) X(sheaf_prefill_slow) X(sheaf_prefill_oversize)  \
	X(sheaf_return_fast) X(sheaf_return_slow)

enum slub_stat {
#define X(name) stat_##name,
	SLUB_STATS(X)
#undef X
	NR_SLUB_STATS
};

extern const char *const slub_stat_names[NR_SLUB_STATS];
/* The counter (enum slub_stat) of that name, -1 if there is none. */
int slub_stat_find(const char *name);

/* Whether kernels of that set (enum stat_set) have the counter at all. */
bool slub_stat_in_set(enum slub_stat stat, int stat_set);

#endif
