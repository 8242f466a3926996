/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim run CONFIG...: results/run.h does the work. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/command.h"
#include "results/run.h"
#include "results/trace_json.h"
#include "results/views.h"

static struct {
	char *dir, *seed, **sets, *trace_window;
	int iterations, jobs, point;
	gboolean exact_slow, c2c, verify, resume, list_points, bench;
} opt = {.point = -1};

static const GOptionEntry options[] = {
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &opt.dir,
	 "Folder for the results (default: results/NAME)", "DIR"},
	{"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &opt.sets,
	 "Override a value of the config; may be repeated", "GROUP.KEY=VALUE"},
	{"seed", 0, 0, G_OPTION_ARG_STRING, &opt.seed,
	 "Seed of the first iteration", "N"},
	{"iterations", 0, 0, G_OPTION_ARG_INT, &opt.iterations,
	 "Iterations, each with a seed of its own", "N"},
	{"jobs", 'j', 0, G_OPTION_ARG_INT, &opt.jobs,
	 "Points run at once (default: one per core)", "N"},
	{"resume", 0, 0, G_OPTION_ARG_NONE, &opt.resume,
	 "Keep the points in DIR that this program and config made", NULL},
	{"exact-slow", 0, 0, G_OPTION_ARG_NONE, &opt.exact_slow,
	 "Switch every shortcut of the simulator off", NULL},
	{"c2c", 0, 0, G_OPTION_ARG_NONE, &opt.c2c,
	 "Keep statistics of shared cache lines (c2c.txt)", NULL},
	{"trace-window", 0, 0, G_OPTION_ARG_STRING, &opt.trace_window,
	 "Write trace.json of this part of each first iteration, in us of "
	 "simulated time",
	 "FROM:TO"},
	{"verify", 0, 0, G_OPTION_ARG_NONE, &opt.verify,
	 "Prove the state of every cache after each point", NULL},
	{"list-points", 0, 0, G_OPTION_ARG_NONE, &opt.list_points,
	 "Run nothing, tell the points: index, done or todo, file, variant, "
	 "seed, coordinates",
	 NULL},
	{"point", 0, 0, G_OPTION_ARG_INT, &opt.point,
	 "Run this one point only, into DIR (or stdout with -o -)", "N"},
	{"bench", 0, 0, G_OPTION_ARG_NONE, &opt.bench,
	 "Run one point (--point N, else the first) and tell what it cost this "
	 "computer instead of what it found",
	 NULL},
	{NULL}};

/* Ends as the signal would have ended us: the shell shows 128+n. */
static void die_of(int sig)
{
	fflush(NULL);
	signal(sig, SIG_DFL);
	raise(sig);
}

static int tell_error(const GError *error)
{
	fprintf(stderr, "slubsim: %s\n", error->message);
	return error->domain == CONFIG_ERROR ? EXIT_USAGE : EXIT_RUN_FAILED;
}

/* --list-points and --point: what scripts/sweep is made of. */
static int run_part(const char *config, const char *dir,
		    const struct run_options *o)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) list = g_string_new(NULL);
	g_autofree char *json = NULL;

	if (opt.list_points) {
		if (!run_list(config, dir, o, list, &error))
			return tell_error(error);
		fputs(list->str, stdout);
	} else {
		if (!run_only(config, dir, o, opt.point, &json, &error))
			return tell_error(error);
		if (json && dir && !strcmp(dir, "-"))
			fputs(json, stdout);
	}
	return fflush(stdout) ? EXIT_RUN_FAILED : EXIT_DONE;
}

static void print_price(const struct point_price *p)
{
	double ns = p->run_s * 1e9, ops = MAX(1, p->operations);

	printf("cpus\t%d\n", p->nr_cpus);
	printf("operations\t%" PRIu64 "\n", p->operations);
	printf("simulated_cycles\t%" PRIu64 "\n", p->cycles);
	printf("start_ms\t%.1f\n", p->start_s * 1e3);
	printf("run_ms\t%.1f\n", p->run_s * 1e3);
	printf("ns_per_operation\t%.2f\n", ns / ops);
	printf("operations_per_s\t%.0f\n", ops / p->run_s);
	printf("events_per_operation\t%.4f\n", p->engine_events / ops);
	printf("turns_per_operation\t%.4f\n", p->turns / ops);
	printf("steps_per_operation\t%.4f\n", p->steps / ops);
	printf("meets_per_operation\t%.4f\n", p->meets / ops);
	printf("accesses_per_operation\t%.3f\n", p->accesses / ops);
	printf("sleep_ns\t%.1f\n", p->sleep_ns);
	printf("sleeps_per_operation\t%.4f\n", ns / ops / p->sleep_ns);
	printf("max_rss_kib\t%ld\n", p->max_rss_kib);
}

/* --bench: one point in this process, its result thrown away. */
static int run_bench(const char *config, struct run_options *o)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *json = NULL;
	struct point_price price = { 0 };

	o->point.price = &price;
	if (!run_only(config, "-", o, MAX(opt.point, 0), &json, &error))
		return tell_error(error);
	print_price(&price);
	return fflush(stdout) ? EXIT_RUN_FAILED : EXIT_DONE;
}

static int run_one(const char *config, const char *dir)
{
	g_autoptr(GError) error = NULL;
	struct run_options o = {
		.overrides = opt.sets,
		.seed = opt.seed,
		.iterations = opt.iterations,
		.jobs = opt.jobs,
		.resume = opt.resume,
		.point.verify = opt.verify,
	};
	int failed = 0, sig = 0;
	struct result *r;

	if (opt.exact_slow)
		o.point.machine_flags |= MACHINE_EXACT_SLOW;
	if (opt.trace_window) {
		o.point.machine_flags |= MACHINE_TRACE;
		o.point.trace_window = opt.trace_window;
		if (!trace_window_parse(opt.trace_window,
					&o.point.trace_from_us,
					&o.point.trace_to_us)) {
			fprintf(stderr, "slubsim: run: --trace-window %s: "
					"expected FROM:TO in us, FROM < TO\n",
				opt.trace_window);
			return EXIT_USAGE;
		}
	}
	if (opt.c2c)
		o.point.machine_flags |= MACHINE_LINE_STATS;
	if (opt.bench)
		return run_bench(config, &o);
	if (opt.list_points || opt.point >= 0)
		return run_part(config, dir, &o);
	r = run_experiment(config, dir, &o, &failed, &sig, &error);
	if (r && r->points->len) {
		g_autofree char *table = table_text(r, NULL);

		printf("%s\nResults in %s\n", table ? table : "", r->dir);
	}
	if (error)
		fprintf(stderr, "slubsim: %s\n", error->message);
	result_free(r);
	if (sig)
		die_of(sig);
	if (error)
		return error->domain == RESULT_ERROR ? EXIT_RUN_FAILED
						     : EXIT_USAGE;
	return failed ? EXIT_RUN_FAILED : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	int code = EXIT_DONE;

	if (argc < 1) {
		fprintf(stderr, "slubsim: run: which config? "
				"See slubsim list experiments\n");
		return EXIT_USAGE;
	}
	if (opt.iterations < 0 || opt.jobs < 0) {
		fprintf(stderr,
			"slubsim: run: --%s: expected a number from "
			"1 on\n",
			opt.jobs < 0 ? "jobs" : "iterations");
		return EXIT_USAGE;
	}
	if (argc > 1 && (opt.bench || opt.point >= 0)) {
		fprintf(stderr, "slubsim: run: --%s: expected one config, "
				"got %d\n",
			opt.bench ? "bench" : "point", argc);
		return EXIT_USAGE;
	}
	for (int i = 0; i < argc && code == EXIT_DONE; i++) {
		g_autofree char *dir = NULL;

		if (opt.dir && argc > 1) {
			/* a folder each */
			g_autofree char *base = g_path_get_basename(argv[i]);

			if (g_str_has_suffix(base, ".conf"))
				base[strlen(base) - 5] = '\0';
			dir = g_build_filename(opt.dir, base, NULL);
		}
		code = run_one(argv[i], dir ? dir : opt.dir);
	}
	return code;
}

const struct command cmd_run = {
	.name = "run",
	.args = "CONFIG...",
	.summary = "Run experiments and say what each variant costs",
	.description =
		"CONFIG is the name of a shipped experiment (slubsim list "
		"experiments) or a .conf file. Every variant, case and "
		"iteration is a point, run as a process of its own; the same "
		"program, config and seed give the same bytes, however many "
		"run at once.\n\n"
		"A run that is interrupted keeps the points it finished and "
		"marks the result incomplete; --resume goes on from there.",
	.lists = "experiments",
	.options = options,
	.run = run,
};
