/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Op scripts: every statement does what its line in script.h says, and what is
 * wrong is refused with file and line.
 */
#include "workloads/script.h"

#include <string.h>

#include "model/test_eras.h"

#define MACHINE                                                                \
	"# kernel: Linux version 7.1.5-gentoo (x@y)\n"                         \
	"# guest: cpus online: 0-2,4\n"                                        \
	"# guest: node 0 cpus: 0-1 size: 1048576 kB distances: 10 20\n"        \
	"# guest: node 2 cpus: 2,4 size: 0 kB distances: 20 10\n"

static struct script *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct script *s = script_parse("x.ops", text, &error);

	g_assert_no_error(error);
	return s;
}

static void refused(const char *text, int line, const char *what)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *start = g_strdup_printf("x.ops:%d: ", line);
	struct script *s = script_parse("x.ops", text, &error);

	g_assert_null(s);
	g_assert_error(error, SCRIPT_ERROR, 0);
	if (!g_str_has_prefix(error->message, start) ||
	    !strstr(error->message, what) || strchr(error->message, '\n'))
		g_error("'%s': '%s', expected '%s' in line %d", text,
			error->message, what, line);
}

static void test_errors(void)
{
	static const struct {
		const char *line, *what;
	} bad[] = {
		{ "x 0 0", "'x' is no statement" },
		{ "a", "'a' without cpu" },
		{ "a 0", "'a' without slot" },
		{ "a 0 q", "slot is 'q', expected a number from 0 to 1048575" },
		{ "a -1 0", "cpu is '-1'" },
		{ "a 0 1048576", "slot is '1048576'" },
		{ "a 0 99999999999999999999", "slot is" },
		{ "a 0 0 X", "gfp is 'X', expected letters of K, N, A, t, z" },
		{ "a 0 0 K K", "'K' is too much after 'a'" },
		{ "f 0 0 K", "'K' is too much after 'f'" },
		{ "n 0 0", "'n' without node" },
		{ "n 0 0 -1", "node is '-1'" },
		{ "A 0 0", "'A' without count" },
		{ "A 0 1048575 2", "the last slot is 1048576" },
		{ "F 0 0", "'F' without count" },
		{ "ra 0 0 5", "'ra' without step" },
		{ "ra 0 3 5 -1", "the last slot is -1" },
		{ "ra 0 0 1048576 1048576", "the last slot is" },
		{ "rf 0 0 5 x", "step is 'x'" },
		{ "rn 0 0 5 1", "'rn' without node" },
		{ "pair 0", "'pair' without count" },
		{ "k 0", "'k' without slot" },
		{ "rk 0 0 1", "'rk' without step" },
		{ "kb 1", "'1' is too much after 'kb'" },
		{ "s 0", "'0' is too much after 's'" },
		{ "set min_partial", "expected: set ATTRIBUTE VALUE" },
		{ "set", "expected: set ATTRIBUTE VALUE" },
		{ "cyc", "'cyc' without value" },
		{ "cyc -5", "value is '-5'" },
		{ "dump", "expected: dump LABEL" },
		{ "where 0", "'where' without count" },
		{ "rep x", "repetitions is 'x'" },
		{ "rep -1", "repetitions is '-1'" },
		{ "end", "'end' without 'rep'" },
		{ "stream 0 0 0 5 0 1", "window is '0'" },
		{ "stream 0 0 0 5 1 0", "burst is '0'" },
		{ "stream 0 0 1048575 5 2 1", "the rings end at slot 1048577" },
		{ "stream 0 0 0 5 1", "without burst" },
		{ "mstream 0 0 0 0 5 1 1", "number of pairs is '0'" },
		{ "mstream 2 0 0 1", "" },
		{ "cache 64 0 - 0", "a second 'cache'" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autofree char *text = g_strdup_printf(
			MACHINE "# note\n\ncache 64 0 - 0\n%s\n", bad[i].line);

		refused(text, 8, bad[i].what);
	}
	refused("", 0, "no statement");
	refused("# only\n#comments\n", 2, "no statement");
	refused("a 0 0\n", 1, "'a' before 'cache'");
	refused("cache 64 0\n", 1, "without flags");
	refused("cache 64 0 X 0\n", 1, "flags are 'X'");
	refused("cache 0 0 - 0\n", 1, "object size is '0'");
	refused("cache 64 0 - -1\n", 1, "sheaf capacity is '-1'");
	refused("cache 64 3 - 0\n", 1, "align");
	refused("cache 64 0 - 0\nrep 2\na 0 0\n", 3, "'rep' without 'end'");
	refused("# guest: node 0 cpus: 0 size: many kB distances: 10\n"
		"cache 64 0 - 0\n", 1, "expected '# guest: node");
	refused("# guest: cpus online: 0-x\ncache 64 0 - 0\n", 1,
		"CPUs online: ");
	refused("# guest: cpus online: 0\n"
		"# guest: node 0 cpus: 0 size: 4096 kB distances: 12\n"
		"cache 64 0 - 0\n", 3, "the header's machine");
}

static void test_header(void)
{
	struct script *s = parse(MACHINE "cache 64 0 HR 5 # comment\n");
	const struct topology *t = s->topology;

	g_assert_cmpstr(s->kernel, ==, "7.1.5");
	g_assert_cmpint(t->nr_cpu_ids, ==, 5);
	g_assert_false(t->cpus[3].online);
	g_assert_cmpint(t->cpus[4].node, ==, 2);
	g_assert_cmpint(t->nr_node_ids, ==, 3);
	g_assert_false(t->nodes[1].online);
	g_assert_true(topology_node_has_memory(t, 0));
	g_assert_false(topology_node_has_memory(t, 2));
	g_assert_cmpint(topology_distance(t, 0, 2), ==, 20);
	g_assert_cmpuint(s->cache.flags, ==, SLAB_HW_ALIGN | SLAB_RCU);
	g_assert_cmpuint(s->cache.sheaf_capacity, ==, 5);
	script_free(s);
	/* a script need not say where it runs */
	s = parse("cache 64 0 - 0\n");
	g_assert_null(s->topology);
	g_assert_null(s->kernel);
	script_free(s);
}

static void test_fits(void)
{
	struct topology *t = test_node_topology(4, 2, 1, 1 << 30);
	static const struct {
		const char *line;
		bool fits;
	} ops[] = {
		{ "a 3 0", true },	   { "a 4 0", false },
		{ "n 0 0 1", true },	   { "n 0 0 2", false },
		{ "stream 0 3 0 9 3 1", true },
		{ "stream 0 4 0 9 3 1", false },
		{ "mstream 2 0 1 4 0 0 9 3 1", false },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
		g_autofree char *text = g_strdup_printf("cache 64 0 - 0\n%s\n",
							ops[i].line);
		g_autoptr(GError) error = NULL;
		struct script *s = parse(text);

		g_assert_cmpint(script_fits(s, t, &error), ==, ops[i].fits);
		if (!ops[i].fits)
			g_assert_true(g_str_has_prefix(error->message,
						       "x.ops:2: "));
		script_free(s);
	}
	topology_free(t);
}

/* Output of @ops after a cache of 64-byte objects on 7.1 with 4 CPUs, of which
 * 2 and 3 are on a memoryless node. */
static char *run(const char *ops)
{
	struct features f = era_features(ERA_7_1);
	struct test_machine *x = test_machine_new(&f, 4, 2, 1);
	g_autofree char *text = g_strdup_printf("cache 64 0 - 0\ncyc 0\n%s",
						ops);
	struct script *s = parse(text);
	GString *out = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	script_run(s, x->sl, true, out, &error);
	g_assert_no_error(error);
	script_free(s);
	test_machine_free(x);
	return g_string_free(out, FALSE);
}

static void same(const char *a, const char *b)
{
	g_autofree char *x = run(a), *y = run(b);

	g_assert_cmpstr(x, ==, y);
}

static void has(const char *ops, const char *line)
{
	g_autofree char *out = run(ops);
	g_autofree char *whole = g_strdup_printf("%s\n", line);

	if (!strstr(out, whole))
		g_error("'%s' gives\n%s, expected a line '%s'", ops, out, line);
}

/* Short forms are what their long forms are. */
static void test_equivalent(void)
{
	same("ra 1 5 3 2\n", "a 1 5\na 1 7\na 1 9\n");
	same("ra 1 5 3 -2\n", "a 1 5\na 1 3\na 1 1\n");
	same("ra 0 0 9 1\nrf 1 8 3 -2\n", "ra 0 0 9 1\nf 1 8\nf 1 6\nf 1 4\n");
	same("rn 1 0 2 1 0 t\n", "n 1 0 0 t\nn 1 1 0 t\n");
	same("ra 0 0 4 1\nrk 0 0 4 1\nkb\n",
	     "ra 0 0 4 1\nk 0 0\nk 0 1\nk 0 2\nk 0 3\nkb\n");
	same("pair 1 2\n", "a 1 0\nf 1 0\na 1 0\nf 1 0\n");
	same("rep 2\nrep 2\na 0 0\nf 0 0\nend\nend\n",
	     "rep 4\na 0 0\nf 0 0\nend\n");
	same("rep 0\na 0 0\nend\n", "");
	same("stream 0 1 3 10 4 3\n", "mstream 1 0 1 3 10 4 3\n");
	/* T=5 W=2 B=2 by hand */
	same("stream 0 1 0 5 2 2\n",
	     "a 0 0\na 0 1\nf 1 0\nf 1 1\na 0 0\na 0 1\nf 1 0\na 0 0\n"
	     "f 1 1\nf 1 0\n");
	/* pairs take turns: burst by burst */
	same("mstream 2 0 1 2 3 0 2 2 1\n",
	     "a 0 0\na 2 2\na 0 1\na 2 3\nf 1 0\nf 3 2\nf 1 1\nf 3 3\n");
}

static void test_statements(void)
{
	has("ra 0 0 2 1\nwhere 0 3\n", "== where 0 3: 0.59@0 0.58@0 -");
	has("dump here\n", "== dump here");
	has("a 0 0\na 0 0\nf 0 0\nf 0 0\n", "driver:fail 0 busy 1 empty 1");
	/* memoryless CPUs get nothing where no other node will do */
	has("ra 2 0 2 1 t\n", "driver:fail 2 busy 0 empty 0");
	has("A 2 0 5 t\n", "driver:fail 1 busy 0 empty 0");
	/* a bulk free with an empty slot is skipped whole */
	has("ra 0 0 3 1\nF 0 0 4\n", "driver:fail 0 busy 0 empty 1");
	has("ra 0 0 3 1\nF 0 0 4\n", "free_fastpath:0");
	has("ra 0 0 3 1\nA 0 0 4\n", "driver:fail 0 busy 3 empty 0");
	has("A 0 0 100\nF 0 0 100\n", "alloc_slowpath:100 C0=100");
	has("set min_partial 3\n", "min_partial:3");
	has("set cpu_partial 3\n", "set cpu_partial 3: error 22");
	has("set remote_node_defrag_ratio 101\n",
	    "set remote_node_defrag_ratio 101: error 34");
	has("set remote_node_defrag_ratio 7\n", "remote_node_defrag_ratio:7");
	has("a 0 0\nset alloc_fastpath 0\n", "alloc_fastpath:0");
	has("ra 0 0 64 1\nrf 0 0 64 1\ns\n", "slabs:0");
	has("ra 0 0 64 1\nrf 0 0 64 1\nset shrink 1\n", "slabs:0");
	has("a 0 0\nk 0 0\n", "free_rcu_sheaf:1 C0=1");
	/* what the get_cycles() of the ratio test says: beyond 1000 a CPU
	 * looks at no other node's list, though half of it is free */
#define HALF_FREE "ra 0 0 640 1\nset min_partial 0\nrf 0 0 320 2\ns\n"
	has(HALF_FREE "cyc 1000\na 2 0\n", "alloc_slab:11 C0=11");
	has(HALF_FREE "cyc 1001\na 2 0\n", "alloc_slab:12 C0=11 C2=1");
	has(HALF_FREE "cyc 2024\na 2 0\n", "alloc_slab:11 C0=11");
}

static void test_compare(void)
{
	g_autofree char *out = run("ra 0 0 2 1\nwhere 0 2\ndump d\n");
	g_autofree char *other = run("ra 1 0 2 1\nwhere 0 2\ndump d\n");
	g_autoptr(GString) report = g_string_new(NULL);

	g_assert_cmpint(script_compare("x", out, out, report), ==, 0);
	g_assert_cmpuint(report->len, ==, 0);
	g_assert_cmpint(script_compare("x", out, other, report), >, 0);
	g_assert_nonnull(strstr(report->str, "x: dump end: alloc_fastpath: "
					     "kernel '2 C0=2', slubsim "
					     "'2 C1=2'"));
	g_assert_nonnull(strstr(report->str, "dump d: alloc_fastpath"));
	g_string_truncate(report, 0);
	g_assert_cmpint(script_compare("x", out, "", report), >, 0);
	g_assert_nonnull(strstr(report->str, "slubsim has none"));
	g_string_truncate(report, 0);
	g_assert_cmpint(script_compare("x", "", out, report), >, 0);
	g_assert_nonnull(strstr(report->str, "kernel has none"));
	/* the same lines in another order */
	g_string_truncate(report, 0);
	g_assert_cmpint(script_compare("x", "a:1\nb:2\n", "b:2\na:1\n",
				       report), ==, 1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/script/errors", test_errors);
	g_test_add_func("/script/header", test_header);
	g_test_add_func("/script/fits", test_fits);
	g_test_add_func("/script/equivalent", test_equivalent);
	g_test_add_func("/script/statements", test_statements);
	g_test_add_func("/script/compare", test_compare);
	return g_test_run();
}
