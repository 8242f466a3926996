/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slabinfo -r of the kernel's tools, whole or parts of it, several in a file.
 *
 * Its words are turned into the attributes they were made of:
 *   Object, SlabObj, SlabSiz, Align         object_size, slab_size, order,
 * align Total, Full, Partial, CpuSlab, Objects  slabs, -, partial, cpu_slabs,
 *                                           objs_per_slab
 *   the columns Alloc and Free of a counter two counters, see perf_rows
 */
#include "configs/slab/slab.h"

#include <string.h>

static const struct {
	const char *row, *alloc, *free;
} perf_rows[] = {
	{"Fastpath", "alloc_fastpath", "free_fastpath"},
	{"Slowpath", "alloc_slowpath", "free_slowpath"},
	{"Page Alloc", "alloc_slab", "free_slab"},
	/* deactivate_to_head and _to_tail together, which no attribute is */
	{"Add partial", "deactivate_to_partial", "free_add_partial"},
	{"Remove partial", "alloc_from_partial", "free_remove_partial"},
	{"Cpu partial list", "cpu_partial_alloc", "cpu_partial_free"},
	{"RemoteObj/SlabFrozen", "deactivate_remote_frees", "free_frozen"},
	{"Total", "reported_allocs", "reported_frees"},
	{"Flushes", "cpuslab_flush", NULL},
	{"Slab full", "deactivate_full", NULL},
	{"Slab empty", "deactivate_empty", NULL},
	{"Moved to head of partial list", "deactivate_to_head", NULL},
	{"Moved to tail of partial list", "deactivate_to_tail", NULL},
	{"Deactivation bypass", "deactivate_bypass", NULL},
	{"Refilled from foreign frees", "alloc_refill", NULL},
	{"Refill", "alloc_refill", NULL},
	{"Node mismatch", "alloc_node_mismatch", NULL},
};

/* Pairs "label : number" of the upper part; the second of a line belongs to
 * the label before it, as "Total" is there twice. */
static const struct {
	const char *line, *label, *name;
} size_rows[] = {
	{"Object ", "Object ", "object_size"},
	{"Object ", "Total  ", "slabs"},
	{"SlabObj", "SlabObj", "slab_size"},
	{"SlabSiz", "SlabSiz", "slab_bytes"},
	{"SlabSiz", "Partial", "partial"},
	{"Loss ", "CpuSlab", "cpu_slabs"},
	{"Align ", "Align  ", "align"},
	{"Align ", "Objects", "objs_per_slab"},
	{"Objects:", "Objects", "objects"},
	{"Objects:", "Memory Total", "memory_bytes"},
	{"Objects:", "Used ", "used_bytes"},
};

struct reader {
	const struct import_text *text;
	GPtrArray *all;
	struct slab_report *r;
	char *title, *cache;
};

/* Adds to the open report; a name that is there begins the next one. */
static bool add(struct reader *r, const char *name, int line, uint64_t v,
		GError **error)
{
	if (!r->r || slab_report_find(r->r, name)) {
		r->r = slab_report_new(r->text->name, SLAB_SLABINFO, r->cache,
				       line);
		r->r->title = g_steal_pointer(&r->title);
		if (!slab_reports_take(r->all, r->r, error))
			return false;
	}
	return slab_report_add_number(r->r, name, line, v, error);
}

static bool take_sizes(struct reader *r, const char *s, int line, bool *taken,
		       GError **error)
{
	for (guint i = 0; i < G_N_ELEMENTS(size_rows); i++) {
		const char *p;
		uint64_t v;

		if (!g_str_has_prefix(s, size_rows[i].line))
			continue;
		p = strstr(s, size_rows[i].label);
		if (!p)
			continue;
		p = import_skip_blanks(p + strlen(size_rows[i].label));
		if (*p != ':')
			continue;
		p = import_skip_blanks(p + 1);
		*taken = true;
		if (!import_uint(&p, INT64_MAX, &v))
			return import_fail(error, r->text->name, line,
					   "%s: \"%.20s\", expected a number",
					   size_rows[i].label, p);
		if (!add(r, size_rows[i].name, line, v, error))
			return false;
	}
	return true;
}

static bool take_counter(struct reader *r, const char *s, int line, bool *taken,
			 GError **error)
{
	for (guint i = 0; i < G_N_ELEMENTS(perf_rows); i++) {
		const char *p = s + strlen(perf_rows[i].row);
		uint64_t v;

		if (!g_str_has_prefix(s, perf_rows[i].row) ||
		    (*p != ' ' && *p != '\t'))
			continue;
		p = import_skip_blanks(p);
		if (!g_ascii_isdigit(*p))
			continue;
		*taken = true;
		if (!import_uint(&p, INT64_MAX, &v))
			return import_fail(error, r->text->name, line,
					   "%s: \"%.30s\", expected a number",
					   perf_rows[i].row, p);
		if (!add(r, perf_rows[i].alloc, line, v, error))
			return false;
		if (!perf_rows[i].free)
			return true;
		p = import_skip_blanks(p);
		if (!import_uint(&p, INT64_MAX, &v))
			return import_fail(error, r->text->name, line,
					   "%s: "
					   "only one number, expected those of "
					   "Alloc and Free",
					   perf_rows[i].row);
		return add(r, perf_rows[i].free, line, v, error);
	}
	return true;
}

static bool is_decoration(const char *s)
{
	return g_str_has_prefix(s, "Sizes (bytes)") ||
	       g_str_has_prefix(s, "Slab Perf Counter") ||
	       g_str_has_prefix(s, "Slab Deactivation") ||
	       g_str_has_prefix(s, "Loss ") || !s[strspn(s, "- \t*=")];
}

static bool take_line(struct reader *r, const struct import_line *l,
		      GError **error)
{
	const char *s = import_skip_blanks(l->text);
	bool taken = false;
	size_t len;

	if (g_str_has_prefix(s, "Slabcache:")) {
		s = import_skip_blanks(s + strlen("Slabcache:"));
		len = strcspn(s, " \t");
		g_free(r->cache);
		r->cache = len ? g_strndup(s, len) : NULL;
		r->r = NULL;
		return true;
	}
	if (!take_sizes(r, s, l->number, &taken, error))
		return false;
	if (!taken && !take_counter(r, s, l->number, &taken, error))
		return false;
	if (taken || is_decoration(s))
		return true;
	/* "***Vanilla***", "After this patch:" */
	g_free(r->title);
	s += strspn(s, "* \t");
	r->title = g_strndup(s, MIN(strcspn(s, "*"), 80));
	return true;
}

/* Sizes that follow from others: SlabSiz is 4096 << order; where only sums are
 * printed, they give the size of an object. */
static bool complete(struct slab_report *r, GError **error)
{
	int64_t bytes = slab_report_get(r, "slab_bytes");
	int64_t objects = slab_report_get(r, "objects");
	int64_t used = slab_report_get(r, "used_bytes");
	int64_t slabs = slab_report_get(r, "slabs");
	int64_t per_slab = slab_report_get(r, "objs_per_slab");

	if (bytes >= 4096 && !(bytes & (bytes - 1)) &&
	    !slab_report_add_number(r, "order", r->line,
				    __builtin_ctzll(bytes / 4096), error))
		return false;
	if (objects > 0 && used > 0 && used % objects == 0 &&
	    slab_report_get(r, "object_size") < 0 &&
	    !slab_report_add_number(r, "object_size", r->line, used / objects,
				    error))
		return false;
	if (slabs >= 0 && per_slab >= 0 && slabs < 1 << 30 &&
	    per_slab < 1 << 30 && slab_report_get(r, "total_objects") < 0)
		return slab_report_add_number(r, "total_objects", r->line,
					      slabs * per_slab, error);
	return true;
}

bool slab_parse_slabinfo(const struct import_text *t, GPtrArray *all,
			 GError **error)
{
	struct reader r = {.text = t, .all = all};
	guint before = all->len;
	bool fine = true;

	for (int i = 0; fine && i < t->nr_lines; i++)
		fine = take_line(&r, &t->lines[i], error);
	g_free(r.title);
	g_free(r.cache);
	for (guint i = before; fine && i < all->len; i++)
		fine = complete(all->pdata[i], error);
	if (fine && all->len == before)
		fine = import_fail(error, t->name, 0,
				   "no figure of slabinfo "
				   "-r, expected \"Object :  256  Total ...\"");
	return fine;
}
