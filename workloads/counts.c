/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/counts.h"

#include <string.h>

#include "sim/topology.h"

G_DEFINE_QUARK(counts - error - quark, counts_error)

struct reader {
	const char *file;
	int line, nr_cpus;
	bool allocs_seen, frees_seen;
	GError **error;
};

static bool fail(struct reader *r, const char *counter, const char *what)
{
	g_set_error(r->error, COUNTS_ERROR, 0, "%s:%d: %s: %s", r->file,
		    r->line, counter, what);
	return false;
}

/* Content of a counter: "TOTAL C0=N C3=N ...". */
static bool add_counter(struct reader *r, const char *counter,
			const char *content, uint64_t *sum)
{
	g_auto(GStrv) word = g_strsplit_set(content, " \t\r", -1);
	guint64 total, parts = 0;

	if (!g_ascii_string_to_unsigned(word[0], 10, 0, G_MAXUINT64, &total,
					NULL))
		return fail(r, counter, "no total, expected TOTAL C0=N ...");
	for (int i = 1; word[i]; i++) {
		g_auto(GStrv) part = NULL;
		guint64 cpu, n;

		if (!*word[i])
			continue;
		part = g_strsplit(word[i], "=", 2);
		if (part[0][0] != 'C' || !part[1] ||
		    !g_ascii_string_to_unsigned(part[0] + 1, 10, 0, G_MAXINT,
						&cpu, NULL) ||
		    !g_ascii_string_to_unsigned(part[1], 10, 0, G_MAXUINT64, &n,
						NULL))
			return fail(r, counter,
				    "a part is cut or damaged, "
				    "expected C<cpu>=<count>");
		if (cpu >= (guint64)r->nr_cpus)
			return fail(r, counter,
				    "a CPU that this machine "
				    "lacks");
		sum[cpu] += n;
		parts += n;
	}
	if (parts != total)
		return fail(r, counter,
			    "the CPUs' counts don't sum to the "
			    "total, expected a whole dump");
	return true;
}

static bool read_line(struct reader *r, const char *line, uint64_t *allocs,
		      uint64_t *frees)
{
	static const char *const alloc_names[] = {
		"alloc_fastpath", "alloc_slowpath", "alloc_cpu_sheaf", NULL};
	static const char *const free_names[] = {
		"free_fastpath", "free_slowpath", "free_cpu_sheaf", NULL};
	const char *colon = strchr(line, ':');
	g_autofree char *path = NULL, *name = NULL;

	if (!colon)
		return true;
	path = g_strndup(line, colon - line);
	name = g_path_get_basename(path);
	if (g_strv_contains(alloc_names, name)) {
		r->allocs_seen = true;
		return add_counter(r, name, colon + 1, allocs);
	}
	if (g_strv_contains(free_names, name)) {
		r->frees_seen = true;
		return add_counter(r, name, colon + 1, frees);
	}
	return true;
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
	struct reader r = {.file = file, .nr_cpus = nr_cpus, .error = error};
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(file, &text, NULL, error))
		return false;
	lines = g_strsplit(text, "\n", -1);
	for (int i = 0; lines[i]; i++) {
		r.line = i + 1;
		if (!read_line(&r, lines[i], allocs, frees))
			return false;
	}
	if (!r.allocs_seen || !r.frees_seen) {
		g_set_error(error, COUNTS_ERROR, 0,
			    "%s: no %s counters, "
			    "expected a SLUB_STATS dump of one cache",
			    file, r.allocs_seen ? "free" : "alloc");
		return false;
	}
	return true;
}

uint64_t counts_total(const char *file, const char *counter)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(file, &text, NULL, NULL))
		return 0;
	lines = g_strsplit(text, "\n", -1);
	for (int i = 0; lines[i]; i++) {
		char *colon = strchr(lines[i], ':');
		g_autofree char *name = NULL;

		if (!colon)
			continue;
		*colon = '\0';
		name = g_path_get_basename(lines[i]);
		if (!strcmp(name, counter))
			return g_ascii_strtoull(colon + 1, NULL, 10);
	}
	return 0;
}
