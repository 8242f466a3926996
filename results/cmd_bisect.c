/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim bisect --from A --to B: results/bisect.h does the work. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "results/bisect.h"
#include "results/out.h"
#include "results/run.h"
#include "sim/command.h"

static struct {
	char *from, *to, *experiment, *dir, *seed, **sets;
	int iterations, jobs, max_runs;
} opt = {.experiment = NULL};

static const GOptionEntry options[] = {
	{"from", 0, 0, G_OPTION_ARG_STRING, &opt.from, "Variant to begin with",
	 "VARIANT"},
	{"to", 0, 0, G_OPTION_ARG_STRING, &opt.to, "Variant to end with",
	 "VARIANT"},
	{"experiment", 'e', 0, G_OPTION_ARG_STRING, &opt.experiment,
	 "Experiment that measures them (default: memoryless-ublk)", "CONFIG"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &opt.dir,
	 "Folder for the results (default: results/bisect-FROM-TO)", "DIR"},
	{"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &opt.sets,
	 "Override a value of the config; may be repeated", "GROUP.KEY=VALUE"},
	{"seed", 0, 0, G_OPTION_ARG_STRING, &opt.seed,
	 "Seed of the first iteration", "N"},
	{"iterations", 0, 0, G_OPTION_ARG_INT, &opt.iterations,
	 "Iterations of each kernel (default: 1)", "N"},
	{"jobs", 'j', 0, G_OPTION_ARG_INT, &opt.jobs,
	 "Points run at once (default: one per core)", "N"},
	{"max-runs", 0, 0, G_OPTION_ARG_INT, &opt.max_runs,
	 "Kernels run at most beyond the sequence itself (default: 64)", "N"},
	{NULL}};

static char **command_words(const char *experiment)
{
	GPtrArray *v = g_ptr_array_new();

	g_ptr_array_add(v, g_strdup("slubsim"));
	g_ptr_array_add(v, g_strdup("bisect"));
	g_ptr_array_add(v, g_strdup_printf("--from=%s", opt.from));
	g_ptr_array_add(v, g_strdup_printf("--to=%s", opt.to));
	g_ptr_array_add(v, g_strdup_printf("--experiment=%s", experiment));
	for (char **s = opt.sets; s && *s; s++)
		g_ptr_array_add(v, g_strdup_printf("--set=%s", *s));
	if (opt.seed)
		g_ptr_array_add(v, g_strdup_printf("--seed=%s", opt.seed));
	if (opt.iterations)
		g_ptr_array_add(v, g_strdup_printf("--iterations=%d",
						   opt.iterations));
	if (opt.max_runs)
		g_ptr_array_add(v, g_strdup_printf("--max-runs=%d",
						   opt.max_runs));
	g_ptr_array_add(v, NULL);
	return (char **)g_ptr_array_free(v, FALSE);
}

static bool is_set(const char *key)
{
	g_autofree char *prefix = g_strconcat(key, "=", NULL);

	for (char **s = opt.sets; s && *s; s++)
		if (g_str_has_prefix(*s, prefix))
			return true;
	return false;
}

/* A sweep is cut to one case: what --set doesn't say must have one value only. */
static bool pick_case(const struct experiment *e, GPtrArray *sets,
		      GError **error)
{
	for (guint i = 0; e->sweep && i < e->sweep->len; i++) {
		const struct sweep_axis *a = e->sweep->pdata[i];
		g_autofree char *all = NULL;

		if (is_set(a->key))
			continue;
		if (g_strv_length(a->values) == 1) {
			g_ptr_array_add(sets, g_strdup_printf("%s=%s", a->key,
							      a->values[0]));
			continue;
		}
		all = g_strjoinv(", ", a->values);
		g_set_error(error, CONFIG_ERROR, 0,
			    "%s: [sweep] %s: bisect measures one case, expected "
			    "--set %s=VALUE with one of %s",
			    e->file, a->key, a->key, all);
		return false;
	}
	return true;
}

static struct experiment *load_with(const char *experiment, GPtrArray *sets,
				    GError **error)
{
	struct experiment *e;

	g_ptr_array_add(sets, NULL);
	e = config_load_experiment(experiment, (char **)sets->pdata, error);
	g_ptr_array_set_size(sets, sets->len - 1);
	return e;
}

static struct experiment *load(const char *experiment, GError **error)
{
	g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
	struct experiment *e;
	bool picked;

	for (char **s = opt.sets; s && *s; s++)
		g_ptr_array_add(sets, g_strdup(*s));
	g_ptr_array_add(sets, g_strdup_printf("experiment.variants=%s;%s",
					      opt.from, opt.to));
	e = load_with(experiment, sets, error);
	if (!e || !e->sweep)
		return e;
	picked = pick_case(e, sets, error);
	experiment_free(e);
	return picked ? load_with(experiment, sets, error) : NULL;
}

static bool write_text(const char *dir, const char *text, GError **error)
{
	struct outdir *out = outdir_open(dir, error);
	bool ok = out && outdir_write(out, "bisect.txt", text, error);

	outdir_close(out);
	return ok;
}

static int bisect(const char *experiment, GError **error)
{
	struct experiment *e = load(experiment, error);
	g_auto(GStrv) words = command_words(experiment);
	struct run_options o = {.seed = opt.seed,
				.iterations = MAX(opt.iterations, 1),
				.jobs = opt.jobs};
	g_autofree char *dir = NULL, *text = NULL;
	struct bisection *b;
	struct result *r;
	int failed = 0, sig = 0;

	b = e ? bisection_plan(e, opt.max_runs ? opt.max_runs : 64, error) :
		NULL;
	if (!b) {
		if (e)
			experiment_free(e);
		return EXIT_USAGE;
	}
	o.shown = 1 + b->steps->len;
	g_free(e->name);
	e->name = g_strdup_printf("bisect-%s-%s", opt.from, opt.to);
	dir = opt.dir ? g_strdup(opt.dir) :
			g_build_filename("results", e->name, NULL);
	r = run_loaded(e, words, dir, &o, &failed, &sig, error);
	if (r && r->points->len) {
		text = bisection_text(b, r);
		if (write_text(dir, text, error))
			printf("%s\nResults in %s\n", text, dir);
	}
	result_free(r);
	bisection_free(b);
	if (sig) {
		fflush(NULL);
		signal(sig, SIG_DFL);
		raise(sig);
	}
	if (*error)
		return (*error)->domain == RESULT_ERROR ? EXIT_RUN_FAILED :
							  EXIT_USAGE;
	return failed ? EXIT_RUN_FAILED : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	int code;

	if (argc || !opt.from || !opt.to) {
		fprintf(stderr, "slubsim: bisect: expected --from VARIANT --to "
				"VARIANT\n");
		return EXIT_USAGE;
	}
	if (opt.iterations < 0 || opt.jobs < 0 || opt.max_runs < 0) {
		fprintf(stderr, "slubsim: bisect: --iterations, --jobs, "
				"--max-runs: expected a number from 1 on\n");
		return EXIT_USAGE;
	}
	code = bisect(opt.experiment ? opt.experiment : "memoryless-ublk",
		      &error);
	if (error)
		fprintf(stderr, "slubsim: %s\n", error->message);
	return code;
}

const struct command cmd_bisect = {
	.name = "bisect",
	.args = "",
	.summary = "Find which feature between two variants makes the difference",
	.description =
		"The features in which the two variants differ are switched one "
		"by one, in the order of the kernel's history, also where the "
		"kernels between would not boot or never existed. Each step is "
		"measured in its place, alone on the first variant, and left "
		"out of the second; steps whose effects differ interact. What "
		"can't be combined waits or is skipped, with the reason.\n\n"
		"One case is measured: of an experiment with a [sweep] --set "
		"names the one, a value for each of its keys.",
	.options = options,
	.run = run,
};
