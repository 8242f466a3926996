/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of every cache of a run that differ from the kernel's own rules:
 * what an administrator writes to sysfs, or a patch would change. -1 leaves a
 * setting to the rule of the kernel modeled.
 */
#ifndef MODEL_TUNING_H
#define MODEL_TUNING_H

#include "sim/param.h"

struct cache_tuning {
	int64_t sheaf_capacity; /* objects; caches that have sheaves */
	int64_t min_partial;	/* slabs */
	int64_t cpu_partial;	/* objects; kernels with cpu slabs */
	int64_t remote_node_defrag_ratio; /* 0..100, as in sysfs */
};

#define CACHE_TUNING_NONE ((struct cache_tuning){ -1, -1, -1, -1 })

extern const struct param_desc cache_tuning_table[];

/* NULL, or a newly allocated sentence: "sheaf_capacity = 0, expected ...". */
char *cache_tuning_check(const struct cache_tuning *t);

#endif
