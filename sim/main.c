/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slubsim program: the table of its commands and what they share
 * (--help, --version, options, exit codes). A command is a cmd_*.c file of the
 * room it belongs to and a line in the table.
 */
#include <errno.h>
#include <glib.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "sim/command.h"
#include "sim/nearest.h"

/* In the order of --help: what a user needs first comes first. */
const struct command *const commands[] = {
	&cmd_run,
	&cmd_compare,
	&cmd_explain,
	&cmd_bisect,
	&cmd_plot,
	&cmd_validate,
	&cmd_check,
	&cmd_list,
	&cmd_script,
	&cmd_import_trace,
	&cmd_import_topology,
	&cmd_import_cache,
	&cmd_completion,
	&cmd_man,
	NULL
};

/* Commands named by one word, or by two ("import topology"). */
static const struct command *find_command(int argc, char **argv, int *words)
{
	const struct command *found = NULL;

	for (int i = 0; commands[i]; i++) {
		g_auto(GStrv) name = g_strsplit(commands[i]->name, " ", 2);
		int n = g_strv_length(name);

		if (argc < n || strcmp(argv[0], name[0]) ||
		    (n > 1 && strcmp(argv[1], name[1])))
			continue;
		if (!found || n > *words) {
			found = commands[i];
			*words = n;
		}
	}
	return found;
}

/* "import" alone: there is "import trace" and more. */
static void which_one(const char *word)
{
	size_t n = strlen(word);

	fprintf(stderr, "slubsim: %s: which one?", word);
	for (int i = 0; commands[i]; i++)
		if (!strncmp(commands[i]->name, word, n) &&
		    commands[i]->name[n] == ' ')
			fprintf(stderr, " %s", commands[i]->name + n + 1);
	fprintf(stderr, "; see slubsim --help\n");
}

static int unknown_command(int argc, char **argv)
{
	struct nearest nearest = { .word = argv[0] };

	for (int i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		size_t n = strlen(argv[0]);

		/* the first word of two: its commands are the answer */
		if (!strncmp(name, argv[0], n) && name[n] == ' ') {
			if (argc > 1 && argv[1][0] != '-')
				fprintf(stderr, "slubsim: %s: unknown command "
					"'%s'; see slubsim --help\n",
					argv[0], argv[1]);
			else
				which_one(argv[0]);
			return EXIT_USAGE;
		}
		nearest_offer(&nearest, name);
	}
	fprintf(stderr, "slubsim: unknown command '%.60s'", argv[0]);
	if (nearest.name)
		fprintf(stderr, ", did you mean '%s'?\n", nearest.name);
	else
		fprintf(stderr, "; see slubsim --help\n");
	return EXIT_USAGE;
}

static void print_help(FILE *f)
{
	int width = 0;

	fprintf(f, "Usage: slubsim COMMAND [OPTION...] [ARGUMENT...]\n"
		"\n"
		"Simulates the Linux SLUB allocator on modeled NUMA hardware.\n"
		"\n"
		"Commands:\n");
	for (int i = 0; commands[i]; i++)
		width = MAX(width, (int)strlen(commands[i]->name));
	for (int i = 0; commands[i]; i++)
		fprintf(f, "  %-*s  %s\n", width, commands[i]->name,
			commands[i]->summary);
	fprintf(f, "\n"
		"slubsim COMMAND --help tells a command's options.\n"
		"Exit codes: 0 done; 1 the run failed, or results differ; "
		"2 wrong usage,\n"
		"config or input; 125 no answer (compare); 128+n on signal "
		"n.\n");
}

static int run_command(const struct command *cmd, int argc, char **argv)
{
	g_autofree char *program = g_strdup_printf("slubsim %s", cmd->name);
	g_autoptr(GOptionContext) context = NULL;
	g_autoptr(GError) error = NULL;
	/* GLib moves arguments about and frees none */
	g_autofree char **args = g_new0(char *, argc + 2);
	int n = argc + 1;

	args[0] = program;
	memcpy(args + 1, argv, argc * sizeof(*argv));
	g_set_prgname(program);
	context = g_option_context_new(cmd->args);
	g_option_context_set_summary(context, cmd->summary);
	if (cmd->description)
		g_option_context_set_description(context, cmd->description);
	if (cmd->options)
		g_option_context_add_main_entries(context, cmd->options, NULL);
	if (!g_option_context_parse(context, &n, &args, &error)) {
		fprintf(stderr, "slubsim: %s: %s (see %s --help)\n", cmd->name,
			error->message, program);
		return EXIT_USAGE;
	}
	/* "--" has done its work */
	if (n > 1 && !strcmp(args[1], "--")) {
		memmove(args + 1, args + 2, (n - 1) * sizeof(*args));
		n--;
	}
	return cmd->run(n - 1, args + 1);
}

/* What was printed must have arrived: a full disk is an error. */
static int finish(int code)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "slubsim: standard output: %s\n",
			g_strerror(errno ? errno : EIO));
		return code ? code : EXIT_RUN_FAILED;
	}
	return code;
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	int words = 0;

	/* file names in the user's encoding, numbers always with '.' */
	setlocale(LC_CTYPE, "");
	setlocale(LC_NUMERIC, "C");

	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	argc--;
	argv++;
	if (!strcmp(argv[0], "--version")) {
		printf("slubsim %s\n", SLUBSIM_VERSION);
		return finish(EXIT_DONE);
	}
	if (!strcmp(argv[0], "help") && argc > 1) {
		static char help[] = "--help";
		char *two[] = { argv[1], argc > 2 ? argv[2] : help, help };

		cmd = find_command(argc > 2 ? 2 : 1, two, &words);
		if (!cmd)
			return unknown_command(1, argv + 1);
		return finish(run_command(cmd, 1, &two[2]));
	}
	if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h") ||
	    !strcmp(argv[0], "help")) {
		print_help(stdout);
		return finish(EXIT_DONE);
	}
	if (argv[0][0] == '-') {
		fprintf(stderr, "slubsim: unknown option '%.60s'; see slubsim "
			"--help\n", argv[0]);
		return EXIT_USAGE;
	}
	cmd = find_command(argc, argv, &words);
	if (!cmd)
		return unknown_command(argc, argv);
	return finish(run_command(cmd, argc - words, argv + words));
}
