/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim explain A B: results/explain.h does the work. */
#include <stdio.h>
#include <string.h>

#include "results/by_name.h"
#include "results/explain.h"
#include "results/out.h"
#include "sim/command.h"

static struct {
	char *where, *folded;
	struct by_name by_name;
} opt;

static const GOptionEntry options[] = {
	{"case", 'c', 0, G_OPTION_ARG_STRING, &opt.where,
	 "Case of a sweep, as table.txt names it (default: where the headline "
	 "differs most)",
	 "CASE"},
	{"folded", 0, 0, G_OPTION_ARG_FILENAME, &opt.folded,
	 "Also write the stacks of both, for a differential flame graph",
	 "FILE"},
	BY_NAME_OPTIONS(opt.by_name),
	{NULL}};

static int fail(const GError *error)
{
	fprintf(stderr, "slubsim: %s\n", error->message);
	return EXIT_USAGE;
}

static int usage(const char *name, const char *expected)
{
	fprintf(stderr, "slubsim: explain: %s: expected %s\n", name, expected);
	return EXIT_USAGE;
}

/* The variant meant: the one named, the only one, or the @nth of a result that
 * stands for both. */
static const char *variant_of(const struct source *s, bool both, guint nth)
{
	guint n = g_strv_length(s->result->variants);

	if (s->variant)
		return s->variant;
	if (n == 1 || (both && n > nth))
		return s->result->variants[both ? nth : 0];
	return NULL;
}

static int explain_sources(const struct source *a, const struct source *b)
{
	g_autoptr(GError) error = NULL;
	const char *va, *vb;
	struct explanation *e;
	g_autofree char *text = NULL, *folded = NULL;
	int code = EXIT_DONE;

	if (!a->result || !b->result)
		return usage(a->result ? b->name : a->name,
			     "a folder that slubsim run wrote");
	if (a == b && g_strv_length(a->result->variants) != 2)
		return usage(a->name, "two variants in it, or two arguments: "
				      "DIR/VARIANT DIR/VARIANT");
	va = variant_of(a, a == b, 0);
	vb = variant_of(b, a == b, 1);
	if (!va || !vb)
		return usage(va ? b->name : a->name,
			     "one variant: DIR/VARIANT");
	e = explain(a->result, va, b->result, vb, opt.where, &error);
	if (!e)
		return fail(error);
	text = explanation_text(e);
	fputs(text, stdout);
	if (opt.folded) {
		folded = explanation_folded(e);
		if (!write_aside(opt.folded, folded, &error)) {
			fail(error);
			code = EXIT_RUN_FAILED;
		}
	}
	explanation_free(e);
	return code;
}

static int explain_by_name(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = NULL;
	struct source *s;
	int code;

	if (argc != 2)
		return usage("arguments", "A B, variants of the experiment");
	dir = by_name_run(&opt.by_name, (char *[]){argv[0], argv[1], NULL},
			  &code);
	if (!dir)
		return code;
	s = source_read(dir, &error);
	code = s ? explain_sources(s, s) : fail(error);
	source_free(s);
	if (code == EXIT_DONE)
		printf("\nResults in %s\n", dir);
	return code;
}

static int run(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct source *a, *b;
	int code;

	if (by_name_misused(&opt.by_name, "explain"))
		return EXIT_USAGE;
	if (opt.by_name.experiment)
		return explain_by_name(argc, argv);
	if (argc < 1 || argc > 2)
		return usage("arguments", "A B, each DIR/VARIANT, or a DIR with "
					  "two variants");
	a = source_read(argv[0], &error);
	if (!a)
		return fail(error);
	b = argc > 1 ? source_read(argv[1], &error) : a;
	code = b ? explain_sources(a, b) : fail(error);
	if (b != a)
		source_free(b);
	source_free(a);
	return code;
}

const struct command cmd_explain = {
	.name = "explain",
	.args = "A B",
	.summary = "Say where the difference between two results comes from",
	.description =
		"A and B are variants of result folders: DIR/VARIANT, or a "
		"folder with one variant; a single folder with two variants "
		"stands for both. With --experiment they are variants of it by "
		"name, which are run first. The difference in cycles per operation is "
		"split by cause (waiting by class and node of the lock) and by "
		"function, largest first; each list sums to the whole. A "
		"sentence on top says it in words.",
	.lists = "variants",
	.lists_with = "experiment",
	.options = options,
	.run = run,
};
