/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lscpu -J: the summary as an array of { field, data, children } and, with -e,
 * the table as an array of objects.
 */
#include "configs/import_facts.h"

#include <json-glib/json-glib.h>
#include <string.h>

/* json-glib reads nested values by recursion, so the nesting is bounded first;
 * lscpu needs 7 levels. */
#define MAX_DEPTH 32
/* Each value takes about 100 bytes then; -e of 4096 CPUs has 0.6 MB. */
#define MAX_JSON (2u << 20)

struct reader {
	struct machine_facts *f;
	const struct import_text *text;
	int at; /* line index where the last field was found */
	int misses;
};

/* Cuts @json behind its first value too: json-glib leaks that one if another
 * follows, and in a mail anything may. */
static bool check_depth(const struct import_text *t, char *json, GError **error)
{
	int depth = 0, line = 1;
	bool string = false;

	for (char *c = json; *c; c++) {
		if (*c == '\n')
			line++;
		if (string && *c == '\\' && c[1])
			c++;
		else if (*c == '"')
			string = !string;
		else if (!string && (*c == '[' || *c == '{'))
			depth++;
		else if (!string && (*c == ']' || *c == '}'))
			depth--;
		if (!string && (*c == ']' || *c == '}') && depth <= 0) {
			c[1] = '\0';
			return true;
		}
		if (depth > MAX_DEPTH)
			return import_fail(error, t->name, line,
					   "JSON nested more than %d deep, "
					   "expected what lscpu -J prints",
					   MAX_DEPTH);
	}
	return true;
}

/* json-glib keeps no lines; fields come in the order of the text. */
static int line_of(struct reader *r, const char *field)
{
	/* escaped in the text; not worth a search of the rest each time */
	if (r->misses > 16)
		return 0;
	for (int i = r->at; i < r->text->nr_lines; i++)
		if (strstr(r->text->lines[i].text, field)) {
			r->at = i;
			return r->text->lines[i].number;
		}
	r->misses++;
	return 0;
}

/* A member as text: NULL if absent or null. */
static char *member_string(JsonObject *o, const char *name)
{
	JsonNode *n = json_object_get_member(o, name);

	if (!n || !JSON_NODE_HOLDS_VALUE(n))
		return NULL;
	if (json_node_get_value_type(n) == G_TYPE_STRING)
		return json_node_dup_string(n);
	if (json_node_get_value_type(n) == G_TYPE_BOOLEAN)
		return g_strdup(json_node_get_boolean(n) ? "yes" : "no");
	return g_strdup_printf("%" G_GINT64_FORMAT, json_node_get_int(n));
}

static bool take_fields(struct reader *r, JsonArray *fields, GError **error)
{
	for (guint i = 0; i < json_array_get_length(fields); i++) {
		JsonNode *n = json_array_get_element(fields, i);
		g_autofree char *field = NULL, *data = NULL;
		JsonObject *o;
		char *colon;
		int line;

		if (!JSON_NODE_HOLDS_OBJECT(n))
			continue;
		o = json_node_get_object(n);
		field = member_string(o, "field");
		if (!field)
			continue;
		line = line_of(r, field);
		data = member_string(o, "data");
		colon = strrchr(field, ':');
		if (colon && !colon[1])
			*colon = '\0';
		g_strstrip(field);
		if (!facts_lscpu_field(r->f, field, data, line, error))
			return false;
		n = json_object_get_member(o, "children");
		if (n && JSON_NODE_HOLDS_ARRAY(n) &&
		    !take_fields(r, json_node_get_array(n), error))
			return false;
	}
	return true;
}

/* -e -J: turned into the lines that -e would have printed and read as such. */
static struct machine_facts *take_table(const struct import_text *t,
					JsonArray *rows, GError **error)
{
	GString *s = g_string_new("# CPU,Core,Socket,Node,L3,Online\n");
	struct import_text *table;
	struct machine_facts *f;

	for (guint i = 0; i < json_array_get_length(rows); i++) {
		static const char *const names[] = {"cpu",  "core", "socket",
						    "node", "l3",   "online"};
		JsonNode *n = json_array_get_element(rows, i);
		JsonObject *o;

		if (!JSON_NODE_HOLDS_OBJECT(n))
			continue;
		o = json_node_get_object(n);
		for (guint j = 0; j < G_N_ELEMENTS(names); j++) {
			g_autofree char *v = member_string(o, names[j]);
			g_autofree char *caches =
				member_string(o, "l1d:l1i:l2:l3");

			if (!v && !strcmp(names[j], "l3") && caches &&
			    strrchr(caches, ':'))
				v = g_strdup(strrchr(caches, ':') + 1);
			/* a row is a line whatever the strings hold */
			g_string_append_printf(s, "%s%s", j ? "," : "",
					       v ? g_strdelimit(v, ",:\n", ' ')
						 : "");
		}
		g_string_append_c(s, '\n');
	}
	table = import_text_new(t->name, s->str, s->len);
	f = facts_from_lscpu_table(table, error);
	import_text_free(table);
	g_string_free(s, TRUE);
	return f;
}

struct machine_facts *facts_from_lscpu_json(const struct import_text *t,
					    GError **error)
{
	g_autoptr(JsonParser) parser = NULL;
	g_autoptr(GError) why = NULL;
	struct reader r = {.text = t};
	g_autofree char *json = NULL;
	GString *text;
	JsonNode *root, *n;

	/* the lines, for what a mail put before them */
	text = g_string_sized_new(t->size);
	for (int i = 0; i < t->nr_lines; i++)
		g_string_append_printf(text, "%s\n", t->lines[i].text);
	json = g_string_free(text, FALSE);
	if (strlen(json) > MAX_JSON) {
		import_fail(error, t->name, 0,
			    "more than %u MiB of JSON, "
			    "expected what lscpu -J prints",
			    MAX_JSON >> 20);
		return NULL;
	}
	if (!check_depth(t, json, error))
		return NULL;
	parser = json_parser_new_immutable();
	json_parser_load_from_data(parser, json, -1, &why);
	if (why) {
		import_fail(error, t->name,
			    (int)json_parser_get_current_line(parser),
			    "%s, expected what lscpu -J prints", why->message);
		return NULL;
	}
	root = json_parser_get_root(parser);
	if (root && JSON_NODE_HOLDS_OBJECT(root)) {
		JsonObject *o = json_node_get_object(root);

		n = json_object_get_member(o, "cpus");
		if (n && JSON_NODE_HOLDS_ARRAY(n))
			return take_table(t, json_node_get_array(n), error);
		n = json_object_get_member(o, "lscpu");
		if (n && JSON_NODE_HOLDS_ARRAY(n)) {
			r.f = facts_new(t->name, FACTS_LSCPU, "lscpu -J");
			if (take_fields(&r, json_node_get_array(n), error) &&
			    facts_lscpu_finish(r.f, error))
				return r.f;
			facts_free(r.f);
			return NULL;
		}
	}
	import_fail(error, t->name, 0,
		    "JSON without \"lscpu\" or \"cpus\", expected what "
		    "lscpu -J prints");
	return NULL;
}
