/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of lscpu: -p (comma separated, "# CPU,Core,..." above) and -e
 * (columns, "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE" above). Of several
 * tables in a file the first counts: the others repeat it with other ids.
 */
#include "configs/import_facts.h"

#include <string.h>

enum column {
	COL_OTHER,
	COL_CPU,
	COL_CORE,
	COL_SOCKET,
	COL_NODE,
	COL_L3,
	COL_ONLINE
};

#define MAX_COLUMNS 64
#define MAX_PARTS 8 /* of a column "L1d:L1i:L2:L3" */

struct table {
	struct machine_facts *f;
	const char *separators;
	enum column columns[MAX_COLUMNS][MAX_PARTS];
	int nr_columns;
	int rows;
};

static enum column column_of(const char *name)
{
	static const struct {
		const char *name;
		enum column column;
	} names[] = {
		{"CPU", COL_CPU},   {"CORE", COL_CORE}, {"SOCKET", COL_SOCKET},
		{"NODE", COL_NODE}, {"L3", COL_L3},	{"ONLINE", COL_ONLINE},
	};

	for (guint i = 0; i < G_N_ELEMENTS(names); i++)
		if (!g_ascii_strcasecmp(name, names[i].name))
			return names[i].column;
	return COL_OTHER;
}

/* Splits at @separators into at most @max strings that point into @s, which is
 * changed. -p keeps empty cells, -e has none. */
static int split(char *s, const char *separators, char **cells, int max)
{
	bool keep_empty = !strchr(separators, ' ');
	int n = 0;

	for (;;) {
		char *end = s + strcspn(s, separators);
		bool last = !*end;

		*end = '\0';
		if ((keep_empty || *s) && n < max)
			cells[n++] = s;
		if (last)
			return n;
		s = end + 1;
	}
}

static void set_columns(struct table *t, const char *header,
			const char *separators)
{
	g_autofree char *copy = g_strdup(header);
	char *cells[MAX_COLUMNS], *parts[MAX_PARTS];

	t->separators = separators;
	t->nr_columns = split(copy, separators, cells, MAX_COLUMNS);
	memset(t->columns, 0, sizeof(t->columns));
	for (int i = 0; i < t->nr_columns; i++) {
		int n = split(cells[i], ":", parts, MAX_PARTS);

		for (int k = 0; k < n; k++)
			t->columns[i][k] = column_of(g_strstrip(parts[k]));
	}
}

static bool is_header(const char *s, const char **names,
		      const char **separators)
{
	s = import_skip_blanks(s);
	if (*s == '#') {
		s = import_skip_blanks(s + 1);
		*separators = ",";
		*names = s;
		return !g_ascii_strncasecmp(s, "CPU,", 4);
	}
	*separators = " \t";
	*names = s;
	return g_str_has_prefix(s, "CPU ") &&
	       (strstr(s, " CORE") || strstr(s, " NODE"));
}

static bool bad(struct table *t, int line, const char *cell, GError **error,
		const char *expected)
{
	return import_fail(error, t->f->name, line, "\"%.40s\", expected %s",
			   cell, expected);
}

static bool take_cell(struct table *t, int line, enum column column,
		      const char *cell, int *values, GError **error)
{
	const char *s = import_skip_blanks(cell);
	uint64_t v;

	if (column == COL_OTHER || !*s || *s == '-')
		return true;
	if (column == COL_ONLINE) {
		values[COL_ONLINE] = g_ascii_toupper(*s) == 'Y' ||
				     g_str_has_prefix(s, "true");
		return true;
	}
	if (!import_uint(&s, 32767, &v) || *import_skip_blanks(s))
		return bad(t, line, cell, error, "an id below 32768");
	values[column] = v;
	return true;
}

static bool take_row(struct table *t, const struct import_line *l,
		     GError **error)
{
	g_autofree char *copy = g_strdup(l->text);
	char *cells[MAX_COLUMNS], *parts[MAX_PARTS];
	int n = split(copy, t->separators, cells, MAX_COLUMNS);
	int values[COL_ONLINE + 1];
	struct cpu_facts *c;

	for (int i = 0; i <= COL_ONLINE; i++)
		values[i] = FACT_UNKNOWN;
	for (int i = 0; i < n && i < t->nr_columns; i++) {
		int m = split(cells[i], ":", parts, MAX_PARTS);

		for (int k = 0; k < m; k++)
			if (!take_cell(t, l->number, t->columns[i][k], parts[k],
				       values, error))
				return false;
	}
	if (values[COL_CPU] < 0 || values[COL_CPU] >= TOPOLOGY_MAX_CPUS)
		return bad(t, l->number, l->text, error,
			   "a CPU number below 4096");
	c = facts_cpu(t->f, values[COL_CPU]);
	if (c->core != FACT_UNKNOWN || c->node != FACT_UNKNOWN)
		return bad(t, l->number, l->text, error, "a CPU only once");
	c->online = values[COL_ONLINE] == FACT_UNKNOWN ? 1 : values[COL_ONLINE];
	if (c->online == 0)
		return true; /* its other cells are empty or old */
	c->socket = values[COL_SOCKET];
	c->l3 = values[COL_L3];
	/* core numbers may begin anew in every socket */
	if (values[COL_CORE] >= 0)
		c->core = values[COL_CORE] + (MAX(c->socket, 0) << 15);
	if (values[COL_NODE] >= TOPOLOGY_MAX_NODES)
		return bad(t, l->number, l->text, error,
			   "a node number below 1024");
	if (values[COL_NODE] >= 0) {
		c->node = values[COL_NODE];
		origin_extend(&facts_node(t->f, c->node)->cpus, t->f,
			      l->number);
	}
	origin_extend(&t->f->cpu_list, t->f, l->number);
	if (c->core >= 0)
		origin_extend(&t->f->cores, t->f, l->number);
	if (c->socket >= 0)
		origin_extend(&t->f->sockets, t->f, l->number);
	if (c->l3 >= 0)
		origin_extend(&t->f->l3s, t->f, l->number);
	t->rows++;
	return true;
}

struct machine_facts *facts_from_lscpu_table(const struct import_text *text,
					     GError **error)
{
	struct table t = {
		.f = facts_new(text->name, FACTS_LSCPU, "lscpu -p or -e")};
	bool fine = true;

	for (int i = 0; fine && i < text->nr_lines; i++) {
		const struct import_line *l = &text->lines[i];
		const char *names, *separators, *s;

		s = import_skip_blanks(l->text);
		if (is_header(s, &names, &separators)) {
			if (t.rows) {
				facts_note(t.f,
					   "%s:%d: the table from here on "
					   "repeats the first one, not used",
					   text->name, l->number);
				break;
			}
			set_columns(&t, names, separators);
			continue;
		}
		/* -p without its comments has the columns in their old order */
		if (!t.nr_columns && g_ascii_isdigit(*s) && strchr(s, ','))
			set_columns(&t, "CPU,Core,Socket,Node,,L1d,L1i,L2,L3",
				    ",");
		if (!t.nr_columns || !g_ascii_isdigit(*s))
			continue;
		fine = take_row(&t, l, error);
	}
	if (fine && !t.rows)
		fine = import_fail(error, text->name, 0,
				   "no row of a table of "
				   "lscpu, expected \"0,0,0,0,...\"");
	if (fine)
		return t.f;
	facts_free(t.f);
	return NULL;
}
