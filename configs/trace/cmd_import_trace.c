/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `slubsim import trace`: what is in a trace, before anything is simulated. */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "configs/import_text.h"
#include "configs/trace/summary.h"
#include "sim/command.h"

/* As the shipped experiments with traces: cpu slabs, and sheaves. */
#define VARIANTS "v6.12;v7.1-fixed"

static struct {
	char *output, *topology, *variants;
	int rows;
} args = { .rows = 20 };

static const GOptionEntry options[] = {
	{ "output", 'o', 0, G_OPTION_ARG_FILENAME, &args.output,
	  "Write an experiment that replays the trace", "OUT.conf" },
	{ "caches", 'n', 0, G_OPTION_ARG_INT, &args.rows,
	  "Show the N busiest caches, 0 for all (20)", "N" },
	{ "topology", 't', 0, G_OPTION_ARG_STRING, &args.topology,
	  "Topology for the experiment", "TOPOLOGY" },
	{ "variants", 0, 0, G_OPTION_ARG_STRING, &args.variants,
	  "Variants for the experiment (" VARIANTS ")", "VARIANT;..." },
	{ NULL }
};

static int usage(const char *what)
{
	fprintf(stderr, "slubsim: import trace: %s\n", what);
	return EXIT_USAGE;
}

/* What goes into a config must not end its line. */
static bool is_one_line(const char *s)
{
	for (; s && *s; s++)
		if (g_ascii_iscntrl(*s))
			return false;
	return true;
}

static bool write_experiment(const char *path, GError **error)
{
	g_autofree char *name = g_path_get_basename(args.output);
	g_autofree char *topology = import_config_name(args.topology);
	/* a run may be started anywhere */
	g_autofree char *file = g_canonicalize_filename(path, NULL);
	g_autoptr(GString) s = g_string_new(NULL);

	if (g_str_has_suffix(name, ".conf"))
		name[strlen(name) - strlen(".conf")] = '\0';
	g_string_append_printf(s,
			       "# Written by slubsim import trace from %s.\n\n"
			       "[experiment]\nname=%s\ndescription=a recorded "
			       "trace replayed\nworkload=trace\nvariants=%s\n",
			       path, name,
			       args.variants ? args.variants : VARIANTS);
	if (topology)
		g_string_append_printf(s, "topology=%s\n", topology);
	else
		g_string_append(s, "# topology: name one, as with slubsim "
				   "import topology\n");
	g_string_append_printf(s,
			       "\n[workload]\nfile=%s\n"
			       "# the trace's own time; 0 = back to back\n"
			       "time_scale=1\n",
			       file);
	return import_write(args.output, s->str, error);
}

static int import_trace(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	struct trace *t;

	if (argc != 1)
		return usage("expected one file, or - for standard input");
	if (args.rows < 0)
		return usage("--caches, expected 0 or more");
	if (args.output && !strcmp(argv[0], "-"))
		return usage("--output, expected a file: a replay reads the "
			     "trace anew");
	if (!args.output && (args.topology || args.variants))
		return usage("--topology and --variants are for an experiment, "
			     "expected --output too");
	if (args.output &&
	    (!is_one_line(argv[0]) || !is_one_line(args.output) ||
	     !is_one_line(args.topology) || !is_one_line(args.variants)))
		return usage("a name with a control character, which no config "
			     "can hold");
	t = trace_open(argv[0], &error);
	if (t)
		text = trace_summary(t, argv[0], args.rows, &error);
	if (text && !trace_notes(t)->records &&
	    !trace_notes(t)->count[NOTE_COMMENT] &&
	    !trace_notes(t)->count[NOTE_OTHER_EVENT])
		g_set_error(&error, TRACE_ERROR, TRACE_ERROR_FORMAT,
			    "%s: no kmem event in %" G_GUINT64_FORMAT
			    " lines, expected ftrace, trace-cmd report or "
			    "perf script text, or a trace.dat",
			    argv[0], trace_notes(t)->lines);
	if (!error && args.output && !trace_notes(t)->records)
		g_set_error(&error, TRACE_ERROR, TRACE_ERROR_FORMAT,
			    "%s: no kmem event, nothing to replay", argv[0]);
	trace_close(t);
	if (!error && args.output)
		write_experiment(argv[0], &error);
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
		"is counted by its reason. To replay the trace:\n\n"
		"  slubsim import trace FILE -o theirs.conf -t TOPOLOGY\n"
		"  slubsim run theirs.conf\n\n"
		"To record one:\n\n"
		"  perf record -a -e 'kmem:k*' -- COMMAND && perf script > "
		"FILE\n"
		"  trace-cmd record -e kmem COMMAND   (makes trace.dat)",
	.options = options,
	.run = import_trace,
};
