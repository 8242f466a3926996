/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who frees whose objects in a dump that is played back. */
#include <glib.h>
#include <string.h>

#include "workloads/percpu.h"
#include "workloads/test_report.h"

static void test_pairs(void)
{
	/* two pairs of submitter and server, and CPU 4 on its own */
	const uint64_t allocs[] = {10, 1000, 0, 500, 70};
	const uint64_t frees[] = {1000, 0, 495, 0, 70};
	uint64_t left_out;
	g_autoptr(GArray) flows = percpu_flows(allocs, frees, 5, &left_out);
	const struct percpu_flow *f = (void *)flows->data;

	g_assert_cmpuint(left_out, ==, 0);
	g_assert_cmpuint(flows->len, ==, 3);
	g_assert_cmpint(f[0].from, ==, 1);
	g_assert_cmpint(f[0].to, ==, 0);
	g_assert_cmpuint(f[0].objects, ==, 990);
	/* what is left of the largest surplus goes where room is left */
	g_assert_cmpint(f[1].from, ==, 1);
	g_assert_cmpint(f[1].to, ==, 2);
	g_assert_cmpuint(f[1].objects, ==, 10);
	g_assert_cmpint(f[2].from, ==, 3);
	g_assert_cmpuint(f[2].objects, ==, 485);
}

/* Every allocation and free of the dump is somewhere. */
static void test_sums(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(7);

	for (int round = 0; round < 200; round++) {
		uint64_t allocs[16], frees[16], out[16] = {0}, in[16] = {0};
		uint64_t left_out, lack = 0;
		g_autoptr(GArray) flows = NULL;

		for (int i = 0; i < 16; i++) {
			allocs[i] = g_rand_int_range(random, 0, 50);
			frees[i] = g_rand_int_range(random, 0, 50);
		}
		flows = percpu_flows(allocs, frees, 16, &left_out);
		for (guint i = 0; i < flows->len; i++) {
			struct percpu_flow *f =
				&g_array_index(flows, struct percpu_flow, i);

			g_assert_cmpuint(f->objects, >, 0);
			out[f->from] += f->objects;
			in[f->to] += f->objects;
		}
		for (int i = 0; i < 16; i++) {
			g_assert_true(!out[i] || !in[i]);
			g_assert_cmpuint(out[i], <=,
					 allocs[i] - MIN(allocs[i], frees[i]));
			lack += frees[i] - MIN(allocs[i], frees[i]) - in[i];
		}
		g_assert_cmpuint(lack, ==, left_out);
	}
}

static void *member(const struct workload *w, void *options, const char *key)
{
	for (const struct param_desc *p = w->options; p->key; p++)
		if (!strcmp(p->key, key))
			return (char *)options + p->offset;
	g_assert_not_reached();
}

/* A cache that cannot be is refused before a run. */
static void test_check(void)
{
	const struct workload *w = workload_find("percpu");
	g_autofree void *o = g_malloc0(w->options_size);
	struct topology *t = topology_new("test", 1, 1);
	g_autofree char *wrong = NULL, *right = NULL;

	w->defaults(o);
	*(const char **)member(w, o, "counts") = "a.stat";
	right = w->check(o, t);
	g_assert_cmpstr(right, ==, NULL);
	*(int64_t *)member(w, o, "align") = 24;
	wrong = w->check(o, t);
	g_assert_cmpstr(wrong, ==, "align = 24, expected 0 or a power of two");
	topology_free(t);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/percpu/pairs", test_pairs);
	g_test_add_func("/percpu/sums", test_sums);
	g_test_add_func("/percpu/check", test_check);
	return g_test_run();
}
