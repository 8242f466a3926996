/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every committed case of a real kernel agrees, to the last counter, and the
 * comparison would have noticed if one did not.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "results/cases.h"
#include "workloads/script.h"

#define ARCHIVE SOURCE_ROOT "/workloads/golden/golden.tar.xz"

static GPtrArray *golden(void)
{
	g_autoptr(GError) error = NULL;
	GPtrArray *cases = script_case_list_new();

	script_cases_find(ARCHIVE, cases, &error);
	g_assert_no_error(error);
	return cases;
}

static const char *name_of(GPtrArray *cases, guint i)
{
	return ((struct script_case *)cases->pdata[i])->name;
}

/* One test per kernel; all topologies must be there. */
static void test_kernel(gconstpointer kernel)
{
	static const char *const topologies[] = { "smp1", "smp4n2", "smp8n4m2",
						  "smp16n1", "smp16n8m2",
						  "smp16n8all" };
	g_autofree char *prefix = g_strdup_printf(ARCHIVE ":%s/",
						  (const char *)kernel);
	g_autoptr(GPtrArray) cases = golden();
	struct case_runner *r = case_runner_new(NULL, NULL, true, NULL);
	int seen[G_N_ELEMENTS(topologies)] = { 0 }, n = 0;

	for (guint i = 0; i < cases->len; i++) {
		struct script_case *c = cases->pdata[i];
		g_autoptr(GString) report = g_string_new(NULL);

		if (!g_str_has_prefix(c->name, prefix))
			continue;
		for (size_t t = 0; t < G_N_ELEMENTS(topologies); t++) {
			size_t l = strlen(topologies[t]);
			const char *at = c->name + strlen(prefix);

			seen[t] += !strncmp(at, topologies[t], l) &&
				   at[l] == '/';
		}
		n++;
		if (!script_case_agrees(r, c, report)) {
			g_test_message("%s", report->str);
			g_test_fail();
		}
	}
	g_test_message("%d cases", n);
	g_assert_cmpint(n, >=, 250);
	for (size_t t = 0; t < G_N_ELEMENTS(topologies); t++)
		g_assert_cmpint(seen[t], >, 0);
	case_runner_free(r);
}

/* Any byte of an .out that is changed is noticed. */
static void test_notices(void)
{
	g_autoptr(GPtrArray) cases = golden();
	struct case_runner *r = case_runner_new(NULL, NULL, false, NULL);
	struct script_case *c = NULL;
	char *good;
	size_t length;
	int tried = 0;

	for (guint i = 0; i < cases->len && !c; i++)
		if (g_str_has_suffix(name_of(cases, i),
				     "7.1.5/smp8n4m2/i_where_256.ops"))
			c = cases->pdata[i];
	g_assert_nonnull(c);
	good = c->expected;
	length = strlen(good);
	for (size_t at = 0; at < length; at += 7) {
		g_autofree char *bad = g_strdup(good);
		g_autoptr(GString) report = g_string_new(NULL);

		if (!g_ascii_isalnum(bad[at]))
			continue;
		bad[at] = bad[at] == '1' ? '2' : '1';
		c->expected = bad;
		if (script_case_agrees(r, c, report))
			g_error("a change of byte %zu went unnoticed", at);
		g_assert_cmpint(report->len, >, 0);
		tried++;
	}
	c->expected = good;
	g_assert_cmpint(tried, >, 300);
	case_runner_free(r);
}

static char *report_of(struct case_runner *r, const char *ops, const char *out)
{
	struct script_case c = { .name = (char *)"case.ops", .archived = true,
				 .ops = (char *)ops, .expected = (char *)out };
	GString *report = g_string_new(NULL);

	g_assert_false(script_case_agrees(r, &c, report));
	return g_string_free(report, FALSE);
}

#define MACHINE                                                                \
	"# guest: cpus online: 0-1\n"                                          \
	"# guest: node 0 cpus: 0-1 size: 1048576 kB distances: 10\n"

/* What can't be compared doesn't agree, and says why. */
static void test_incomparable(void)
{
	static const struct {
		const char *ops, *out, *says;
	} bad[] = {
		{ "# kernel: Linux version 7.1.5\n" MACHINE "cache 64 0 - 0\n",
		  NULL, "case.ops: no .out beside it" },
		{ "# kernel: Linux version 7.1.5\n" MACHINE
		  "cache 64 0 - 0\nfoo\n",
		  "", "case.ops:5: 'foo' is no statement" },
		{ MACHINE "cache 64 0 - 0\n", "", "names no kernel" },
		{ "# kernel: Linux version 5.4.1\n" MACHINE "cache 64 0 - 0\n",
		  "", "no variant is of kernel 5.4.1" },
		{ "# kernel: Linux version 7.1.5\ncache 64 0 - 0\n", "",
		  "describes no machine" },
		{ "# kernel: Linux version 7.1.5\n" MACHINE
		  "cache 64 0 - 0\na 2 0\n",
		  "", "case.ops:5: CPU 2" },
	};
	struct case_runner *r = case_runner_new(NULL, NULL, false, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autofree char *report = report_of(r, bad[i].ops, bad[i].out);

		if (!strstr(report, bad[i].says))
			g_error("'%s', expected '%s'", report, bad[i].says);
	}
	case_runner_free(r);
}

/* --topology and --variant take the place of the header. */
static void test_overrides(void)
{
	struct script_case c = { .name = (char *)"case.ops", .archived = true,
				 .ops = (char *)"cache 64 0 - 0\nra 15 0 9 1\n" };
	struct case_runner *r = case_runner_new("smp16n8m2", "v6.1", false,
						NULL);
	g_autofree char *out = script_case_run(r, &c, NULL);

	g_assert_nonnull(out);
	/* v6.1 has cpu slabs, and is built without SLUB_STATS or not */
	g_assert_nonnull(strstr(out, "alloc_fastpath:8 C15=8\n"));
	g_assert_null(strstr(out, "barn_get"));
	case_runner_free(r);
	g_assert_null(case_runner_new("nonesuch", NULL, false, NULL));
	g_assert_null(case_runner_new(NULL, "nonesuch", false, NULL));
}

static void test_folder(void)
{
	g_autofree char *dir = g_dir_make_tmp("slubsim-XXXXXX", NULL);
	g_autofree char *sub = g_build_filename(dir, "sub", NULL);
	g_autofree char *file = g_build_filename(sub, "x.ops", NULL);
	g_autoptr(GPtrArray) cases = script_case_list_new();
	g_autoptr(GError) error = NULL;

	g_assert_false(script_cases_find(dir, cases, &error));
	g_assert_error(error, SCRIPT_ERROR, 0);
	g_clear_error(&error);
	g_mkdir(sub, 0700);
	g_file_set_contents(file, "cache 64 0 - 0\n", -1, NULL);
	g_assert_true(script_cases_find(dir, cases, &error));
	g_assert_cmpint(cases->len, ==, 1);
	g_assert_cmpstr(name_of(cases, 0), ==, file);
	g_unlink(file);
	g_assert_false(script_cases_find(file, cases, &error));
	g_rmdir(sub);
	g_rmdir(dir);
}

int main(int argc, char **argv)
{
	static const char *const kernels[] = { "6.12", "6.19.0", "7.0.0",
					       "7.1.5" };

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++) {
		g_autofree char *path = g_strdup_printf("/golden/%s",
							kernels[i]);

		g_test_add_data_func(path, kernels[i], test_kernel);
	}
	g_test_add_func("/golden/notices", test_notices);
	g_test_add_func("/golden/incomparable", test_incomparable);
	g_test_add_func("/golden/overrides", test_overrides);
	g_test_add_func("/golden/folder", test_folder);
	return g_test_run();
}
