/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bisections: the steps' order, what must wait, and that the last step is the
 * second variant. */
#include "results/bisect.h"

#include <string.h>

static struct experiment *load(const char *from, const char *to)
{
	g_autofree char *variants = g_strdup_printf("experiment.variants=%s;%s",
						    from, to);
	char *sets[] = {variants, NULL};
	g_autoptr(GError) error = NULL;
	struct experiment *e =
		config_load_experiment("memoryless-ublk", sets, &error);

	g_assert_no_error(error);
	return e;
}

static void assert_same_features(const struct features *a,
				 const struct features *b)
{
	for (const struct param_desc *p = feature_table; p->key; p++) {
		g_autofree char *x = param_get(p, a), *y = param_get(p, b);

		g_assert_cmpstr(x, ==, y);
	}
}

static void test_whole_way(void)
{
	struct experiment *e = load("v6.19-rc5", "v7.0-rc3");
	struct features from, to;
	struct insn_costs counts;
	g_autoptr(GError) error = NULL;
	struct bisection *b;
	const struct variant *v;
	guint sheaves = 0, cpu_slabs = 0;

	v = e->variants->pdata[0];
	from = v->features;
	v = e->variants->pdata[1];
	to = v->features;
	counts = v->costs;
	b = bisection_plan(e, 64, &error);
	g_assert_no_error(error);
	v = e->variants->pdata[0];
	assert_same_features(&v->features, &from);
	v = e->variants->pdata[b->steps->len];
	assert_same_features(&v->features, &to);
	g_assert_cmpmem(&v->costs, sizeof(counts), &counts, sizeof(counts));
	/* every variant in between is a kernel that can be */
	for (guint i = 0; i < e->variants->len; i++) {
		v = e->variants->pdata[i];
		g_assert_null(features_check(&v->features));
	}
	/* cpu slabs can't go before there is what replaces them */
	for (guint i = 0; i < b->steps->len; i++) {
		const struct step *s = b->steps->pdata[i];

		if (!strcmp(s->name, "+sheaves=all"))
			sheaves = i + 1;
		if (!strcmp(s->name, "-cpu_slabs"))
			cpu_slabs = i + 1;
	}
	g_assert_cmpuint(sheaves, >, 0);
	g_assert_cmpuint(cpu_slabs, >, 0);
	g_assert_cmpuint(b->notes->len, >, 0);
	/* the sequence, and at most two more runs for each step */
	g_assert_cmpuint(e->variants->len, <=, 1 + 3 * b->steps->len);
	bisection_free(b);
	experiment_free(e);
}

static void test_bounded(void)
{
	struct experiment *e = load("v6.19-rc5", "v7.0-rc3");
	struct bisection *b = bisection_plan(e, 1, NULL);

	g_assert_cmpuint(e->variants->len, ==, 1 + b->steps->len);
	bisection_free(b);
	experiment_free(e);
}

static void test_impossible(void)
{
	struct experiment *e = load("v7.0-rc3", "v7.0-rc3-memoryless");
	struct bisection *b = bisection_plan(e, 64, NULL);
	const struct step *s = b->steps->pdata[1];

	g_assert_cmpuint(b->steps->len, ==, 2);
	g_assert_cmpstr(s->name, ==, "+remote_free_to_sheaf");
	g_assert_null(s->alone);
	g_assert_true(g_str_has_prefix(s->why_not_alone,
				       "remote_free_to_sheaf needs"));
	bisection_free(b);
	experiment_free(e);
}

static void test_nothing(void)
{
	struct experiment *e = load("v7.0-rc3", "v7.0-rc3-memoryless");
	g_autoptr(GError) error = NULL;
	struct variant *a = e->variants->pdata[0], *b = e->variants->pdata[1];

	b->features = a->features;
	b->costs = a->costs;
	g_assert_null(bisection_plan(e, 64, &error));
	g_assert_nonnull(strstr(error->message, "do not differ"));
	experiment_free(e);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/bisect/whole-way", test_whole_way);
	g_test_add_func("/bisect/bounded", test_bounded);
	g_test_add_func("/bisect/impossible", test_impossible);
	g_test_add_func("/bisect/nothing", test_nothing);
	return g_test_run();
}
