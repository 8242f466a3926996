/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/zs_features.h"

#include <glib.h>

#define F(m, help_, since_)                                                    \
	{ .key = #m, .type = PARAM_BOOL,                                       \
	  .offset = offsetof(struct zs_features, m), .unit = "",               \
	  .help = help_, .since = since_ }

const struct param_desc zs_feature_table[] = {
	{ .key = "chain_size", .type = PARAM_INT,
	  .offset = offsetof(struct zs_features, chain_size), .unit = "pages",
	  .min = 4, .max = 16, .since = "6.12",
	  .help = "most pages that are chained into one zspage" },
	F(caches_per_pool,
	  "every pool has slab caches of its own for handles and zspages; until "
	  "6.19", "6.1"),
	F(zs_store, "one call allocates an object and writes it", NULL),
	F(copy_in_class_lock,
	  "zs_store() copies the payload while it holds the class lock", NULL),
	F(zspage_lock_in_store,
	  "zs_store() takes the zspage's read lock around its copy", NULL),
	F(inline_obj_malloc, "obj_malloc() is always inlined", NULL),
	F(inline_obj_free, "obj_free() is always inlined", NULL),
	F(inline_obj_write, "obj_write() is always inlined into zs_store()",
	  NULL),
	F(alloc_zspage_noinline, "alloc_zspage() is kept out of line", NULL),
	{ .key = NULL }
};

void zs_features_defaults(struct zs_features *f)
{
	*f = (struct zs_features){ .chain_size = 8 };
}

char *zs_features_check(const struct zs_features *f)
{
	if (!f->zs_store &&
	    (f->copy_in_class_lock || f->zspage_lock_in_store))
		return g_strdup("copy_in_class_lock and zspage_lock_in_store "
				"say how zs_store copies: they need zs_store");
	if (f->inline_obj_write && !f->zs_store)
		return g_strdup("inline_obj_write needs zs_store, which is "
				"what calls obj_write()");
	if (f->zs_store && !f->copy_in_class_lock && !f->zspage_lock_in_store)
		return g_strdup("a zs_store that copies outside the class lock "
				"needs zspage_lock_in_store, or compaction "
				"could move the object under the copy");
	return NULL;
}
