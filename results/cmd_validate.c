/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim validate [NAME...]: every published table, predicted anew. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sim/command.h"
#include "results/out.h"
#include "results/run.h"
#include "results/validation.h"

static struct {
	char *dir, *from;
	int jobs, iterations;
	gboolean ranges, resume;
} opt;

static const GOptionEntry options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &opt.dir,
	  "Folder for validation.tsv and the runs (default: results)", "DIR" },
	{ "jobs", 'j', 0, G_OPTION_ARG_INT, &opt.jobs,
	  "Points run at once (default: one per core)", "N" },
	{ "iterations", 0, 0, G_OPTION_ARG_INT, &opt.iterations,
	  "Iterations instead of each experiment's own number", "N" },
	{ "from", 0, 0, G_OPTION_ARG_FILENAME, &opt.from,
	  "Print the summary of this validation.tsv, run nothing", "FILE" },
	{ "ranges", 0, 0, G_OPTION_ARG_NONE, &opt.ranges,
	  "Run at both ends of each estimate's range and print how much each "
	  "predicted row moves", NULL },
	{ "resume", 0, 0, G_OPTION_ARG_NONE, &opt.resume,
	  "Keep the points in DIR that this program made", NULL },
	{ NULL }
};

static char *reasons_file(void)
{
	const char *dir = g_getenv("SLUBSIM_PUBLISHED");

	return g_build_filename(dir ? dir : SLUBSIM_PUBLISHED,
				"disagreements.conf", NULL);
}

static int say(GError *error)
{
	fprintf(stderr, "slubsim: %s\n", error->message);
	return error->domain == CONFIG_ERROR ? EXIT_USAGE : EXIT_RUN_FAILED;
}

/* Runs @name with @sets and appends its rows; an exit code. */
static int run_rows(const char *name, const char *dir, char **sets,
		    GPtrArray *rows)
{
	g_autoptr(GError) error = NULL;
	struct run_options o = { .overrides = sets,
				 .jobs = opt.jobs,
				 .iterations = opt.iterations,
				 .resume = opt.resume };
	int failed = 0, sig = 0;
	struct result *r = run_experiment(name, dir, &o, &failed, &sig, &error);

	if (r && !error && !sig)
		validation_add(rows, r, &error);
	result_free(r);
	if (sig) {
		fflush(NULL);
		signal(sig, SIG_DFL);
		raise(sig);
	}
	if (error)
		return say(error);
	return failed ? EXIT_RUN_FAILED : EXIT_DONE;
}

/* The shipped experiments that name a published table; or @argv. */
static int experiments(int argc, char **argv, GPtrArray *names)
{
	g_auto(GStrv) shipped = NULL;

	for (int i = 0; i < argc; i++)
		g_ptr_array_add(names, g_strdup(argv[i]));
	if (argc)
		return EXIT_DONE;
	shipped = config_list("experiments");
	for (char **n = shipped; *n; n++) {
		g_autoptr(GError) error = NULL;
		struct experiment *e = config_load_experiment(*n, NULL,
							      &error);

		if (!e)
			return say(error);
		if (e->published)
			g_ptr_array_add(names, g_strdup(*n));
		experiment_free(e);
	}
	return EXIT_DONE;
}

/* ---- ranges ---- */

static void print_influence(const char *where, const struct estimate *e,
			    const GPtrArray *base, const GPtrArray *low,
			    const GPtrArray *high)
{
	for (guint i = 0; i < base->len; i++) {
		const struct validation_row *b = base->pdata[i];
		const struct validation_row *l = low->pdata[i];
		const struct validation_row *h = high->pdata[i];

		if (b->status != VALIDATION_PREDICTED)
			continue;
		printf("%s.%s\t%c\t%g\t%g\t%g\t%s\t%s\t%s\t%+.2f\t%+.2f\n",
		       where, e->param->key, e->kind, e->low, e->value,
		       e->high, b->experiment, b->variant, b->where,
		       100 * (l->simulated / b->simulated - 1),
		       100 * (h->simulated / b->simulated - 1));
	}
}

static int ranges_of(const char *name, const char *dir, const char *folder,
		     const char *file, const char *group,
		     const GPtrArray *base)
{
	g_autoptr(GError) error = NULL;
	GPtrArray *list = config_estimates(folder, file, &error);
	int code = EXIT_DONE;

	if (!list)
		return say(error);
	for (guint i = 0; i < list->len && code == EXIT_DONE; i++) {
		const struct estimate *e = list->pdata[i];
		GPtrArray *rows[2] = { validation_new(), validation_new() };

		for (int end = 0; end < 2 && code == EXIT_DONE; end++) {
			char number[G_ASCII_DTOSTR_BUF_SIZE];
			char *sets[2] = { NULL, NULL };

			g_ascii_formatd(number, sizeof(number), "%.10g",
					end ? e->high : e->low);
			sets[0] = g_strdup_printf("%s.%s=%s", group,
						  e->param->key, number);
			code = run_rows(name, dir, sets, rows[end]);
			g_free(sets[0]);
		}
		if (code == EXIT_DONE && rows[0]->len == base->len &&
		    rows[1]->len == base->len)
			print_influence(group, e, base, rows[0], rows[1]);
		g_ptr_array_unref(rows[0]);
		g_ptr_array_unref(rows[1]);
	}
	g_ptr_array_unref(list);
	return code;
}

static int ranges(const char *name, const char *dir, const GPtrArray *base)
{
	g_autoptr(GError) error = NULL;
	struct experiment *e = config_load_experiment(name, NULL, &error);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	int code = EXIT_DONE;

	if (!e)
		return say(error);
	if (e->topology->machine)
		code = ranges_of(name, dir, "machines", e->topology->machine,
				 "machine", base);
	for (guint i = 0; i < e->variants->len && code == EXIT_DONE; i++) {
		const struct variant *v = e->variants->pdata[i];

		if (g_hash_table_add(seen, v->costs_name))
			code = ranges_of(name, dir, "costs", v->costs_name,
					 "instructions", base);
	}
	experiment_free(e);
	return code;
}

/* ---- the command ---- */

static int print_summary(const GPtrArray *rows)
{
	g_autofree char *reasons = reasons_file();
	g_autofree char *text = validation_summary(rows, reasons);

	fputs(text, stdout);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	const char *dir = opt.dir ? opt.dir : "results";
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) rows = validation_new();
	g_autoptr(GError) error = NULL;
	g_autofree char *path = g_build_filename(dir, "validation.tsv", NULL);
	int code;

	if (opt.from) {
		g_autoptr(GPtrArray) old = validation_read(opt.from, &error);

		return old ? print_summary(old) : say(error);
	}
	code = experiments(argc, argv, names);
	if (opt.ranges)
		printf("parameter\tkind\tlow\tvalue\thigh\texperiment\t"
		       "variant\twhere\tlow_changes_pct\thigh_changes_pct\n");
	for (guint i = 0; i < names->len && code == EXIT_DONE; i++) {
		const char *name = names->pdata[i];
		g_autofree char *base = g_path_get_basename(name);
		g_autofree char *out = g_build_filename(dir, base, NULL);
		g_autoptr(GPtrArray) own = validation_new();

		code = run_rows(name, out, NULL, own);
		if (code == EXIT_DONE && opt.ranges) {
			g_autofree char *aside = g_strconcat(out, "-ranges",
							     NULL);

			code = ranges(name, aside, own);
		}
		while (own->len)
			g_ptr_array_add(rows,
					g_ptr_array_steal_index(own, 0));
	}
	if (code != EXIT_DONE || opt.ranges)
		return code;
	{
		g_autofree char *tsv = validation_tsv(rows);

		if (!write_aside(path, tsv, &error))
			return say(error);
	}
	return print_summary(rows);
}

const struct command cmd_validate = {
	.name = "validate",
	.args = "[NAME...]",
	.summary = "Predict the published tables anew and tell the errors",
	.description =
		"Runs the experiments named, or all shipped ones that a table "
		"was published for, writes DIR/validation.tsv (a row per "
		"published figure: published, simulated, error, fitted or "
		"predicted) and prints a summary.",
	.lists = "experiments",
	.options = options,
	.run = run,
};
