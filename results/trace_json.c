/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/trace_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/trace.h"

#define LOCKS_PID 100000 /* beyond any node */

struct writer {
	GString *s;
	struct machine *m;
	GHashTable *locks; /* line -> track number + 1 */
	double us;	   /* cycles of one */
};

static void append_string(GString *s, const char *text)
{
	g_string_append_c(s, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			g_string_append_c(s, '\\');
		g_string_append_c(s, (unsigned char)*text < ' ' ? ' ' : *text);
	}
	g_string_append_c(s, '"');
}

static void comma(struct writer *w)
{
	if (w->s->str[w->s->len - 1] != '[')
		g_string_append(w->s, ",\n");
}

static void name_track(struct writer *w, const char *what, int pid, int tid,
		       const char *name)
{
	comma(w);
	g_string_append_printf(w->s,
			       "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,"
			       "\"tid\":%d,\"args\":{\"name\":",
			       what, pid, tid);
	append_string(w->s, name);
	g_string_append(w->s, "}}");
}

static void name_cpus(struct writer *w)
{
	const struct topology *t = machine_topology(w->m);

	for (int n = 0; n < t->nr_node_ids; n++) {
		g_autofree char *name = g_strdup_printf("node %d", n);

		if (t->nodes[n].online && t->nodes[n].nr_cpus)
			name_track(w, "process_name", n, 0, name);
	}
	for (int c = 0; c < t->nr_cpu_ids; c++) {
		g_autofree char *name = g_strdup_printf("CPU %d", c);

		if (t->cpus[c].online)
			name_track(w, "thread_name", t->cpus[c].node, c, name);
	}
	name_track(w, "process_name", LOCKS_PID, 0, "locks");
}

/* The track of a lock, named when first seen: the walk has an order. */
static int lock_track(struct writer *w, const struct trace_span *s)
{
	int known = GPOINTER_TO_INT(g_hash_table_lookup(w->locks, &s->lock));
	g_autofree char *name = NULL;
	sim_addr *key;

	if (known)
		return known - 1;
	key = g_new(sim_addr, 1);
	*key = s->lock;
	known = g_hash_table_size(w->locks) + 1;
	g_hash_table_insert(w->locks, key, GINT_TO_POINTER(known));
	name = g_strdup_printf("%s node %d %#" PRIx64, s->name,
			       sim_addr_node(s->lock), s->lock);
	name_track(w, "thread_name", LOCKS_PID, known - 1, name);
	return known - 1;
}

static void append_span(struct writer *w, const struct trace_span *s,
			const char *name, const char *category, int pid,
			int tid)
{
	comma(w);
	g_string_append(w->s, "{\"name\":");
	append_string(w->s, name);
	g_string_append_printf(w->s,
			       ",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.4f,"
			       "\"dur\":%.4f,\"pid\":%d,\"tid\":%d",
			       category, s->from / w->us,
			       (s->to - s->from) / w->us, pid, tid);
	if (s->lock)
		g_string_append_printf(w->s,
				       ",\"args\":{\"cpu\":%d,\"node\":%d}",
				       s->cpu, sim_addr_node(s->lock));
	g_string_append_c(w->s, '}');
}

static void add_span(const struct trace_span *s, void *arg)
{
	struct writer *w = arg;
	int node = machine_topology(w->m)->cpus[s->cpu].node;
	g_autofree char *name = NULL;

	switch (s->kind) {
	case TRACE_FRAME:
		append_span(w, s, s->name, "function", node, s->cpu);
		break;
	case TRACE_IDLE:
		append_span(w, s, "idle", "idle", node, s->cpu);
		break;
	case TRACE_LOCK_WAIT:
		name = g_strdup_printf("wait %s", s->name);
		append_span(w, s, name, "lock", node, s->cpu);
		break;
	case TRACE_LOCK_HOLD:
		name = g_strdup_printf("CPU %d", s->cpu);
		append_span(w, s, name, "lock", LOCKS_PID, lock_track(w, s));
		break;
	}
}

char *trace_json(struct machine *m)
{
	struct writer w = {
		.s = g_string_new("{\"displayTimeUnit\":\"ns\","
				  "\"traceEvents\":["),
		.m = m,
		.locks = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					       g_free, NULL),
		.us = machine_cycles(m, 1000),
	};
	uint64_t dropped;

	name_cpus(&w);
	dropped = machine_trace(m, add_span, &w);
	g_string_append_printf(w.s,
			       "],\n\"otherData\":{\"dropped_spans\":%" PRIu64
			       "}}\n",
			       dropped);
	g_hash_table_unref(w.locks);
	return g_string_free(w.s, FALSE);
}

static bool parse_us(const char *from, const char *end, double *us)
{
	g_autofree char *text = g_strndup(from, end - from);
	char *rest;

	if (!*text)
		return true;
	*us = g_ascii_strtod(text, &rest);
	return rest != text && !*rest && isfinite(*us) && *us >= 0;
}

bool trace_window_parse(const char *text, double *from_us, double *to_us)
{
	const char *colon = strchr(text, ':');

	*from_us = 0;
	*to_us = HUGE_VAL;
	return colon && parse_us(text, colon, from_us) &&
	       parse_us(colon + 1, text + strlen(text), to_us) &&
	       *from_us < *to_us;
}
