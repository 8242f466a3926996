/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim import topology: what a reporter pasted, as a topology file. */
#include <stdio.h>
#include <string.h>

#include "configs/config.h"
#include "configs/import_caches.h"
#include "configs/import_kind.h"
#include "configs/import_resolve.h"
#include "sim/command.h"

static struct {
	char *output, *machine, *name;
	gint64 memory_mb;
	int cpus_per_node;
} args;

static const GOptionEntry options[] = {
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &args.output,
	 "Where to write the topology file (else to stdout)", "OUT.conf"},
	{"machine", 'm', 0, G_OPTION_ARG_STRING, &args.machine,
	 "Machine file that gives latencies and missing caches", "MACHINE"},
	{"name", 0, 0, G_OPTION_ARG_STRING, &args.name,
	 "Name of the topology (else that of the first file)", "NAME"},
	{"memory-mb", 0, 0, G_OPTION_ARG_INT64, &args.memory_mb,
	 "Memory of each node with CPUs where no input tells any", "MB"},
	{"cpus-per-node", 0, 0, G_OPTION_ARG_INT, &args.cpus_per_node,
	 "CPUs of each node where no input tells any", "N"},
	{NULL}};

static int usage(const char *what)
{
	fprintf(stderr, "slubsim: import topology: %s\n", what);
	return EXIT_USAGE;
}

/* "lscpu-epyc7601" of "dir/lscpu-epyc7601.txt", of harmless characters. */
static char *name_of(const char *path)
{
	g_autofree char *base = g_path_get_basename(path);
	char *dot = strrchr(base, '.');

	if (!strcmp(path, "-"))
		return g_strdup("imported");
	if (dot && dot > base)
		*dot = '\0';
	for (char *c = base; *c; c++)
		if (!g_ascii_isalnum(*c) && !strchr("-_.+", *c))
			*c = '-';
	return g_steal_pointer(&base);
}

/* "a.txt (numactl -H), b.xml (hwloc XML)" */
static char *describe(const GPtrArray *all)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < all->len; i++) {
		const struct machine_facts *f = all->pdata[i];

		g_string_append_printf(s, "%s%s (%s)", i ? ", " : "", f->name,
				       f->what);
	}
	return g_string_free(s, FALSE);
}

static bool load_machine(struct machine_params *p, GError **error)
{
	return !args.machine ||
	       config_load_machine(args.machine, NULL, p, error);
}

static bool import_all(int argc, char **argv, char **conf, GPtrArray **notes,
		       GError **error)
{
	struct resolve_options how = {args.memory_mb, args.cpus_per_node};
	g_autoptr(GPtrArray) all = facts_array_new();
	g_autofree char *name =
		args.name ? g_strdup(args.name) : name_of(argv[0]);
	g_autofree char *inputs = NULL, *caches = NULL;
	g_autofree char *machine = import_config_name(args.machine);
	struct machine_params params = {0};
	struct imported_machine *m;
	struct machine_facts *f;

	for (int i = 0; i < argc; i++)
		if (!facts_from_path(argv[i], all, error))
			return false;
	if (!load_machine(&params, error))
		return false;
	inputs = describe(all);
	f = facts_merge_all(all);
	m = facts_resolve(f, name, &how, error);
	if (!m)
		return false;
	caches = import_caches_to_conf(f, machine, machine ? &params : NULL,
				       m->notes);
	*conf = imported_machine_to_conf(m, f, inputs, machine, caches);
	*notes = g_ptr_array_ref(m->notes);
	imported_machine_free(m);
	return true;
}

static int run(int argc, char **argv)
{
	g_autoptr(GPtrArray) notes = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *conf = NULL;
	int from_stdin = 0;

	if (!argc)
		return usage("which file? Give one, or - for standard input");
	for (int i = 0; i < argc; i++)
		from_stdin += !strcmp(argv[i], "-");
	if (from_stdin > 1)
		return usage("- twice, expected once");
	if (args.memory_mb < 0 || args.memory_mb > 1 << 20)
		return usage("--memory-mb, expected 1 to 1048576");
	if (args.cpus_per_node < 0 || args.cpus_per_node > TOPOLOGY_MAX_CPUS)
		return usage("--cpus-per-node, expected 1 to 4096");
	if (!import_all(argc, argv, &conf, &notes, &error) ||
	    !import_write(args.output, conf, &error)) {
		fprintf(stderr, "slubsim: %s\n", error->message);
		return EXIT_USAGE;
	}
	for (guint i = 0; i < notes->len; i++)
		fprintf(stderr, "slubsim: note: %s\n", (char *)notes->pdata[i]);
	return EXIT_DONE;
}

const struct command cmd_import_topology = {
	.name = "import topology",
	.args = "FILE|DIR|-...",
	.summary = "Turn a posted numactl, lscpu, lstopo or sysfs copy into a "
		   "topology",
	.description =
		"Recognises the output of numactl -H, lscpu (plain, -p, -e, "
		"-J), lstopo (XML of hwloc 1.0 to 3.0) and copies of "
		"/sys/devices/system (a folder or a tar), also as quoted in a "
		"mail. Several files complete each other: numactl -H knows "
		"memory and distances, lscpu -p the cores and caches, hwloc "
		"leaves out nodes without memory.\n"
		"\n"
		"The topology file says above each value where it comes from; "
		"what was assumed is also told on standard error.\n"
		"\n"
		"A reporter runs: numactl -H; lscpu; lscpu -p. Then: slubsim "
		"import topology report.txt --machine NAME -o theirs.conf",
	.options = options,
	.run = run,
};
