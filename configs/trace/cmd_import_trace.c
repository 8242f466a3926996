/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `slubsim import trace`: what is in a trace, before anything is simulated. */
#include <glib.h>
#include <stdio.h>

#include "configs/trace/summary.h"
#include "sim/command.h"

static int rows = 20;

static const GOptionEntry options[] = {
	{ "caches", 'n', 0, G_OPTION_ARG_INT, &rows,
	  "Show the N busiest caches, 0 for all (20)", "N" },
	{ NULL }
};

static int import_trace(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	struct trace *t;

	if (argc != 1) {
		fprintf(stderr, "slubsim: import trace: %d files, expected "
				"one\n",
			argc);
		return EXIT_USAGE;
	}
	if (rows < 0) {
		fprintf(stderr, "slubsim: import trace: --caches: %d, expected "
				"0 or more\n",
			rows);
		return EXIT_USAGE;
	}
	t = trace_open(argv[0], &error);
	if (t)
		text = trace_summary(t, argv[0], rows, &error);
	if (text && !trace_notes(t)->records &&
	    !trace_notes(t)->count[NOTE_COMMENT] &&
	    !trace_notes(t)->count[NOTE_OTHER_EVENT])
		g_set_error(&error, TRACE_ERROR, TRACE_ERROR_FORMAT,
			    "%s: no kmem event in %" G_GUINT64_FORMAT
			    " lines, expected ftrace, trace-cmd report or "
			    "perf script text, or a trace.dat",
			    argv[0], trace_notes(t)->lines);
	trace_close(t);
	if (error) {
		fprintf(stderr, "slubsim: %s\n", error->message);
		return EXIT_USAGE;
	}
	fputs(text, stdout);
	return EXIT_DONE;
}

const struct command cmd_import_trace = {
	.name = "import trace",
	.args = "FILE|-",
	.summary = "Tell what a kmem trace holds and how much of it replays",
	.description =
		"FILE is ftrace text (cat /sys/kernel/tracing/trace), the "
		"text of trace-cmd report or perf script, with or without "
		"call chains, or a trace.dat; plain or compressed with gzip, "
		"xz, zstd, bzip2 or lz4. A mail's quoting and wrapping is "
		"undone.\n\n"
		"Every record that cannot be replayed, or only after mending, "
		"is counted by its reason. To replay the trace, name it in an "
		"experiment whose workload is trace:\n\n"
		"  slubsim run trace-hackbench-sockets --set "
		"workload.file=FILE\n\n"
		"To record one:\n\n"
		"  perf record -a -e 'kmem:k*' -- COMMAND && perf script > "
		"FILE\n"
		"  trace-cmd record -e kmem COMMAND   (makes trace.dat)",
	.options = options,
	.run = import_trace,
};
