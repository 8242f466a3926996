/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hwloc (lstopo) XML through libhwloc.
 *
 * libhwloc trusts its input, so the text is walked with GMarkup first: that
 * gives errors a line, and bounds what libhwloc would allocate by numbers that
 * stand in the file. libhwloc 2.x refuses files of format 3.0; what slubsim
 * reads of them is written as in 2.0, so they're handed over as such.
 *
 * libhwloc's tree knows where memory is, the kernel's nodes are a little
 * different: memory of a node without CPUs (HBM, CXL) covers the CPUs it is
 * next to, and nodes without memory are often missing. Both are told.
 */
#include "configs/import_facts.h"

#include <hwloc.h>
#include <string.h>

#define MAX_OBJECTS 200000
#define MAX_DEPTH 64
#define MAX_ID 1048575
#define MAX_MATRIX 2048 /* of <distances>; libhwloc allocates its square */
#define MAX_USERDATA (1 << 20)

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
	return vet_fail(v, context, error, "%s=\"%.40s\", expected 0 to %"
			G_GUINT64_FORMAT, key, value, max);
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
		vet_fail(v, context, error, "nested more than %d deep, "
			 "expected what lstopo writes", MAX_DEPTH);
		return;
	}
	if (++v->objects > MAX_OBJECTS) {
		vet_fail(v, context, error, "more than %d elements, expected "
			 "what lstopo writes", MAX_OBJECTS);
		return;
	}
	for (int i = 0; keys[i]; i++) {
		bool fine = true;

		if (!strcmp(element, "topology") && !strcmp(keys[i], "version"))
			v->major = g_ascii_isdigit(*values[i]) ?
					   *values[i] - '0' : 0;
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
	static const GMarkupParser parser = { .start_element = vet_start,
					      .end_element = vet_end };
	g_autoptr(GError) why = NULL;
	GMarkupParseContext *context;
	bool fine;

	*v = (struct vet){ .name = name, .first_line = skipped };
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

static hwloc_topology_t load(const char *name, const char *xml, GError **error)
{
	hwloc_topology_t t;

	if (hwloc_topology_init(&t)) {
		import_fail(error, name, 0, "libhwloc has no memory");
		return NULL;
	}
	hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (!hwloc_topology_set_xmlbuffer(t, xml, (int)strlen(xml) + 1) &&
	    !hwloc_topology_load(t))
		return t;
	hwloc_topology_destroy(t);
	import_fail(error, name, 0, "libhwloc %x.%x can't load it, expected "
		    "XML of lstopo 1.0 to 3.0",
		    hwloc_get_api_version() >> 16,
		    hwloc_get_api_version() >> 8 & 0xff);
	return NULL;
}

/* Memory that the kernel gives to a node without CPUs, wherever hwloc draws
 * it. */
static bool is_memory_only(hwloc_obj_t node)
{
	const char *type = node->subtype;

	return type && (strstr(type, "HBM") || strstr(type, "MCDRAM") ||
			strstr(type, "CXL") || strstr(type, "GPU") ||
			strstr(type, "NVM") || strstr(type, "SPM"));
}

/* The kernel node of a PU: the smallest that covers it, memory-only ones
 * last, then the lowest id. */
static hwloc_obj_t node_of(hwloc_topology_t t, unsigned pu)
{
	hwloc_obj_t best = NULL, n = NULL;

	while ((n = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, n))) {
		int less;

		if (!hwloc_bitmap_isset(n->cpuset, pu))
			continue;
		if (!best) {
			best = n;
			continue;
		}
		less = is_memory_only(n) - is_memory_only(best);
		if (!less)
			less = hwloc_bitmap_weight(n->cpuset) -
			       hwloc_bitmap_weight(best->cpuset);
		if (less < 0 || (!less && n->os_index < best->os_index))
			best = n;
	}
	return best;
}

static void take_cache(struct machine_facts *f, hwloc_topology_t t, int level,
		       hwloc_obj_type_t type)
{
	hwloc_obj_t o = hwloc_get_next_obj_by_type(t, type, NULL);

	if (!o || o->attr->cache.size < 1024)
		return;
	f->caches[level].kib = o->attr->cache.size / 1024;
	f->caches[level].ways = MAX(o->attr->cache.associativity, 0);
	f->caches[level].shared = hwloc_bitmap_weight(o->cpuset);
	f->caches[level].from = facts_origin(f, 0);
}

static bool take_pus(struct machine_facts *f, hwloc_topology_t t,
		     GError **error)
{
	hwloc_obj_t pu = NULL;
	struct id_set homeless = { 0 };

	while ((pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu))) {
		hwloc_obj_t core, package, l3, node;
		struct cpu_facts *c;

		if (pu->os_index >= TOPOLOGY_MAX_CPUS)
			return import_fail(error, f->name, 0, "PU %u, expected "
					   "CPU numbers below %d",
					   pu->os_index, TOPOLOGY_MAX_CPUS);
		c = facts_cpu(f, pu->os_index);
		c->online = 1;
		core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu);
		package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE,
							 pu);
		l3 = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_L3CACHE, pu);
		if (core) {
			c->core = core->logical_index;
			origin_extend(&f->cores, f, 0);
		}
		if (package) {
			c->socket = package->logical_index;
			origin_extend(&f->sockets, f, 0);
		}
		if (l3) {
			c->l3 = l3->logical_index;
			origin_extend(&f->l3s, f, 0);
		}
		node = node_of(t, pu->os_index);
		if (!node || node->os_index >= TOPOLOGY_MAX_NODES)
			id_set_add(&homeless, pu->os_index);
		else
			c->node = node->os_index;
	}
	f->cpu_list = facts_origin(f, 0);
	if (id_set_count(&homeless)) {
		g_autofree char *list = id_set_to_list(&homeless);

		facts_note(f, "%s: CPUs %s are in no NUMA node of the file: "
			   "hwloc leaves out nodes without memory", f->name,
			   list);
	}
	return true;
}

static bool take_nodes(struct machine_facts *f, hwloc_topology_t t,
		       GError **error)
{
	bool any_memory = false;
	hwloc_obj_t n = NULL;

	while ((n = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, n)))
		any_memory |= n->attr->numanode.local_memory > 0;
	while ((n = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, n))) {
		struct node_facts *node;
		int first = hwloc_bitmap_first(n->cpuset);

		if (n->os_index >= TOPOLOGY_MAX_NODES)
			return import_fail(error, f->name, 0, "NUMANode %u, "
					   "expected node numbers below %d",
					   n->os_index, TOPOLOGY_MAX_NODES);
		node = facts_node(f, n->os_index);
		node->cpus = facts_origin(f, 0);
		if (first >= 0 && first < TOPOLOGY_MAX_CPUS)
			node->nearest_cpu = first;
		if (!any_memory) /* says nothing about memory at all */
			continue;
		node->memory_kib = n->attr->numanode.local_memory / 1024;
		node->memory = facts_origin(f, 0);
	}
	return true;
}

static bool is_latency(const struct hwloc_distances_s *d)
{
	if (!(d->kind & HWLOC_DISTANCES_KIND_MEANS_LATENCY))
		return false;
	for (unsigned i = 0; i < d->nbobjs; i++) {
		if (!d->objs[i] || d->objs[i]->type != HWLOC_OBJ_NUMANODE ||
		    d->objs[i]->os_index >= TOPOLOGY_MAX_NODES ||
		    d->values[i * d->nbobjs + i] != 10)
			return false;
	}
	for (size_t i = 0; i < (size_t)d->nbobjs * d->nbobjs; i++)
		if (d->values[i] > 255)
			return false;
	return true;
}

/* Of several matrices (hops, bandwidths), the one in the kernel's units. */
static void take_distances(struct machine_facts *f, hwloc_topology_t t)
{
	struct hwloc_distances_s *all[16];
	unsigned nr = G_N_ELEMENTS(all), ignored = 0;
	bool taken = false;

	if (hwloc_distances_get(t, &nr, all, 0, 0))
		return;
	nr = MIN(nr, G_N_ELEMENTS(all));
	for (unsigned k = 0; k < nr; k++) {
		struct hwloc_distances_s *d = all[k];

		if (taken || !is_latency(d)) {
			ignored++;
			hwloc_distances_release(t, d);
			continue;
		}
		taken = true;
		for (unsigned i = 0; i < d->nbobjs; i++) {
			struct node_facts *n =
				facts_node(f, d->objs[i]->os_index);

			if (n->row)
				continue;
			n->nr_row = d->nbobjs;
			n->row = g_new(int, d->nbobjs);
			n->columns = g_new(int, d->nbobjs);
			for (unsigned j = 0; j < d->nbobjs; j++) {
				n->row[j] = d->values[i * d->nbobjs + j];
				n->columns[j] = d->objs[j]->os_index;
			}
			n->distances = facts_origin(f, 0);
		}
		hwloc_distances_release(t, d);
	}
	if (ignored)
		facts_note(f, "%s: %u matrices of distances not used: not "
			   "between nodes, or without the kernel's 10 on the "
			   "diagonal", f->name, ignored);
}

struct machine_facts *facts_from_hwloc(const struct import_text *text,
				       GError **error)
{
	struct machine_facts *f;
	hwloc_topology_t t;
	g_autofree char *xml = NULL;
	const char *info;
	struct vet v;
	int skipped;
	bool fine;

	xml = xml_of(text, &skipped);
	if (!vet_xml(text->name, xml, skipped, &v, error))
		return NULL;
	if (v.major == 3)
		lower_version(xml);
	t = load(text->name, xml, error);
	if (!t)
		return NULL;
	f = facts_new(text->name, FACTS_HWLOC, "hwloc XML");
	if (v.major == 3)
		facts_note(f, "%s: format 3.0, read as 2.0", text->name);
	info = hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), "Architecture");
	f->architecture = g_strdup(info);
	if (hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PACKAGE, NULL))
		info = hwloc_obj_get_info_by_name(
			hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PACKAGE, NULL),
			"CPUModel");
	else
		info = NULL;
	f->model = info ? g_strstrip(g_strdup(info)) : NULL;
	take_cache(f, t, 0, HWLOC_OBJ_L1CACHE);
	take_cache(f, t, 1, HWLOC_OBJ_L2CACHE);
	take_cache(f, t, 2, HWLOC_OBJ_L3CACHE);
	fine = take_nodes(f, t, error) && take_pus(f, t, error);
	if (fine)
		take_distances(f, t);
	hwloc_topology_destroy(t);
	if (fine)
		return f;
	facts_free(f);
	return NULL;
}
