/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The summary that lscpu prints: "key: value" lines, flat or indented by
 * section, translated or not, sometimes several on a line or with "..." where
 * a person left nodes out.
 *
 * Sizes of caches changed meaning over the versions of util-linux: "32K" is
 * one instance (before 2.34), "1.5 MiB" the sum of an unknown number of them
 * (2.34 to 2.36), "1.5 MiB (48 instances)" the sum (from 2.37).
 */
#include "configs/import_facts.h"

#include <string.h>

enum field {
	FIELD_NONE,
	FIELD_CPUS,
	FIELD_ONLINE,
	FIELD_OFFLINE,
	FIELD_THREADS,
	FIELD_CORES,
	FIELD_SOCKETS,
	FIELD_MODEL,
	FIELD_ARCHITECTURE,
};

/* Keys in English and in the translations that people posted (util-linux's
 * message catalogues); compared without case. NUMA lines and caches need no
 * translation: they're known by "NUMA" and "L3". */
static const struct {
	const char *key;
	enum field field;
} keys[] = {
	{"CPU(s)", FIELD_CPUS},
	{"Processeur(s)", FIELD_CPUS},
	{"CPU", FIELD_CPUS},
	{"On-line CPU(s) list", FIELD_ONLINE},
	{"Liste der Online-CPU(s)", FIELD_ONLINE},
	{"Liste de processeur(s) en ligne", FIELD_ONLINE},
	{"Lista de la(s) CPU(s) en línea", FIELD_ONLINE},
	{"在线 CPU 列表", FIELD_ONLINE},
	{"Off-line CPU(s) list", FIELD_OFFLINE},
	{"Liste der Offline-CPU(s)", FIELD_OFFLINE},
	{"Liste de processeur(s) hors ligne", FIELD_OFFLINE},
	{"Thread(s) per core", FIELD_THREADS},
	{"Thread(s) pro Kern", FIELD_THREADS},
	{"Thread(s) par cœur", FIELD_THREADS},
	{"Hilo(s) de procesamiento por núcleo", FIELD_THREADS},
	{"每个核的线程数", FIELD_THREADS},
	{"Core(s) per socket", FIELD_CORES},
	{"Kern(e) pro Socket", FIELD_CORES},
	{"Kern(e) pro Sockel", FIELD_CORES},
	{"Cœur(s) par socket", FIELD_CORES},
	{"Núcleo(s) por «socket»", FIELD_CORES},
	{"每个座的核数", FIELD_CORES},
	{"Socket(s)", FIELD_SOCKETS},
	{"Sockel", FIELD_SOCKETS},
	{"«Socket(s)»", FIELD_SOCKETS},
	{"座", FIELD_SOCKETS},
	{"Model name", FIELD_MODEL},
	{"BIOS Model name", FIELD_NONE},
	{"Modellname", FIELD_MODEL},
	{"Nom de modèle", FIELD_MODEL},
	{"Nombre del modelo", FIELD_MODEL},
	{"型号名称", FIELD_MODEL},
	{"Architecture", FIELD_ARCHITECTURE},
	{"Architektur", FIELD_ARCHITECTURE},
	{"Arquitectura", FIELD_ARCHITECTURE},
	{"架构", FIELD_ARCHITECTURE},
};

int64_t facts_parse_size(const char **s)
{
	static const char units[] = "KMG";
	const char *p = import_skip_blanks(*s), *unit;
	uint64_t whole, part = 0, scale = 1;
	double kib;

	if (!import_uint(&p, UINT64_C(1) << 40, &whole))
		return FACT_UNKNOWN;
	if ((*p == '.' || *p == ',') && g_ascii_isdigit(p[1])) {
		for (p++; g_ascii_isdigit(*p); p++) {
			if (scale > 100000)
				continue;
			part = part * 10 + (*p - '0');
			scale *= 10;
		}
	}
	p = import_skip_blanks(p);
	kib = whole + (double)part / scale;
	unit = *p ? strchr(units, g_ascii_toupper(*p)) : NULL;
	if (unit) {
		for (int i = 0; i < unit - units; i++)
			kib *= 1024;
		p++;
		if (*p == 'i')
			p++;
		if (*p == 'B')
			p++;
	} else { /* bytes, as sysfs never and lscpu -B always prints them */
		kib /= 1024;
		if (*p == 'B')
			p++;
	}
	*s = p;
	return kib < 1e12 ? (int64_t)(kib + 0.5) : FACT_UNKNOWN;
}

static bool bad(struct machine_facts *f, const char *key, const char *value,
		int line, GError **error, const char *expected)
{
	return import_fail(error, f->name, line,
			   "%.60s: \"%.60s\", expected "
			   "%s",
			   key, value, expected);
}

/* The first number in @key, or -1. */
static int number_in(const char *key)
{
	uint64_t n;

	while (*key && !g_ascii_isdigit(*key))
		key++;
	return import_uint(&key, INT32_MAX, &n) ? (int)n : -1;
}

static bool take_node(struct machine_facts *f, const char *key,
		      const char *value, int line, GError **error)
{
	struct id_set cpus = {0};
	int node = number_in(key), clash;
	const char *what, *end;

	if (node >= TOPOLOGY_MAX_NODES)
		return bad(f, key, value, line, error,
			   "node numbers below 1024");
	end = id_set_parse_list(&cpus, value, TOPOLOGY_MAX_CPUS, &what);
	if (!end)
		return bad(f, key, value, line, error, what);
	end = import_skip_blanks(end);
	if (*end && *end != '.' && strcmp(value, "-"))
		return bad(f, key, value, line, error, "a list of CPUs");
	if (!facts_set_node(f, &cpus, node, &clash))
		return import_fail(error, f->name, line,
				   "CPU %d is on node "
				   "%d and on node %d, expected one node",
				   clash, f->cpus[clash].node, node);
	origin_extend(&f->nodes[node].cpus, f, line);
	if (id_set_count(&cpus))
		origin_extend(&f->cpu_list, f, line);
	return true;
}

static bool take_online(struct machine_facts *f, const char *key,
			const char *value, int line, int online, GError **error)
{
	struct id_set cpus = {0};
	const char *what, *end;

	end = id_set_parse_list(&cpus, value, TOPOLOGY_MAX_CPUS, &what);
	if (!end || *import_skip_blanks(end))
		return bad(f, key, value, line, error,
			   end ? "a list of CPUs" : what);
	for (int i = -1; (i = id_set_next(&cpus, i)) >= 0;)
		facts_cpu(f, i)->online = online;
	if (online)
		origin_extend(&f->cpu_list, f, line);
	return true;
}

static bool take_count(struct machine_facts *f, const char *key,
		       const char *value, int line, int max, int *count,
		       struct origin *from, GError **error)
{
	const char *p = import_skip_blanks(value);
	uint64_t n;

	if (!*p || *p == '-') /* "Socket(s): -" on some arm64 machines */
		return true;
	if (!import_uint(&p, max, &n) || !n || *import_skip_blanks(p)) {
		g_autofree char *expected =
			g_strdup_printf("a number from 1 to %d", max);

		return bad(f, key, value, line, error, expected);
	}
	*count = n;
	*from = facts_origin(f, line);
	return true;
}

static bool take_cache(struct machine_facts *f, int level, const char *key,
		       const char *value, int line, GError **error)
{
	struct cache_facts *c = &f->caches[level];
	const char *p = value, *paren;
	int64_t kib = facts_parse_size(&p);
	uint64_t instances;

	if (kib < 0)
		return bad(f, key, value, line, error, "a size");
	paren = strchr(p, '(');
	if (paren) {
		paren++;
		if (!import_uint(&paren, TOPOLOGY_MAX_CPUS, &instances) ||
		    !instances)
			return bad(f, key, value, line, error, "(N instances)");
		c->kib = kib / instances;
		c->from = facts_origin(f, line);
		if (level == 2) {
			f->l3_said = instances;
			f->l3_from = c->from;
		}
	} else if (p > value && p[-1] == 'K') {
		c->kib = kib;
		c->from = facts_origin(f, line);
	} else {
		facts_note(f,
			   "%s:%d: %s is a sum over an unknown number of "
			   "caches, not used",
			   f->name, line, key);
	}
	return true;
}

static enum field key_field(const char *key)
{
	for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
		if (!g_ascii_strcasecmp(key, keys[i].key))
			return keys[i].field;
	return FIELD_NONE;
}

bool facts_lscpu_field(struct machine_facts *f, const char *key,
		       const char *value, int line, GError **error)
{
	const char *numa = strstr(key, "NUMA");
	g_autofree char *lower = g_ascii_strdown(key, -1);
	static const char *const levels[] = {"l1d", "l2", "l3"};

	if (!value)
		value = "";
	if (numa && number_in(key) >= 0)
		return take_node(f, key, value, line, error);
	if (numa && !*import_skip_blanks(value)) /* the section's title */
		return true;
	if (numa)
		return take_count(f, key, value, line, TOPOLOGY_MAX_NODES,
				  &f->nodes_said, &f->nodes_from, error);
	for (int i = 0; i < 3; i++) {
		const char *at = strstr(lower, levels[i]);
		size_t len = strlen(levels[i]);

		if (at && (at == lower || at[-1] == ' ') &&
		    (!at[len] || at[len] == ' ') &&
		    g_ascii_isdigit(*import_skip_blanks(value)))
			return take_cache(f, i, key, value, line, error);
	}
	switch (key_field(key)) {
	case FIELD_CPUS:
		return take_count(f, key, value, line, TOPOLOGY_MAX_CPUS,
				  &f->nr_cpus_said, &f->cpus_from, error);
	case FIELD_ONLINE:
		return take_online(f, key, value, line, 1, error);
	case FIELD_OFFLINE:
		return take_online(f, key, value, line, 0, error);
	case FIELD_THREADS:
		return take_count(f, key, value, line, 16, &f->threads_said,
				  &f->threads_from, error);
	case FIELD_CORES:
		return take_count(f, key, value, line, TOPOLOGY_MAX_CPUS,
				  &f->cores_said, &f->cores_from, error);
	case FIELD_SOCKETS:
		return take_count(f, key, value, line, TOPOLOGY_MAX_CPUS,
				  &f->sockets_said, &f->sockets_from, error);
	case FIELD_MODEL:
		g_free(f->model);
		f->model = g_strdup(value);
		return true;
	case FIELD_ARCHITECTURE:
		g_free(f->architecture);
		f->architecture = g_strdup(value);
		return true;
	default:
		return true;
	}
}

bool facts_lscpu_finish(struct machine_facts *f, GError **error)
{
	int listed = 0;

	for (int i = 0; i < f->nr_node_ids; i++)
		listed += f->nodes[i].listed;
	if (!listed && !f->nr_cpus_said && !f->nr_cpu_ids)
		return import_fail(error, f->name, 0,
				   "no field of lscpu that "
				   "counts CPUs, expected \"CPU(s): N\"");
	if (listed && f->nodes_said > listed) {
		int added = 0;

		for (int i = 0;
		     i < TOPOLOGY_MAX_NODES && listed + added < f->nodes_said;
		     i++) {
			if (f->nodes[i].listed)
				continue;
			facts_node(f, i)->cpus = f->nodes_from;
			added++;
		}
		facts_note(f,
			   "%s:%d: %d nodes, but CPUs only of %d; the other "
			   "%d were given the lowest free numbers and no CPUs",
			   f->name, f->nodes_from.first, f->nodes_said, listed,
			   added);
	}
	return true;
}

/* Length of the known English key that @s begins with, colon included. */
static size_t known_key(const char *s)
{
	static const char *const known[] = {
		"CPU(s):",    "Thread(s) per core:", "Core(s) per socket:",
		"Socket(s):", "NUMA node(s):",
	};
	const char *p;
	uint64_t n;

	for (guint i = 0; i < G_N_ELEMENTS(known); i++)
		if (g_str_has_prefix(s, known[i]))
			return strlen(known[i]);
	if (!g_str_has_prefix(s, "NUMA node"))
		return 0;
	p = s + strlen("NUMA node");
	if (!import_uint(&p, INT32_MAX, &n) || !g_str_has_prefix(p, " CPU(s):"))
		return 0;
	return p + strlen(" CPU(s):") - s;
}

/*
 * Nodes between @a and @b were left out with "...": filled in where the lists
 * on both sides show how it goes on, else said to be unknown.
 */
static void fill_elided(struct machine_facts *f, int a, int b, int line)
{
	struct id_set lists[2] = {{{0}}, {{0}}};
	int first[2], count[2], unused;

	for (int i = 0; i < f->nr_cpu_ids; i++) {
		if (f->cpus[i].node == a)
			id_set_add(&lists[0], i);
		if (f->cpus[i].node == b)
			id_set_add(&lists[1], i);
	}
	for (int i = 0; i < 2; i++) {
		first[i] = id_set_next(&lists[i], -1);
		count[i] = id_set_count(&lists[i]);
	}
	if (!count[0] || count[0] != count[1] ||
	    first[1] - first[0] != count[0] * (b - a)) {
		facts_note(f,
			   "%s:%d: nodes %d to %d are left out and can't be "
			   "guessed from their neighbours",
			   f->name, line, a + 1, b - 1);
		return;
	}
	for (int node = a + 1; node < b; node++) {
		struct id_set cpus = {0};

		for (int i = 0; i < count[0]; i++)
			id_set_add(&cpus, first[0] + (node - a) * count[0] + i);
		facts_set_node(f, &cpus, node, &unused);
		f->nodes[node].cpus = facts_origin(f, line);
	}
	facts_note(f,
		   "%s:%d: nodes %d to %d are left out; taken to go on with "
		   "%d CPUs each",
		   f->name, line, a + 1, b - 1, count[0]);
}

struct summary {
	struct machine_facts *f;
	int last_node, elided_after; /* -1 = none */
	int fields;
};

static bool take_pair(struct summary *s, const char *key_start, size_t key_len,
		      const char *value_start, size_t value_len, int line,
		      GError **error)
{
	g_autofree char *key = g_strndup(key_start, key_len);
	g_autofree char *value = g_strndup(value_start, value_len);
	bool is_node;

	g_strstrip(key);
	g_strstrip(value);
	is_node = strstr(key, "NUMA") && number_in(key) >= 0;
	if (!facts_lscpu_field(s->f, key, value, line, error))
		return false;
	s->fields++;
	if (is_node) {
		int node = number_in(key);

		if (s->elided_after >= 0 && node > s->elided_after + 1)
			fill_elided(s->f, s->elided_after, node, line);
		s->elided_after = -1;
		s->last_node = node;
	}
	if (s->last_node >= 0 && strstr(value, "..."))
		s->elided_after = s->last_node;
	return true;
}

static bool take_line(struct summary *s, const struct import_line *l,
		      GError **error)
{
	const char *starts[32], *values[32], *colon, *wide;
	int n = 0;

	for (const char *p = l->text; *p && n < 32; p++) {
		size_t len = 0;

		if (p == l->text || p[-1] == ' ' || p[-1] == '\t')
			len = known_key(p);
		/* "On-line CPU(s) list" and its like begin otherwise */
		if (!len)
			continue;
		starts[n] = p;
		values[n++] = p + len;
		p += len - 1;
	}
	if (n > 1 || (n == 1 && starts[0] == import_skip_blanks(l->text))) {
		for (int i = 0; i < n; i++) {
			const char *end = i + 1 < n ? starts[i + 1]
						    : strchr(values[i], '\0');

			if (!take_pair(s, starts[i], values[i] - starts[i] - 1,
				       values[i], end - values[i], l->number,
				       error))
				return false;
		}
		return true;
	}
	if (s->last_node >= 0 && !strcmp(import_skip_blanks(l->text), "..."))
		s->elided_after = s->last_node;
	colon = strchr(l->text, ':');
	wide = strstr(l->text, "：");
	if (wide && (!colon || wide < colon))
		return take_pair(s, l->text, wide - l->text,
				 wide + strlen("："),
				 strlen(wide) - strlen("："), l->number, error);
	if (!colon)
		return true;
	return take_pair(s, l->text, colon - l->text, colon + 1,
			 strlen(colon + 1), l->number, error);
}

struct machine_facts *facts_from_lscpu(const struct import_text *t,
				       GError **error)
{
	struct summary s = {.last_node = -1, .elided_after = -1};
	bool fine = true;

	s.f = facts_new(t->name, FACTS_LSCPU, "lscpu");
	for (int i = 0; fine && i < t->nr_lines; i++)
		fine = take_line(&s, &t->lines[i], error);
	if (fine)
		fine = facts_lscpu_finish(s.f, error);
	if (fine)
		return s.f;
	facts_free(s.f);
	return NULL;
}
