/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may befall a run: killed at any moment, no memory, no room on the disk,
 * hostile machines, configs that look like commands. Whatever happens, a file
 * that is there is whole, and a run that says it succeeded did. $SLUBSIM names
 * the program.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/out.h"
#include "results/result.h"
#include "results/test_fixture.h"
#include "sim/command.h"

/* Address space that sanitizers reserve is no memory of ours. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMITS_WORK false
#else
#define LIMITS_WORK true
#endif

static const char conf[] = "[experiment]\n"
			   "name=trust\n"
			   "topology=desktop-i7-4790k\n"
			   "workload=bulk\n"
			   "variants=2015-fallback;2015-bulk-alloc\n"
			   "iterations=3\n"
			   "[workload]\n"
			   "sizes=1,8\n"
			   "rounds=2000\n";

struct limits {
	size_t address_space_mb; /* 0 = as it is */
	const char *stdout_to;	 /* NULL: /dev/null */
	bool keep_path;		 /* gnuplot may run */
};

static pid_t start(const char *dir, struct limits l, char **args)
{
	pid_t pid = fork();

	g_assert_cmpint(pid, >=, 0);
	if (pid)
		return pid;
	dup2(open(l.stdout_to ? l.stdout_to : "/dev/null", O_WRONLY), 1);
	if (chdir(dir))
		_exit(99);
	dup2(open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
	if (!l.keep_path)
		g_setenv("PATH", "/nonexistent", TRUE);
	if (l.address_space_mb) {
		rlim_t bytes = l.address_space_mb << 20;

		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
	}
	execv(args[0], args);
	_exit(98);
}

static int finish(pid_t pid)
{
	int status;

	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

static char *slubsim(void)
{
	return (char *)g_getenv("SLUBSIM");
}

static pid_t start_run(const char *dir, const char *out, struct limits l,
		       const char *option)
{
	char *args[] = {slubsim(), "run", "e.conf", "-o", (char *)out,
			"--jobs=2", (char *)option, NULL};

	return start(dir, l, args);
}

static char *new_place(const char *text)
{
	char *dir = fixture_dir();
	g_autofree char *path = g_build_filename(dir, "e.conf", NULL);

	g_assert_true(write_aside(path, text, NULL));
	return dir;
}

/* Every point that is there can be read; how many are. */
static int whole_points(const char *dir, const char *out)
{
	g_autofree char *points = g_build_filename(dir, out, "points", NULL);
	g_autoptr(GDir) d = g_dir_open(points, 0, NULL);
	const char *name;
	int n = 0;

	while (d && (name = g_dir_read_name(d))) {
		g_autofree char *path = g_build_filename(points, name, NULL);
		g_autoptr(GError) e = NULL;
		struct point *p;

		if (!g_str_has_suffix(name, ".json"))
			continue; /* what was being written aside */
		p = point_from_json(path, &e);
		g_assert_no_error(e);
		point_free(p);
		n++;
	}
	return n;
}

/* The text of result.json, which can be read if it is there. */
static char *whole_result(const char *dir, const char *out, bool *complete)
{
	g_autofree char *path = g_build_filename(dir, out, NULL);
	g_autoptr(GError) e = NULL;
	char *text = fixture_read(path, "result.json");
	struct result *r;

	*complete = false;
	if (!text)
		return NULL;
	r = result_load(path, &e);
	g_assert_no_error(e);
	*complete = r->complete;
	result_free(r);
	return text;
}

/* Killed again and again, softly and hard, it ends where one run does. */
static void test_kill_any_time(void)
{
	g_autofree char *dir = new_place(conf);
	g_autofree char *killed = NULL, *once = NULL;
	bool complete;
	int before = 0;

	for (int i = 0; i < 12; i++) {
		pid_t pid = start_run(dir, "killed", (struct limits){0},
				      "--resume");
		int points;

		g_usleep(g_test_rand_int_range(0, 250000));
		kill(pid, i % 2 ? SIGKILL : SIGINT);
		finish(pid);
		/* a hard kill's points end with their parent, not before it */
		g_usleep(20000);
		points = whole_points(dir, "killed");
		g_assert_cmpint(points, >=, before);
		before = points;
		g_free(whole_result(dir, "killed", &complete));
	}
	g_assert_cmpint(finish(start_run(dir, "killed", (struct limits){0},
					 "--resume")),
			==, 0);
	g_assert_cmpint(
		finish(start_run(dir, "once", (struct limits){0}, NULL)), ==,
		0);
	killed = whole_result(dir, "killed", &complete);
	g_assert_true(complete);
	once = whole_result(dir, "once", &complete);
	g_assert_cmpstr(killed, ==, once);
	fixture_remove(dir);
}

/* Less and less memory: a success is a whole one, and a failure says so. */
static void test_no_memory(void)
{
	g_autofree char *dir = new_place(conf);
	g_autofree char *once = NULL;
	int failed = 0, succeeded = 0;
	bool complete;

	if (!LIMITS_WORK) {
		g_test_skip("a sanitizer needs its address space");
		fixture_remove(dir);
		return;
	}
	g_assert_cmpint(
		finish(start_run(dir, "once", (struct limits){0}, NULL)), ==,
		0);
	once = whole_result(dir, "once", &complete);
	for (size_t mb = 40; mb <= 400; mb += mb < 140 ? 5 : 130) {
		g_autofree char *out = g_strdup_printf("mb-%zu", mb);
		struct limits l = {.address_space_mb = mb};
		int code = finish(start_run(dir, out, l, NULL));
		g_autofree char *text = whole_result(dir, out, &complete);

		whole_points(dir, out);
		if (code) {
			g_assert_false(complete);
			failed++;
		} else {
			g_assert_cmpstr(text, ==, once);
			succeeded++;
		}
	}
	g_test_message("%d failed, %d succeeded", failed, succeeded);
	g_assert_cmpint(failed, >, 0);
	g_assert_cmpint(succeeded, >, 0);
	fixture_remove(dir);
}

/* What can't be said to the end is a failure. */
static void test_full_stdout(void)
{
	g_autofree char *dir = new_place(conf);
	struct limits full = {.stdout_to = "/dev/full"};
	char *list[] = {slubsim(), "list", "variants", NULL};
	char *point[] = {slubsim(), "run", "e.conf", "--point=0", "-o", "-",
			 NULL};
	g_autofree char *err = NULL;

	g_assert_cmpint(finish(start(dir, full, list)), ==, EXIT_RUN_FAILED);
	g_assert_cmpint(finish(start(dir, full, point)), ==, EXIT_RUN_FAILED);
	err = fixture_read(dir, "stderr");
	g_assert_nonnull(strstr(err, "No space left on device"));
	g_assert_cmpint(finish(start_run(dir, "x", full, NULL)), ==,
			EXIT_RUN_FAILED);
	fixture_remove(dir);
}

/* Machines of any size are refused in no more memory than small ones. */
static void test_hostile_machines(void)
{
	static const char *const names[] = {
		"billion-cpus",	   "million-nodes",  "million-nodes-grid",
		"many-cpus-grid",  "many-digits-cpu", "huge-memory",
		"negative-distance"};
	struct limits l = {.address_space_mb = LIMITS_WORK ? 160 : 0};
	g_autofree char *dir = fixture_dir();

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *file = g_strdup_printf(
			SLUBSIM_CONFIGS "/testdata/bad/%s.conf", names[i]);
		char *args[] = {slubsim(), "check", file, NULL};
		g_autofree char *err = NULL;

		g_assert_cmpint(finish(start(dir, l, args)), ==, EXIT_USAGE);
		err = fixture_read(dir, "stderr");
		g_assert_nonnull(strstr(err, names[i]));
		g_assert_true(strchr(err, '\n') == err + strlen(err) - 1);
	}
	fixture_remove(dir);
}

/* Words that a shell, gnuplot or a browser would run are only words. */
static void test_data_is_data(void)
{
	static const char *const evil[] = {
		"`touch done`",
		"$(touch done)",
		"'; system('touch done'); '",
		"\"; system(\"touch done\"); \"",
		"$'; touch done; '",
	};

	for (guint i = 0; i < G_N_ELEMENTS(evil); i++) {
		g_autofree char *text = g_strdup_printf(
			"[experiment]\nname=x%s\ndescription=%s\n"
			"topology=desktop-i7-4790k\nworkload=bulk\n"
			"variants=2015-fallback;2015-bulk-alloc\n"
			"[workload]\nsizes=1,8\nrounds=5\n"
			"[fitted]\nworkload.rounds=%s\n",
			evil[i], evil[i], evil[i]);
		g_autofree char *dir = new_place(text);
		struct limits l = {.keep_path = true};
		const char *where[] = {"done", "out/done", "out/plots/done"};

		g_assert_cmpint(finish(start_run(dir, "out", l, NULL)), ==, 0);
		for (guint k = 0; k < G_N_ELEMENTS(where); k++) {
			g_autofree char *path =
				g_build_filename(dir, where[k], NULL);

			g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
		}
		fixture_remove(dir);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_nonnull(g_getenv("SLUBSIM"));
	g_test_add_func("/trust/kill-any-time", test_kill_any_time);
	g_test_add_func("/trust/no-memory", test_no_memory);
	g_test_add_func("/trust/full-stdout", test_full_stdout);
	g_test_add_func("/trust/hostile-machines", test_hostile_machines);
	g_test_add_func("/trust/data-is-data", test_data_is_data);
	return g_test_run();
}
