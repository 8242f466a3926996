/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiment files; the format is told in config.h.
 */
#include <string.h>

#include "configs/codegen.h"
#include "configs/conf.h"
#include "configs/config.h"
#include "configs/topology.h"
#include "configs/variant.h"
#include "sim/nearest.h"

enum { MAX_ITERATIONS = 100000, MAX_VARIANTS = 256, MAX_SWEEP = 4096 };

static const char *const experiment_keys[] = {
	"name", "description", "topology", "workload", "variants", "iterations",
	"seed", "published", NULL
};

/* Index of the workload's group, whose table depends on the file. */
enum { KNOWN_WORKLOAD = 1 };
static const struct conf_known known_groups[] = {
	{ "experiment", experiment_keys },
	{ "workload" },
	{ "machine", NULL, machine_param_table },
	{ "topology", topology_keys },
	{ "nodes", topology_nodes_keys },
	{ "node ", topology_node_keys },
	{ "features", NULL, feature_table },
	{ "instructions", NULL, insn_cost_table },
	{ "cache", NULL, cache_tuning_table },
	{ "zsmalloc", zsmalloc_keys, zs_feature_table },
	{ "codegen", NULL, zs_codegen_table },
	{ "variant", variant_keys },
	{ "sweep" },
	{ "fitted" },
	{ NULL }
};

static const struct param_desc no_options[] = { { NULL } };

static const char *folder_of(const struct conf_entry *e)
{
	return e->line ? e->file : NULL;
}

/* "GROUP.KEY" of [sweep] and [fitted] must be something that can be set. */
static bool check_dotted(const struct conf_entry *e,
			 const struct conf_known *known, GError **error)
{
	const char *dot = strchr(e->key, '.');
	g_autofree char *group = dot ? g_strndup(e->key, dot - e->key) : NULL;
	conf_auto struct conf *c = NULL;
	g_autoptr(GError) err = NULL;

	if (!dot)
		return conf_fail(error, e, "expected GROUP.KEY");
	c = conf_new(e->file);
	conf_set(c, group, dot + 1, "", e->file, e->line);
	if (!conf_check_known(c, known, &err))
		return conf_fail(error, e, "no such parameter (%s)",
				 strrchr(err->message, ':') + 2);
	return true;
}

static void free_axis(gpointer p)
{
	struct sweep_axis *a = p;

	g_free(a->key);
	g_strfreev(a->values);
	g_free(a);
}

/* What all cases of a sweep have in common can't differ between them. */
static bool check_axis(const struct conf_entry *e, GError **error)
{
	static const char *const common[] = {
		"experiment.name", "experiment.description",
		"experiment.workload", "experiment.variants",
		"experiment.iterations", "experiment.seed", NULL
	};

	return !g_strv_contains(common, e->key) ||
	       conf_fail(error, e, "is the same for all cases, expected another "
			 "parameter");
}

static bool read_sweep(struct experiment *x, const struct conf *c,
		       const struct conf_known *known, GError **error)
{
	int64_t cases = 1;

	for (guint i = 0; i < c->entries->len; i++) {
		const struct conf_entry *e = c->entries->pdata[i];
		struct sweep_axis *a;

		if (strcmp(e->group, "sweep"))
			continue;
		if (!check_dotted(e, known, error) || !check_axis(e, error))
			return false;
		if (!x->sweep)
			x->sweep = g_ptr_array_new_with_free_func(free_axis);
		a = g_new0(struct sweep_axis, 1);
		g_ptr_array_add(x->sweep, a);
		a->key = g_strdup(e->key);
		a->values = g_strsplit(e->value, ";", MAX_SWEEP + 1);
		for (int n = 0; a->values[n]; n++)
			if (!*g_strstrip(a->values[n]))
				return conf_fail(error, e, "'%.60s', expected "
						 "values separated by ';'",
						 e->value);
		for (int n = 1; a->values[n]; n++)
			for (int k = 0; k < n; k++)
				if (!strcmp(a->values[k], a->values[n]))
					return conf_fail(
						error, e, "'%.60s' twice, "
						"expected each value once",
						a->values[n]);
		cases *= g_strv_length(a->values);
		if (!cases || cases > MAX_SWEEP)
			return conf_fail(error, e, "%" G_GINT64_FORMAT " cases "
					 "in all, expected 1 to %d", cases,
					 MAX_SWEEP);
	}
	return true;
}

static bool read_fitted(struct experiment *x, const struct conf *c,
			const struct conf_known *known, GError **error)
{
	x->fitted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					  g_free);
	for (guint i = 0; i < c->entries->len; i++) {
		const struct conf_entry *e = c->entries->pdata[i];

		if (strcmp(e->group, "fitted"))
			continue;
		if (!check_dotted(e, known, error))
			return false;
		if (!*e->value)
			return conf_fail(error, e, "empty, expected what it "
					 "was fitted to, in words");
		g_hash_table_insert(x->fitted, g_strdup(e->key),
				    g_strdup(e->value));
	}
	return true;
}

static bool is_topology_group(const char *group)
{
	return !strcmp(group, "topology") || !strcmp(group, "nodes") ||
	       g_str_has_prefix(group, "node ");
}

/* Gives also what the topology file says of its [machine]. */
static bool read_topology(struct experiment *x, const struct conf *c,
			  struct conf **machine, GError **error)
{
	const struct conf_entry *e = conf_find(c, "experiment", "topology");
	conf_auto struct conf *t = NULL;

	if (e) {
		g_autoptr(GError) err = NULL;
		g_autofree char *path = config_path("topologies", e->value,
						    folder_of(e), &err);

		if (!path)
			return conf_fail(error, e, "%s", err->message);
		t = conf_read(path, error);
		if (!t || !conf_check_known(t, topology_known, error))
			return false;
	} else if (conf_group(c, "nodes") || conf_group(c, "node 0") ||
		   conf_group(c, "topology")) {
		t = conf_new(c->file);
	} else {
		return conf_fail_missing(error, c, "experiment", "topology",
					 "missing, expected a name that "
					 "slubsim list topologies prints, or a "
					 "path");
	}
	conf_merge(t, c, is_topology_group);
	x->topology = topology_from_conf(t, error);
	*machine = g_steal_pointer(&t);
	return x->topology != NULL;
}

static bool is_machine(const char *group)
{
	return !strcmp(group, "machine");
}

/* The named machine file, then what the topology file (an import) knows of
 * this very machine, then the experiment's own values. */
static bool read_machine(struct experiment *x, const struct conf *c,
			 const struct conf *of_topology, GError **error)
{
	conf_auto struct conf *m = NULL;

	if (conf_has_all(c, "machine", machine_param_table))
		return conf_read_table(c, "machine", machine_param_table,
				       &x->params, true, error);
	if (!x->topology->machine)
		return conf_fail_missing(error, c, "topology", "machine",
					 "missing, expected a name that "
					 "slubsim list machines prints (--set "
					 "topology.machine=NAME does), or all "
					 "keys of [machine]");
	m = machine_read(x->topology->machine, NULL, error);
	if (!m)
		return false;
	conf_merge(m, of_topology, is_machine);
	conf_merge(m, c, is_machine);
	return conf_read_table(m, "machine", machine_param_table, &x->params,
			       true, error);
}

static bool add_variant(struct experiment *x, const struct conf_entry *e,
			struct variant *v, GError **error)
{
	for (guint i = 0; i < x->variants->len; i++) {
		const struct variant *other = x->variants->pdata[i];

		if (!strcmp(v->name, other->name)) {
			conf_fail(error, e, "%s twice, expected each variant "
				  "once", v->name);
			variant_free(v);
			return false;
		}
	}
	g_ptr_array_add(x->variants, v);
	return true;
}

static bool read_variants(struct experiment *x, const struct conf *c,
			  GError **error)
{
	const struct conf_entry *e = conf_find(c, "experiment", "variants");
	g_auto(GStrv) names = NULL;

	x->variants = g_ptr_array_new_with_free_func(
		(GDestroyNotify)variant_free);
	if (conf_group(c, "variant")) {
		struct variant *v;

		if (e)
			return conf_fail(error, e, "can't be given together "
					 "with [variant]");
		v = variant_from_conf(c, error);
		if (v)
			g_ptr_array_add(x->variants, v);
		return v != NULL;
	}
	if (!e || !*e->value)
		return conf_fail_missing(error, c, "experiment", "variants",
					 "missing, expected names that slubsim "
					 "list variants prints, separated by "
					 "';'");
	names = g_strsplit(e->value, ";", MAX_VARIANTS);
	for (int i = 0; names[i]; i++) {
		g_autofree char *path = NULL;
		g_autoptr(GError) err = NULL;
		struct variant *v;

		if (!*g_strstrip(names[i]) && !names[i + 1])
			break; /* a ';' at the end */
		path = config_path("variants", names[i], folder_of(e), &err);
		if (!path)
			return conf_fail(error, e, "%s", err->message);
		v = variant_load(names[i], folder_of(e), c, error);
		if (!v || !add_variant(x, e, v, error))
			return false;
	}
	return true;
}

/* Finds the workload and lets @known have its options. */
static bool find_workload(struct experiment *x, const struct conf *c,
			  struct conf_known *known, GError **error)
{
	const struct conf_entry *e = conf_find(c, "experiment", "workload");
	struct nearest nearest = { .word = e ? e->value : "" };

	if (!e)
		return conf_fail_missing(error, c, "experiment", "workload",
					 "missing, expected a name that "
					 "slubsim list workloads prints");
	x->workload = workload_find(e->value);
	for (int i = 0; !x->workload && workloads[i]; i++)
		nearest_offer(&nearest, workloads[i]->name);
	if (!x->workload && nearest.name)
		return conf_fail(error, e, "no workload '%.60s', did you mean "
				 "%s?", e->value, nearest.name);
	if (!x->workload)
		return conf_fail(error, e, "no workload '%.60s', expected a "
				 "name that slubsim list workloads prints",
				 e->value);
	known[KNOWN_WORKLOAD].table = x->workload->options ?
		x->workload->options : no_options;
	return true;
}

static bool read_workload(struct experiment *x, const struct conf *c,
			  GError **error)
{
	const struct workload *w = x->workload;
	g_autofree char *wrong = NULL;

	x->options = g_malloc0(MAX(w->options_size, 1));
	if (w->defaults)
		w->defaults(x->options);
	if (w->options && !conf_read_table(c, "workload", w->options,
					   x->options, false, error))
		return false;
	if (w->check)
		wrong = w->check(x->options, x->topology);
	if (wrong)
		return conf_fail_check(error, c, "workload", w->options, wrong);
	return true;
}

static bool read_tuning(struct experiment *x, const struct conf *c,
			GError **error)
{
	g_autofree char *wrong = NULL;

	x->tuning = CACHE_TUNING_NONE;
	if (!conf_read_table(c, "cache", cache_tuning_table, &x->tuning, false,
			     error))
		return false;
	wrong = cache_tuning_check(&x->tuning);
	if (wrong)
		return conf_fail_check(error, c, "cache", cache_tuning_table,
				       wrong);
	return true;
}

static bool is_set(const struct conf *c, const char *key)
{
	const struct conf_entry *e = conf_find(c, "experiment", key);

	return e && !e->line;
}

/* A name stands for a table in results/published, beside the configs. On
 * another machine than the file's, or under another load, its rows compare
 * with nothing. */
static void read_published(struct experiment *x, const struct conf *c)
{
	const struct conf_entry *e = conf_find(c, "experiment", "published");

	if (!e || !*e->value)
		return;
	if (e->line && (is_set(c, "topology") || is_set(c, "workload")))
		return;
	if (strchr(e->value, '/')) {
		x->published = config_path("published", e->value, folder_of(e),
					   NULL);
		x->published_name = g_strdup(x->published);
		return;
	}
	x->published_name = g_strdup(e->value);
	x->published = config_published_path(e->value);
}

static bool read_numbers(struct experiment *x, const struct conf *c,
			 GError **error)
{
	const struct conf_entry *e = conf_find(c, "experiment", "seed");
	char *end = NULL;

	if (!conf_read_int(c, "experiment", "iterations", 1, MAX_ITERATIONS, 1,
			   &x->iterations, error))
		return false;
	x->seed = 1;
	if (!e)
		return true;
	x->seed = g_ascii_strtoull(e->value, &end, 10);
	if (!g_ascii_isdigit(e->value[0]) || strlen(e->value) > 19 || *end)
		return conf_fail(error, e, "'%.60s', expected an integer from "
				 "0 to 9999999999999999999", e->value);
	return true;
}

static bool read_experiment(struct experiment *x, const struct conf *c,
			    GError **error)
{
	struct conf_known known[G_N_ELEMENTS(known_groups)];
	const char *name = conf_get(c, "experiment", "name");
	const char *description = conf_get(c, "experiment", "description");
	conf_auto struct conf *machine = NULL;

	memcpy(known, known_groups, sizeof(known));
	if (!conf_group(c, "experiment"))
		return conf_fail_missing(error, c, "experiment", NULL,
					 "missing, expected an experiment file");
	x->name = name ? g_strdup(name) : config_base_name(c->file);
	x->description = g_strdup(description ? description : "");
	x->file = g_strdup(c->file);
	/* what is unknown comes first: it explains what is missing */
	if (!conf_check_known(c, known, error) ||
	    !find_workload(x, c, known, error) ||
	    !conf_check_known(c, known, error))
		return false;
	read_published(x, c);
	return read_numbers(x, c, error) &&
	       read_topology(x, c, &machine, error) &&
	       read_machine(x, c, machine, error) && read_variants(x, c, error) &&
	       read_workload(x, c, error) && read_tuning(x, c, error) &&
	       read_sweep(x, c, known, error) &&
	       read_fitted(x, c, known, error);
}

struct experiment *config_load_experiment(const char *name, char **overrides,
					  GError **error)
{
	g_autofree char *path = config_path("experiments", name, NULL, error);
	conf_auto struct conf *c = path ? conf_read(path, error) : NULL;
	struct experiment *x;

	if (!c || !conf_override(c, overrides, error))
		return NULL;
	x = g_new0(struct experiment, 1);
	if (read_experiment(x, c, error))
		return x;
	experiment_free(x);
	return NULL;
}

void experiment_free(struct experiment *x)
{
	if (!x)
		return;
	if (x->workload && x->options)
		params_clear(x->workload->options, x->options);
	g_free(x->options);
	topology_free(x->topology);
	g_clear_pointer(&x->variants, g_ptr_array_unref);
	g_clear_pointer(&x->sweep, g_ptr_array_unref);
	g_clear_pointer(&x->fitted, g_hash_table_unref);
	g_free(x->name);
	g_free(x->description);
	g_free(x->file);
	g_free(x->published);
	g_free(x->published_name);
	g_free(x);
}
