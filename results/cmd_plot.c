/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim plot RESULT...: draws a result's plots again, without a run. */
#include <stdio.h>

#include "results/plot.h"
#include "sim/command.h"

static int plot_one(const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *warning = NULL;
	struct result *r = result_load(path, &error);
	struct outdir *out;
	bool ok;

	if (!r) {
		fprintf(stderr, "slubsim: %s\n", error->message);
		return EXIT_USAGE;
	}
	out = outdir_open(r->dir, &error);
	ok = out && plots_write(out, "plots", r, (int)g_get_num_processors(),
				&warning, &error);
	outdir_close(out);
	result_free(r);
	if (error)
		fprintf(stderr, "slubsim: %s\n", error->message);
	if (warning)
		fprintf(stderr, "slubsim: %s\n", warning);
	return ok && !warning ? EXIT_DONE : EXIT_RUN_FAILED;
}

static int run(int argc, char **argv)
{
	int code = EXIT_DONE;

	if (argc < 1) {
		fprintf(stderr, "slubsim: plot: which results? Folders that "
				"slubsim run wrote\n");
		return EXIT_USAGE;
	}
	for (int i = 0; i < argc && code == EXIT_DONE; i++)
		code = plot_one(argv[i]);
	return code;
}

const struct command cmd_plot = {
	.name = "plot",
	.args = "RESULT...",
	.summary = "Draw the plots of results again, without running anything",
	.run = run,
};
