/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz targets: any bytes as the input of an importer, one program per parser
 * (PARSER). What is refused is refused in one line that names the input; what
 * is a machine makes a topology file, what is a slab report a summary.
 */
#include <string.h>

#include "configs/fuzz.h"
#include "configs/import_caches.h"
#include "configs/import_kind.h"
#include "configs/import_resolve.h"
#include "configs/slab/summary.h"
#include "configs/import_tree.h"

enum parser {
	numactl,
	lscpu,
	lscpu_table,
	lscpu_json,
	hwloc,
	tar,
	recognised,
	slab_sysfs,
	slab_report,
	slab_proc
};

static void check_error(bool fine, const GError *error)
{
	g_assert_true(fine == (error == NULL));
	if (!error)
		return;
	g_assert_null(strchr(error->message, '\n'));
	g_assert_true(g_str_has_prefix(error->message, "fuzz:"));
}

static void resolve(GPtrArray *facts)
{
	struct resolve_options how = {0, 2};
	g_autoptr(GError) error = NULL;
	struct machine_facts *f = facts_merge_all(facts);
	struct imported_machine *m = facts_resolve(f, "fuzz", &how, &error);
	g_autofree char *caches = NULL, *conf = NULL, *wrong = NULL;

	check_error(m != NULL, error);
	if (!m)
		return;
	wrong = topology_check(m->topology);
	g_assert_null(wrong);
	caches = import_caches_to_conf(f, NULL, NULL, m->notes);
	conf = imported_machine_to_conf(m, f, "fuzz", NULL, caches);
	g_assert_nonnull(strstr(conf, "[topology]"));
	imported_machine_free(m);
}

static struct machine_facts *from_tar(const struct import_text *t,
				      GError **error)
{
	struct import_tree *tree = import_tree_open_tar(t, error);
	struct machine_facts *f = tree ? facts_from_tree(tree, error) : NULL;

	import_tree_free(tree);
	return f;
}

static void fuzz_machine(const struct import_text *t)
{
	g_autoptr(GPtrArray) all = facts_array_new();
	g_autoptr(GError) error = NULL;
	struct machine_facts *f = NULL;
	bool fine;

	switch (PARSER) {
	case numactl:
		f = facts_from_numactl(t, &error);
		break;
	case lscpu:
		f = facts_from_lscpu(t, &error);
		break;
	case lscpu_table:
		f = facts_from_lscpu_table(t, &error);
		break;
	case lscpu_json:
		f = facts_from_lscpu_json(t, &error);
		break;
	case hwloc:
		f = facts_from_hwloc(t, &error);
		break;
	case tar:
		f = from_tar(t, &error);
		break;
	default:
		fine = facts_from_text(t, all, &error);
		check_error(fine, error);
		if (fine)
			resolve(all);
		return;
	}
	check_error(f != NULL, error);
	if (!f)
		return;
	g_ptr_array_add(all, f);
	resolve(all);
}

static void fuzz_slab(const struct import_text *t)
{
	g_autoptr(GPtrArray) all = slab_reports_new();
	g_autoptr(GError) error = NULL;
	struct features features = {.sheaves = SHEAVES_ALL};
	bool fine;

	if (PARSER == slab_sysfs)
		fine = slab_parse_sysfs(t, NULL, all, &error);
	else if (PARSER == slab_report)
		fine = slab_parse_slabinfo(t, all, &error);
	else
		fine = slab_parse_proc(t, all, &error);
	check_error(fine, error);
	/* one is enough, and a file may hold thousands */
	for (guint i = 0; fine && i < MIN(all->len, 4); i++) {
		const struct slab_report *r = all->pdata[i];
		g_autoptr(GPtrArray) checks = slab_check_all(r);
		g_autoptr(GString) summary = g_string_new(NULL);
		g_autofree char *counts = slab_counts(r);

		slab_check_geometry(r, &features, "fuzz", slab_cpus_seen(r),
				    checks);
		slab_summary(summary, r, checks, "fuzz", 8);
		g_assert_nonnull(counts);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_text *t =
		import_text_new("fuzz", (const char *)data, size);

	if (PARSER >= slab_sysfs)
		fuzz_slab(t);
	else
		fuzz_machine(t);
	import_text_free(t);
	return 0;
}
