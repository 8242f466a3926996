/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hwloc (lstopo) XML through libhwloc.
 *
 * libhwloc trusts its input. So the text is walked with GMarkup first: that
 * gives errors a line, and bounds what libhwloc would allocate by numbers that
 * stand in the file. Then a child process lets libhwloc load it
 * (import_hwloc_load.c), with its time and memory limited: a crash of libhwloc
 * is an error like any other.
 *
 * libhwloc 2.x refuses files of format 3.0; what slubsim reads of them is
 * written as in 2.0, so they're handed over as such.
 */
#include "configs/import_hwloc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_OBJECTS 200000
#define MAX_DEPTH 64
#define MAX_ID 1048575
#define MAX_MATRIX 2048 /* of <distances>; libhwloc allocates its square */
#define MAX_USERDATA (1 << 20)

/* Of the child; the largest honest file takes 0.1 s and 50 MB. */
#define MAX_SECONDS 4
#define MAX_BYTES (UINT64_C(2) << 30)

struct vet {
	const char *name;
	int first_line; /* of the text that GMarkup sees, in the file */
	int objects, depth, major;
	bool root_seen;
};

static bool vet_fail(struct vet *v, GMarkupParseContext *context,
		     GError **error, const char *format, ...)
	G_GNUC_PRINTF(4, 5);
static bool vet_fail(struct vet *v, GMarkupParseContext *context,
		     GError **error, const char *format, ...)
{
	g_autofree char *what = NULL;
	va_list args;
	int line, column;

	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	g_markup_parse_context_get_position(context, &line, &column);
	return import_fail(error, v->name, line + v->first_line, "%s", what);
}

static bool vet_number(struct vet *v, GMarkupParseContext *context,
		       const char *key, const char *value, uint64_t max,
		       GError **error)
{
	const char *p = value;
	uint64_t n;

	/* -1 is an id that is not known */
	if (!strcmp(value, "-1") || !strcmp(value, "4294967295"))
		return true;
	if (import_uint(&p, max, &n) && !*p)
		return true;
	return vet_fail(v, context, error,
			"%s=\"%.40s\", expected 0 to %" G_GUINT64_FORMAT, key,
			value, max);
}

static void vet_start(GMarkupParseContext *context, const char *element,
		      const char **keys, const char **values, gpointer data,
		      GError **error)
{
	struct vet *v = data;

	if (!v->root_seen && strcmp(element, "topology")) {
		vet_fail(v, context, error, "<%.40s>, expected <topology>",
			 element);
		return;
	}
	v->root_seen = true;
	if (++v->depth > MAX_DEPTH) {
		vet_fail(v, context, error,
			 "nested more than %d deep, "
			 "expected what lstopo writes",
			 MAX_DEPTH);
		return;
	}
	if (++v->objects > MAX_OBJECTS) {
		vet_fail(v, context, error,
			 "more than %d elements, expected "
			 "what lstopo writes",
			 MAX_OBJECTS);
		return;
	}
	for (int i = 0; keys[i]; i++) {
		bool fine = true;

		if (!strcmp(element, "topology") && !strcmp(keys[i], "version"))
			v->major = g_ascii_isdigit(*values[i])
					   ? *values[i] - '0'
					   : 0;
		else if (!strcmp(keys[i], "os_index"))
			fine = vet_number(v, context, keys[i], values[i],
					  MAX_ID, error);
		else if (!strcmp(keys[i], "nbobjs"))
			fine = vet_number(v, context, keys[i], values[i],
					  MAX_MATRIX, error);
		else if (!strcmp(element, "userdata") &&
			 !strcmp(keys[i], "length"))
			fine = vet_number(v, context, keys[i], values[i],
					  MAX_USERDATA, error);
		if (!fine)
			return;
	}
}

static void vet_end(GMarkupParseContext *context, const char *element,
		    gpointer data, GError **error)
{
	struct vet *v = data;

	v->depth--;
}

/* The lines from the first of the XML on, without a mail's marks. */
static char *xml_of(const struct import_text *t, int *skipped)
{
	GString *s = g_string_sized_new(t->size);

	*skipped = 0;
	for (int i = 0; i < t->nr_lines; i++) {
		const char *line = t->lines[i].text;

		if (!s->len) {
			const char *start = strstr(line, "<?xml");

			if (!start)
				start = strstr(line, "<topology");
			if (!start) {
				*skipped = i + 1;
				continue;
			}
			line = start;
		}
		g_string_append(s, line);
		g_string_append_c(s, '\n');
	}
	return g_string_free(s, FALSE);
}

static bool vet_xml(const char *name, const char *xml, int skipped,
		    struct vet *v, GError **error)
{
	static const GMarkupParser parser = {.start_element = vet_start,
					     .end_element = vet_end};
	g_autoptr(GError) why = NULL;
	GMarkupParseContext *context;
	bool fine;

	*v = (struct vet){.name = name, .first_line = skipped};
	if (strstr(xml, "<!ENTITY"))
		return import_fail(error, name, 0,
				   "XML with <!ENTITY>, expected what lstopo "
				   "writes");
	context = g_markup_parse_context_new(&parser, 0, v, NULL);
	fine = g_markup_parse_context_parse(context, xml, -1, &why) &&
	       g_markup_parse_context_end_parse(context, &why);
	if (!fine && why && why->domain == IMPORT_ERROR) {
		g_propagate_error(error, g_steal_pointer(&why));
	} else if (!fine) {
		int line, column;

		g_markup_parse_context_get_position(context, &line, &column);
		import_fail(error, name, line + skipped,
			    "%s, expected XML of lstopo", why->message);
	} else if (!v->root_seen) {
		fine = import_fail(error, name, 0,
				   "no <topology>, expected XML of lstopo");
	}
	g_markup_parse_context_free(context);
	return fine;
}

/* <topology version="3.0"> -> "2.0", in place. */
static void lower_version(char *xml)
{
	char *s = strstr(xml, "<topology");

	s = s ? strstr(s, "version=\"") : NULL;
	if (s)
		s[strlen("version=\"")] = '2';
}

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static void limit_child(void)
{
	struct rlimit cpu = {MAX_SECONDS, MAX_SECONDS};
	struct rlimit core = {0, 0};
	static const int fatal[] = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE,
				    SIGILL,  SIGALRM, SIGXCPU};
	int null = open("/dev/null", O_WRONLY);

	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
#ifndef SANITIZED /* whose shadow memory is larger */
	{
		struct rlimit memory = {MAX_BYTES, MAX_BYTES};

		setrlimit(RLIMIT_AS, &memory);
	}
#endif
	alarm(2 * MAX_SECONDS);
	/* a crash is to end it, whatever handlers the parent has */
	for (guint i = 0; i < G_N_ELEMENTS(fatal); i++)
		signal(fatal[i], SIG_DFL);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
}

/* Lets a child load @xml into @result, which both see. */
static bool load_in_child(const char *name, const char *xml,
			  struct hwloc_result *result, GError **error)
{
	int status;
	pid_t pid;

	fflush(NULL); /* or the child would print what is buffered again */
	pid = fork();
	if (pid < 0)
		return import_fail(error, name, 0,
				   "%s: no process to load it "
				   "in",
				   g_strerror(errno));
	if (!pid) {
		limit_child();
		hwloc_result_load(xml, result);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return import_fail(error, name, 0, "%s",
					   g_strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return import_fail(error, name, 0,
				   "libhwloc breaks down on "
				   "it, expected XML of lstopo");
	if (*result->error)
		return import_fail(error, name, 0, "%s", result->error);
	return true;
}

/* A string of the child: ended, and not empty. */
static char *string_of(char *s, size_t size)
{
	s[size - 1] = '\0';
	g_strstrip(s);
	return *s ? g_strdup(s) : NULL;
}

static void take_cpus(struct machine_facts *f, const struct hwloc_result *r)
{
	struct id_set homeless = {0};

	for (int i = 0; i < TOPOLOGY_MAX_CPUS; i++) {
		const struct hwloc_pu *pu = &r->pus[i];
		struct cpu_facts *c;

		if (!pu->there)
			continue;
		c = facts_cpu(f, i);
		c->online = 1;
		c->core = pu->core;
		c->socket = pu->package;
		c->l3 = pu->l3;
		if (c->core != FACT_UNKNOWN)
			origin_extend(&f->cores, f, 0);
		if (c->socket != FACT_UNKNOWN)
			origin_extend(&f->sockets, f, 0);
		if (c->l3 != FACT_UNKNOWN)
			origin_extend(&f->l3s, f, 0);
		if (pu->node >= 0 && pu->node < TOPOLOGY_MAX_NODES)
			c->node = pu->node;
		else
			id_set_add(&homeless, i);
	}
	f->cpu_list = facts_origin(f, 0);
	if (id_set_count(&homeless)) {
		g_autofree char *list = id_set_to_list(&homeless);

		facts_note(f,
			   "%s: CPUs %s are in no NUMA node of the file: "
			   "hwloc leaves out nodes without memory",
			   f->name, list);
	}
}

static void take_nodes(struct machine_facts *f, const struct hwloc_result *r)
{
	int nr = MIN(r->nr_distances, TOPOLOGY_MAX_NODES);
	bool any_memory = false;

	for (int i = 0; i < TOPOLOGY_MAX_NODES; i++)
		any_memory |= r->nodes[i].there && r->nodes[i].memory_kib > 0;
	for (int i = 0; i < TOPOLOGY_MAX_NODES; i++) {
		struct node_facts *n;

		if (!r->nodes[i].there)
			continue;
		n = facts_node(f, i);
		n->cpus = facts_origin(f, 0);
		n->nearest_cpu = r->nodes[i].nearest_cpu;
		/* where all have none the file says nothing about memory */
		if (!any_memory)
			continue;
		n->memory_kib = r->nodes[i].memory_kib;
		n->memory = facts_origin(f, 0);
	}
	for (int i = 0; i < nr; i++) {
		struct node_facts *n;

		if (r->distance_nodes[i] >= TOPOLOGY_MAX_NODES ||
		    f->nodes[r->distance_nodes[i]].row)
			continue;
		n = facts_node(f, r->distance_nodes[i]);
		n->nr_row = nr;
		n->row = g_memdup2(&r->distances[i * nr], nr * sizeof(int));
		n->columns = g_memdup2(r->distance_nodes, nr * sizeof(int));
		n->distances = facts_origin(f, 0);
	}
	if (r->ignored_distances)
		facts_note(f,
			   "%s: %d matrices of distances not used: not "
			   "between nodes, or without the kernel's 10 on the "
			   "diagonal",
			   f->name, r->ignored_distances);
}

struct machine_facts *facts_from_hwloc(const struct import_text *text,
				       GError **error)
{
	struct machine_facts *f = NULL;
	struct hwloc_result *r;
	g_autofree char *xml = NULL;
	struct vet v;
	int skipped;

	xml = xml_of(text, &skipped);
	if (!vet_xml(text->name, xml, skipped, &v, error))
		return NULL;
	if (v.major == 3)
		lower_version(xml);
	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED) {
		import_fail(error, text->name, 0, "%s", g_strerror(errno));
		return NULL;
	}
	if (load_in_child(text->name, xml, r, error)) {
		f = facts_new(text->name, FACTS_HWLOC, "hwloc XML");
		if (v.major == 3)
			facts_note(f, "%s: format 3.0, read as 2.0",
				   text->name);
		f->architecture =
			string_of(r->architecture, sizeof(r->architecture));
		f->model = string_of(r->model, sizeof(r->model));
		for (int i = 0; i < 3; i++) {
			if (r->caches[i].kib <= 0)
				continue;
			f->caches[i] = (struct cache_facts){
				r->caches[i].kib, MAX(r->caches[i].ways, 0),
				r->caches[i].shared, facts_origin(f, 0)};
		}
		take_nodes(f, r);
		take_cpus(f, r);
	}
	munmap(r, sizeof(*r));
	return f;
}
