/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members by offset: the first, one in the middle of its 8 bytes, the last, and
 * what is no such struct. */
#include "model/fields.h"

#include "model/cache.h"

static void test_names(void)
{
	static const struct {
		const char *kind;
		size_t offset;
		const char *name;
	} cases[] = {
		{"struct slab", 0, "flags"},
		{"struct slab", SLAB_FREELIST, "freelist"},
		{"struct slab", SLAB_FREELIST + 8, "counters"},
		{"node_barn", BARN_COUNTS + 4, "nr_full, nr_empty"},
		{"kmem_cache_node", NODE_LIST + 7, "nr_partial"},
		{"kmem_cache_node", NODE_NR_SLABS, "nr_slabs"},
		{"slab_sheaf", SHEAF_HEADER - 1, "size"},
		{"slab_sheaf", SHEAF_HEADER + 8 * 223, "objects[]"},
		{"slub_percpu_sheaves", 24, "rcu_free"},
		{"kmem_cache", CACHE_NODES + 8, "node[]"},
		{"size_class", 0, "lock"},
		{"nonesuch", 0, NULL},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpstr(slub_field_name(cases[i].kind, cases[i].offset),
				==, cases[i].name);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/fields/names", test_names);
	return g_test_run();
}
