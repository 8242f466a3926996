/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checking a config file of whatever kind, by loading it as a run would.
 */
#include <string.h>

#include "configs/conf.h"
#include "configs/config.h"
#include "sim/nearest.h"

static char *check_topology(const char *path, char **overrides, GError **error)
{
	struct topology *t = config_load_topology(path, overrides, error);
	char *summary;
	int memory = 0;

	if (!t)
		return NULL;
	for (int n = 0; n < t->nr_node_ids; n++)
		memory += topology_node_has_memory(t, n);
	summary = g_strdup_printf("topology of %d CPUs, %d cores, %d L3s, %d "
				  "sockets, %d nodes, %d with memory",
				  t->nr_cpus, t->nr_cores, t->nr_l3,
				  t->nr_sockets, t->nr_nodes, memory);
	if (t->machine) {
		g_autofree char *machine = config_path("machines", t->machine,
						       NULL, error);

		if (!machine)
			g_clear_pointer(&summary, g_free);
	}
	topology_free(t);
	return summary;
}

static char *check_machine(const char *path, char **overrides, GError **error)
{
	struct machine_params p;
	g_autofree char *freq = NULL;

	if (!config_load_machine(path, overrides, &p, error))
		return NULL;
	freq = param_number(p.freq_ghz);
	return g_strdup_printf("machine at %s GHz", freq);
}

static char *check_costs(const char *path, char **overrides, GError **error)
{
	struct insn_costs costs;

	if (!config_load_costs(path, &costs, error))
		return NULL;
	return g_strdup("instruction counts");
}

static char *check_codegen(const char *path, char **overrides, GError **error)
{
	struct zs_codegen g = { 0 };
	char *summary = NULL;

	if (config_load_codegen(path, &g, error))
		summary = g_strdup_printf("code generation of %s for %s",
					  g.compiler, g.arch);
	params_clear(zs_codegen_table, &g);
	return summary;
}

static char *check_variant(const char *path, char **overrides, GError **error)
{
	struct variant *v = config_load_variant(path, overrides, error);
	char *summary;

	if (!v)
		return NULL;
	summary = g_strdup_printf("variant of kernel %s", v->kernel);
	variant_free(v);
	return summary;
}

/* Each value of each axis must load; combinations are left to the run. */
static bool check_sweep(const char *path, char **overrides,
			const struct experiment *x, GError **error)
{
	guint nr = overrides ? g_strv_length(overrides) : 0;

	for (guint i = 0; x->sweep && i < x->sweep->len; i++) {
		const struct sweep_axis *a = x->sweep->pdata[i];

		for (int n = 0; a->values[n]; n++) {
			g_autofree char **all = g_new0(char *, nr + 2);
			g_autofree char *one = g_strdup_printf(
				"%s=%s", a->key, a->values[n]);
			struct experiment *y;

			if (nr)
				memcpy(all, overrides, nr * sizeof(*all));
			all[nr] = one;
			y = config_load_experiment(path, all, error);
			if (!y) {
				g_prefix_error(error, "%s: [sweep] %s: ", path,
					       a->key);
				return false;
			}
			experiment_free(y);
		}
	}
	return true;
}

static char *check_experiment(const char *path, char **overrides,
			      GError **error)
{
	struct experiment *x = config_load_experiment(path, overrides, error);
	char *summary = NULL;

	if (x && check_sweep(path, overrides, x, error))
		summary = g_strdup_printf("experiment, workload %s, %u "
					  "variants, %" G_GINT64_FORMAT
					  " iterations, %d CPUs",
					  x->workload->name, x->variants->len,
					  x->iterations, x->topology->nr_cpus);
	experiment_free(x);
	return summary;
}

static const struct kind {
	const char *group, *folder;
	char *(*check)(const char *path, char **overrides, GError **error);
} kinds[] = {
	/* an experiment may have the groups of the others too */
	{ "experiment", "experiments", check_experiment },
	{ "topology", "topologies", check_topology },
	{ "variant", "variants", check_variant },
	{ "machine", "machines", check_machine },
	{ "costs", "costs", check_costs },
	{ "codegen", "codegen", check_codegen },
};

char *config_check(const char *path, char **overrides, GError **error)
{
	conf_auto struct conf *c = conf_read(path, error);

	if (!c)
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (conf_group(c, kinds[i].group))
			return kinds[i].check(path, overrides, error);
	/* a misspelt one is told by the reader of the nearest kind */
	for (guint i = 0; i < c->groups->len; i++) {
		const struct conf_group *g = c->groups->pdata[i];
		struct nearest nearest = { .word = g->name };

		for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
			nearest_offer(&nearest, kinds[k].group);
		if (!nearest.name)
			continue;
		g_set_error(error, CONFIG_ERROR, 0,
			    "%s:%d: [%s]: unknown group, did you mean [%s]?",
			    path, g->line, g->name, nearest.name);
		return NULL;
	}
	g_set_error(error, CONFIG_ERROR, 0,
		    "%s: no group that tells what it is, expected "
		    "[experiment], [topology], [variant], [machine], [costs] "
		    "or [codegen]",
		    path);
	return NULL;
}

char **config_find(const char *name, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	struct nearest nearest = { .word = name };
	g_autofree char *near = NULL;

	if (strchr(name, '/') || g_str_has_suffix(name, ".conf")) {
		g_ptr_array_add(paths, g_strdup(name));
		goto out;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		char *path = config_path(kinds[i].folder, name, NULL, NULL);

		if (path)
			g_ptr_array_add(paths, path);
	}
	if (paths->len)
		goto out;
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		g_auto(GStrv) names = config_list(kinds[i].folder);

		for (int n = 0; names[n]; n++) {
			nearest_offer(&nearest, names[n]);
			if (nearest.name == names[n]) {
				g_free(near);
				near = g_strdup(names[n]);
				nearest.name = near;
			}
		}
	}
	if (near)
		g_set_error(error, CONFIG_ERROR, 0,
			    "no config '%.60s', did you mean %s?", name, near);
	else
		g_set_error(error, CONFIG_ERROR, 0,
			    "no config '%.60s', expected a name that slubsim "
			    "list prints, or a path", name);
	return NULL;
out:
	g_ptr_array_add(paths, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&paths), FALSE);
}
