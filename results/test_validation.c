/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows and summary of slubsim validate, and that what is committed of them is
 * what the program says: the README's summary against results/validation.tsv,
 * and validation.tsv against a new run of $VALIDATE (names of experiments;
 * "all" = all of them). $SLUBSIM names the program.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/validation.h"

static void add(GPtrArray *rows, const char *experiment, const char *variant,
		const char *where, double published, double simulated,
		enum validation_status status)
{
	struct validation_row *row = g_new0(struct validation_row, 1);

	row->experiment = g_strdup(experiment);
	row->figure = g_strdup("time_s");
	row->variant = g_strdup(variant);
	row->where = g_strdup(where);
	row->unit = g_strdup("s");
	row->published = published;
	row->published_sd = NAN;
	row->simulated = simulated;
	row->error_pct = 100 * (simulated / published - 1);
	row->status = status;
	g_ptr_array_add(rows, row);
}

static GPtrArray *sample(void)
{
	GPtrArray *rows = validation_new();

	add(rows, "a", "old", "n=1", 100, 101, VALIDATION_FITTED);
	add(rows, "a", "new", "n=1", 90, 99, VALIDATION_PREDICTED); /* +10 */
	add(rows, "a", "old", "n=2", 10, 8, VALIDATION_PREDICTED); /* -20 */
	add(rows, "a", "new", "n=2", 20, 7, VALIDATION_PREDICTED); /* -65 */
	return rows;
}

static void test_summary(void)
{
	g_autoptr(GPtrArray) rows = sample();
	g_autofree char *text = validation_summary(rows, NULL);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	char name[32];
	unsigned n, predicted, comparisons, wrong, stated;
	double mean, worst;

	g_assert_cmpint(sscanf(lines[1], "%31s %u %u %lf %lf %u %u %u", name,
			       &n, &predicted, &mean, &worst, &comparisons,
			       &wrong, &stated),
			==, 8);
	g_assert_cmpstr(name, ==, "a");
	g_assert_cmpuint(n, ==, 4);
	g_assert_cmpuint(predicted, ==, 3);
	g_assert_cmpfloat_with_epsilon(mean, (10 + 20 + 65) / 3.0, 0.06);
	g_assert_cmpfloat_with_epsilon(worst, 65, 0.06);
	g_assert_cmpuint(comparisons, ==, 2);
	g_assert_cmpuint(wrong, ==, 1); /* n=2: 10 < 20, but 8 > 7 */
	g_assert_cmpuint(stated, ==, 0);
}

static char *temporary(const char *text)
{
	char *name = NULL;
	int fd = g_file_open_tmp("validation-XXXXXX", &name, NULL);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(name, text, -1, NULL));
	return name;
}

static void test_stated(void)
{
	g_autoptr(GPtrArray) rows = sample();
	g_autofree char *file = temporary("[a]\nreason=because\n");
	g_autofree char *text = validation_summary(rows, file);

	g_assert_nonnull(strstr(text, "a: because"));
	g_assert_nonnull(strstr(text, "2      0       1\n"));
	unlink(file);
}

static void test_roundtrip(void)
{
	g_autoptr(GPtrArray) rows = sample(), again = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *tsv = validation_tsv(rows), *second = NULL;
	g_autofree char *file = temporary(tsv);

	again = validation_read(file, &error);
	g_assert_no_error(error);
	second = validation_tsv(again);
	g_assert_cmpstr(tsv, ==, second);
	g_assert_true(g_file_set_contents(file, "no\ttable\n", -1, NULL));
	g_assert_null(validation_read(file, &error));
	g_assert_nonnull(error);
	unlink(file);
}

static const char start[] = "<!-- validation -->\n```\n";

/* README.md shows what the committed rows give. */
static void test_readme(void)
{
	g_autofree char *readme = NULL, *summary = NULL, *shown = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) rows = NULL;
	const char *from, *to;

	g_file_get_contents(SOURCE_ROOT "/README.md", &readme, NULL, &error);
	g_assert_no_error(error);
	from = strstr(readme, start);
	g_assert_nonnull(from);
	from += strlen(start);
	to = strstr(from, "```\n<!-- end -->");
	g_assert_nonnull(to);
	shown = g_strndup(from, to - from);
	rows = validation_read(SOURCE_ROOT "/results/validation.tsv", &error);
	g_assert_no_error(error);
	summary = validation_summary(
		rows, SOURCE_ROOT "/results/published/disagreements.conf");
	g_assert_cmpstr(shown, ==, summary);
}

/* A new run gives the committed rows, byte by byte. */
static void test_again(void)
{
	const char *names = g_getenv("VALIDATE");
	g_autofree char *dir = g_dir_make_tmp("validation-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "validation.tsv", NULL);
	g_autofree char *line = NULL, *now = NULL, *then = NULL, *out = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *clean = g_strdup_printf("rm -r '%s'", dir);
	g_auto(GStrv) rows = NULL;
	bool all = !strcmp(names, "all");
	int status;

	line = g_strdup_printf("'%s' validate -o '%s' %s",
			       g_getenv("SLUBSIM"), dir, all ? "" : names);
	g_spawn_command_line_sync(line, &out, NULL, &status, &error);
	g_assert_no_error(error);
	g_assert_cmpint(status, ==, 0);
	g_file_get_contents(path, &now, NULL, &error);
	g_assert_no_error(error);
	g_file_get_contents(SOURCE_ROOT "/results/validation.tsv", &then, NULL,
			    &error);
	g_assert_no_error(error);
	if (all)
		g_assert_cmpstr(now, ==, then);
	rows = g_strsplit(now, "\n", -1);
	for (char **row = rows; *row; row++)
		if (**row && !strstr(then, *row))
			g_error("not in the committed validation.tsv (run "
				"slubsim validate and commit it): %s", *row);
	g_spawn_command_line_sync(clean, NULL, NULL, NULL, NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/validation/summary", test_summary);
	g_test_add_func("/validation/stated", test_stated);
	g_test_add_func("/validation/roundtrip", test_roundtrip);
	g_test_add_func("/validation/readme", test_readme);
	g_test_add_func("/validation/again", test_again);
	return g_test_run();
}
