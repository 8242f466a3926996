/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The posted counters of the patched kernel, replayed at 1/500 of their length:
 * what came out of that machine comes out here. $SLUBSIM names the program;
 * the whole length is scripts/bench published.
 */
#include <stdlib.h>
#include <string.h>

#include "results/out.h"
#include "results/result.h"
#include "results/test_fixture.h"

#define SCALE 0.002

/* Content of counter @name in a dump of lines PATH/NAME:CONTENT. */
static char *in_dump(const char *dump, const char *name)
{
	g_auto(GStrv) lines = g_strsplit(dump, "\n", -1);

	for (int i = 0; lines[i]; i++) {
		char *colon = strchr(lines[i], ':');
		g_autofree char *last = NULL;

		if (!colon)
			continue;
		*colon = '\0';
		last = g_path_get_basename(lines[i]);
		if (!strcmp(last, name))
			return g_strdup(colon + 1);
	}
	g_test_message("no %s in the dump", name);
	g_assert_not_reached();
}

static const char *in_point(const struct point *p, const char *name)
{
	for (guint i = 0; i < p->caches->len; i++) {
		const struct cache_dump *d = p->caches->pdata[i];

		for (guint k = 0; k < d->attrs->len; k++) {
			const struct cache_attr *a = d->attrs->pdata[k];

			if (!strcmp(d->name, "bio-256") &&
			    !strcmp(a->name, name))
				return a->text;
		}
	}
	g_assert_not_reached();
}

static uint64_t number(const char *text)
{
	return g_ascii_strtoull(text, NULL, 10);
}

static void test_dump(void)
{
	const char *slubsim = g_getenv("SLUBSIM");
	g_autofree char *dir = fixture_dir();
	g_autofree char *scale = g_strdup_printf("workload.scale=%g", SCALE);
	g_autofree char *out = NULL, *err = NULL, *dump = NULL;
	g_autofree char *file = g_build_filename(dir, "point.json", NULL);
	g_autoptr(GError) e = NULL;
	const char *args[] = {slubsim, "run", "memoryless-counts", "--point=0",
			      "-o", "-", "--set", scale, "--verify", NULL};
	struct point *p;
	int status;

	g_assert_true(g_spawn_sync(NULL, (char **)args, NULL, 0, NULL, NULL,
				   &out, &err, &status, NULL));
	/* ASan has remarks on SimGrid's stacks, so stderr may not be empty */
	if (status)
		g_test_message("%s", err);
	g_assert_cmpint(status, ==, 0);
	g_assert_true(write_aside(file, out, NULL));
	p = point_from_json(file, &e);
	g_assert_no_error(e);
	g_assert_true(g_file_get_contents(DUMP, &dump, NULL, NULL));

	for (int i = 0; i < 3; i++) {
		const char *same[] = {"objs_per_slab", "order",
				      "sheaf_capacity"};
		g_autofree char *text = in_dump(dump, same[i]);

		g_assert_cmpuint(number(in_point(p, same[i])), ==,
				 number(text));
	}
	for (int i = 0; i < 2; i++) {
		const char *barn[] = {"barn_get", "barn_put"};
		g_autofree char *text = in_dump(dump, barn[i]);
		double want = SCALE * number(text);
		double got = number(in_point(p, barn[i]));

		g_test_message("%s %.0f, dump %.1f", barn[i], got, want);
		/* the first fill of sheaves is not scaled */
		g_assert_cmpfloat(ABS(got - want), <, 0.005 * want);
	}
	g_assert_cmpuint(number(in_point(p, "barn_get_fail")), >, 0);
	g_assert_cmpuint(number(in_point(p, "sheaf_refill")), ==,
			 28 * number(in_point(p, "barn_get_fail")));
	/* objects of another node exist on CPUs of nodes 1 and 5 only:
	 * CPUs 4-7, 20-23 and their siblings, 36-39 and 52-55 */
	for (int cpu = 0; cpu < 64; cpu++) {
		g_autofree char *word = g_strdup_printf(" C%d=", cpu);
		int node = cpu % 32 / 4;

		if (node != 1 && node != 5)
			g_assert_null(strstr(in_point(p, "free_slowpath"),
					     word));
	}
	point_free(p);
	fixture_remove(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_nonnull(g_getenv("SLUBSIM"));
	g_test_add_func("/counts/dump", test_dump);
	return g_test_run();
}
