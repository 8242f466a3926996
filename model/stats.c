/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/stats.h"

#include <string.h>

#include "model/features.h"

const char *const slub_stat_names[NR_SLUB_STATS] = {
#define X(name) [stat_##name] = #name,
	SLUB_STATS(X)
#undef X
};

int slub_stat_find(const char *name)
{
	for (int i = 0; i < NR_SLUB_STATS; i++)
		if (!strcmp(slub_stat_names[i], name))
			return i;
	return -1;
}

static bool counts_cpu_slabs(enum slub_stat stat)
{
	switch (stat) {
	case stat_free_frozen:
	case stat_alloc_from_partial:
	case stat_alloc_refill:
	case stat_cpuslab_flush:
	case stat_deactivate_full:
	case stat_deactivate_empty:
	case stat_deactivate_to_head:
	case stat_deactivate_to_tail:
	case stat_deactivate_remote_frees:
	case stat_deactivate_bypass:
	case stat_cmpxchg_double_cpu_fail:
	case stat_cpu_partial_alloc:
	case stat_cpu_partial_free:
	case stat_cpu_partial_node:
	case stat_cpu_partial_drain:
		return true;
	default:
		return false;
	}
}

static bool counts_sheaves(enum slub_stat stat)
{
	return stat == stat_free_rcu_sheaf ||
	       stat == stat_free_rcu_sheaf_fail || stat >= stat_sheaf_flush;
}

bool slub_stat_in_set(enum slub_stat stat, int stat_set)
{
	/* counters of sheaves beside cpu slabs; later they are the fast path */
	if (stat == stat_alloc_cpu_sheaf || stat == stat_free_cpu_sheaf)
		return stat_set == STATS_CPU_SLAB_SHEAVES;
	if (counts_sheaves(stat))
		return stat_set != STATS_CPU_SLAB;
	if (counts_cpu_slabs(stat))
		return stat_set != STATS_SHEAVES;
	return true;
}
