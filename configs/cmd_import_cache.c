/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slubsim import cache: what a reporter posted of a slab cache. */
#include <stdio.h>
#include <string.h>

#include "configs/config.h"
#include "configs/slab/summary.h"
#include "sim/command.h"

static struct {
	char *output, *cache, *variant, *topology, *variants;
	int nr_cpus, report;
	int rows;
	double scale;
} args = {.rows = 32};

static const GOptionEntry options[] = {
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &args.output,
	 "Write an experiment that replays the counts per CPU, and OUT.counts "
	 "beside it",
	 "OUT.conf"},
	{"cache", 'c', 0, G_OPTION_ARG_STRING, &args.cache,
	 "Only this cache of several", "NAME"},
	{"report", 'r', 0, G_OPTION_ARG_INT, &args.report,
	 "Only the N-th report of several", "N"},
	{"variant", 'v', 0, G_OPTION_ARG_STRING, &args.variant,
	 "Variant whose rules the sizes are compared with (else by the "
	 "counters' names)",
	 "VARIANT"},
	{"nr-cpus", 0, 0, G_OPTION_ARG_INT, &args.nr_cpus,
	 "CPUs of the machine; orders of slabs depend on it", "N"},
	{"cpus", 0, 0, G_OPTION_ARG_INT, &args.rows,
	 "Rows of the table per CPU at most (32)", "N"},
	{"topology", 't', 0, G_OPTION_ARG_STRING, &args.topology,
	 "Topology for the experiment", "TOPOLOGY"},
	{"variants", 0, 0, G_OPTION_ARG_STRING, &args.variants,
	 "Variants for the experiment (else the one compared with)",
	 "VARIANT;..."},
	{"scale", 0, 0, G_OPTION_ARG_DOUBLE, &args.scale,
	 "Factor for the counts (else such that a million are replayed)", "F"},
	{NULL}};

/* More reports than this are a table. */
enum { MAX_SUMMARIES = 20 };

static int usage(const char *what)
{
	fprintf(stderr, "slubsim: import cache: %s\n", what);
	return EXIT_USAGE;
}

/* The reports that were asked for; borrowed from @all. */
static GPtrArray *pick(const GPtrArray *all)
{
	GPtrArray *picked = g_ptr_array_new();

	for (guint i = 0; i < all->len; i++) {
		struct slab_report *r = all->pdata[i];

		if (args.cache && g_strcmp0(r->cache, args.cache))
			continue;
		g_ptr_array_add(picked, r);
	}
	if (args.report > 0 && (guint)args.report <= picked->len) {
		gpointer one = picked->pdata[args.report - 1];

		g_ptr_array_set_size(picked, 0);
		g_ptr_array_add(picked, one);
	}
	return picked;
}

static const char *variant_of(const struct slab_report *r)
{
	return args.variant ? args.variant : slab_variant_of(r);
}

static GPtrArray *check(const struct slab_report *r, GError **error)
{
	const char *name = variant_of(r);
	struct variant *v = config_load_variant(name, NULL, error);
	int cpus = args.nr_cpus ? args.nr_cpus : slab_cpus_seen(r);
	GPtrArray *checks;

	if (!v)
		return NULL;
	checks = slab_check_all(r);
	slab_check_geometry(r, &v->features, name, cpus, checks);
	variant_free(v);
	return checks;
}

/* So much that a run takes seconds. */
static double default_scale(const struct slab_report *r)
{
	int64_t fast = slab_report_get(r, "alloc_fastpath");
	int64_t slow = slab_report_get(r, "alloc_slowpath");
	double all = (double)MAX(fast, 0) + MAX(slow, 0);

	return all > 1e6 ? 1e6 / all : 1;
}

static char *name_of(const char *path)
{
	char *base = g_path_get_basename(path);

	if (g_str_has_suffix(base, ".conf"))
		base[strlen(base) - strlen(".conf")] = '\0';
	return base;
}

static bool write_experiment(const struct slab_report *r,
			     const GPtrArray *checks, GError **error)
{
	g_autofree char *name = name_of(args.output);
	g_autofree char *counts_path = NULL, *counts_name = NULL;
	g_autofree char *counts = NULL, *text = NULL;
	g_autofree char *topology = import_config_name(args.topology);
	struct slab_conf conf = {topology,
				 args.variants ? args.variants : variant_of(r)};

	if (!slab_has_counts(r))
		return import_fail(error, r->file, r->line,
				   "no allocations "
				   "and frees per CPU, expected counters of "
				   "SLUB_STATS to replay");
	counts_path = g_strconcat(args.output, ".counts", NULL);
	/* a run may be started anywhere */
	counts_name = g_canonicalize_filename(counts_path, NULL);
	conf.counts = counts_name;
	conf.scale = args.scale > 0 ? args.scale : default_scale(r);
	counts = slab_counts(r);
	text = slab_experiment(r, name, checks, &conf);
	return import_write(counts_path, counts, error) &&
	       import_write(args.output, text, error);
}

/* Many caches: their sizes, and what does not hold of which. */
static bool table(const GPtrArray *picked, GString *out, GError **error)
{
	guint failed = 0;

	slab_table(out, picked);
	for (guint i = 0; i < picked->len; i++) {
		g_autoptr(GPtrArray) checks = check(picked->pdata[i], error);

		if (!checks)
			return false;
		failed += slab_failures(out, picked->pdata[i], checks);
	}
	g_string_append_printf(out,
			       "%u caches, something fails in %u; --cache "
			       "NAME tells more of one\n",
			       picked->len, failed);
	return true;
}

static bool import_all(const char *path, GString *out, GError **error)
{
	g_autoptr(GPtrArray) all = slab_reports_new();
	g_autoptr(GPtrArray) picked = NULL;
	bool one;

	if (!slab_reports_from_path(path, all, error))
		return false;
	picked = pick(all);
	if (!picked->len)
		return import_fail(error, path, 0,
				   "no cache %s among %u, "
				   "expected one that is there",
				   args.cache, all->len);
	one = picked->len == 1;
	if (args.output && !one)
		return import_fail(error, path, 0,
				   "%u reports, expected one: "
				   "choose by --cache or --report",
				   picked->len);
	if (picked->len > MAX_SUMMARIES)
		return table(picked, out, error);
	for (guint i = 0; i < picked->len; i++) {
		const struct slab_report *r = picked->pdata[i];
		g_autoptr(GPtrArray) checks = check(r, error);

		if (!checks)
			return false;
		slab_summary(out, r, checks, variant_of(r), args.rows);
		if (args.output && !write_experiment(r, checks, error))
			return false;
	}
	return true;
}

static int run(int argc, char **argv)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	if (argc != 1)
		return usage("expected one file or folder, or - for standard "
			     "input");
	if (args.nr_cpus < 0 || args.nr_cpus > TOPOLOGY_MAX_CPUS)
		return usage("--nr-cpus, expected 1 to 4096");
	if (args.rows < 0 || args.report < 0 || args.scale < 0)
		return usage("--cpus, --report and --scale, expected no "
			     "negative number");
	if (!import_all(argv[0], out, &error) ||
	    !import_write(NULL, out->str, &error)) {
		fprintf(stderr, "slubsim: %s\n", error->message);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

const struct command cmd_import_cache = {
	.name = "import cache",
	.args = "FILE|DIR|-",
	.summary = "Check a posted slab dump and make an experiment of it",
	.description =
		"Recognises the attributes of /sys/kernel/slab/CACHE (a "
		"folder, grep . * in any arrangement, as one line of a mail), "
		"slabinfo -r and /proc/slabinfo.\n"
		"\n"
		"Prints the cache's sizes, which kernels have counters of "
		"these names, which identities between them hold, whether the "
		"sizes are those that the model computes, and allocations and "
		"frees per CPU.\n"
		"\n"
		"A reporter runs: cd /sys/kernel/slab/CACHE; grep . *. Then: "
		"slubsim import cache report.txt -o theirs.conf -t TOPOLOGY; "
		"slubsim run theirs.conf",
	.options = options,
	.run = run,
};
