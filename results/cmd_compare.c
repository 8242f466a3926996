/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim compare A B: results/compare.h does the work. */
#include <stdio.h>
#include <string.h>

#include "results/by_name.h"
#include "results/compare.h"
#include "sim/command.h"

static struct {
	char *format, *threshold, **metrics;
	struct by_name by_name;
} opt;

static const GOptionEntry options[] = {
	{"format", 'f', 0, G_OPTION_ARG_STRING, &opt.format,
	 "Table (default), tsv, json, or mmtests (raw input of its own compare)",
	 "FORMAT"},
	{"threshold", 't', 0, G_OPTION_ARG_STRING, &opt.threshold,
	 "Exit 1 if a mean is worse by more than PCT percent, 125 if that may "
	 "be chance",
	 "PCT"},
	{"metric", 'm', 0, G_OPTION_ARG_STRING_ARRAY, &opt.metrics,
	 "Metric or series to compare (default: the first a run reports); "
	 "'all', or repeat",
	 "NAME"},
	BY_NAME_OPTIONS(opt.by_name),
	{NULL}};

static char *formatted(const struct comparison *c)
{
	if (!opt.format || !strcmp(opt.format, "table"))
		return comparison_table(c);
	if (!strcmp(opt.format, "tsv"))
		return comparison_tsv(c);
	if (!strcmp(opt.format, "json"))
		return comparison_json(c);
	return comparison_mmtests(c);
}

static bool known_format(void)
{
	static const char *const formats[] = {"table", "tsv", "json", "mmtests",
					      NULL};

	if (!opt.format || g_strv_contains(formats, opt.format))
		return true;
	fprintf(stderr, "slubsim: compare: --format %s: expected table, tsv, "
			"json or mmtests\n", opt.format);
	return false;
}

static int run(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) sources = g_ptr_array_new();
	g_autofree char *text = NULL, *dir = NULL;
	struct comparison *c;
	double threshold = -1;
	int code;

	if (argc < 1) {
		fprintf(stderr, "slubsim: compare: which results? A folder that "
				"slubsim run wrote, or a posted table\n");
		return EXIT_USAGE;
	}
	if (!known_format() || by_name_misused(&opt.by_name, "compare"))
		return EXIT_USAGE;
	if (opt.threshold) {
		char *end;

		threshold = g_ascii_strtod(opt.threshold, &end);
		if (end == opt.threshold || (*end && strcmp(end, "%")) ||
		    !(threshold >= 0)) {
			fprintf(stderr, "slubsim: compare: --threshold %s: "
					"expected percent from 0 on\n",
				opt.threshold);
			return EXIT_USAGE;
		}
	}
	for (int i = 0; i < argc; i++)
		g_ptr_array_add(sources, argv[i]);
	g_ptr_array_add(sources, NULL);
	if (opt.by_name.experiment) {
		dir = by_name_run(&opt.by_name, (char **)sources->pdata, &code);
		if (!dir)
			return code;
		g_ptr_array_set_size(sources, 0);
		g_ptr_array_add(sources, dir);
		g_ptr_array_add(sources, NULL);
	}
	c = comparison_read((char **)sources->pdata, opt.metrics, &error);
	if (!c) {
		fprintf(stderr, "slubsim: %s\n", error->message);
		return EXIT_USAGE;
	}
	text = formatted(c);
	fputs(text, stdout);
	if (dir && !(opt.format && strcmp(opt.format, "table")))
		printf("\nResults in %s\n", dir);
	code = comparison_exit(c, threshold);
	if (code == EXIT_CANT_TELL)
		fprintf(stderr, "slubsim: compare: can't tell: %s\n",
			c->heads->len < 2 ? "one column only" :
			c->incomplete	  ? "points are missing" :
			threshold < 0	  ? "the columns share no row" :
					    "a difference beyond the threshold "
					    "may be chance, or no row is shared");
	comparison_free(c);
	return code;
}

const struct command cmd_compare = {
	.name = "compare",
	.args = "A [B...]",
	.summary = "Compare results in the layout of mmtests",
	.description =
		"A, B ... are folders that slubsim run wrote, single variants "
		"of one (DIR/VARIANT), tables that mmtests printed, or output "
		"of hackbench or slab_bulk_test ('-': standard input). With "
		"--experiment they are variants of it by name, which are run "
		"first. The "
		"first column is the baseline; positive percentages are "
		"better. A star says that the intervals of mean +- 1.96 "
		"standard deviations do not overlap (mmtests' rule); below "
		"each table stands Welch's t test.\n\n"
		"Exit code 0: nothing is worse by more than the threshold; 1: "
		"something is; 125: the data can't tell (for git bisect run).",
	.lists = "variants",
	.lists_with = "experiment",
	.options = options,
	.run = run,
};
