/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/slabinfo 2.x:
 *   name active num objsize objperslab pagesperslab : tunables a b c :
 *   slabdata active_slabs num_slabs sharedavail
 * objsize is the distance of objects, slab_size in sysfs.
 */
#include "configs/slab/slab.h"

#include <string.h>

static bool take_line(const struct import_text *t, const struct import_line *l,
		      GPtrArray *all, GError **error)
{
	static const char *const names[] = {"objects", "total_objects",
					    "slab_size", "objs_per_slab",
					    "pages_per_slab"};
	const char *s = import_skip_blanks(l->text), *slabdata;
	size_t len = strcspn(s, " \t");
	g_autofree char *cache = g_strndup(s, len);
	struct slab_report *r;
	uint64_t v, pages = 0;

	if (!*s || *s == '#' || !strstr(s, ": tunables"))
		return true;
	r = slab_report_new(t->name, SLAB_PROC, cache, l->number);
	if (!slab_reports_take(all, r, error))
		return false;
	s += len;
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		s = import_skip_blanks(s);
		if (!import_uint(&s, INT64_MAX, &v))
			return import_fail(error, t->name, l->number,
					   "%.40s: \"%.20s\" for %s, expected "
					   "a number",
					   cache, s, names[i]);
		pages = v;
		if (i < 4 &&
		    !slab_report_add_number(r, names[i], l->number, v, error))
			return false;
	}
	if (!pages || (pages & (pages - 1)) || pages > 1024)
		return import_fail(error, t->name, l->number,
				   "%.40s: %" G_GUINT64_FORMAT
				   " pages per slab, expected "
				   "a power of two up to 1024",
				   cache, pages);
	if (!slab_report_add_number(r, "order", l->number,
				    __builtin_ctzll(pages), error))
		return false;
	slabdata = strstr(s, "slabdata");
	if (!slabdata)
		return import_fail(error, t->name, l->number,
				   "%.40s: breaks "
				   "off, expected \": slabdata ...\"",
				   cache);
	s = import_skip_blanks(slabdata + strlen("slabdata"));
	/* active, then all */
	for (int i = 0; i < 2; i++) {
		if (!import_uint(&s, INT64_MAX, &v))
			return import_fail(error, t->name, l->number,
					   "%.40s: \"%.20s\" behind slabdata, "
					   "expected numbers",
					   cache, s);
		s = import_skip_blanks(s);
	}
	return slab_report_add_number(r, "slabs", l->number, v, error);
}

bool slab_parse_proc(const struct import_text *t, GPtrArray *all,
		     GError **error)
{
	guint before = all->len;

	for (int i = 0; i < t->nr_lines; i++)
		if (!take_line(t, &t->lines[i], all, error))
			return false;
	if (all->len == before)
		return import_fail(error, t->name, 0,
				   "no line of a cache, "
				   "expected \"NAME n n ... : tunables ...\"");
	return true;
}
