/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>

#include "model/zs_class.h"

static void test_number(void)
{
	struct zs_class_shape s[ZS_CLASSES];

	g_assert_cmpuint(zs_class_shapes(8, s), ==, 119);
}

/* Shapes that a kernel with a chain size of 8 shows in debugfs. */
static void test_shapes(void)
{
	static const unsigned known[][4] = {
		/* request, size, pages, objects */
		{ 1, 32, 1, 128 },	{ 384, 400, 5, 51 },
		{ 512, 528, 4, 31 },	{ 640, 656, 5, 31 },
		{ 777, 816, 1, 5 },	{ 1024, 1056, 8, 31 },
		{ 1170, 1184, 7, 24 },	{ 1536, 1552, 8, 21 },
		{ 1956, 2048, 1, 2 },	{ 2048, 2176, 8, 15 },
		{ 2349, 2384, 7, 12 },	{ 2560, 2592, 7, 11 },
		{ 2742, 2864, 7, 10 },	{ 3136, 3184, 7, 9 },
		{ 3624, 3632, 8, 9 },	{ 3625, 4096, 1, 1 },
		{ 4096, 4096, 1, 1 },
	};
	struct zs_class_shape s[ZS_CLASSES];

	zs_class_shapes(8, s);
	for (gsize i = 0; i < G_N_ELEMENTS(known); i++) {
		const struct zs_class_shape *c = &s[zs_class_index(known[i][0])];

		g_assert_cmpuint(c->size, ==, known[i][1]);
		g_assert_cmpuint(c->pages_per_zspage, ==, known[i][2]);
		g_assert_cmpuint(c->objs_per_zspage, ==, known[i][3]);
		g_assert_true(c->huge == (known[i][3] == 1));
	}
}

/* Whatever the chain: a class holds its request, and merging only grows. */
static void test_every_chain(void)
{
	for (unsigned chain = 1; chain <= ZS_MAX_CHAIN; chain++) {
		struct zs_class_shape s[ZS_CLASSES];

		zs_class_shapes(chain, s);
		for (unsigned size = 1; size <= ZS_MAX_ALLOC; size++) {
			const struct zs_class_shape *c =
				&s[zs_class_index(size)];

			g_assert_cmpuint(c->size + 8 * c->huge, >=,
					 MIN(size + 8, 4104));
			g_assert_cmpuint(c->pages_per_zspage, <=, chain);
			g_assert_true(s[c->index].index == c->index);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/zs_class/119-distinct", test_number);
	g_test_add_func("/zs_class/shapes", test_shapes);
	g_test_add_func("/zs_class/every-chain", test_every_chain);
	return g_test_run();
}
