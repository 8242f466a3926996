/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points and results from JSON. A missing or ill-typed member is an error; the
 * first one is told.
 */
#include "results/result.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "workloads/workload.h"

struct reader {
	const char *file;
	GError **error;
	bool failed;
};

static void fail(struct reader *rd, const char *key, const char *expected)
{
	if (!rd->failed)
		g_set_error(rd->error, RESULT_ERROR, RESULT_ERROR_FORMAT,
			    "%s: \"%s\": expected %s", rd->file, key, expected);
	rd->failed = true;
}

static JsonNode *member(JsonObject *o, const char *key)
{
	return o ? json_object_get_member(o, key) : NULL;
}

static char *get_string(struct reader *rd, JsonObject *o, const char *key)
{
	JsonNode *n = member(o, key);

	if (n && JSON_NODE_HOLDS_NULL(n))
		return NULL;
	if (!n || json_node_get_value_type(n) != G_TYPE_STRING) {
		fail(rd, key, "a string");
		return NULL;
	}
	return g_strdup(json_node_get_string(n));
}

/* For what is never null: callers may compare it. */
static char *get_name(struct reader *rd, JsonObject *o, const char *key)
{
	char *s = get_string(rd, o, key);

	if (!s) {
		fail(rd, key, "a string");
		return g_strdup("");
	}
	return s;
}

static int64_t get_int(struct reader *rd, JsonObject *o, const char *key)
{
	JsonNode *n = member(o, key);

	if (!n || json_node_get_value_type(n) != G_TYPE_INT64) {
		fail(rd, key, "a whole number");
		return 0;
	}
	return json_node_get_int(n);
}

static double get_double(struct reader *rd, JsonObject *o, const char *key)
{
	JsonNode *n = member(o, key);

	if (n && JSON_NODE_HOLDS_NULL(n))
		return NAN;
	if (!n || (json_node_get_value_type(n) != G_TYPE_DOUBLE &&
		   json_node_get_value_type(n) != G_TYPE_INT64)) {
		fail(rd, key, "a number");
		return 0;
	}
	return json_node_get_double(n);
}

static bool get_bool(struct reader *rd, JsonObject *o, const char *key)
{
	JsonNode *n = member(o, key);

	if (!n || json_node_get_value_type(n) != G_TYPE_BOOLEAN) {
		fail(rd, key, "true or false");
		return false;
	}
	return json_node_get_boolean(n);
}

static JsonArray *get_array(struct reader *rd, JsonObject *o, const char *key)
{
	JsonNode *n = member(o, key);

	if (!n || !JSON_NODE_HOLDS_ARRAY(n)) {
		fail(rd, key, "an array");
		return NULL;
	}
	return json_node_get_array(n);
}

static guint array_length(JsonArray *a)
{
	return a ? json_array_get_length(a) : 0;
}

static JsonObject *get_object(struct reader *rd, JsonObject *o,
			      const char *key)
{
	JsonNode *n = member(o, key);

	if (!n || !JSON_NODE_HOLDS_OBJECT(n)) {
		fail(rd, key, "an object");
		return NULL;
	}
	return json_node_get_object(n);
}

static JsonObject *element(struct reader *rd, JsonArray *a, guint i,
			   const char *key)
{
	JsonNode *n = json_array_get_element(a, i);

	if (!JSON_NODE_HOLDS_OBJECT(n)) {
		fail(rd, key, "an array of objects");
		return NULL;
	}
	return json_node_get_object(n);
}

static char **get_strings(struct reader *rd, JsonObject *o, const char *key)
{
	JsonArray *a = get_array(rd, o, key);
	GPtrArray *v = g_ptr_array_new();

	for (guint i = 0; i < array_length(a); i++) {
		JsonNode *n = json_array_get_element(a, i);

		if (json_node_get_value_type(n) == G_TYPE_STRING)
			g_ptr_array_add(v, g_strdup(json_node_get_string(n)));
		else
			fail(rd, key, "an array of strings");
	}
	g_ptr_array_add(v, NULL);
	return (char **)g_ptr_array_free(v, FALSE);
}

static void read_metrics(struct reader *rd, JsonObject *o, struct point *p)
{
	struct report r = {p};
	JsonObject *metrics = get_object(rd, o, "metrics");
	g_autoptr(GList) names = metrics ? json_object_get_members(metrics) :
					   NULL;
	JsonArray *a;

	for (GList *l = names; l; l = l->next) {
		JsonObject *m = get_object(rd, metrics, l->data);
		g_autofree char *unit = get_name(rd, m, "unit");

		report_metric(&r, l->data, unit,
			      get_bool(rd, m, "higher_is_better"),
			      get_double(rd, m, "value"));
	}
	a = get_array(rd, o, "series");
	for (guint i = 0; i < array_length(a); i++) {
		JsonObject *s = element(rd, a, i, "series");
		g_autofree char *name = get_name(rd, s, "name");
		g_autofree char *unit = get_name(rd, s, "unit");
		g_autofree char *axis = get_name(rd, s, "axis");
		struct sample *last;

		report_series(&r, name, unit, axis, get_double(rd, s, "x"),
			      get_double(rd, s, "value"));
		last = p->series->pdata[p->series->len - 1];
		last->higher_is_better = get_bool(rd, s, "higher_is_better");
	}
}

static int cause_find(struct reader *rd, const char *name)
{
	for (int k = 0; k < NR_CAUSES; k++)
		if (!strcmp(cause_names[k], name))
			return k;
	fail(rd, "cause", "the name of a cause");
	return 0;
}

static void read_account(struct reader *rd, JsonObject *o, struct point *p)
{
	JsonArray *a = get_array(rd, o, "account");

	for (guint i = 0; i < array_length(a); i++) {
		JsonObject *row = element(rd, a, i, "account");
		g_autofree char *path = get_name(rd, row, "path");
		g_autofree char *cause = get_name(rd, row, "cause");

		point_add_account(p, path, cause_find(rd, cause),
				  get_int(rd, row, "cycles"));
	}
	a = get_array(rd, o, "cpus");
	for (guint i = 0; i < array_length(a); i++) {
		JsonObject *row = element(rd, a, i, "cpus");
		JsonObject *cycles = get_object(rd, row, "cycles");
		struct cpu_account *c = g_new0(struct cpu_account, 1);

		c->cpu = get_int(rd, row, "cpu");
		c->node = get_int(rd, row, "node");
		for (int k = 0; k < NR_CAUSES; k++)
			c->cycles[k] = get_int(rd, cycles, cause_names[k]);
		g_ptr_array_add(p->cpus, c);
	}
}

static void read_dumps(struct reader *rd, JsonObject *o, const char *key,
		       GPtrArray *dumps)
{
	JsonArray *a = get_array(rd, o, key);

	for (guint i = 0; i < array_length(a); i++) {
		JsonObject *row = element(rd, a, i, key);
		g_autofree char *name = get_name(rd, row, "name");
		JsonObject *attrs = get_object(rd, row, "attributes");
		g_autoptr(GList) keys =
			attrs ? json_object_get_members(attrs) : NULL;
		struct cache_dump *d = cache_dump_new(name);

		for (GList *l = keys; l; l = l->next) {
			g_autofree char *text = get_name(rd, attrs, l->data);

			cache_dump_add(d, l->data, text);
		}
		g_ptr_array_add(dumps, d);
	}
}

static void read_locks(struct reader *rd, JsonObject *o, struct point *p)
{
	JsonArray *a = get_array(rd, o, "locks");

	for (guint i = 0; i < array_length(a); i++) {
		JsonObject *row = element(rd, a, i, "locks");
		struct lock_row *l = g_new0(struct lock_row, 1);

		l->class = get_name(rd, row, "class");
		l->node = get_int(rd, row, "node");
		l->acquisitions = get_int(rd, row, "acquisitions");
		l->contentions = get_int(rd, row, "contentions");
		l->acq_bounces = get_int(rd, row, "acq_bounces");
		l->con_bounces = get_int(rd, row, "con_bounces");
		l->wait_total = get_int(rd, row, "wait_total_cycles");
		l->wait_min = get_int(rd, row, "wait_min_cycles");
		l->wait_max = get_int(rd, row, "wait_max_cycles");
		l->hold_total = get_int(rd, row, "hold_total_cycles");
		l->hold_min = get_int(rd, row, "hold_min_cycles");
		l->hold_max = get_int(rd, row, "hold_max_cycles");
		g_ptr_array_add(p->locks, l);
	}
}

static void read_fields(JsonArray *a, struct line_row *l)
{
	for (guint k = 0; k < MIN(array_length(a), 8); k++) {
		JsonNode *n = json_array_get_element(a, k);

		if (JSON_NODE_HOLDS_VALUE(n))
			l->fields[k] = json_node_dup_string(n);
	}
}

static void read_lines(struct reader *rd, JsonObject *o, struct point *p)
{
	JsonNode *n = member(o, "lines");
	JsonObject *left_out;
	JsonArray *a;

	if (n && JSON_NODE_HOLDS_NULL(n))
		return;
	left_out = get_object(rd, o, "lines_left_out");
	if (left_out) {
		struct lines_left_out *l = &p->lines_left_out;

		l->lines = get_int(rd, left_out, "lines");
		l->hitm_local = get_int(rd, left_out, "hitm_local");
		l->hitm_remote = get_int(rd, left_out, "hitm_remote");
	}
	a = get_array(rd, o, "lines");
	p->lines = g_ptr_array_new_with_free_func(line_row_free);
	for (guint i = 0; i < array_length(a); i++) {
		JsonObject *row = element(rd, a, i, "lines");
		struct line_row *l = g_new0(struct line_row, 1);
		JsonArray *cpus = get_array(rd, row, "cpus");

		l->line = get_int(rd, row, "line");
		l->kind = get_string(rd, row, "kind");
		l->node = get_int(rd, row, "node");
		l->loads = get_int(rd, row, "loads");
		l->stores = get_int(rd, row, "stores");
		l->rmws = get_int(rd, row, "rmws");
		l->hitm_local = get_int(rd, row, "hitm_local");
		l->hitm_remote = get_int(rd, row, "hitm_remote");
		l->dram_local = get_int(rd, row, "dram_local");
		l->dram_remote = get_int(rd, row, "dram_remote");
		l->offsets = get_int(rd, row, "offsets");
		read_fields(get_array(rd, row, "fields"), l);
		for (guint k = 0; k < 8; k++)
			l->cpus[k] = -1;
		for (guint k = 0; k < MIN(array_length(cpus), 8); k++) {
			JsonObject *c = element(rd, cpus, k, "cpus");

			l->cpus[k] = get_int(rd, c, "cpu");
			l->counts[k] = get_int(rd, c, "count");
		}
		g_ptr_array_add(p->lines, l);
	}
}

static void read_machine(struct reader *rd, JsonObject *o, struct point *p)
{
	JsonObject *m = get_object(rd, o, "machine");
	JsonArray *a = get_array(rd, m, "traffic_bytes");

	p->freq_ghz = get_double(rd, m, "freq_ghz");
	p->nr_cpus = get_int(rd, m, "nr_cpus");
	p->nr_nodes = get_int(rd, m, "nr_nodes");
	p->nr_node_ids = get_int(rd, m, "nr_node_ids");
	p->cycles = get_int(rd, m, "end_cycles");
	p->engine_events = get_int(rd, m, "engine_events");
	p->meets = get_int(rd, m, "meets");
	p->accesses = get_int(rd, m, "accesses");
	p->instructions = get_int(rd, m, "instructions");
	for (guint i = 0; i < array_length(a); i++) {
		uint64_t bytes = json_array_get_int_element(a, i);

		g_array_append_val(p->traffic, bytes);
	}
	if (array_length(a) != (guint)p->nr_node_ids * p->nr_node_ids)
		fail(rd, "traffic_bytes", "nr_node_ids squared numbers");
}

static struct point *read_point(struct reader *rd, JsonObject *o)
{
	struct point *p = point_new();
	JsonObject *coords;
	g_autoptr(GList) names = NULL;

	if (get_int(rd, o, "schema_version") != RESULT_SCHEMA)
		fail(rd, "schema_version", G_STRINGIFY(RESULT_SCHEMA));
	p->version = get_string(rd, o, "version");
	p->build = get_string(rd, o, "build");
	p->flags = get_name(rd, o, "flags");
	p->variant = get_name(rd, o, "variant");
	p->kernel = get_string(rd, o, "kernel");
	p->description = get_string(rd, o, "description");
	coords = get_object(rd, o, "case");
	names = coords ? json_object_get_members(coords) : NULL;
	for (GList *l = names; l; l = l->next) {
		g_autofree char *value = get_name(rd, coords, l->data);

		point_add_coord(p, l->data, value);
	}
	p->index = get_int(rd, o, "index");
	p->iteration = get_int(rd, o, "iteration");
	p->seed = get_int(rd, o, "seed");
	p->topology = get_name(rd, o, "topology");
	p->workload = get_name(rd, o, "workload");
	p->operations = get_int(rd, o, "operations");
	read_metrics(rd, o, p);
	read_machine(rd, o, p);
	read_account(rd, o, p);
	read_locks(rd, o, p);
	read_dumps(rd, o, "caches", p->caches);
	read_dumps(rd, o, "files", p->files);
	read_lines(rd, o, p);
	p->config = get_string(rd, o, "config");
	return p;
}

#define MAX_DEPTH 64 /* ours are a handful of levels deep */

/* The parser calls itself for each level: a file of brackets would end it. */
static bool is_shallow(const char *text)
{
	bool quoted = false;
	int depth = 0;

	for (const char *c = text; *c && depth <= MAX_DEPTH; c++) {
		if (quoted && *c == '\\' && c[1])
			c++;
		else if (*c == '"')
			quoted = !quoted;
		else if (!quoted && (*c == '[' || *c == '{'))
			depth++;
		else if (!quoted && (*c == ']' || *c == '}'))
			depth--;
	}
	return depth <= MAX_DEPTH;
}

static bool refuse(struct reader *rd, const char *why)
{
	/* the parser calls what it reads "<data>", I/O errors name the file */
	if (g_str_has_prefix(why, "<data>:"))
		why += strlen("<data>:");
	g_set_error(rd->error, RESULT_ERROR, RESULT_ERROR_FORMAT, "%s: %s",
		    rd->file, why);
	rd->failed = true;
	return false;
}

static bool load(struct reader *rd, JsonParser *parser)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) e = NULL;
	gsize length;

	if (!g_file_get_contents(rd->file, &text, &length, &e))
		return refuse(rd, e->message);
	if (!is_shallow(text))
		return refuse(rd, "nested deeper than " G_STRINGIFY(MAX_DEPTH)
				  " levels, expected a result");
	if (!json_parser_load_from_data(parser, text, length, &e))
		return refuse(rd, e->message);
	if (!json_parser_get_root(parser) ||
	    !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
		return refuse(rd, "not a JSON object");
	return true;
}

static JsonParser *parse(struct reader *rd, JsonObject **o)
{
	JsonParser *parser = json_parser_new_immutable();

	if (load(rd, parser)) {
		*o = json_node_get_object(json_parser_get_root(parser));
		return parser;
	}
	g_object_unref(parser);
	return NULL;
}

struct point *point_from_json(const char *file, GError **error)
{
	struct reader rd = {.file = file, .error = error};
	JsonObject *o;
	g_autoptr(JsonParser) parser = parse(&rd, &o);
	struct point *p;

	if (!parser)
		return NULL;
	p = read_point(&rd, o);
	if (rd.failed) {
		point_free(p);
		return NULL;
	}
	return p;
}

struct result *result_from_json(const char *file, GError **error)
{
	struct reader rd = {.file = file, .error = error};
	JsonObject *o, *e, *fitted;
	g_autoptr(JsonParser) parser = parse(&rd, &o);
	g_autoptr(GList) keys = NULL;
	struct result *r;
	JsonArray *points;

	if (!parser)
		return NULL;
	r = result_new();
	if (get_int(&rd, o, "schema_version") != RESULT_SCHEMA)
		fail(&rd, "schema_version", G_STRINGIFY(RESULT_SCHEMA));
	r->version = get_string(&rd, o, "version");
	r->command = get_strings(&rd, o, "command");
	r->complete = get_bool(&rd, o, "complete");
	e = get_object(&rd, o, "experiment");
	r->name = get_name(&rd, e, "name");
	r->description = get_string(&rd, e, "description");
	r->topology = get_name(&rd, e, "topology");
	r->workload = get_name(&rd, e, "workload");
	r->seed = get_int(&rd, e, "seed");
	r->iterations = get_int(&rd, e, "iterations");
	r->published = get_string(&rd, e, "published");
	r->variants = get_strings(&rd, e, "variants");
	fitted = get_object(&rd, e, "fitted");
	keys = fitted ? json_object_get_members(fitted) : NULL;
	for (GList *l = keys; l; l = l->next) {
		struct fit *f = g_new0(struct fit, 1);

		f->key = g_strdup(l->data);
		f->why = get_name(&rd, fitted, l->data);
		g_ptr_array_add(r->fitted, f);
	}
	points = get_array(&rd, o, "points");
	for (guint i = 0; i < array_length(points); i++)
		g_ptr_array_add(r->points,
				read_point(&rd, element(&rd, points, i,
							"points")));
	if (rd.failed) {
		result_free(r);
		return NULL;
	}
	return r;
}

struct result *result_load(const char *path, GError **error)
{
	g_autofree char *file = NULL;
	struct result *r;

	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		file = g_build_filename(path, "result.json", NULL);
	else
		file = g_strdup(path);
	r = result_from_json(file, error);
	if (r)
		r->dir = g_path_get_dirname(file);
	return r;
}
