/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim script FILE...: results/cases.h does the work. */
#include <stdio.h>

#include "results/cases.h"
#include "sim/command.h"

static struct {
	char *topology, *variant;
	gboolean check, verify;
} opt;

static const GOptionEntry options[] = {
	{"check", 0, 0, G_OPTION_ARG_NONE, &opt.check,
	 "Compare with the .out beside each script", NULL},
	{"topology", 0, 0, G_OPTION_ARG_STRING, &opt.topology,
	 "Run on this machine instead of the header's", "TOPOLOGY"},
	{"variant", 0, 0, G_OPTION_ARG_STRING, &opt.variant,
	 "Run this variant instead of the header's kernel", "VARIANT"},
	{"verify", 0, 0, G_OPTION_ARG_NONE, &opt.verify,
	 "Prove the cache's state after every operation", NULL},
	{NULL}};

static int print_outputs(struct case_runner *r, GPtrArray *cases)
{
	for (guint i = 0; i < cases->len; i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *out = script_case_run(r, cases->pdata[i],
						       &error);

		if (!out) {
			fprintf(stderr, "slubsim: %s\n", error->message);
			return error->domain == CASE_ERROR ? EXIT_RUN_FAILED :
							     EXIT_USAGE;
		}
		fputs(out, stdout);
	}
	return EXIT_DONE;
}

static int check(struct case_runner *r, GPtrArray *cases)
{
	guint agree = 0;

	for (guint i = 0; i < cases->len; i++) {
		g_autoptr(GString) report = g_string_new(NULL);

		agree += script_case_agrees(r, cases->pdata[i], report);
		fputs(report->str, stdout);
	}
	printf("%u of %u scripts agree\n", agree, cases->len);
	return agree == cases->len ? EXIT_DONE : EXIT_RUN_FAILED;
}

static int run(int argc, char **argv)
{
	g_autoptr(GPtrArray) cases = script_case_list_new();
	g_autoptr(GError) error = NULL;
	struct case_runner *r;
	int code = EXIT_USAGE;

	if (argc < 1) {
		fprintf(stderr, "slubsim: script: which script? Expected "
				"FILE.ops, or with --check a folder\n");
		return EXIT_USAGE;
	}
	for (int i = 0; i < argc && !error; i++) {
		if (!opt.check && g_file_test(argv[i], G_FILE_TEST_IS_DIR))
			g_set_error(&error, CASE_ERROR, 0,
				    "%s: a folder, expected a script (folders "
				    "only with --check)", argv[i]);
		else
			script_cases_find(argv[i], cases, &error);
	}
	r = error ? NULL : case_runner_new(opt.topology, opt.variant,
					   opt.verify, &error);
	if (r)
		code = opt.check ? check(r, cases) : print_outputs(r, cases);
	else
		fprintf(stderr, "slubsim: %s\n", error->message);
	case_runner_free(r);
	return code;
}

const struct command cmd_script = {
	.name = "script",
	.args = "FILE.ops...",
	.summary = "Run op scripts and show the counters, or check them",
	.description =
		"An op script is a cache and operations on it, one after the "
		"other, on named CPUs. Its header names the kernel and the "
		"machine; --variant and --topology take their place. What is "
		"printed is what the kernel would show in "
		"/sys/kernel/slab/CACHE; counters are kept even where the "
		"variant is built without SLUB_STATS.\n\n"
		"With --check, FILE may also be a folder or an archive of one "
		"(.tar.xz): every counter, list state and place that differs "
		"from the .out beside a script is printed, and how many "
		"scripts agree. Exit code 1 unless all do.",
	.options = options,
	.run = run,
};
