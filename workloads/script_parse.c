/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/script.h"

#include <string.h>

#include "sim/cpulist.h"

G_DEFINE_QUARK(script - error - quark, script_error)

#define MAX_REPEAT 1000000000

struct parser {
	struct script *s;
	int line;
	char **token; /* of the current line */
	int n, at;    /* how many, and the next one */
	GArray *open; /* indices of rep statements without end */
	GError **error;
};

static bool fail(struct parser *p, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool fail(struct parser *p, const char *format, ...)
{
	va_list args;
	g_autofree char *what = NULL;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	if (p->error && !*p->error)
		g_set_error(p->error, SCRIPT_ERROR, 0, "%s:%d: %s", p->s->file,
			    p->line, what);
	return false;
}

/* ---- operands ---- */

static bool number(struct parser *p, const char *what, int64_t min, int64_t max,
		   int64_t *value)
{
	gint64 v;

	if (p->at >= p->n)
		return fail(p, "'%s' without %s, expected a number",
			    p->token[0], what);
	if (!g_ascii_string_to_signed(p->token[p->at], 10, min, max, &v, NULL))
		return fail(
			p,
			"%s is '%s', expected a number from %" G_GINT64_FORMAT
			" to %" G_GINT64_FORMAT,
			what, p->token[p->at], min, max);
	p->at++;
	*value = v;
	return true;
}

static bool integer(struct parser *p, const char *what, int min, int max,
		    int *value)
{
	int64_t v;

	if (!number(p, what, min, max, &v))
		return false;
	*value = v;
	return true;
}

static bool cpu(struct parser *p, int *value)
{
	return integer(p, "cpu", 0, TOPOLOGY_MAX_CPUS - 1, value);
}

static bool slot(struct parser *p, int *value)
{
	return integer(p, "slot", 0, SCRIPT_MAX_SLOTS - 1, value);
}

static bool gfp(struct parser *p, unsigned *flags)
{
	const char *t;

	*flags = GFP_FOR_KERNEL;
	if (p->at >= p->n)
		return true;
	for (t = p->token[p->at]; *t; t++) {
		switch (*t) {
		case 'K':
			break;
		case 'N':
		case 'A':
			*flags &= ~GFP_MAY_BLOCK;
			break;
		case 't':
			*flags |= GFP_ONLY_NODE;
			break;
		case 'z':
			*flags |= GFP_ZEROED;
			break;
		default:
			return fail(p,
				    "gfp is '%s', expected letters of "
				    "K, N, A, t, z",
				    p->token[p->at]);
		}
	}
	p->at++;
	return true;
}

/* A range of slots must stay inside the array in both directions. */
static bool range(struct parser *p, const struct script_op *op)
{
	int64_t last = op->slot + (int64_t)(op->n - 1) * op->step;

	if (op->n && (last < 0 || last >= SCRIPT_MAX_SLOTS))
		return fail(p,
			    "the last slot is %" G_GINT64_FORMAT
			    ", expected 0 to %d",
			    last, SCRIPT_MAX_SLOTS - 1);
	return true;
}

/* ---- statements ---- */

static bool parse_cache(struct parser *p, struct script_op *op)
{
	struct kmem_cache_args *a = &p->s->cache;
	int size, align, capacity;
	char *wrong;

	if (p->s->ops->len)
		return fail(p, "a second 'cache', expected one at the start");
	if (!integer(p, "object size", 1, 1 << 20, &size) ||
	    !integer(p, "alignment", 0, 1 << 20, &align))
		return false;
	if (p->at >= p->n)
		return fail(p, "'cache' without flags, expected - or letters "
			       "of H, R, C, A");
	for (const char *t = p->token[p->at++]; *t; t++) {
		const char *known = "HRCA-", *k = strchr(known, *t);
		static const unsigned flag[] = {SLAB_HW_ALIGN, SLAB_RCU,
						SLAB_RECLAIM, SLAB_ACCOUNTED,
						0};

		if (!k)
			return fail(p,
				    "flags are '%s', expected - or letters "
				    "of H, R, C, A",
				    p->token[p->at - 1]);
		a->flags |= flag[k - known];
	}
	if (!integer(p, "sheaf capacity", 0, 1 << 20, &capacity))
		return false;
	a->name = "oracle";
	a->object_size = size;
	a->align = align;
	a->sheaf_capacity = capacity;
	wrong = kmem_cache_args_check(a);
	if (wrong) {
		fail(p, "%s", wrong);
		g_free(wrong);
		return false;
	}
	return true;
}

static bool parse_stream(struct parser *p, struct script_op *op)
{
	op->pairs = 1;
	if (op->kind == OP_STREAM && !strcmp(p->token[0], "mstream") &&
	    !integer(p, "number of pairs", 1, TOPOLOGY_MAX_CPUS, &op->pairs))
		return false;
	op->cpus = g_new0(int, 2 * op->pairs);
	for (int i = 0; i < 2 * op->pairs; i++)
		if (!cpu(p, &op->cpus[i]))
			return false;
	if (!slot(p, &op->slot) ||
	    !integer(p, "total", 0, G_MAXINT / 2, &op->total) ||
	    !integer(p, "window", 1, SCRIPT_MAX_SLOTS, &op->window) ||
	    !integer(p, "burst", 1, G_MAXINT / 2, &op->burst) ||
	    !gfp(p, &op->gfp))
		return false;
	if (op->slot + (int64_t)op->pairs * op->window > SCRIPT_MAX_SLOTS)
		return fail(p,
			    "the rings end at slot %" G_GINT64_FORMAT
			    ", expected at most %d",
			    op->slot + (int64_t)op->pairs * op->window,
			    SCRIPT_MAX_SLOTS);
	return true;
}

static bool parse_words(struct parser *p, struct script_op *op)
{
	if (op->kind == OP_SET) {
		if (p->n < 3)
			return fail(p, "expected: set ATTRIBUTE VALUE");
		op->attr = g_strdup(p->token[p->at++]);
	} else if (p->n < 2) {
		return fail(p, "expected: dump LABEL");
	}
	op->text = g_strdup(p->token[p->at++]);
	return true;
}

static bool parse_block(struct parser *p, struct script_op *op)
{
	int here = p->s->ops->len;

	if (op->kind == OP_REPEAT) {
		if (!number(p, "repetitions", 0, MAX_REPEAT, &op->value))
			return false;
		if (p->open->len >= 64)
			return fail(p, "more than 64 nested 'rep'");
		g_array_append_val(p->open, here);
		return true;
	}
	if (!p->open->len)
		return fail(p, "'end' without 'rep'");
	op->target = g_array_index(p->open, int, p->open->len - 1);
	g_array_set_size(p->open, p->open->len - 1);
	g_array_index(p->s->ops, struct script_op, op->target).target = here;
	return true;
}

/* What follows the CPU: s slot, n count, t step, N node, g gfp. */
static bool parse_operands(struct parser *p, struct script_op *op,
			   const char *form)
{
	op->n = op->step = 1;
	for (; *form; form++) {
		bool ok = *form == 'c'	 ? cpu(p, &op->cpu)
			  : *form == 's' ? slot(p, &op->slot)
			  : *form == 'n' ? integer(p, "count", 0,
						   SCRIPT_MAX_SLOTS, &op->n)
			  : *form == 'p'
				  ? integer(p, "count", 0, MAX_REPEAT, &op->n)
			  : *form == 't' ? integer(p, "step", -SCRIPT_MAX_SLOTS,
						   SCRIPT_MAX_SLOTS, &op->step)
			  : *form == 'N'
				  ? integer(p, "node", 0,
					    TOPOLOGY_MAX_NODES - 1, &op->node)
			  : *form == 'v' ? number(p, "value", 0, G_MAXINT64,
						  &op->value)
					 : gfp(p, &op->gfp);

		if (!ok)
			return false;
	}
	return op->kind == OP_PAIR || range(p, op);
}

static const struct {
	const char *word;
	enum script_op_kind kind;
	const char *form; /* NULL: parsed by hand */
} statements[] = {
	{"a", OP_ALLOC, "csg"},	      {"f", OP_FREE, "cs"},
	{"n", OP_ALLOC_NODE, "csNg"}, {"A", OP_ALLOC_BULK, "csng"},
	{"F", OP_FREE_BULK, "csn"},   {"ra", OP_ALLOC, "csntg"},
	{"rf", OP_FREE, "csnt"},      {"rn", OP_ALLOC_NODE, "csntNg"},
	{"pair", OP_PAIR, "cpg"},     {"k", OP_KFREE_RCU, "cs"},
	{"rk", OP_KFREE_RCU, "csnt"}, {"kb", OP_RCU_BARRIER, ""},
	{"s", OP_SHRINK, ""},	      {"cyc", OP_CYCLES, "v"},
	{"where", OP_WHERE, "sn"},    {"cache", OP_CACHE, NULL},
	{"set", OP_SET, NULL},	      {"dump", OP_DUMP, NULL},
	{"rep", OP_REPEAT, NULL},     {"end", OP_END, NULL},
	{"stream", OP_STREAM, NULL},  {"mstream", OP_STREAM, NULL},
};

static bool by_hand(struct parser *p, struct script_op *op)
{
	switch (op->kind) {
	case OP_CACHE:
		return parse_cache(p, op);
	case OP_SET:
	case OP_DUMP:
		return parse_words(p, op);
	case OP_STREAM:
		return parse_stream(p, op);
	default:
		return parse_block(p, op);
	}
}

static bool parse_statement(struct parser *p)
{
	struct script_op op = {.line = p->line};
	const char *form = NULL;
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(statements); i++)
		if (!strcmp(statements[i].word, p->token[0]))
			break;
	if (i == G_N_ELEMENTS(statements))
		return fail(p,
			    "'%s' is no statement, expected one of a f n A "
			    "F ra rf rn pair k rk kb s set cyc dump where rep "
			    "end stream mstream",
			    p->token[0]);
	op.kind = statements[i].kind;
	form = statements[i].form;
	if (!p->s->ops->len && op.kind != OP_CACHE)
		return fail(p, "'%s' before 'cache', expected that first",
			    p->token[0]);
	p->at = 1;
	if (form ? !parse_operands(p, &op, form) : !by_hand(p, &op)) {
		g_free(op.attr);
		g_free(op.text);
		g_free(op.cpus);
		return false;
	}
	g_array_append_val(p->s->ops, op);
	if (p->at < p->n)
		return fail(p, "'%s' is too much after '%s'", p->token[p->at],
			    p->token[0]);
	return true;
}

/* ---- the header ---- */

/* The header's lines in turn need a topology that can still grow. */
struct header {
	int cpus, nodes; /* highest id + 1 */
	bool online[TOPOLOGY_MAX_CPUS];
	struct {
		bool seen;
		uint64_t bytes;
		char *cpus, *distances;
	} node[TOPOLOGY_MAX_NODES];
};

static bool parse_online(struct parser *p, struct header *h, const char *text)
{
	g_autofree char *list = g_strstrip(g_strdup(text));
	g_autofree char *wrong =
		cpulist_parse(list, TOPOLOGY_MAX_CPUS, h->online, NULL);

	if (wrong)
		return fail(p, "CPUs online: %s", wrong);
	for (int i = 0; i < TOPOLOGY_MAX_CPUS; i++)
		if (h->online[i])
			h->cpus = i + 1;
	return true;
}

static bool parse_node_line(struct parser *p, struct header *h,
			    const char *text)
{
	guint64 id, kb;
	g_auto(GStrv) w = g_strsplit(text, " ", -1);
	int n = g_strv_length(w);

	/* I cpus: LIST size: N kB distances: D ... ; LIST may be empty */
	if (n < 7 || strcmp(w[1], "cpus:") || strcmp(w[3], "size:") ||
	    strcmp(w[6], "distances:") ||
	    !g_ascii_string_to_unsigned(w[0], 10, 0, TOPOLOGY_MAX_NODES - 1,
					&id, NULL) ||
	    !g_ascii_string_to_unsigned(w[4], 10, 0, G_MAXUINT64 >> 10, &kb,
					NULL))
		return fail(p, "expected '# guest: node N cpus: LIST size: N "
			       "kB distances: D ...'");
	h->node[id].seen = true;
	h->node[id].bytes = kb << 10;
	g_free(h->node[id].cpus);
	g_free(h->node[id].distances);
	h->node[id].cpus = g_strdup(w[2]);
	h->node[id].distances = g_strjoinv(" ", w + 7);
	h->nodes = MAX(h->nodes, (int)id + 1);
	return true;
}

static bool parse_header(struct parser *p, struct header *h, const char *text)
{
	const char *v;

	while (*text == ' ')
		text++;
	if (g_str_has_prefix(text, "kernel:")) {
		v = strstr(text, "version ");
		v = v ? v + 8 : text + 7;
		while (*v == ' ')
			v++;
		g_free(p->s->kernel);
		p->s->kernel = g_strndup(v, strcspn(v, " \t-"));
	} else if (g_str_has_prefix(text, "guest: cpus online:")) {
		v = text + strlen("guest: cpus online:");
		return parse_online(p, h, v);
	} else if (g_str_has_prefix(text, "guest: node ")) {
		return parse_node_line(p, h, text + strlen("guest: node "));
	}
	return true;
}

static bool place_cpus(struct parser *p, struct topology *t, int node,
		       const char *list)
{
	g_autofree bool *set = g_new(bool, TOPOLOGY_MAX_CPUS);
	g_autofree char *wrong =
		cpulist_parse(list, TOPOLOGY_MAX_CPUS, set, NULL);

	if (wrong)
		return fail(p, "node %d's CPUs: %s", node, wrong);
	for (int i = 0; i < t->nr_cpu_ids; i++)
		if (set[i])
			t->cpus[i].node = node;
	return true;
}

static bool build_topology(struct parser *p, struct header *h)
{
	struct topology *t;
	char *wrong;

	if (!h->cpus || !h->nodes)
		return true; /* no machine in the header */
	t = p->s->topology = topology_new("script", h->cpus, h->nodes);
	for (int i = 0; i < h->cpus; i++)
		t->cpus[i].online = h->online[i];
	for (int i = 0; i < h->nodes; i++) {
		g_auto(GStrv) d = NULL;
		int k = 0;

		if (!h->node[i].seen)
			continue;
		t->nodes[i].online = true;
		t->nodes[i].memory_bytes = h->node[i].bytes;
		if (!place_cpus(p, t, i, h->node[i].cpus))
			return false;
		d = g_strsplit(h->node[i].distances, " ", -1);
		for (int j = 0; d[k] && j < h->nodes; j++) {
			guint64 v;

			if (!h->node[j].seen)
				continue;
			if (!g_ascii_string_to_unsigned(d[k], 10, 0, 255, &v,
							NULL))
				return fail(p,
					    "node %d: distance '%s', "
					    "expected 10 to 254",
					    i, d[k]);
			t->distances[i * h->nodes + j] = v;
			k++;
		}
	}
	topology_finish(t);
	wrong = topology_check(t);
	if (wrong) {
		fail(p, "the header's machine: %s", wrong);
		g_free(wrong);
		return false;
	}
	return true;
}

/* ---- all of it ---- */

static bool parse_line(struct parser *p, struct header *h, const char *text)
{
	g_autofree char *line = g_strdup(text);
	char *comment = strchr(line, '#');
	g_auto(GStrv) raw = NULL;
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	if (comment) {
		*comment = '\0';
		if (comment == line &&
		    !parse_header(p, h, g_strchomp(comment + 1)))
			return false;
	}
	raw = g_strsplit_set(line, " \t\r", -1);
	for (int i = 0; raw[i]; i++)
		if (*raw[i])
			g_ptr_array_add(words, raw[i]);
	if (!words->len)
		return true;
	p->token = (char **)words->pdata;
	p->n = words->len;
	return parse_statement(p);
}

struct script *script_parse(const char *file, const char *text, GError **error)
{
	struct script *s = g_new0(struct script, 1);
	struct header *h = g_new0(struct header, 1);
	struct parser p = {.s = s, .error = error};
	bool ok = true;

	s->file = g_strdup(file);
	s->ops = g_array_new(FALSE, TRUE, sizeof(struct script_op));
	p.open = g_array_new(FALSE, FALSE, sizeof(int));
	while (ok && *text) {
		size_t length = strcspn(text, "\n");
		g_autofree char *line = g_strndup(text, length);

		p.line++;
		ok = parse_line(&p, h, line);
		text += length + (text[length] == '\n');
	}
	if (ok && !s->ops->len)
		ok = fail(&p, "no statement, expected 'cache' first");
	if (ok && p.open->len)
		ok = fail(&p, "'rep' without 'end'");
	ok = ok && build_topology(&p, h);
	for (int i = 0; i < h->nodes; i++) {
		g_free(h->node[i].cpus);
		g_free(h->node[i].distances);
	}
	g_free(h);
	g_array_unref(p.open);
	if (ok)
		return s;
	script_free(s);
	return NULL;
}

struct script *script_load(const char *file, GError **error)
{
	g_autofree char *text = NULL;
	gsize length;
	struct script *s;

	if (!g_file_get_contents(file, &text, &length, error))
		return NULL;
	if (memchr(text, 0, length)) {
		g_set_error(error, SCRIPT_ERROR, 0,
			    "%s: holds a NUL byte, expected text", file);
		return NULL;
	}
	s = script_parse(file, text, error);
	return s;
}

void script_free(struct script *s)
{
	if (!s)
		return;
	for (guint i = 0; i < s->ops->len; i++) {
		struct script_op *op =
			&g_array_index(s->ops, struct script_op, i);

		g_free(op->attr);
		g_free(op->text);
		g_free(op->cpus);
	}
	g_array_unref(s->ops);
	topology_free(s->topology);
	g_free(s->kernel);
	g_free(s->file);
	g_free(s);
}

static bool cpu_exists(const struct script *s, const struct script_op *op,
		       const struct topology *t, int id, GError **error)
{
	if (id < t->nr_cpu_ids && t->cpus[id].online)
		return true;
	g_set_error(error, SCRIPT_ERROR, 0,
		    "%s:%d: CPU %d, expected one of topology '%s'", s->file,
		    op->line, id, t->name);
	return false;
}

bool script_fits(const struct script *s, const struct topology *t,
		 GError **error)
{
	for (guint i = 0; i < s->ops->len; i++) {
		struct script_op *op =
			&g_array_index(s->ops, struct script_op, i);

		for (int k = 0; k < 2 * op->pairs; k++)
			if (!cpu_exists(s, op, t, op->cpus[k], error))
				return false;
		if (!cpu_exists(s, op, t, op->cpu, error))
			return false;
		if (op->kind == OP_ALLOC_NODE && (op->node >= t->nr_node_ids ||
						  !t->nodes[op->node].online)) {
			g_set_error(error, SCRIPT_ERROR, 0,
				    "%s:%d: node %d, expected one of topology "
				    "'%s'",
				    s->file, op->line, op->node, t->name);
			return false;
		}
	}
	return true;
}
