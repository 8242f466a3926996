/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Explanations: the parts sum to the whole, and the sentence names the lock. */
#include "results/explain.h"

#include <math.h>
#include <string.h>

#include "results/test_fixture.h"

static double sum(const GPtrArray *parts)
{
	double d = 0;

	for (guint i = 0; i < parts->len; i++) {
		const struct part *p = parts->pdata[i];

		d += p->b - p->a;
	}
	return d;
}

static const struct part *find(const GPtrArray *parts, const char *name)
{
	for (guint i = 0; i < parts->len; i++)
		if (!strcmp(((struct part *)parts->pdata[i])->name, name))
			return parts->pdata[i];
	return NULL;
}

static void test_parts(void)
{
	struct result *r = fixture_result();
	g_autoptr(GError) error = NULL;
	struct explanation *e = explain(r, "base", r, "new", NULL, &error);
	const struct part *p;
	g_autofree char *folded = NULL;

	g_assert_no_error(error);
	/* 1000 and 61000 cycles of waiting per 1000 operations */
	g_assert_cmpfloat(fabs(sum(e->functions) - 60), <, 1e-9);
	g_assert_cmpfloat(fabs(sum(e->causes) - 60), <, 1e-9);
	g_assert_cmpfloat(fabs(sum(e->paths) - 60), <, 1e-9);
	p = e->causes->pdata[0];
	g_assert_cmpstr(p->name, ==, "lock wait: &n->list_lock, node 1");
	p = e->functions->pdata[0];
	g_assert_cmpstr(p->name, ==, "get_from_partial_node");
	p = find(e->counters, "bio-256 alloc_fastpath");
	g_assert_nonnull(p);
	g_assert_cmpfloat(p->a, ==, 500);
	g_assert_null(find(e->counters, "bio-256 objs_per_slab"));
	folded = explanation_folded(e);
	g_assert_nonnull(strstr(
		folded, "kmem_cache_alloc;___slab_alloc;get_from_partial_node;"
			"[lock_wait] 1000 61000\n"));
	explanation_free(e);
	result_free(r);
}

static void test_sentence(void)
{
	struct result *r = fixture_result();
	struct explanation *e = explain(r, "base", r, "new", NULL, NULL);

	g_assert_nonnull(strstr(e->sentence, "new is 58.8 % worse than base"));
	g_assert_nonnull(strstr(
		e->sentence, "60 (100 %) are waiting for &n->list_lock of node "
			     "1 in get_from_partial_node reached through "
			     "___slab_alloc"));
	explanation_free(e);
	e = explain(r, "base", r, "base", NULL, NULL);
	g_assert_nonnull(strstr(e->sentence, "The two spend the same."));
	explanation_free(e);
	result_free(r);
}

static void test_no_common_case(void)
{
	struct result *r = fixture_result();
	g_autoptr(GError) error = NULL;

	g_assert_null(explain(r, "base", r, "new", "groups=4", &error));
	g_assert_nonnull(strstr(error->message, "no common case groups=4"));
	result_free(r);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/explain/parts", test_parts);
	g_test_add_func("/explain/sentence", test_sentence);
	g_test_add_func("/explain/no-common-case", test_no_common_case);
	return g_test_run();
}
