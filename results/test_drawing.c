/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plots drawn side by side: the same bytes and words by any number of gnuplots,
 * nothing left behind, whatever becomes of them. */
#include "results/drawing.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/test_fixture.h"

enum { NR_PLOTS = 5 };

/* Plot @i of several; each leaves settings behind that its successor lacks. */
static struct plot *plot_of(int i, const char *command)
{
	g_autofree char *name = g_strdup_printf("plot-%d", i);
	struct plot *p = plot_new(name, name, 300, 200);

	g_string_append(p->gp, i % 2 ? "set style fill pattern 4\n"
				       "set palette gray\nleft = 3\n"
				       "set label 5 'x' at graph 0.5,0.5\n" :
				       "set logscale y 2\n");
	g_string_append_printf(p->gp, "%s\n", command);
	g_string_append(p->gp, "plot 'plot-");
	g_string_append_printf(p->gp, "%d.dat' with %s title 'a'\n", i,
			       i % 2 ? "boxes" : "linespoints");
	g_string_append_printf(p->dat, "1\t%d\n2\t%d\n3\t1\n", i + 2, i + 5);
	return p;
}

static void assert_no_leftovers(void)
{
	g_autoptr(GDir) d = g_dir_open(g_get_tmp_dir(), 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(d)))
		g_assert_false(g_str_has_prefix(name, "slubsim-plot-"));
}

/* Draws them all below @dir; those whose bit is in @wrong can't be drawn. */
static char *draw(const char *dir, int jobs, unsigned wrong)
{
	struct outdir *out = outdir_open(dir, NULL);
	struct drawing *d = drawing_new(out, "plots");
	g_autoptr(GError) e = NULL;
	char *warning = NULL;

	for (int i = 0; i < NR_PLOTS; i++) {
		g_autofree char *command =
			wrong >> i & 1 ? g_strdup_printf("set nonsense%d", i) :
					 g_strdup("");

		g_assert_true(plot_draw(plot_of(i, command), d, &e));
	}
	g_assert_true(drawing_finish(d, jobs, &warning, &e));
	g_assert_no_error(e);
	drawing_free(d);
	outdir_close(out);
	assert_no_leftovers();
	return warning;
}

static bool no_gnuplot(void)
{
	g_autofree char *path = g_find_program_in_path("gnuplot");

	if (!path)
		g_test_skip("gnuplot is not installed");
	return !path;
}

static char *image(const char *dir, int i, const char *suffix)
{
	g_autofree char *path =
		g_strdup_printf("%s/plots/plot-%d%s", dir, i, suffix);
	char *data = NULL;
	gsize length;

	if (!g_file_get_contents(path, &data, &length, NULL))
		return NULL;
	g_free(g_steal_pointer(&path));
	path = g_compute_checksum_for_data(G_CHECKSUM_SHA1, (guchar *)data,
					   length);
	g_free(data);
	return g_steal_pointer(&path);
}

/* By @jobs gnuplots all that can be drawn is what one gnuplot each drew in
 * @alone; @message: how the warning begins. */
static void check(const char *alone, int jobs, unsigned wrong,
		  const char *message)
{
	static const char *const suffixes[] = {".png", ".svg", ".gp", ".dat"};
	g_autofree char *dir = fixture_dir();
	g_autofree char *warning = draw(dir, jobs, wrong);

	if (message) {
		g_assert_nonnull(warning);
		g_assert_true(g_str_has_prefix(warning, message));
	} else {
		g_assert_null(warning);
	}
	for (int i = 0; i < NR_PLOTS; i++)
		for (guint k = 0; k < G_N_ELEMENTS(suffixes); k++) {
			g_autofree char *a = image(alone, i, suffixes[k]);
			g_autofree char *b = image(dir, i, suffixes[k]);

			g_assert_nonnull(a);
			if (!(wrong >> i & 1))
				g_assert_cmpstr(a, ==, b);
			else if (k < 2)
				g_assert_null(b);
		}
	fixture_remove(dir);
}

static void test_same(void)
{
	g_autofree char *alone = fixture_dir(), *none = NULL;

	if (no_gnuplot())
		return;
	none = draw(alone, NR_PLOTS, 0);
	g_assert_cmpstr(none, ==, NULL);
	for (int jobs = 1; jobs <= 3; jobs++)
		check(alone, jobs, 0, NULL);
	fixture_remove(alone);
}

/* Two of several can't be drawn: the first is told, the others are drawn. */
static void test_failing(void)
{
	static const int jobs[] = {1, 2, NR_PLOTS, 100};
	g_autofree char *alone = fixture_dir();

	if (no_gnuplot())
		return;
	g_free(draw(alone, NR_PLOTS, 0));
	for (guint i = 0; i < G_N_ELEMENTS(jobs); i++)
		check(alone, jobs[i], 1 << 1 | 1 << 2,
		      "gnuplot plot-1.gp: \"plot-1.gp\" line ");
	fixture_remove(alone);
}

/* Runs with a program of ours in gnuplot's place. */
static char *pretend(const char *script)
{
	g_autofree char *path = g_strdup(g_getenv("PATH"));
	g_autofree char *bin = fixture_dir(), *dir = fixture_dir();
	g_autofree char *program = g_build_filename(bin, "gnuplot", NULL);
	g_autofree char *both = g_strconcat(bin, ":", path, NULL);
	char *warning;

	if (script) {
		g_file_set_contents(program, script, -1, NULL);
		g_chmod(program, 0700);
	}
	g_setenv("PATH", script ? both : bin, TRUE);
	warning = draw(dir, 2, 0);
	g_setenv("PATH", path, TRUE);
	g_assert_null(image(dir, 0, ".png"));
	fixture_remove(bin);
	fixture_remove(dir);
	return warning;
}

static void test_words(void)
{
	g_autofree char *missing = pretend(NULL);
	g_autofree char *silent = pretend("#!/bin/sh\n");
	g_autofree char *code = pretend("#!/bin/sh\nexit 3\n");
	g_autofree char *crash = pretend("#!/bin/sh\nkill -KILL $$\n");
	g_autofree char *said = pretend("#!/bin/sh\necho a >&2; echo b >&2\n");

	g_assert_nonnull(strstr(missing, "gnuplot is not installed"));
	g_assert_cmpstr(silent, ==, "gnuplot plot-0.gp: no image");
	g_assert_cmpstr(code, ==, "gnuplot plot-0.gp: ended with code 3");
	g_assert_nonnull(strstr(crash, "plot-0.gp: ended by signal 9"));
	g_assert_cmpstr(said, ==, "gnuplot plot-0.gp: b");
}

/* A signal while gnuplots run: it ends us, and no gnuplot or folder is left. */
static void test_signal(void)
{
	g_autofree char *pids = fixture_dir();
	g_autofree char *script = g_strdup_printf(
		"#!/bin/sh\necho $$ >%s/$$\nset -- %s/*\n"
		"[ $# = 2 ] && kill -TERM $PPID\nexec sleep 600\n",
		pids, pids);
	g_autoptr(GDir) d = NULL;
	const char *name;
	int status, n = 0;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGTERM, SIG_DFL);
		pretend(script);
		_exit(0);
	}
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	g_assert_true(WIFSIGNALED(status));
	g_assert_cmpint(WTERMSIG(status), ==, SIGTERM);
	assert_no_leftovers();
	d = g_dir_open(pids, 0, NULL);
	while ((name = g_dir_read_name(d))) {
		n++;
		g_assert_cmpint(kill(atoi(name), 0), ==, -1);
	}
	g_assert_cmpint(n, ==, 2);
	fixture_remove(pids);
}

int main(int argc, char **argv)
{
	/* nobody else's */
	g_autofree char *tmp = g_build_filename(
		g_getenv("TMPDIR") ? g_getenv("TMPDIR") : "/tmp",
		"test-drawing-XXXXXX", NULL);
	int code;

	if (!mkdtemp(tmp))
		return 1;

	g_setenv("TMPDIR", tmp, TRUE);
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/drawing/same", test_same);
	g_test_add_func("/drawing/failing", test_failing);
	g_test_add_func("/drawing/words", test_words);
	g_test_add_func("/drawing/signal", test_signal);
	code = g_test_run();
	fixture_remove(tmp);
	return code;
}
