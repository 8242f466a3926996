/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Points and results to JSON. The schema is in results/result.h. */
#include "results/result.h"

#include <json-glib/json-glib.h>
#include <math.h>

#include "results/figures.h"
#include "results/published.h"

static void put_string(JsonBuilder *b, const char *key, const char *value)
{
	json_builder_set_member_name(b, key);
	if (value)
		json_builder_add_string_value(b, value);
	else
		json_builder_add_null_value(b);
}

static void put_int(JsonBuilder *b, const char *key, int64_t value)
{
	json_builder_set_member_name(b, key);
	json_builder_add_int_value(b, value);
}

static void put_bool(JsonBuilder *b, const char *key, bool value)
{
	json_builder_set_member_name(b, key);
	json_builder_add_boolean_value(b, value);
}

static void add_double(JsonBuilder *b, double value)
{
	/* JSON knows neither inf nor nan */
	if (isfinite(value))
		json_builder_add_double_value(b, value);
	else
		json_builder_add_null_value(b);
}

static void put_double(JsonBuilder *b, const char *key, double value)
{
	json_builder_set_member_name(b, key);
	add_double(b, value);
}

static void put_strings(JsonBuilder *b, const char *key, char **strings)
{
	json_builder_set_member_name(b, key);
	json_builder_begin_array(b);
	for (int i = 0; strings && strings[i]; i++)
		json_builder_add_string_value(b, strings[i]);
	json_builder_end_array(b);
}

static void begin_array(JsonBuilder *b, const char *key)
{
	json_builder_set_member_name(b, key);
	json_builder_begin_array(b);
}

static void put_coords(JsonBuilder *b, const char *key, const GPtrArray *coords)
{
	json_builder_set_member_name(b, key);
	json_builder_begin_object(b);
	for (guint i = 0; i < coords->len; i++) {
		const struct coord *c = coords->pdata[i];

		put_string(b, c->name, c->value);
	}
	json_builder_end_object(b);
}

static void put_metrics(JsonBuilder *b, const struct point *p)
{
	json_builder_set_member_name(b, "metrics");
	json_builder_begin_object(b);
	for (guint i = 0; i < p->metrics->len; i++) {
		const struct metric *m = p->metrics->pdata[i];

		json_builder_set_member_name(b, m->name);
		json_builder_begin_object(b);
		put_string(b, "unit", m->unit);
		put_bool(b, "higher_is_better", m->higher_is_better);
		put_double(b, "value", m->value);
		json_builder_end_object(b);
	}
	json_builder_end_object(b);
	begin_array(b, "series");
	for (guint i = 0; i < p->series->len; i++) {
		const struct sample *s = p->series->pdata[i];

		json_builder_begin_object(b);
		put_string(b, "name", s->name);
		put_string(b, "unit", s->unit);
		put_bool(b, "higher_is_better", s->higher_is_better);
		put_string(b, "axis", s->axis);
		put_double(b, "x", s->x);
		put_double(b, "value", s->value);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void put_account(JsonBuilder *b, const struct point *p)
{
	begin_array(b, "account");
	for (guint i = 0; i < p->account->len; i++) {
		const struct account_row *a = p->account->pdata[i];

		json_builder_begin_object(b);
		put_string(b, "path", a->path);
		put_string(b, "cause", cause_names[a->cause]);
		put_int(b, "cycles", a->cycles);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	begin_array(b, "cpus");
	for (guint i = 0; i < p->cpus->len; i++) {
		const struct cpu_account *c = p->cpus->pdata[i];

		json_builder_begin_object(b);
		put_int(b, "cpu", c->cpu);
		put_int(b, "node", c->node);
		json_builder_set_member_name(b, "cycles");
		json_builder_begin_object(b);
		for (int k = 0; k < NR_CAUSES; k++)
			put_int(b, cause_names[k], c->cycles[k]);
		json_builder_end_object(b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void put_dumps(JsonBuilder *b, const char *key, const GPtrArray *dumps)
{
	begin_array(b, key);
	for (guint i = 0; i < dumps->len; i++) {
		const struct cache_dump *d = dumps->pdata[i];

		json_builder_begin_object(b);
		put_string(b, "name", d->name);
		json_builder_set_member_name(b, "attributes");
		json_builder_begin_object(b);
		for (guint k = 0; k < d->attrs->len; k++) {
			const struct cache_attr *a = d->attrs->pdata[k];

			put_string(b, a->name, a->text);
		}
		json_builder_end_object(b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void put_locks(JsonBuilder *b, const struct point *p)
{
	begin_array(b, "locks");
	for (guint i = 0; i < p->locks->len; i++) {
		const struct lock_row *l = p->locks->pdata[i];

		json_builder_begin_object(b);
		put_string(b, "class", l->class);
		put_int(b, "node", l->node);
		put_int(b, "acquisitions", l->acquisitions);
		put_int(b, "contentions", l->contentions);
		put_int(b, "acq_bounces", l->acq_bounces);
		put_int(b, "con_bounces", l->con_bounces);
		put_int(b, "wait_total_cycles", l->wait_total);
		put_int(b, "wait_min_cycles", l->wait_min);
		put_int(b, "wait_max_cycles", l->wait_max);
		put_int(b, "hold_total_cycles", l->hold_total);
		put_int(b, "hold_min_cycles", l->hold_min);
		put_int(b, "hold_max_cycles", l->hold_max);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void put_lines_left_out(JsonBuilder *b, const struct point *p)
{
	json_builder_set_member_name(b, "lines_left_out");
	if (!p->lines) {
		json_builder_add_null_value(b);
		return;
	}
	json_builder_begin_object(b);
	put_int(b, "lines", p->lines_left_out.lines);
	put_int(b, "hitm_local", p->lines_left_out.hitm_local);
	put_int(b, "hitm_remote", p->lines_left_out.hitm_remote);
	json_builder_end_object(b);
}

static void put_lines(JsonBuilder *b, const struct point *p)
{
	put_lines_left_out(b, p);
	json_builder_set_member_name(b, "lines");
	if (!p->lines) {
		json_builder_add_null_value(b);
		return;
	}
	json_builder_begin_array(b);
	for (guint i = 0; i < p->lines->len; i++) {
		const struct line_row *l = p->lines->pdata[i];

		json_builder_begin_object(b);
		put_int(b, "line", l->line);
		put_string(b, "kind", l->kind);
		put_int(b, "node", l->node);
		put_int(b, "loads", l->loads);
		put_int(b, "stores", l->stores);
		put_int(b, "rmws", l->rmws);
		put_int(b, "hitm_local", l->hitm_local);
		put_int(b, "hitm_remote", l->hitm_remote);
		put_int(b, "dram_local", l->dram_local);
		put_int(b, "dram_remote", l->dram_remote);
		put_int(b, "offsets", l->offsets);
		begin_array(b, "fields");
		for (int k = 0; k < 8; k++)
			if (l->fields[k])
				json_builder_add_string_value(b, l->fields[k]);
			else
				json_builder_add_null_value(b);
		json_builder_end_array(b);
		begin_array(b, "cpus");
		for (int k = 0; k < 8 && l->cpus[k] >= 0; k++) {
			json_builder_begin_object(b);
			put_int(b, "cpu", l->cpus[k]);
			put_int(b, "count", l->counts[k]);
			json_builder_end_object(b);
		}
		json_builder_end_array(b);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void put_machine(JsonBuilder *b, const struct point *p)
{
	json_builder_set_member_name(b, "machine");
	json_builder_begin_object(b);
	put_double(b, "freq_ghz", p->freq_ghz);
	put_int(b, "nr_cpus", p->nr_cpus);
	put_int(b, "nr_nodes", p->nr_nodes);
	put_int(b, "nr_node_ids", p->nr_node_ids);
	put_int(b, "end_cycles", p->cycles);
	put_int(b, "engine_events", p->engine_events);
	put_int(b, "meets", p->meets);
	put_int(b, "accesses", p->accesses);
	put_int(b, "instructions", p->instructions);
	begin_array(b, "traffic_bytes");
	for (guint i = 0; i < p->traffic->len; i++)
		json_builder_add_int_value(
			b, g_array_index(p->traffic, uint64_t, i));
	json_builder_end_array(b);
	json_builder_end_object(b);
}

static void build_point(JsonBuilder *b, const struct point *p)
{
	json_builder_begin_object(b);
	put_int(b, "schema_version", RESULT_SCHEMA);
	put_string(b, "version", p->version);
	put_string(b, "build", p->build);
	put_string(b, "flags", p->flags);
	put_string(b, "variant", p->variant);
	put_string(b, "kernel", p->kernel);
	put_string(b, "description", p->description);
	put_coords(b, "case", p->coords);
	put_int(b, "index", p->index);
	put_int(b, "iteration", p->iteration);
	put_int(b, "seed", p->seed);
	put_string(b, "topology", p->topology);
	put_string(b, "workload", p->workload);
	put_int(b, "operations", p->operations);
	put_metrics(b, p);
	put_machine(b, p);
	put_account(b, p);
	put_locks(b, p);
	put_dumps(b, "caches", p->caches);
	put_dumps(b, "files", p->files);
	put_lines(b, p);
	put_string(b, "config", p->config);
	json_builder_end_object(b);
}

static char *to_text(JsonBuilder *b)
{
	g_autoptr(JsonGenerator) gen = json_generator_new();
	JsonNode *root = json_builder_get_root(b);
	g_autofree char *text = NULL;

	json_generator_set_root(gen, root);
	json_generator_set_pretty(gen, TRUE);
	json_generator_set_indent(gen, 1);
	text = json_generator_to_data(gen, NULL);
	json_node_unref(root);
	return g_strconcat(text, "\n", NULL);
}

char *point_to_json(const struct point *p)
{
	g_autoptr(JsonBuilder) b = json_builder_new();

	build_point(b, p);
	return to_text(b);
}

static void put_figure(JsonBuilder *b, const struct figure *f)
{
	json_builder_begin_object(b);
	put_string(b, "variant", f->variant);
	put_string(b, "name", f->name);
	put_string(b, "unit", f->unit);
	put_bool(b, "higher_is_better", f->higher_is_better);
	put_coords(b, "where", f->coords);
	put_double(b, "mean", figure_mean(f));
	put_double(b, "stddev", figure_stddev(f));
	begin_array(b, "values");
	for (guint i = 0; i < f->values->len; i++)
		add_double(b, g_array_index(f->values, double, i));
	json_builder_end_array(b);
	put_double(b, "published", f->target ? f->target->value : NAN);
	put_double(b, "published_stddev", f->target ? f->target->stddev : NAN);
	put_double(b, "error_pct", f->target ? figure_error_pct(f) : NAN);
	put_string(b, "kind",
		   !f->target ? NULL : f->target->fitted ? "fitted" :
							   "predicted");
	json_builder_end_object(b);
}

char *result_to_json(const struct result *r)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autoptr(GPtrArray) figures = figures_of(r);
	g_autoptr(GPtrArray) targets = targets_load(r, NULL);

	if (targets)
		figures_attach(figures, targets, r);
	json_builder_begin_object(b);
	put_int(b, "schema_version", RESULT_SCHEMA);
	put_string(b, "program", "slubsim");
	put_string(b, "version", r->version);
	put_strings(b, "command", r->command);
	put_bool(b, "complete", r->complete);
	json_builder_set_member_name(b, "experiment");
	json_builder_begin_object(b);
	put_string(b, "name", r->name);
	put_string(b, "description", r->description);
	put_string(b, "topology", r->topology);
	put_string(b, "workload", r->workload);
	put_int(b, "seed", r->seed);
	put_int(b, "iterations", r->iterations);
	put_string(b, "published", r->published);
	json_builder_set_member_name(b, "fitted");
	json_builder_begin_object(b);
	for (guint i = 0; i < r->fitted->len; i++) {
		const struct fit *f = r->fitted->pdata[i];

		put_string(b, f->key, f->why);
	}
	json_builder_end_object(b);
	put_strings(b, "variants", r->variants);
	json_builder_end_object(b);
	begin_array(b, "summary");
	for (guint i = 0; i < figures->len; i++)
		put_figure(b, figures->pdata[i]);
	json_builder_end_array(b);
	begin_array(b, "points");
	for (guint i = 0; i < r->points->len; i++)
		build_point(b, r->points->pdata[i]);
	json_builder_end_array(b);
	json_builder_end_object(b);
	return to_text(b);
}
