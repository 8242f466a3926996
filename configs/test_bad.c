/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each file in testdata/bad is refused with the message in its first line,
 * "# expect: ...": the message ends so, and "FILE" stands for the path.
 */
#include "configs/conf.h"
#include "configs/config.h"
#include "configs/test_workload.h"

static void test_bad(gconstpointer data)
{
	const char *path = data;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	g_autofree char *summary = NULL;
	g_autofree char *base = g_path_get_basename(path);
	g_auto(GStrv) lines = NULL;
	g_autoptr(GString) expected = NULL;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	lines = g_strsplit(text, "\n", 2);
	g_assert_true(g_str_has_prefix(lines[0], "# expect: "));
	expected = g_string_new(lines[0] + strlen("# expect: "));
	if (expected->str[0] == ':')
		g_string_prepend(expected, base);
	g_string_replace(expected, "FILE", path, 0);
	summary = config_check(path, NULL, &error);
	g_assert_null(summary);
	g_assert_nonnull(error);
	g_assert_null(strchr(error->message, '\n'));
	if (!g_str_has_suffix(error->message, expected->str))
		g_error("%s:\nexpected ...%s\ngot      %s", path, expected->str,
			error->message);
}

int main(int argc, char **argv)
{
	const char *folder = SLUBSIM_CONFIGS "/testdata/bad";
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *name;
	int n = 0;

	g_test_init(&argc, &argv, NULL);
	g_assert_nonnull(dir);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *test = g_strdup_printf("/bad/%s", name);

		if (!g_str_has_suffix(name, ".conf"))
			continue;
		g_test_add_data_func_full(test, g_build_filename(folder, name,
								 NULL),
					  test_bad, g_free);
		n++;
	}
	g_assert_cmpint(n, >, 50);
	return g_test_run();
}
