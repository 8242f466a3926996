/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variants of one experiment by name, run on the spot, for commands that
 * otherwise take the folders of finished runs:
 *
 *   slubsim compare v6.19-rc5 v7.0-rc3 -e memoryless-ublk
 */
#ifndef RESULTS_BY_NAME_H
#define RESULTS_BY_NAME_H

#include <glib.h>
#include <stdbool.h>

struct by_name { /* all zero: as the experiment has it */
	char *experiment, *dir, *seed, **sets;
	int iterations, jobs;
};

/* For a command's option table; @o is its struct by_name. */
#define BY_NAME_OPTIONS(o)                                                     \
	{"experiment", 'e', 0, G_OPTION_ARG_STRING, &(o).experiment,           \
	 "Run this experiment first; the arguments are variants", "CONFIG"},   \
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &(o).dir,                    \
	 "With -e: folder for its results (default: results/compare-A-B)",     \
	 "DIR"},                                                               \
	{"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(o).sets,                    \
	 "With -e: override a value of the config; may be repeated",           \
	 "GROUP.KEY=VALUE"},                                                   \
	{"seed", 0, 0, G_OPTION_ARG_STRING, &(o).seed,                         \
	 "With -e: seed of the first iteration", "N"},                         \
	{"iterations", 0, 0, G_OPTION_ARG_INT, &(o).iterations,                \
	 "With -e: iterations of each variant", "N"},                          \
	{"jobs", 'j', 0, G_OPTION_ARG_INT, &(o).jobs,                          \
	 "With -e: points run at once (default: one per core)", "N"}

/*
 * Runs @variants (NULL-terminated, at least one) of o->experiment. Returns the
 * folder, newly allocated, which holds at least one point; or NULL, everything
 * said on stderr, with the exit code in *@code. A signal that ends the run ends
 * the program. Points that failed are told, and the result is incomplete.
 */
char *by_name_run(const struct by_name *o, char **variants, int *code);

/* Whether options that need --experiment are given without; says so. */
bool by_name_misused(const struct by_name *o, const char *command);

#endif
