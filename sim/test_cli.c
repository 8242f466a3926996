/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program from outside: what it prints where and with which exit code.
 * The path of the program is the first argument.
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

static const char *program;

struct result {
	char *out, *err;
	int code;
};

static struct result run(const char *line)
{
	g_auto(GStrv) args = g_strsplit(line, " ", -1);
	g_autofree char **argv = g_new0(char *, g_strv_length(args) + 2);
	g_autoptr(GError) error = NULL;
	struct result r;
	int status;

	argv[0] = (char *)program;
	for (int i = 0; args[i] && *line; i++)
		argv[i + 1] = args[i];
	g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &r.out,
		     &r.err, &status, &error);
	g_assert_no_error(error);
	g_assert_true(WIFEXITED(status));
	r.code = WEXITSTATUS(status);
	return r;
}

static void result_clear(struct result *r)
{
	g_free(r->out);
	g_free(r->err);
}

/* Says exactly one line on stderr, that begins "slubsim: ". */
static void assert_one_line(const struct result *r)
{
	g_assert_true(g_str_has_prefix(r->err, "slubsim: "));
	g_assert_true(strchr(r->err, '\n') == r->err + strlen(r->err) - 1);
}

static void test_usage(void)
{
	const char *const good[] = { "--help", "-h", "help", "--version",
				     "help check", "check --help",
				     "list --help", "man --help",
				     "help import topology" };
	const char *const wrong[] = { "--versoin", "lits", "check", "list",
				      "list topologie", "list a b",
				      "check --foo", "man extra",
				      "completion fish", "import",
				      "import topologie", "help lits" };
	struct result r;

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		r = run(good[i]);
		g_assert_cmpint(r.code, ==, 0);
		g_assert_cmpstr(r.err, ==, "");
		g_assert_cmpstr(r.out, !=, "");
		result_clear(&r);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		r = run(wrong[i]);
		g_assert_cmpint(r.code, ==, 2);
		g_assert_cmpstr(r.out, ==, "");
		assert_one_line(&r);
		result_clear(&r);
	}
	r = run("lits");
	g_assert_nonnull(strstr(r.err, "did you mean 'list'?"));
	result_clear(&r);
	/* nothing is near */
	r = run("foo");
	g_assert_null(strstr(r.err, "did you mean"));
	result_clear(&r);
	r = run("import");
	g_assert_nonnull(strstr(r.err, "trace topology cache"));
	result_clear(&r);
	r = run("");
	g_assert_cmpint(r.code, ==, 2);
	g_assert_cmpstr(r.out, ==, "");
	result_clear(&r);
}

static void test_version(void)
{
	struct result r = run("--version");

	g_assert_cmpstr(r.out, ==, "slubsim " SLUBSIM_VERSION "\n");
	result_clear(&r);
}

static void test_list(void)
{
	const struct {
		const char *what, *contains;
	} lists[] = {
		{ "topologies", "zen4-2s-8node-2mem" },
		{ "variants", "v7.0-rc3-memoryless" },
		{ "features", "barns_on_memoryless" },
		{ "workloads", "hackbench" },
		{ "parameters", "machine.dram_remote_ns" },
		{ "estimates", "dram_remote_ns" },
		{ "experiments", "" },
		{ "machines", "haswell-i7-4790k" },
		{ "costs", "unit" },
		{ "codegen", "gcc15-x86_64" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		g_autofree char *line = g_strdup_printf("list %s",
							lists[i].what);
		struct result r = run(line);

		g_assert_cmpint(r.code, ==, 0);
		g_assert_cmpstr(r.err, ==, "");
		g_assert_nonnull(strstr(r.out, lists[i].contains));
		result_clear(&r);
	}
}

/* Every shipped config, of all kinds, with the real workloads. */
static void test_check(void)
{
	const char *const folders[] = { "topologies", "variants", "machines",
					"costs", "codegen", "experiments" };
	int n = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(folders); i++) {
		g_autofree char *line = g_strdup_printf("list %s", folders[i]);
		g_autoptr(GString) check = g_string_new("check");
		struct result names = run(line), r;
		g_auto(GStrv) lines = g_strsplit(names.out, "\n", -1);

		result_clear(&names);
		for (int k = 0; lines[k] && *lines[k]; k++) {
			g_string_append_printf(check, " %.*s",
					       (int)strcspn(lines[k], " "),
					       lines[k]);
			n++;
		}
		r = run(check->str);
		g_assert_cmpstr(r.err, ==, "");
		g_assert_cmpint(r.code, ==, 0);
		result_clear(&r);
	}
	g_assert_cmpint(n, >, 40);
}

static void test_check_wrong(void)
{
	struct result r = run("check --set machine.ipc=-1 haswell-i7-4790k");

	g_assert_cmpint(r.code, ==, 2);
	assert_one_line(&r);
	g_assert_nonnull(strstr(r.err, "[machine] ipc: '-1', expected"));
	result_clear(&r);
	r = run("check zen4-2s-8node-2mm");
	g_assert_cmpint(r.code, ==, 2);
	g_assert_nonnull(strstr(r.err, "did you mean zen4-2s-8node-2mem?"));
	result_clear(&r);
	/* one that is wrong hides none that is right */
	r = run("check nonsense.conf unit");
	g_assert_cmpint(r.code, ==, 2);
	assert_one_line(&r);
	g_assert_nonnull(strstr(r.out, "unit.conf"));
	result_clear(&r);
}

/* Values that are in their ranges but don't go together: the key is named. */
static void test_check_together(void)
{
	static const struct {
		const char *set, *config, *error;
	} bad[] = {
		{ "batch=999", "memoryless-ublk",
		  "batch: 999, expected at most depth = 128" },
		{ "cpu=77", "bulk-alloc-2015", "cpu: 77, expected a CPU" },
		{ "sizes=0", "bulk-alloc-2015", "sizes: '0', expected" },
		{ "total_mb=1048576", "bulk-refill-2026",
		  "total_mb: 1.04858e+06, expected at most 90 %" },
		{ "groups=10000", "hackbench-threads-sockets",
		  "groups: 10000 need about" },
		{ "store=90", "zram-mix", "store: 90, expected at most 100" },
		{ "cpus=4000", "zsmalloc-scaling", "cpus: 4000, expected at" },
		{ "file=-", "trace-example", "file: '-', expected a path" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autofree char *line = g_strdup_printf(
			"check --set workload.%s %s", bad[i].set,
			bad[i].config);
		g_autofree char *error = g_strdup_printf(
			"slubsim: --set: [workload] %s", bad[i].error);
		struct result r = run(line);

		g_assert_cmpint(r.code, ==, 2);
		assert_one_line(&r);
		if (!g_str_has_prefix(r.err, error))
			g_error("expected %s, got %s", error, r.err);
		result_clear(&r);
	}
}

/* -o writes an experiment that is one. */
static void test_import_trace(void)
{
	static const char trace[] = SLUBSIM_CONFIGS
		"/../workloads/testdata/skb-two-cpus.trace.txt";
	static const char *const wrong[] = { "import trace - -o x.conf",
					     "import trace x -t smp1",
					     "import trace",
					     "import trace nonesuch -o /x/y" };
	g_autofree char *dir = g_dir_make_tmp("slubsim-XXXXXX", NULL);
	g_autofree char *conf = g_build_filename(dir, "theirs.conf", NULL);
	g_autofree char *import = g_strdup_printf(
		"import trace %s -o %s -t smp1", trace, conf);
	g_autofree char *check = g_strdup_printf("check %s", conf);
	struct result r = run(import);

	g_assert_cmpstr(r.err, ==, "");
	g_assert_cmpint(r.code, ==, 0);
	g_assert_nonnull(strstr(r.out, "383 of 385 kmem records replayed"));
	result_clear(&r);
	r = run(check);
	g_assert_cmpstr(r.err, ==, "");
	g_assert_nonnull(strstr(r.out, "workload trace, 2 variants"));
	result_clear(&r);
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		r = run(wrong[i]);
		g_assert_cmpint(r.code, ==, 2);
		g_assert_cmpstr(r.out, ==, "");
		assert_one_line(&r);
		result_clear(&r);
	}
	g_unlink(conf);
	g_rmdir(dir);
}

/* The examples of configs/README.md: indented text that begins with a group. */
static void test_readme(void)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	int n = 0;

	g_assert_true(g_file_get_contents(SLUBSIM_CONFIGS "/README.md", &text,
					  NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (int i = 0; lines[i]; i++) {
		g_autoptr(GString) example = g_string_new(NULL);
		g_autofree char *path = NULL, *check = NULL;
		struct result r;
		int fd;

		if (!g_str_has_prefix(lines[i], "    ["))
			continue;
		for (; lines[i] && (!*lines[i] || *lines[i] == ' '); i++)
			g_string_append_printf(example, "%s\n",
					       *lines[i] ? lines[i] + 4 : "");
		fd = g_file_open_tmp("slubsim-XXXXXX.conf", &path, NULL);
		g_close(fd, NULL);
		g_file_set_contents(path, example->str, -1, NULL);
		check = g_strdup_printf("check %s", path);
		r = run(check);
		g_assert_cmpstr(r.err, ==, "");
		g_assert_cmpint(r.code, ==, 0);
		result_clear(&r);
		g_unlink(path);
		n++;
	}
	g_assert_cmpint(n, >=, 3);
}

/* One price is one process's, and no name may add lines to a config. */
static void test_refused(void)
{
	static const char *const calls[][2] = {
		{ "run fast-path trace-example --bench",
		  "slubsim: run: --bench: expected one config, got 2\n" },
		{ "run fast-path trace-example --point 0 -o x",
		  "slubsim: run: --point: expected one config, got 2\n" },
		{ "import trace 'a\n[x]' -o x.conf",
		  "slubsim: import trace: a name with a control character, "
		  "which no config can hold\n" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(calls); i++) {
		struct result r = run(calls[i][0]);

		g_assert_cmpstr(r.err, ==, calls[i][1]);
		g_assert_cmpint(r.code, ==, 2);
		result_clear(&r);
	}
}

/* One line on stderr, whichever command filled the disk. */
static void test_full_disk(gconstpointer command)
{
	g_autofree char *line = g_strdup_printf(
		"%s %s >/dev/full", program, (const char *)command);
	char *argv[] = { (char *)"sh", (char *)"-c", line, NULL };
	g_autofree char *err = NULL;
	int status;

	if (!g_file_test("/dev/full", G_FILE_TEST_EXISTS)) {
		g_test_skip("no /dev/full");
		return;
	}
	g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
		     &err, &status, NULL);
	g_assert_cmpint(WEXITSTATUS(status), ==, 1);
	g_assert_true(g_str_has_prefix(err, "slubsim: standard output: "));
	g_assert_cmpstr(strchr(err, '\n'), ==, "\n");
}

/* Completion is a script that bash accepts and that completes. */
static void test_completion(void)
{
	static const char *const tries[][2] = {
		{ "che", "check" },
		{ "list topo", "topologies" },
		{ "import topo", "topology" },
		{ "check --s", "--set" },
		/* names, where names are expected */
		{ "run cpus-", "cpus-512" },
		{ "check neoverse-", "neoverse-n1" },
		{ "compare -e far-", "far-node" },
		{ "explain --experiment = far-", "far-node" },
		{ "bisect -e far-", "far-node" },
		{ "bisect --from v7.2", "v7.2" },
		{ "bisect --to v7.2", "v7.2" },
		{ "compare -e far-node v7.2", "v7.2" },
		{ "compare v7.0 v7.2 --experiment far-", "far-node" },
		{ "explain --experiment = far-node v7.0 v7.2", "v7.2" },
		{ "import topology x.txt -m neo", "neoverse-n1" },
		/* and nowhere else */
		{ "compare v7.2", "" },
		{ "run -o cpus-", "" },
		{ "plot cpus-", "" },
	};
	g_autoptr(GString) line = g_string_new(NULL), expected =
		g_string_new(NULL);
	char *argv[] = { (char *)"bash", (char *)"-c", NULL, NULL };
	g_autofree char *path = g_canonicalize_filename(program, NULL);
	g_autofree char *out = NULL, *err = NULL;
	int status;

	/* no file there has a name of these */
	g_string_printf(line,
			"cd /; . /dev/stdin <<< \"$(%s completion bash)\"; "
			"try() { COMP_WORDS=(%s \"$@\"); COMP_CWORD=$#; "
			"_slubsim; echo \"$*: ${COMPREPLY[@]}\"; }\n",
			path, path);
	for (size_t i = 0; i < G_N_ELEMENTS(tries); i++) {
		g_string_append_printf(line, "try %s\n", tries[i][0]);
		g_string_append_printf(expected, "%s: %s\n", tries[i][0],
				       tries[i][1]);
	}
	argv[2] = line->str;
	g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
		     &err, &status, NULL);
	g_assert_cmpstr(err, ==, "");
	g_assert_cmpstr(out, ==, expected->str);
}

/* The page has every command of --help, and groff finds nothing wrong. */
static void test_man(void)
{
	struct result help = run("--help"), man = run("man");
	g_auto(GStrv) lines = g_strsplit(help.out, "\n", -1);
	g_autofree char *line = NULL, *err = NULL;
	int n = 0, status;

	for (int i = 0; lines[i]; i++) {
		g_autofree char *heading = NULL;
		char *end = strstr(lines[i] + MIN(2, strlen(lines[i])), "  ");

		if (!g_str_has_prefix(lines[i], "  ") || !end)
			continue;
		heading = g_strdup_printf(".SS \"slubsim %.*s",
					  (int)(end - lines[i] - 2),
					  lines[i] + 2);
		g_assert_nonnull(strstr(man.out, heading));
		n++;
	}
	g_assert_cmpint(n, >=, 4);
	result_clear(&help);
	result_clear(&man);
	line = g_strdup_printf("%s man | groff -man -Tutf8 -ww >/dev/null",
			       program);
	char *argv[] = { (char *)"sh", (char *)"-c", line, NULL };

	g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
		     &err, &status, NULL);
	if (WEXITSTATUS(status) == 127) {
		g_test_skip("no groff");
		return;
	}
	g_assert_cmpstr(err, ==, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_cmpint(argc, ==, 2);
	program = argv[1];
	g_test_add_func("/cli/usage", test_usage);
	g_test_add_func("/cli/version", test_version);
	g_test_add_func("/cli/list", test_list);
	g_test_add_func("/cli/check", test_check);
	g_test_add_func("/cli/check-wrong", test_check_wrong);
	g_test_add_func("/cli/check-together", test_check_together);
	g_test_add_func("/cli/import-trace", test_import_trace);
	g_test_add_func("/cli/refused", test_refused);
	g_test_add_func("/cli/readme", test_readme);
	g_test_add_data_func("/cli/full-disk/list", "list variants",
			     test_full_disk);
	g_test_add_data_func("/cli/full-disk/import", "import cache "
			     SLUBSIM_CONFIGS "/testdata/slab-grep-6.18.txt",
			     test_full_disk);
	g_test_add_func("/cli/completion", test_completion);
	g_test_add_func("/cli/man", test_man);
	return g_test_run();
}
