/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/counts.h"

#include <string.h>

#include "configs/slab/slab.h"

G_DEFINE_QUARK(counts - error - quark, counts_error)

static bool fail(GError **error, const struct slab_report *r,
		 const struct slab_value *v, const char *what)
{
	g_set_error(error, COUNTS_ERROR, 0, "%s:%d: %s: %s", r->file, v->line,
		    v->name, what);
	return false;
}

static bool add_counter(const struct slab_report *r, const struct slab_value *v,
			int nr_cpus, uint64_t *sum, GError **error)
{
	uint64_t parts = 0;

	if (!v->number)
		return fail(error, r, v, "no total, expected TOTAL C0=N ...");
	if (v->part_kind == 'N')
		return fail(error, r, v, "counts of nodes, expected C0=N ...");
	for (guint i = 0; i < v->parts->len; i++) {
		const struct slab_part *p =
			&g_array_index(v->parts, struct slab_part, i);

		if (p->id >= nr_cpus)
			return fail(error, r, v, "a CPU that this machine lacks");
		sum[p->id] += p->value;
		parts += p->value;
	}
	if (parts != v->total)
		return fail(error, r, v,
			    "the CPUs' counts don't sum to the total, expected "
			    "a whole dump");
	return true;
}

static bool add_counters(const struct slab_report *r, const char *what,
			 const char *const *names, int nr_cpus, uint64_t *sum,
			 GError **error)
{
	bool any = false;

	for (; *names; names++) {
		const struct slab_value *v = slab_report_find(r, *names);

		if (v && !add_counter(r, v, nr_cpus, sum, error))
			return false;
		any |= v != NULL;
	}
	if (!any)
		g_set_error(error, COUNTS_ERROR, 0,
			    "%s: no %s counters, expected a SLUB_STATS dump of "
			    "one cache",
			    r->file, what);
	return any;
}

/* The report of the one cache in @file, owned by @all. */
static const struct slab_report *read_report(const char *file, GPtrArray *all,
					     GError **error)
{
	if (!slab_reports_from_path(file, all, error))
		return NULL;
	if (all->len == 1)
		return all->pdata[0];
	g_set_error(error, COUNTS_ERROR, 0,
		    "%s: %u reports, expected a SLUB_STATS dump of one cache",
		    file, all->len);
	return NULL;
}

char *counts_path(const char *name)
{
	const char *configs = g_getenv("SLUBSIM_CONFIGS");

	if (strchr(name, '/') || g_file_test(name, G_FILE_TEST_EXISTS))
		return g_strdup(name);
	return g_build_filename(configs ? configs : SLUBSIM_CONFIGS, "..",
				"results", "published", name, NULL);
}

char *counts_check(const char *name)
{
	g_autofree char *path = counts_path(name);
	g_autofree uint64_t *sums = g_new0(uint64_t, TOPOLOGY_MAX_CPUS);
	g_autoptr(GError) error = NULL;

	if (counts_read(path, TOPOLOGY_MAX_CPUS, sums, sums, &error))
		return NULL;
	return g_strdup_printf("counts: %s", error->message);
}

bool counts_read(const char *file, int nr_cpus, uint64_t *allocs,
		 uint64_t *frees, GError **error)
{
	g_autoptr(GPtrArray) all = slab_reports_new();
	const struct slab_report *r = read_report(file, all, error);

	return r &&
	       add_counters(r, "alloc", slab_alloc_counters, nr_cpus, allocs,
			    error) &&
	       add_counters(r, "free", slab_free_counters, nr_cpus, frees,
			    error);
}

uint64_t counts_total(const char *file, const char *counter)
{
	g_autoptr(GPtrArray) all = slab_reports_new();
	const struct slab_report *r = read_report(file, all, NULL);

	return r ? MAX(slab_report_get(r, counter), 0) : 0;
}
