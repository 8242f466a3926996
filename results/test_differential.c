/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random scripts on model/ (under the checker) and on the naive implementation:
 * equal output for every shipped variant. The naive one is itself held against
 * the golden cases.
 *
 * test_differential --soak SECONDS [SEED] goes on for that long with new seeds
 * (scripts/soak); a failing script is printed, to be run with slubsim script.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configs/config.h"
#include "model/test_eras.h"
#include "results/cases.h"
#include "results/naive_script.h"

#define ARCHIVE SOURCE_ROOT "/workloads/golden/golden.tar.xz"

static struct variant *load(const char *name)
{
	struct variant *v = config_load_variant(name, NULL, NULL);

	g_assert_nonnull(v);
	v->features.slub_stats = true;
	return v;
}

static void test_naive_golden(gconstpointer kernel)
{
	g_autoptr(GPtrArray) cases = script_case_list_new();
	g_autofree char *name = config_variant_of_kernel(kernel);
	g_autofree char *prefix = g_strdup_printf(ARCHIVE ":%s/",
						  (const char *)kernel);
	struct variant *v = load(name);
	int n = 0, failed = 0;

	g_assert_true(script_cases_find(ARCHIVE, cases, NULL));
	for (guint i = 0; i < cases->len; i++) {
		struct script_case *c = cases->pdata[i];
		struct script *s;
		g_autofree char *got = NULL;
		g_autoptr(GString) report = g_string_new(NULL);

		if (!g_str_has_prefix(c->name, prefix))
			continue;
		s = script_parse(c->name, c->ops, NULL);
		g_assert_nonnull(s);
		got = naive_script_run(s, s->topology, &v->features);
		n++;
		if (naive_compare(got, c->expected, report)) {
			g_test_message("%s: %s", c->name, report->str);
			failed++;
		}
		script_free(s);
	}
	variant_free(v);
	g_test_message("%d cases", n);
	g_assert_cmpint(n, >=, 250);
	g_assert_cmpint(failed, ==, 0);
}

/* NULL, or what differs. */
static char *differ(uint64_t seed, int length, const struct features *f,
		    char **text)
{
	g_autoptr(GString) model = g_string_new(NULL), report = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *naive = NULL;
	struct script *s;
	struct machine *m;
	struct slub *sl;
	bool ok;

	*text = random_script(seed, length, f);
	s = script_parse("random.ops", *text, &error);
	if (!s)
		g_error("seed %" G_GUINT64_FORMAT ": %s", seed,
			error->message);
	m = machine_new(s->topology, NULL, MACHINE_TIMELESS, seed);
	sl = slub_new(m, f, NULL);
	ok = script_run(s, sl, true, model, &error);
	slub_free(sl);
	machine_free(m);
	report = g_string_new(ok ? NULL : error->message);
	if (ok) {
		naive = naive_script_run(s, s->topology, f);
		naive_compare(naive, model->str, report);
	}
	script_free(s);
	return report->len ? g_string_free(g_steal_pointer(&report), FALSE) :
			     NULL;
}

static void check_seed(const char *variant, const struct features *f,
		       uint64_t seed, int length)
{
	g_autofree char *text = NULL;
	g_autofree char *what = differ(seed, length, f, &text);

	if (!what)
		return;
	/* a shorter script is a prefix of a longer one: find the first */
	for (int shorter = 0; shorter < length; shorter++) {
		g_autofree char *t = NULL;
		char *w = differ(seed, shorter, f, &t);

		if (!w)
			continue;
		g_free(what);
		g_free(text);
		what = w;
		text = g_steal_pointer(&t);
		length = shorter;
	}
	printf("%s\n", text);
	fflush(stdout);
	g_error("variant %s, seed %" G_GUINT64_FORMAT ", %d statements:\n%s",
		variant, seed, length, what);
}

static void test_random(gconstpointer name)
{
	struct variant *v = load(name);

	for (uint64_t seed = 1; seed <= 8; seed++)
		check_seed(name, &v->features, seed, 150);
	variant_free(v);
}

/* The generations that tests of model/ use are the shipped ones. */
static void test_eras(void)
{
	static const char *const names[NR_ERAS] = { "2015-detached", "v6.1",
						    "v6.12", "v6.19", "v7.0",
						    "v7.1", "v7.2" };

	for (int era = 0; era < NR_ERAS; era++) {
		struct features f = era_features(era);
		struct variant *v = load(names[era]);

		for (const struct param_desc *p = feature_table; p->key; p++) {
			g_autofree char *a = param_get(p, &f);
			g_autofree char *b = param_get(p, &v->features);

			if (strcmp(a, b))
				g_error("%s: %s is %s, in tests %s", names[era],
					p->key, b, a);
		}
		variant_free(v);
	}
}

static int soak(double seconds, uint64_t seed)
{
	g_auto(GStrv) names = config_list("variants");
	int n = g_strv_length(names);
	struct variant **v = g_new(struct variant *, n);
	gint64 end = g_get_monotonic_time() + (gint64)(seconds * 1e6);
	unsigned long scripts = 0;

	for (int i = 0; i < n; i++)
		v[i] = load(names[i]);
	printf("soak: first seed %" G_GUINT64_FORMAT ", %d variants\n", seed,
	       n);
	for (; g_get_monotonic_time() < end; seed++)
		for (int i = 0; i < n && g_get_monotonic_time() < end; i++) {
			check_seed(names[i], &v[i]->features, seed,
				   20 + seed % 400);
			scripts++;
		}
	printf("soak: %lu random scripts agree, model and naive, under the "
	       "checker\n", scripts);
	for (int i = 0; i < n; i++)
		variant_free(v[i]);
	g_free(v);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const kernels[] = { "6.12", "6.19.0", "7.0.0",
					       "7.1.5" };
	g_auto(GStrv) names = config_list("variants");

	if (argc > 2 && !strcmp(argv[1], "--soak"))
		return soak(g_ascii_strtod(argv[2], NULL),
			    argc > 3 ? g_ascii_strtoull(argv[3], NULL, 10) :
				       (uint64_t)g_get_real_time());
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++) {
		g_autofree char *path = g_strdup_printf("/naive/golden/%s",
							kernels[i]);

		g_test_add_data_func(path, kernels[i], test_naive_golden);
	}
	for (int i = 0; names[i]; i++) {
		g_autofree char *path = g_strdup_printf("/random/%s",
							names[i]);

		g_test_add_data_func(path, names[i], test_random);
	}
	g_test_add_func("/random/eras", test_eras);
	return g_test_run();
}
