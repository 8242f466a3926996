/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The run command as a user has it: the same bytes whatever happens on the way,
 * and nothing half-written. $SLUBSIM names the program. */
#include <fcntl.h>
#include <json-glib/json-glib.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/compare.h"
#include "results/out.h"
#include "results/result.h"
#include "results/test_fixture.h"
#include "sim/command.h"

static const char short_conf[] = "[experiment]\n"
				 "name=short\n"
				 "topology=desktop-i7-4790k\n"
				 "workload=bulk\n"
				 "variants=2015-fallback;2015-bulk-alloc\n"
				 "iterations=2\n"
				 "[workload]\n"
				 "sizes=1,8\n"
				 "rounds=20\n"
				 "[sweep]\n"
				 "workload.object_size=256;512\n";

/* The second case would take hours. */
static const char endless_conf[] = "[experiment]\n"
				   "name=endless\n"
				   "topology=desktop-i7-4790k\n"
				   "workload=bulk\n"
				   "variants=2015-fallback\n"
				   "[workload]\n"
				   "sizes=1\n"
				   "[sweep]\n"
				   "workload.rounds=20;1000000000\n";

struct place {
	char *dir, *conf;
};

#define DRAWN "drawn" /* the one folder whose plots get images */

static struct place place_new(const char *conf)
{
	struct place p = {.dir = fixture_dir()};

	p.conf = g_build_filename(p.dir, "e.conf", NULL);
	g_assert_true(write_aside(p.conf, conf, NULL));
	return p;
}

static void place_clear(struct place *p)
{
	fixture_remove(p->dir);
	g_free(p->dir);
	g_free(p->conf);
}

/* Starts slubsim run CONF -o DIR/@out and two more arguments (NULL: none);
 * stderr goes to DIR/@out.err. */
static pid_t start(const struct place *p, const char *out, const char *a,
		   const char *b, rlim_t file_size)
{
	g_autofree char *dir = g_build_filename(p->dir, out, NULL);
	g_autofree char *err = g_strconcat(dir, ".err", NULL);
	pid_t pid = fork();

	g_assert_cmpint(pid, >=, 0);
	if (!pid) {
		int fd = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		int null = open("/dev/null", O_WRONLY);
		struct rlimit limit = {file_size, file_size};

		dup2(fd, 2);
		dup2(null, 1);
		if (file_size) {
			signal(SIGXFSZ, SIG_IGN);
			setrlimit(RLIMIT_FSIZE, &limit);
		}
		/* no gnuplot: plots have no images, and nobody waits for them */
		if (strcmp(out, DRAWN))
			g_setenv("PATH", "/nonexistent", TRUE);
		execl(g_getenv("SLUBSIM"), "slubsim", "run", p->conf, "-o", dir,
		      a, b, NULL);
		_exit(99);
	}
	return pid;
}

static int finish(pid_t pid)
{
	int status;

	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

static int run(const struct place *p, const char *out, const char *a,
	       const char *b)
{
	return finish(start(p, out, a, b, 0));
}

static char *file_in(const struct place *p, const char *out, const char *name)
{
	g_autofree char *dir = g_build_filename(p->dir, out, NULL);

	return fixture_read(dir, name);
}

static void assert_same(const struct place *p, const char *x, const char *y)
{
	static const char *const names[] = {
		"result.json", "table.txt", "results.tsv", "breakdown.txt",
		"2015-fallback/object_size=512/perf.folded",
		"plots/pair_cycles,object_size=512.gp"};

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *a = file_in(p, x, names[i]);
		g_autofree char *b = file_in(p, y, names[i]);

		g_assert_nonnull(a);
		g_assert_cmpstr(a, ==, b);
	}
}

static int count_partial(const char *dir)
{
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	const char *name;
	int n = 0;

	while (d && (name = g_dir_read_name(d))) {
		g_autofree char *path = g_build_filename(dir, name, NULL);

		n += strstr(name, ".tmp-") != NULL;
		if (g_file_test(path, G_FILE_TEST_IS_DIR))
			n += count_partial(path);
	}
	return n;
}

static void test_same_bytes(void)
{
	struct place p = place_new(short_conf);
	g_autofree char *err = NULL;

	g_assert_cmpint(run(&p, "one", "--jobs=1", NULL), ==, 0);
	g_assert_cmpint(run(&p, "two", "--jobs=3", NULL), ==, 0);
	assert_same(&p, "one", "two");
	err = file_in(&p, "", "one.err");
	g_assert_nonnull(strstr(err, "gnuplot is not installed"));
	place_clear(&p);
}

static void test_seed_matters(void)
{
	struct place p = place_new(short_conf);
	g_autofree char *a = NULL, *b = NULL;

	g_assert_cmpint(run(&p, "one", "--iterations=1", NULL), ==, 0);
	g_assert_cmpint(run(&p, "two", "--iterations=1", "--seed=7"), ==, 0);
	a = file_in(&p, "one", "result.json");
	b = file_in(&p, "two", "result.json");
	g_assert_cmpstr(a, !=, b);
	g_assert_nonnull(strstr(b, "\"seed\" : 7"));
	place_clear(&p);
}

/* Each point's effective config is an experiment that gives that point. */
static void test_effective_config(void)
{
	struct place p = place_new(short_conf);
	g_autofree char *config = NULL, *one = NULL, *two = NULL;
	struct result *r, *again;
	g_autoptr(GError) e = NULL;
	const struct point *a, *b;

	g_assert_cmpint(run(&p, "one", NULL, NULL), ==, 0);
	config = file_in(&p, "one",
			 "2015-bulk-alloc/object_size=512/config.conf");
	g_assert_true(write_aside(p.conf, config, NULL));
	g_assert_cmpint(run(&p, "two", NULL, NULL), ==, 0);
	one = g_build_filename(p.dir, "one", NULL);
	two = g_build_filename(p.dir, "two", NULL);
	r = result_load(one, &e);
	g_assert_no_error(e);
	again = result_load(two, &e);
	g_assert_no_error(e);
	a = r->points->pdata[r->points->len - 1];
	b = again->points->pdata[again->points->len - 1];
	g_assert_cmpstr(a->variant, ==, "2015-bulk-alloc");
	g_assert_cmpuint(a->cycles, ==, b->cycles);
	g_assert_cmpuint(a->instructions, ==, b->instructions);
	result_free(r);
	result_free(again);
	place_clear(&p);
}

/* Waits until a point has been finished. */
static void wait_for_point(const struct place *p, const char *out)
{
	g_autofree char *dir = g_build_filename(p->dir, out, "points", NULL);

	for (int i = 0; i < 600; i++) {
		g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
		const char *name;

		while (d && (name = g_dir_read_name(d)))
			if (g_str_has_suffix(name, ".json"))
				return;
		g_usleep(50000);
	}
	g_assert_not_reached();
}

static void test_interrupt(void)
{
	struct place p = place_new(endless_conf);
	g_autofree char *table = NULL;
	g_autofree char *dir = g_build_filename(p.dir, "x", NULL);
	struct result *r;
	pid_t pid = start(&p, "x", "--jobs=2", NULL, 0);

	wait_for_point(&p, "x");
	kill(pid, SIGINT);
	g_assert_cmpint(finish(pid), ==, 128 + SIGINT);
	r = result_load(dir, NULL);
	g_assert_nonnull(r);
	g_assert_false(r->complete);
	g_assert_cmpuint(r->points->len, ==, 1);
	result_free(r);
	table = file_in(&p, "x", "table.txt");
	g_assert_nonnull(strstr(table, "INCOMPLETE"));
	g_assert_cmpint(count_partial(dir), ==, 0);
	place_clear(&p);
}

static void test_kill_and_resume(void)
{
	struct place p = place_new(short_conf);
	g_autofree char *dir = g_build_filename(p.dir, "killed", NULL);
	pid_t pid = start(&p, "killed", "--jobs=1", NULL, 0);

	wait_for_point(&p, "killed");
	kill(pid, SIGKILL);
	g_assert_cmpint(finish(pid), ==, 128 + SIGKILL);
	g_assert_cmpint(run(&p, "killed", "--resume", NULL), ==, 0);
	g_assert_cmpint(run(&p, "whole", NULL, NULL), ==, 0);
	assert_same(&p, "killed", "whole");
	g_assert_cmpint(count_partial(dir), ==, 0);
	place_clear(&p);
}

static void test_two_at_once(void)
{
	struct place p = place_new(endless_conf);
	pid_t pid = start(&p, "x", NULL, NULL, 0);
	int code;

	wait_for_point(&p, "x");
	code = run(&p, "x", NULL, NULL);
	kill(pid, SIGTERM);
	g_assert_cmpint(finish(pid), ==, 128 + SIGTERM);
	g_assert_cmpint(code, ==, EXIT_RUN_FAILED);
	place_clear(&p);
}

/* Nothing but whole files, an error of one line, exit 1. */
static void test_disk_full(void)
{
	struct place p = place_new(short_conf);
	g_autofree char *dir = g_build_filename(p.dir, "full", NULL);
	g_autofree char *err = NULL, *json = NULL;

	/* room for points and tables, but not for result.json */
	g_assert_cmpint(finish(start(&p, "full", NULL, NULL, 30000)), ==,
			EXIT_RUN_FAILED);
	json = file_in(&p, "full", "result.json");
	g_assert_null(json);
	err = file_in(&p, "", "full.err");
	g_assert_nonnull(strstr(err, "File too large"));
	g_assert_cmpint(count_partial(dir), ==, 0);
	place_clear(&p);
}

static const char *const bad_config[] = {
	"[experiment]\nname=x\ncolour=red\n",
	"e.conf:3: [experiment] colour: unknown key"};
/* only one of the cases is wrong */
static const char *const bad_case[] = {
	"[experiment]\nname=x\ntopology=desktop-i7-4790k\nworkload=bulk\n"
	"variants=2015-fallback\n[sweep]\nworkload.cpu=0;99\n",
	"e.conf: [sweep] cpu=99: --set: [workload] cpu: 99, expected a CPU"};
/* a file that a workload reads */
static const char *const bad_input[] = {
	"[experiment]\nname=x\ntopology=desktop-i7-4790k\nworkload=ublk\n"
	"variants=v7.0\n[workload]\nqueues=4\ncounts=./nonesuch\n",
	"e.conf: [workload] counts: ./nonesuch: "};

/* Nothing is run, and one line says what. */
static void test_refused(gconstpointer data)
{
	const char *const *config_and_what = data;
	struct place p = place_new(config_and_what[0]);
	g_autofree char *dir = g_build_filename(p.dir, "x", NULL);
	g_autofree char *err = NULL;

	g_assert_cmpint(run(&p, "x", NULL, NULL), ==, EXIT_USAGE);
	err = file_in(&p, "", "x.err");
	if (!strstr(err, config_and_what[1]))
		g_error("%s doesn't say %s", err, config_and_what[1]);
	g_assert_true(strchr(err, '\n') == err + strlen(err) - 1);
	g_assert_false(g_file_test(dir, G_FILE_TEST_EXISTS));
	place_clear(&p);
}

/* Another run in the folder leaves nothing of the first, but what is not ours. */
static void test_rerun_clears(void)
{
	struct place p = place_new(short_conf);
	g_autofree char *old = g_build_filename(p.dir, "x", "2015-bulk-alloc",
						NULL);
	g_autofree char *mine = g_build_filename(p.dir, "x", "notes", NULL);

	g_assert_cmpint(run(&p, "x", NULL, NULL), ==, 0);
	g_assert_true(g_file_test(old, G_FILE_TEST_EXISTS));
	g_assert_true(write_aside(mine, "mine", NULL));
	g_assert_cmpint(
		run(&p, "x", "--set", "experiment.variants=2015-fallback"), ==,
		0);
	g_assert_false(g_file_test(old, G_FILE_TEST_EXISTS));
	g_assert_true(g_file_test(mine, G_FILE_TEST_EXISTS));
	place_clear(&p);
}

/* A trace is JSON, is there for first iterations only, and changes no date. */
static void test_trace(void)
{
	struct place p = place_new(short_conf);
	g_autofree char *trace = g_build_filename(
		p.dir, "x", "2015-fallback", "object_size=256", "trace.json",
		NULL);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autofree char *a = NULL, *b = NULL;
	JsonObject *root;

	g_assert_cmpint(run(&p, "x", "--trace-window=0:30", NULL), ==, 0);
	g_assert_cmpint(run(&p, "y", NULL, NULL), ==, 0);
	a = file_in(&p, "x", "results.tsv");
	b = file_in(&p, "y", "results.tsv");
	/* but for the command in the second line */
	g_assert_cmpstr(strstr(a, "# effective"), ==, strstr(b, "# effective"));
	g_assert_true(json_parser_load_from_file(parser, trace, NULL));
	root = json_node_get_object(json_parser_get_root(parser));
	g_assert_cmpuint(json_array_get_length(json_object_get_array_member(
				 root, "traceEvents")),
			 >, 10);
	g_assert_cmpint(run(&p, "z", "--trace-window=5:5", NULL), ==,
			EXIT_USAGE);
	g_assert_cmpint(run(&p, "z", "--trace-window=a", NULL), ==, EXIT_USAGE);
	place_clear(&p);
}

/* Runs the program in @p's folder; stdout in *@out, stderr in *@err. */
static int program(const struct place *p, const char *arguments, char **out,
		   char **err)
{
	g_autofree char *line = g_strdup_printf("%s %s", g_getenv("SLUBSIM"),
						arguments);
	g_auto(GStrv) argv = NULL;
	g_auto(GStrv) env = g_environ_setenv(g_get_environ(), "PATH",
					     "/nonexistent", TRUE);
	int status;

	g_assert_true(g_shell_parse_argv(line, NULL, &argv, NULL));
	g_assert_true(g_spawn_sync(p->dir, argv, env, G_SPAWN_DEFAULT, NULL,
				   NULL, out, err, &status, NULL));
	return WEXITSTATUS(status);
}

/* Variants by name: the run that compare and explain make is one that they read
 * like any other. */
static void test_by_name(void)
{
	static const char *const wrong[] = {
		"compare 2015-fallback 2015-bulk-alloc --iterations=2",
		"compare 2015-fallback nonesuch -e e.conf",
		"compare 2015-fallback 2015-bulk-alloc -e e.conf -f nonesuch",
		"explain 2015-fallback -e e.conf",
		"explain 2015-fallback 2015-bulk-alloc -e nonesuch"};
	struct place p = place_new(short_conf);
	g_autofree char *named = NULL, *folder = NULL;
	g_autofree char *why = NULL, *same = NULL;

	g_assert_cmpint(program(&p, "compare 2015-bulk-alloc 2015-fallback "
				    "-e e.conf --iterations=3 -f tsv",
				&named, NULL),
			==, 0);
	g_assert_cmpint(program(&p, "compare -f tsv results/"
				    "compare-2015-bulk-alloc-2015-fallback",
				&folder, NULL),
			==, 0);
	g_assert_cmpstr(named, ==, folder);
	g_assert_nonnull(strstr(named, "\t2015-bulk-alloc\t3\t"));
	g_assert_cmpint(program(&p, "explain 2015-fallback 2015-bulk-alloc -e "
				    "e.conf -o x --set=workload.sizes=8",
				&why, NULL),
			==, 0);
	g_assert_cmpint(program(&p, "explain x", &same, NULL), ==, 0);
	g_assert_true(g_str_has_prefix(why, same));
	g_assert_cmpstr(why + strlen(same), ==, "\nResults in x\n");
	for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autofree char *said = NULL;

		g_assert_cmpint(program(&p, wrong[i], NULL, &said), ==,
				EXIT_USAGE);
		g_assert_true(g_str_has_prefix(said, "slubsim: "));
		g_assert_cmpstr(strchr(said, '\n'), ==, "\n");
	}
	place_clear(&p);
}

/* A bisection is of one case of a sweep, and says so. */
static void test_bisect_sweep(void)
{
	static const char *const command =
		"bisect --from 2015-fallback --to 2015-bulk-alloc -e e.conf "
		"-o %s %s";
	struct place p = place_new(short_conf);
	g_autofree char *none = g_strdup_printf(command, "none", "");
	g_autofree char *large =
		g_strdup_printf(command, "large",
				"--set workload.object_size=512");
	g_autofree char *only =
		g_strdup_printf(command, "only",
				"--set sweep.workload.object_size=512");
	g_autofree char *err = NULL, *a = NULL, *b = NULL, *said = NULL;

	g_assert_cmpint(program(&p, none, NULL, &err), ==, EXIT_USAGE);
	g_assert_nonnull(strstr(err, "e.conf: [sweep] workload.object_size: "
				     "bisect measures one case, expected --set "
				     "workload.object_size=VALUE with one of "
				     "256, 512\n"));
	g_assert_cmpint(program(&p, large, &said, NULL), ==, 0);
	g_free(said);
	g_assert_cmpint(program(&p, only, &said, NULL), ==, 0);
	a = file_in(&p, "large", "2015-fallback/config.conf");
	b = file_in(&p, "only", "2015-fallback/config.conf");
	g_assert_nonnull(strstr(a, "object_size=512\n"));
	g_assert_nonnull(strstr(b, "object_size=512\n"));
	place_clear(&p);
}

/* c2c.txt knows the members that CPUs meet at. */
static void test_c2c(void)
{
	struct place p = place_new(
		"[experiment]\nname=c2c\ntopology=desktop-i7-4790k\n"
		"workload=ublk\nvariants=v7.0-rc3\n"
		"[workload]\nqueues=2\nrun_ms=1\nwarmup_ms=0\n");
	g_autofree char *text = NULL;

	g_assert_cmpint(run(&p, "x", "--c2c", NULL), ==, 0);
	text = file_in(&p, "x", "v7.0-rc3/c2c.txt");
	g_assert_nonnull(strstr(text, "touched: 0x00 lock"));
	g_assert_nonnull(strstr(text, "touched: 0x00-0x38 objects[]\n"));
	place_clear(&p);
}

static void test_verify(void)
{
	struct place p = place_new(short_conf);

	g_assert_cmpint(run(&p, "x", "--verify", "--exact-slow"), ==, 0);
	place_clear(&p);
}

/* Plots are drawn there: without it they have no images, the rest is whole. */
static void test_no_tmpdir(void)
{
	struct place p = place_new(short_conf);
	g_autofree char *result = NULL;
	int code;

	g_setenv("TMPDIR", "/nonexistent", TRUE);
	code = run(&p, DRAWN, NULL, NULL);
	g_unsetenv("TMPDIR");
	g_assert_cmpint(code, ==, 0);
	result = g_build_filename(p.dir, DRAWN, "result.json", NULL);
	g_assert_true(g_file_test(result, G_FILE_TEST_EXISTS));
	place_clear(&p);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_nonnull(g_getenv("SLUBSIM"));
	g_test_add_func("/run/same-bytes", test_same_bytes);
	g_test_add_func("/run/no-tmpdir", test_no_tmpdir);
	g_test_add_func("/run/seed-matters", test_seed_matters);
	g_test_add_func("/run/effective-config", test_effective_config);
	g_test_add_func("/run/interrupt", test_interrupt);
	g_test_add_func("/run/kill-and-resume", test_kill_and_resume);
	g_test_add_func("/run/two-at-once", test_two_at_once);
	g_test_add_func("/run/disk-full", test_disk_full);
	g_test_add_data_func("/run/bad-config", bad_config, test_refused);
	g_test_add_data_func("/run/bad-case", bad_case, test_refused);
	g_test_add_data_func("/run/bad-input", bad_input, test_refused);
	g_test_add_func("/run/rerun-clears", test_rerun_clears);
	g_test_add_func("/run/trace", test_trace);
	g_test_add_func("/run/by-name", test_by_name);
	g_test_add_func("/run/bisect-sweep", test_bisect_sweep);
	g_test_add_func("/run/c2c", test_c2c);
	g_test_add_func("/run/verify", test_verify);
	return g_test_run();
}
