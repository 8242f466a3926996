/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/by_name.h"

#include <signal.h>
#include <stdio.h>

#include "results/out.h"
#include "results/run.h"
#include "sim/command.h"

bool by_name_misused(const struct by_name *o, const char *command)
{
	const char *wrong = NULL;

	if (o->iterations < 0 || o->jobs < 0) {
		fprintf(stderr, "slubsim: %s: --%s: expected a number from 1 "
				"on\n", command,
			o->jobs < 0 ? "jobs" : "iterations");
		return true;
	}
	if (!o->experiment)
		wrong = o->dir	      ? "output" :
			o->sets	      ? "set" :
			o->seed	      ? "seed" :
			o->iterations ? "iterations" :
			o->jobs	      ? "jobs" :
					NULL;
	if (wrong)
		fprintf(stderr, "slubsim: %s: --%s: expected --experiment "
				"CONFIG with it\n", command, wrong);
	return wrong;
}

/* results/compare-A-B */
static char *default_dir(char **variants)
{
	g_autofree char *names = g_strjoinv("-", variants);
	g_autofree char *all = g_strconcat("compare-", names, NULL);
	g_autofree char *safe = safe_name(all);

	return g_build_filename("results", safe, NULL);
}

char *by_name_run(const struct by_name *o, char **variants, int *code)
{
	g_autofree char *list = g_strjoinv(";", variants);
	g_autofree char *dir = o->dir ? g_strdup(o->dir) :
					default_dir(variants);
	g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	struct run_options run = {.seed = o->seed,
				  .iterations = o->iterations,
				  .jobs = o->jobs};
	int failed = 0, sig = 0;
	struct result *r;
	bool any;

	for (char **s = o->sets; s && *s; s++)
		g_ptr_array_add(sets, g_strdup(*s));
	g_ptr_array_add(sets, g_strconcat("experiment.variants=", list, NULL));
	g_ptr_array_add(sets, NULL);
	run.overrides = (char **)sets->pdata;
	r = run_experiment(o->experiment, dir, &run, &failed, &sig, &error);
	if (sig) {
		fflush(NULL);
		signal(sig, SIG_DFL);
		raise(sig);
	}
	any = r && r->points->len;
	result_free(r);
	if (any)
		return g_steal_pointer(&dir);
	*code = EXIT_RUN_FAILED;
	if (error) {
		fprintf(stderr, "slubsim: %s\n", error->message);
		if (error->domain != RESULT_ERROR)
			*code = EXIT_USAGE;
	}
	return NULL;
}
