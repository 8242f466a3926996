/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numactl -H (--hardware), in all layouts: with or without the header, node
 * lines or distances; cpu lists and rows that a mail wrapped; ids with holes.
 * Lines in between that are neither (a prompt, prose) are passed over.
 */
#include "configs/import_facts.h"

#include <string.h>

/* What a line of nothing but numbers continues. */
enum open_list { OPEN_NONE, OPEN_CPUS, OPEN_HEADER, OPEN_ROW };

struct reader {
	const struct import_text *text;
	struct machine_facts *f;
	enum open_list open;
	int node; /* whose list or row is open */
	struct id_set cpus;
	int *header; /* [TOPOLOGY_MAX_NODES] node ids */
	int nr_header;
	struct id_set announced; /* "available: 2 nodes (0,8)" */
	int nr_announced;
	bool seen;
};

static bool bad(struct reader *r, const struct import_line *l, GError **error,
		const char *expected)
{
	return import_fail(error, r->text->name, l->number,
			   "\"%.60s\", expected %s", l->text, expected);
}

static bool only_numbers(const char *s)
{
	return *s && !s[strspn(s, " \t0123456789")] && s[strspn(s, " \t")];
}

static bool append_cpus(struct reader *r, const struct import_line *l,
			const char *s, GError **error)
{
	struct id_set cpus = {0};
	const char *what, *end;
	int clash;

	end = id_set_parse_list(&cpus, s, TOPOLOGY_MAX_CPUS, &what);
	if (!end || *import_skip_blanks(end))
		return bad(r, l, error, end ? "CPU numbers" : what);
	if (!facts_set_node(r->f, &cpus, r->node, &clash))
		return import_fail(error, r->text->name, l->number,
				   "CPU %d is on node %d and on node %d, "
				   "expected one node",
				   clash, r->f->cpus[clash].node, r->node);
	origin_extend(&r->f->nodes[r->node].cpus, r->f, l->number);
	origin_extend(&r->f->cpu_list, r->f, l->number);
	r->open = OPEN_CPUS;
	return true;
}

static bool append_header(struct reader *r, const struct import_line *l,
			  const char *s, GError **error)
{
	uint64_t id;

	for (s = import_skip_blanks(s); *s; s = import_skip_blanks(s)) {
		if (!import_uint(&s, TOPOLOGY_MAX_NODES - 1, &id) ||
		    r->nr_header == TOPOLOGY_MAX_NODES)
			return bad(r, l, error, "node numbers below 1024");
		if (r->nr_header && (int)id <= r->header[r->nr_header - 1])
			return bad(r, l, error, "rising node numbers");
		r->header[r->nr_header++] = id;
	}
	r->open = OPEN_HEADER;
	return true;
}

static bool append_row(struct reader *r, const struct import_line *l,
		       const char *s, GError **error)
{
	struct node_facts *n = facts_node(r->f, r->node);
	uint64_t d;

	if (!n->row)
		n->row = g_new(int, TOPOLOGY_MAX_NODES);
	for (s = import_skip_blanks(s); *s; s = import_skip_blanks(s)) {
		if (!import_uint(&s, 255, &d) ||
		    n->nr_row == TOPOLOGY_MAX_NODES)
			return bad(r, l, error, "distances up to 255");
		n->row[n->nr_row++] = d;
	}
	origin_extend(&n->distances, r->f, l->number);
	r->open = OPEN_ROW;
	return true;
}

static bool take_memory(struct reader *r, const struct import_line *l,
			const char *s, int node, GError **error)
{
	struct node_facts *n = facts_node(r->f, node);
	uint64_t mb;

	s = import_skip_blanks(s);
	if (*s == '<') /* <not available> */
		return true;
	if (!import_uint(&s, UINT64_C(1) << 40, &mb))
		return bad(r, l, error, "a size in MB");
	if (strncmp(import_skip_blanks(s), "MB", 2))
		return bad(r, l, error, "MB after the size");
	if (n->memory.file)
		return bad(r, l, error,
			   "one size per node; are there two "
			   "machines in this file?");
	n->memory_kib = mb * 1024;
	n->memory = facts_origin(r->f, l->number);
	return true;
}

/* "available: 8 nodes (0-2,33-34)" */
static bool take_available(struct reader *r, const struct import_line *l,
			   const char *s, GError **error)
{
	const char *what = NULL, *end;
	uint64_t n;

	if (r->nr_announced)
		return bad(r, l, error, "one machine per file");
	s = import_skip_blanks(s);
	if (!import_uint(&s, TOPOLOGY_MAX_NODES, &n) || !n)
		return bad(r, l, error, "a number of nodes, 1 to 1024");
	r->nr_announced = n;
	r->f->nodes_said = n;
	r->f->nodes_from = facts_origin(r->f, l->number);
	s = strchr(s, '(');
	if (!s)
		return true;
	end = id_set_parse_list(&r->announced, s + 1, TOPOLOGY_MAX_NODES,
				&what);
	if (!end)
		return bad(r, l, error, what);
	for (int i = -1; (i = id_set_next(&r->announced, i)) >= 0;)
		facts_node(r->f, i);
	if (id_set_count(&r->announced) != (int)n)
		facts_note(r->f, "%s:%d: says %d nodes but lists %d",
			   r->text->name, l->number, (int)n,
			   id_set_count(&r->announced));
	return true;
}

static bool take_line(struct reader *r, const struct import_line *l,
		      GError **error)
{
	const char *s = import_skip_blanks(l->text), *p;
	uint64_t node;

	if (only_numbers(s)) {
		/* behind a closed list a number is just a number */
		if (r->open == OPEN_CPUS)
			return append_cpus(r, l, s, error);
		if (r->open == OPEN_HEADER)
			return append_header(r, l, s, error);
		if (r->open == OPEN_ROW)
			return append_row(r, l, s, error);
		return true;
	}
	/* a blank line does not end a list that a mail reader wrapped */
	if (!*s)
		return true;
	if (g_str_has_prefix(s, "available:")) {
		r->open = OPEN_NONE;
		r->seen = true;
		return take_available(r, l, s + 10, error);
	}
	/* the row "  0:  10  20" */
	p = s;
	if (r->nr_header && import_uint(&p, TOPOLOGY_MAX_NODES - 1, &node) &&
	    *p == ':' && only_numbers(p + 1)) {
		r->node = node;
		if (r->f->nodes[node].row)
			return bad(r, l, error, "one row per node");
		r->seen = true;
		return append_row(r, l, p + 1, error);
	}
	if (!g_str_has_prefix(s, "node"))
		goto other;
	p = import_skip_blanks(s + 4);
	if (p == s + 4)
		goto other;
	if (only_numbers(p) && !r->nr_header)
		return append_header(r, l, p, error);
	if (!import_uint(&p, TOPOLOGY_MAX_NODES - 1, &node)) {
		if (g_ascii_isdigit(*p))
			return bad(r, l, error, "node numbers below 1024");
		goto other;
	}
	p = import_skip_blanks(p);
	if (g_str_has_prefix(p, "cpus:")) {
		facts_node(r->f, node);
		r->node = node;
		r->seen = true;
		if (r->f->nodes[node].cpus.file)
			return bad(r, l, error,
				   "one CPU list per node; are "
				   "there two machines in this file?");
		return append_cpus(r, l, p + 5, error);
	}
	r->open = OPEN_NONE;
	if (g_str_has_prefix(p, "size:")) {
		r->seen = true;
		return take_memory(r, l, p + 5, node, error);
	}
	return true;
other:
	r->open = OPEN_NONE;
	return true;
}

/* Which ids the values of a row belong to. */
static bool assign_columns(struct reader *r, int node, GError **error)
{
	struct node_facts *n = &r->f->nodes[node];

	n->columns = g_new(int, MAX(n->nr_row, 1));
	if (n->nr_row <= r->nr_header) {
		memcpy(n->columns, r->header, n->nr_row * sizeof(int));
		if (n->nr_row < r->nr_header)
			facts_note(r->f,
				   "%s:%d: %d distances for %d nodes; "
				   "the rest is not known",
				   r->text->name, n->distances.first, n->nr_row,
				   r->nr_header);
		return true;
	}
	/*
	 * More values than nodes: the kernel prints one per node it knows,
	 * the header has those that numactl found. They are told apart only
	 * where the row is as long as the ids go.
	 */
	if (n->nr_row != r->header[r->nr_header - 1] + 1)
		return import_fail(error, r->text->name, n->distances.first,
				   "%d distances for %d nodes, expected as "
				   "many as the header has",
				   n->nr_row, r->nr_header);
	for (int i = 0; i < n->nr_row; i++)
		n->columns[i] = i;
	facts_note(r->f,
		   "%s:%d: %d distances for %d nodes, taken as those to "
		   "nodes 0 to %d",
		   r->text->name, n->distances.first, n->nr_row, r->nr_header,
		   n->nr_row - 1);
	return true;
}

struct machine_facts *facts_from_numactl(const struct import_text *t,
					 GError **error)
{
	struct reader r = {.text = t};
	bool fine = true;

	r.f = facts_new(t->name, FACTS_NUMACTL, "numactl -H");
	r.header = g_new(int, TOPOLOGY_MAX_NODES);
	for (int i = 0; fine && i < t->nr_lines; i++)
		fine = take_line(&r, &t->lines[i], error);
	for (int i = 0; fine && i < r.f->nr_node_ids; i++)
		if (r.f->nodes[i].row)
			fine = assign_columns(&r, i, error);
	if (fine && !r.seen)
		fine = import_fail(error, t->name, 0,
				   "no line of numactl -H, expected "
				   "\"node 0 cpus: ...\"");
	g_free(r.header);
	if (fine)
		return r.f;
	facts_free(r.f);
	return NULL;
}
