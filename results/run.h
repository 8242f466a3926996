/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An experiment, expanded to points and run, each point a process.
 *
 * The points are variants x cases of the sweep x iterations; iteration i runs
 * with seed + i, so the variants of an iteration see the same chances.
 */
#ifndef RESULTS_RUN_H
#define RESULTS_RUN_H

#include "configs/config.h"
#include "results/point.h"
#include "results/result.h"

struct run_options {
	char **overrides;      /* --set, NULL-terminated or NULL */
	const char *seed;      /* text as given, or NULL */
	int iterations;	       /* 0 = the experiment's */
	int jobs;	       /* at once, 0 = all cores */
	bool resume;	       /* keep points that this program made already */
	int shown; /* so many variants stand in tables and plots, 0 = all */
	struct point_options point;
};

/*
 * Runs @config into the folder @dir (NULL: results/NAME). Returns the result
 * as written there, or NULL with @error set where nothing could be run
 * (CONFIG_ERROR: exit 2). Points that failed are told on stderr, @failed says
 * how many; *@signal is set if one ended the run early.
 */
struct result *run_experiment(const char *config, const char *dir,
			      const struct run_options *options, int *failed,
			      int *signal, GError **error);

/*
 * The same plan taken apart, for scripts/sweep: a point is one process anywhere.
 *
 * run_list() appends a line per point: its index, "done" or "todo" (done: @dir
 * holds the very point that would be made), its file below the folder, variant,
 * seed and coordinates, separated by tabs. run_only() makes point @index and
 * writes it to its file below @dir, or returns its JSON in *@json if @dir is
 * "-"; a point that is done already is left alone. Neither locks the folder;
 * run_experiment() with .resume collects what is there.
 */
bool run_list(const char *config, const char *dir,
	      const struct run_options *options, GString *out, GError **error);
bool run_only(const char *config, const char *dir,
	      const struct run_options *options, int index, char **json,
	      GError **error);

/*
 * The same for an experiment that the caller has loaded, and changed, as
 * @command would: one case. Takes @e over. @command is what the result names
 * to repeat it: NULL-terminated words.
 */
struct result *run_loaded(struct experiment *e, char **command, const char *dir,
			  const struct run_options *options, int *failed,
			  int *signal, GError **error);

#endif
