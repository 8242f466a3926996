/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Published tables: the maps, which figure a row is of, errors, marks. */
#include <math.h>
#include <string.h>

#include "results/out.h"
#include "results/published.h"
#include "results/test_fixture.h"
#include "results/views.h"

/* Every shipped table has a map that reads, with that many values. */
static void test_shipped(void)
{
	static const struct {
		const char *name;
		guint rows;
	} tables[] = {{"memoryless-2026", 4},
		      {"memoryless-2026-queues", 16},
		      {"bulk-alloc-2015", 28},
		      {"bulk-refill-2026", 12},
		      {"partial-node-2024", 32},
		      {"zsmalloc-inline-2026", 19}};

	for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
		g_autofree char *file = g_strdup_printf(
			"%s/%s.tsv", SLUBSIM_PUBLISHED, tables[i].name);
		g_autoptr(GError) e = NULL;
		g_autoptr(GPtrArray) t = targets_read(file, &e);

		g_assert_no_error(e);
		g_assert_cmpuint(t->len, ==, tables[i].rows);
	}
}

static char *write_table(const char *dir, const char *tsv, const char *map)
{
	g_autofree char *m = g_build_filename(dir, "t.map", NULL);
	char *t = g_build_filename(dir, "t.tsv", NULL);

	g_assert_true(write_aside(t, tsv, NULL));
	g_assert_true(write_aside(m, map, NULL));
	return t;
}

static const char tsv[] = "# a table\nkernel\tq\tm\tsd\n"
			  "old\t0\t30\t1\nold\t1\t17\t1\nnew\t0\t14\t2\n";

static void test_attach(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = write_table(
		dir, tsv,
		"[total]\ncolumn=m\nselect=q=0\nfigure=iops_per_s\nscale=1e6\n"
		"variant_column=kernel\nvariants=old=base\nstddev=sd\n"
		"fixed=channel=pipes\n"
		"[queue]\ncolumn=m\nselect=q=1\nfigure=queue_iops_per_s\n"
		"scale=1e6\nvariant=base\nwhere=queue=q\n"
		"[wrong channel]\ncolumn=m\nfigure=time_s\nvariant=base\n"
		"fixed=channel=sockets\n"
		"[drop]\ncolumn=m\nselect=kernel=new\nfigure=iops_per_s\n"
		"variant=new\nminus=base\npercent=true\n");
	struct result *r = fixture_result();
	struct fit *fit = g_new0(struct fit, 1);
	g_autoptr(GPtrArray) figures = figures_of(r), targets = NULL;
	g_autoptr(GError) e = NULL;
	const struct figure *f;
	g_autofree char *table = NULL;

	fit->key = g_strdup("workload.outside");
	fit->why = g_strdup("base: so that it is right");
	g_ptr_array_add(r->fitted, fit);
	r->published = g_strdup(file);
	targets = targets_load(r, &e);
	g_assert_no_error(e);
	figures_attach(figures, targets, r);

	f = figure_find(figures, "base", "iops_per_s", "");
	g_assert_nonnull(f->target);
	g_assert_true(f->target->fitted);
	g_assert_cmpfloat(f->target->value, ==, 30e6);
	g_assert_cmpfloat(f->target->stddev, ==, 1e6);
	g_assert_cmpfloat(fabs(figure_error_pct(f) - 100 * 4. / 30), <, 1e-9);
	f = figure_find(figures, "new", "iops_per_s", "");
	g_assert_false(f->target->fitted);
	g_assert_cmpfloat(fabs(figure_error_pct(f)), <, 1e-9);
	f = figure_find(figures, "base", "queue_iops_per_s", "queue=1");
	g_assert_cmpfloat(f->target->value, ==, 17e6);
	f = figure_find(figures, "base", "queue_iops_per_s", "queue=0");
	g_assert_null(f->target);
	/* the config says pipes */
	f = figure_find(figures, "base", "time_s", "");
	g_assert_null(f->target);
	/* a difference is a figure of its own: mean of the three ratios */
	f = figure_find(figures, "new", "iops_per_s - base [%]", "");
	g_assert_cmpint(f->values->len, ==, 3);
	g_assert_cmpfloat(g_array_index(f->values, double, 0), ==,
			  100 * (13. - 30) / 30);

	table = table_text(r, &e);
	g_assert_no_error(e);
	g_assert_nonnull(strstr(table, "+13.3% F"));
	g_assert_nonnull(strstr(table, "+0.0% P"));
	g_assert_nonnull(strstr(table, "workload.outside: base: so that"));
	/* 14 millions, exactly; +14 % where it's -58.7 % */
	g_assert_nonnull(strstr(table, "-72.7pp P"));
	g_assert_nonnull(strstr(
		table, "\nPublished rows: 2 fitted (F), 2 predicted (P)\n"
		       "  1 predicted value: mean absolute error 0.0%, worst "
		       "0.0%\n"
		       "  1 predicted percentage: mean absolute error 72.7 "
		       "percentage points, worst 72.7 percentage points\n"));
	fixture_remove(dir);
	result_free(r);
}

static void test_errors(void)
{
	static const struct {
		const char *map, *message;
	} cases[] = {
		{"[a]\ncolumn=z\nfigure=f\nvariant=v\n",
		 "[a] column: expected a column of the table"},
		{"[a]\ncolumn=m\nvariant=v\n", "[a] figure: expected"},
		{"[a]\ncolumn=m\nfigure=f\n", "[a] variant: expected"},
		{"[a]\ncolumn=m\nfigure=f\nvariant=v\nselect=z=1\n",
		 "[a] select: expected columns"},
		{"[a]\ncolumn=m\nfigure=f\nvariant=v\nwhere=z\n",
		 "[a] where: expected NAME=VALUE"},
		{"[a]\ncolumn=m\nfigure=f\nvariant=v\ncolour=red\n",
		 "[a] colour: expected a known key"},
		{"[a]\ncolumn=kernel\nfigure=f\nvariant=v\n",
		 "t.tsv:3: kernel: 'old', expected a number"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *dir = fixture_dir();
		g_autofree char *file = write_table(dir, tsv, cases[i].map);
		g_autoptr(GError) e = NULL;

		g_assert_null(targets_read(file, &e));
		g_assert_nonnull(e);
		g_assert_nonnull(strstr(e->message, cases[i].message));
		fixture_remove(dir);
	}
}

/* Inside a published range there is no error; outside, to its nearer end. */
static void test_range(void)
{
	g_autofree char *dir = fixture_dir();
	g_autofree char *file = write_table(
		dir, "v\n-4.0..-4.5\n",
		"[r]\ncolumn=v\nfigure=f\nvariant=a\nminus=b\npercent=true\n");
	g_autoptr(GPtrArray) t = targets_read(file, NULL);
	g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
	struct figure f = {.values = values, .target = t->pdata[0]};
	double v = -4.2;

	g_array_append_val(values, v);
	g_assert_cmpfloat(figure_error_pct(&f), ==, 0);
	g_array_index(values, double, 0) = -5;
	g_assert_cmpfloat(fabs(figure_error_pct(&f) + 0.5), <, 1e-9);
	fixture_remove(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/published/shipped", test_shipped);
	g_test_add_func("/published/attach", test_attach);
	g_test_add_func("/published/errors", test_errors);
	g_test_add_func("/published/range", test_range);
	return g_test_run();
}
