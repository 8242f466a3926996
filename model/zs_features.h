/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What distinguishes one zsmalloc from another: its behaviour, and which of
 * its helpers the source forces into their callers.
 *
 * Written in the [zsmalloc] group of a variant. What a compiler decides by
 * itself is not here but in its profile (model/zs_codegen.h).
 */
#ifndef MODEL_ZS_FEATURES_H
#define MODEL_ZS_FEATURES_H

#include "sim/param.h"

struct zs_features {
	int64_t chain_size; /* CONFIG_ZSMALLOC_CHAIN_SIZE, pages */
	bool caches_per_pool; /* handles and zspages: not one cache for all */
	bool zs_store;	    /* one call allocates and writes */
	bool copy_in_class_lock; /* zs_store copies before it unlocks */
	bool zspage_lock_in_store; /* zs_store pins the zspage to copy */
	bool inline_obj_malloc, inline_obj_free, inline_obj_write;
	bool alloc_zspage_noinline;
};

extern const struct param_desc zs_feature_table[];

void zs_features_defaults(struct zs_features *f);
/* NULL, or a newly allocated sentence on what contradicts what. */
char *zs_features_check(const struct zs_features *f);

#endif
