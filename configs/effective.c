/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effective config: all that a run depended on, in one file that needs no
 * other.
 */
#include "configs/conf.h"
#include "configs/config.h"
#include "configs/topology.h"

static void write_table(GKeyFile *file, const char *group,
			const struct param_desc *table, const void *base)
{
	for (; table && table->key; table++) {
		g_autofree char *text = param_get(table, base);

		if (text)
			g_key_file_set_string(file, group, table->key, text);
	}
}

/* A hash has no order; a file has one. */
static void write_fitted(GKeyFile *file, GHashTable *fitted)
{
	g_autoptr(GList) keys = fitted ? g_hash_table_get_keys(fitted) : NULL;

	keys = g_list_sort(keys, (GCompareFunc)g_strcmp0);
	for (GList *l = keys; l; l = l->next)
		g_key_file_set_string(file, "fitted", l->data,
				      g_hash_table_lookup(fitted, l->data));
}

char *config_effective(const struct experiment *x, const struct variant *v)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	const char *g = "experiment";

	g_key_file_set_string(file, g, "name", x->name);
	g_key_file_set_string(file, g, "description", x->description);
	g_key_file_set_string(file, g, "workload", x->workload->name);
	g_key_file_set_int64(file, g, "iterations", x->iterations);
	g_key_file_set_uint64(file, g, "seed", x->seed);
	if (x->published_name)
		g_key_file_set_string(file, g, "published", x->published_name);
	write_table(file, "workload", x->workload->options, x->options);

	g_key_file_set_string(file, "variant", "name", v->name);
	g_key_file_set_string(file, "variant", "description", v->description);
	g_key_file_set_string(file, "variant", "kernel", v->kernel);
	if (v->costs_name)
		g_key_file_set_string(file, "variant", "costs", v->costs_name);
	write_table(file, "features", feature_table, &v->features);
	write_table(file, "instructions", insn_cost_table, &v->costs);
	if (v->zs) {
		write_table(file, "zsmalloc", zs_feature_table,
			    &v->zs->features);
		if (v->codegen_name)
			g_key_file_set_string(file, "zsmalloc", "codegen",
					      v->codegen_name);
		write_table(file, "codegen", zs_codegen_table,
			    &v->zs->codegen);
	}
	write_table(file, "cache", cache_tuning_table, &x->tuning);
	write_table(file, "machine", machine_param_table, &x->params);
	topology_to_conf(file, x->topology);
	write_fitted(file, x->fitted);
	return g_key_file_to_data(file, NULL, NULL);
}
