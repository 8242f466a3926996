/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/variant.h"

#include <string.h>

#include "configs/codegen.h"

const char *const variant_keys[] = { "name", "description", "kernel", "costs",
				     "base", NULL };
static const char *const header_keys[] = { "description", "base", NULL };

static const struct conf_known machine_known[] = {
	{ "machine", header_keys, machine_param_table },
	{ "range", NULL, machine_param_table },
	{ NULL }
};
static const struct conf_known costs_known[] = {
	{ "costs", header_keys },
	{ "instructions", NULL, insn_cost_table },
	{ "range", NULL, insn_cost_table },
	{ NULL }
};
static const struct conf_known variant_known[] = {
	{ "variant", variant_keys },
	{ "features", NULL, feature_table },
	{ "instructions", NULL, insn_cost_table },
	{ "zsmalloc", zsmalloc_keys, zs_feature_table },
	{ "codegen", NULL, zs_codegen_table },
	{ NULL }
};

bool conf_has_all(const struct conf *c, const char *group,
		  const struct param_desc *table)
{
	for (; table->key; table++)
		if (!conf_find(c, group, table->key))
			return false;
	return true;
}

/* The value of a table's key as a number, 0 if it has none. */
static double number_of(const struct param_desc *table, const char *key,
			const void *base)
{
	double d = 0;

	for (; table->key; table++)
		if (!strcmp(table->key, key)) {
			g_autofree char *text = param_get(table, base);

			parse_double(text, &d);
		}
	return d;
}

/* ---- ranges ---- */

static void free_estimate(gpointer p)
{
	struct estimate *e = p;

	g_free(e->file);
	g_free(e->reason);
	g_free(e);
}

/* "LOW HIGH KIND reason" around the value in @base. */
static struct estimate *read_range(const struct conf_entry *entry,
				   const struct param_desc *table,
				   const void *base, GError **error)
{
	struct estimate *e = g_new0(struct estimate, 1);
	g_auto(GStrv) w = g_strsplit(entry->value, " ", 4);
	double value = number_of(table, entry->key, base);

	if (g_strv_length(w) < 4 || !parse_double(w[0], &e->low) ||
	    !parse_double(w[1], &e->high) || strlen(w[2]) != 1 ||
	    !strchr("SDMG", w[2][0]) || !*g_strstrip(w[3])) {
		conf_fail(error, entry, "'%.60s', expected LOW HIGH KIND and "
			  "the reason in words, KIND S, D, M or G",
			  entry->value);
		free_estimate(e);
		return NULL;
	}
	for (; strcmp(table->key, entry->key); table++)
		;
	e->param = table;
	e->value = value;
	e->kind = w[2][0];
	e->reason = g_strdup(w[3]);
	e->file = config_base_name(entry->file);
	if (e->low > value || e->high < value) {
		g_autofree char *text = param_number(value);

		conf_fail(error, entry, "%s to %s, expected a range around "
			  "the value, %s", w[0], w[1], text);
		free_estimate(e);
		return NULL;
	}
	return e;
}

static GPtrArray *read_ranges(const struct conf *c,
			      const struct param_desc *table, const void *base,
			      GError **error)
{
	g_autoptr(GPtrArray) list =
		g_ptr_array_new_with_free_func(free_estimate);

	for (; table->key; table++) {
		const struct conf_entry *entry = conf_find(c, "range",
							   table->key);
		struct estimate *e;

		if (!entry)
			continue;
		e = read_range(entry, table, base, error);
		if (!e)
			return NULL;
		g_ptr_array_add(list, e);
	}
	return g_steal_pointer(&list);
}

/* ---- machines and costs ---- */

struct conf *machine_read(const char *name, const char *from, GError **error)
{
	conf_auto struct conf *c = conf_read_based("machines", "machine", name,
						   from, error);
	struct machine_params p;
	g_autoptr(GPtrArray) ranges = NULL;

	if (!c || !conf_check_known(c, machine_known, error) ||
	    !conf_read_table(c, "machine", machine_param_table, &p, true,
			     error))
		return NULL;
	ranges = read_ranges(c, machine_param_table, &p, error);
	return ranges ? g_steal_pointer(&c) : NULL;
}

bool config_load_machine(const char *name, char **overrides,
			 struct machine_params *p, GError **error)
{
	conf_auto struct conf *c = machine_read(name, NULL, error);

	return c && conf_override(c, overrides, error) &&
	       conf_check_known(c, machine_known, error) &&
	       conf_read_table(c, "machine", machine_param_table, p, true,
			       error);
}

static struct conf *costs_read(const char *name, const char *from,
			       struct insn_costs *costs, GError **error)
{
	conf_auto struct conf *c = conf_read_based("costs", "costs", name, from,
						   error);
	g_autoptr(GPtrArray) ranges = NULL;

	if (!c || !conf_check_known(c, costs_known, error) ||
	    !conf_read_table(c, "instructions", insn_cost_table, costs, true,
			     error))
		return NULL;
	ranges = read_ranges(c, insn_cost_table, costs, error);
	return ranges ? g_steal_pointer(&c) : NULL;
}

bool config_load_costs(const char *name, struct insn_costs *costs,
		       GError **error)
{
	conf_auto struct conf *c = costs_read(name, NULL, costs, error);

	return c != NULL;
}

GPtrArray *config_estimates(const char *folder, const char *name,
			    GError **error)
{
	conf_auto struct conf *c = NULL;

	if (!strcmp(folder, "costs")) {
		struct insn_costs costs;

		c = costs_read(name, NULL, &costs, error);
		return c ? read_ranges(c, insn_cost_table, &costs, error) :
			   NULL;
	} else {
		struct machine_params p;

		g_assert(!strcmp(folder, "machines"));
		c = machine_read(name, NULL, error);
		if (!c || !conf_read_table(c, "machine", machine_param_table,
					   &p, true, error))
			return NULL;
		return read_ranges(c, machine_param_table, &p, error);
	}
}

/* ---- variants ---- */

static bool read_costs(struct variant *v, const struct conf *c, GError **error)
{
	const struct conf_entry *e = conf_find(c, "variant", "costs");

	v->costs_name = g_strdup(e ? e->value : NULL);
	if (!conf_has_all(c, "instructions", insn_cost_table)) {
		conf_auto struct conf *costs = NULL;
		g_autofree char *path = NULL;
		g_autoptr(GError) err = NULL;
		const char *from;

		if (!e)
			return conf_fail_missing(error, c, "variant", "costs",
						 "missing, expected a name "
						 "that slubsim list costs "
						 "prints, or a path");
		from = e->line ? e->file : NULL;
		path = config_path("costs", e->value, from, &err);
		if (!path)
			return conf_fail(error, e, "%s", err->message);
		costs = costs_read(e->value, from, &v->costs, error);
		if (!costs)
			return false;
	}
	return conf_read_table(c, "instructions", insn_cost_table, &v->costs,
			       false, error);
}

/* The [features] that contradict were perhaps made by an override. */
static const struct conf_entry *override_of(const struct conf *c,
					    const char *group)
{
	for (guint i = c->entries->len; i > 0; i--) {
		const struct conf_entry *e = c->entries->pdata[i - 1];

		if (!strcmp(e->group, group) && !e->line)
			return e;
	}
	return NULL;
}

static bool read_features(struct variant *v, const struct conf *c,
			  GError **error)
{
	const struct conf_entry *e = override_of(c, "features");
	g_autofree char *wrong = NULL;

	if (!conf_read_table(c, "features", feature_table, &v->features, true,
			     error))
		return false;
	wrong = features_check(&v->features);
	if (wrong && e)
		return conf_fail(error, e, "%s (in variant %s)", wrong,
				 v->name);
	if (wrong)
		return conf_fail_missing(error, c, "features", NULL, "%s",
					 wrong);
	return true;
}

struct variant *variant_from_conf(const struct conf *c, GError **error)
{
	struct variant *v = g_new0(struct variant, 1);
	const char *name = conf_get(c, "variant", "name");
	const char *kernel = conf_get(c, "variant", "kernel");
	const char *description = conf_get(c, "variant", "description");

	if (!conf_group(c, "variant")) {
		conf_fail_missing(error, c, "variant", NULL,
				  "missing, expected a variant file");
		goto failed;
	}
	if (!kernel) {
		conf_fail_missing(error, c, "variant", "kernel",
				  "missing, expected a version such as 6.12");
		goto failed;
	}
	v->name = name ? g_strdup(name) : config_base_name(c->file);
	v->description = g_strdup(description ? description : "");
	v->kernel = g_strdup(kernel);
	if (read_features(v, c, error) && read_costs(v, c, error) &&
	    variant_read_zsmalloc(v, c, error))
		return v;
failed:
	variant_free(v);
	return NULL;
}

static bool is_overlay(const char *group)
{
	return !strcmp(group, "features") || !strcmp(group, "instructions") ||
	       !strcmp(group, "zsmalloc") || !strcmp(group, "codegen");
}

struct variant *variant_load(const char *name, const char *from,
			     const struct conf *over, GError **error)
{
	conf_auto struct conf *c = conf_read_based("variants", "variant", name,
						   from, error);

	if (!c || !conf_check_known(c, variant_known, error))
		return NULL;
	if (over)
		conf_merge(c, over, is_overlay);
	return variant_from_conf(c, error);
}

struct variant *config_load_variant(const char *name, char **overrides,
				    GError **error)
{
	conf_auto struct conf *c = conf_read_based("variants", "variant", name,
						   NULL, error);

	if (!c || !conf_override(c, overrides, error) ||
	    !conf_check_known(c, variant_known, error))
		return NULL;
	return variant_from_conf(c, error);
}

void variant_free(struct variant *v)
{
	if (!v)
		return;
	g_free(v->name);
	g_free(v->description);
	g_free(v->kernel);
	g_free(v->costs_name);
	g_free(v->codegen_name);
	zs_build_free(v->zs);
	g_free(v);
}

char *config_variant_of_kernel(const char *kernel)
{
	g_autofree char *name = g_strdup_printf("v%s", kernel);
	g_auto(GStrv) names = config_list("variants");

	for (;;) {
		char *dot = strrchr(name, '.');

		if (g_strv_contains((const char *const *)names, name))
			return g_steal_pointer(&name);
		if (!dot)
			return NULL;
		*dot = 0;
	}
}
