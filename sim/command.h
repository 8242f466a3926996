/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command of the slubsim program, described once.
 *
 * sim/main.c holds the table of all commands; --help, the man page and shell
 * completion come from it. Rooms implement commands in cmd_*.c files.
 */
#ifndef SIM_COMMAND_H
#define SIM_COMMAND_H

#include <glib.h>

enum { /* exit codes; 128+n on signal n comes by itself */
	EXIT_DONE = 0,
	EXIT_RUN_FAILED = 1, /* or: they differ, a regression */
	EXIT_USAGE = 2,	     /* wrong usage, config or input */
	EXIT_CANT_TELL = 125, /* compare: for git bisect run */
};

struct command {
	const char *name;    /* "run", or two words: "import topology" */
	const char *args;    /* "CONFIG..." */
	const char *summary; /* one line, no period */
	const char *description; /* paragraphs for the man page, or NULL */
	/* For completion, or NULL: words that arguments may be; kinds of names
	 * as slubsim list has them ("experiments variants"), and the long
	 * option without which they aren't names. */
	const char *words, *lists, *lists_with;
	/* NULL-terminated; arg_data points into the command's own file */
	const GOptionEntry *options;
	/* Gets what is left after the options; returns an exit code. Prints
	 * errors as "slubsim: FILE: ..." on stderr, one line. */
	int (*run)(int argc, char **argv);
};

/* All of them, NULL-terminated (sim/main.c). */
extern const struct command *const commands[];

/* Each is defined in the cmd_*.c file of its room. */
extern const struct command cmd_completion, cmd_man;	     /* sim */
extern const struct command cmd_check, cmd_list;	     /* configs */
extern const struct command cmd_run, cmd_compare, cmd_explain; /* results */
extern const struct command cmd_plot, cmd_bisect, cmd_validate; /* results */
extern const struct command cmd_import_trace;		     /* configs/trace */
extern const struct command cmd_script;			     /* results */
extern const struct command cmd_import_topology, cmd_import_cache;

#endif
