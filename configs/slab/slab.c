/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/slab/slab.h"

#include <string.h>

const char *const slab_alloc_counters[] = {"alloc_cpu_sheaf", "alloc_fastpath",
					   "alloc_slowpath", NULL};
const char *const slab_free_counters[] = {"free_cpu_sheaf", "free_fastpath",
					  "free_slowpath", NULL};

static void value_free(gpointer p)
{
	struct slab_value *v = p;

	g_free(v->name);
	g_array_unref(v->parts);
	g_free(v);
}

struct slab_report *slab_report_new(const char *file, enum slab_source source,
				    const char *cache, int line)
{
	struct slab_report *r = g_new0(struct slab_report, 1);

	r->file = g_strdup(file);
	r->cache = g_strdup(cache);
	r->source = source;
	r->line = line;
	r->values = g_ptr_array_new_with_free_func(value_free);
	r->index = g_hash_table_new(g_str_hash, g_str_equal);
	r->unavailable = g_ptr_array_new_with_free_func(g_free);
	return r;
}

void slab_report_free(struct slab_report *r)
{
	if (!r)
		return;
	g_free(r->file);
	g_free(r->cache);
	g_free(r->title);
	g_hash_table_unref(r->index);
	g_ptr_array_unref(r->values);
	g_ptr_array_unref(r->unavailable);
	g_free(r);
}

GPtrArray *slab_reports_new(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify)slab_report_free);
}

const struct slab_value *slab_report_find(const struct slab_report *r,
					  const char *name)
{
	return g_hash_table_lookup(r->index, name);
}

int64_t slab_report_get(const struct slab_report *r, const char *name)
{
	const struct slab_value *v = slab_report_find(r, name);

	return v && v->number ? (int64_t)v->total : -1;
}

uint64_t slab_value_part(const struct slab_value *v, int id)
{
	for (guint i = 0; v && i < v->parts->len; i++) {
		const struct slab_part *p =
			&g_array_index(v->parts, struct slab_part, i);

		if (p->id == id)
			return p->value;
	}
	return 0;
}

struct slab_value *slab_report_add(struct slab_report *r, const char *name,
				   int line, GError **error)
{
	struct slab_value *v;

	if (r->values->len >= SLAB_MAX_VALUES) {
		import_fail(error, r->file, line,
			    "more than %d values of a "
			    "cache, expected a slab's attributes",
			    SLAB_MAX_VALUES);
		return NULL;
	}
	if (slab_report_find(r, name)) {
		import_fail(error, r->file, line,
			    "%.60s twice in a report, "
			    "expected once",
			    name);
		return NULL;
	}
	v = g_new0(struct slab_value, 1);
	v->name = g_strdup(name);
	v->line = line;
	v->parts = g_array_new(FALSE, FALSE, sizeof(struct slab_part));
	g_ptr_array_add(r->values, v);
	g_hash_table_insert(r->index, v->name, v);
	return v;
}

bool slab_report_add_number(struct slab_report *r, const char *name, int line,
			    uint64_t number, GError **error)
{
	struct slab_value *v = slab_report_add(r, name, line, error);

	if (!v)
		return false;
	v->number = true;
	v->total = number;
	return true;
}

bool slab_reports_take(GPtrArray *all, struct slab_report *r, GError **error)
{
	if (all->len < SLAB_MAX_REPORTS) {
		g_ptr_array_add(all, r);
		return true;
	}
	import_fail(error, r->file, r->line,
		    "more than %d caches, expected "
		    "what a person posts",
		    SLAB_MAX_REPORTS);
	slab_report_free(r);
	return false;
}

bool slab_reports_from_text(const struct import_text *t, const char *cache,
			    GPtrArray *all, GError **error)
{
	for (int i = 0; i < t->nr_lines; i++) {
		const char *s = t->lines[i].text;

		if (strstr(s, ": tunables") ||
		    g_str_has_prefix(s, "slabinfo - version"))
			return slab_parse_proc(t, all, error);
		if (strstr(s, "Slab Perf Counter") || strstr(s, "SlabObj:") ||
		    g_str_has_prefix(s, "Slabcache:"))
			return slab_parse_slabinfo(t, all, error);
	}
	return slab_parse_sysfs(t, cache, all, error);
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends "NAME/attr:value" for each file of a cache's folder. */
static bool read_folder(GString *text, const char *path, const char *cache)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;
	g_autoptr(GPtrArray) names = NULL;
	bool any = false;

	if (!dir)
		return false;
	names = g_ptr_array_new_with_free_func(g_free);
	while ((name = g_dir_read_name(dir)) && names->len < SLAB_MAX_VALUES)
		g_ptr_array_add(names, g_strdup(name));
	g_dir_close(dir);
	g_ptr_array_sort(names, by_name);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *file =
			g_build_filename(path, names->pdata[i], NULL);
		g_autofree char *content = import_read_small(file);

		/* traces of callers are long and no attribute */
		if (!content || strlen(content) > 60000)
			continue;
		g_strdelimit(g_strstrip(content), "\n", ' ');
		g_string_append_printf(text, "%s/%s:%s\n", cache,
				       (char *)names->pdata[i], content);
		any = true;
	}
	return any;
}

static bool is_cache_folder(const char *path)
{
	g_autofree char *size = g_build_filename(path, "slab_size", NULL);
	g_autofree char *objects =
		g_build_filename(path, "objs_per_slab", NULL);

	return g_file_test(size, G_FILE_TEST_EXISTS) ||
	       g_file_test(objects, G_FILE_TEST_EXISTS);
}

static bool from_cache_folder(const char *path, GPtrArray *all, GError **error)
{
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	g_autofree char *cache = g_path_get_basename(absolute);
	g_autoptr(GString) s = g_string_new(NULL);
	struct import_text *t;
	bool fine;

	if (!read_folder(s, path, cache))
		return import_fail(error, path, 0,
				   "nothing readable inside, "
				   "expected a copy of /sys/kernel/slab/CACHE");
	t = import_text_new(path, s->str, s->len);
	fine = slab_parse_sysfs(t, cache, all, error);
	import_text_free(t);
	return fine;
}

/* /sys/kernel/slab, or a folder that holds sys/kernel/slab. */
static bool from_folder(const char *path, GPtrArray *all, GError **error)
{
	static const char *const ways[] = {".", "sys/kernel/slab",
					   "kernel/slab"};

	if (is_cache_folder(path))
		return from_cache_folder(path, all, error);
	for (guint w = 0; w < G_N_ELEMENTS(ways); w++) {
		g_autofree char *below = g_build_filename(path, ways[w], NULL);
		g_autoptr(GPtrArray) names = NULL;
		GDir *dir = g_dir_open(below, 0, NULL);
		const char *name;
		guint before = all->len;

		if (!dir)
			continue;
		names = g_ptr_array_new_with_free_func(g_free);
		while ((name = g_dir_read_name(dir)) &&
		       names->len < SLAB_MAX_REPORTS)
			g_ptr_array_add(names,
					g_build_filename(below, name, NULL));
		g_dir_close(dir);
		g_ptr_array_sort(names, by_name);
		for (guint i = 0; i < names->len; i++)
			if (is_cache_folder(names->pdata[i]) &&
			    !from_cache_folder(names->pdata[i], all, error))
				return false;
		if (all->len > before)
			return true;
	}
	return import_fail(error, path, 0,
			   "no cache inside, expected a copy "
			   "of /sys/kernel/slab/CACHE");
}

bool slab_reports_from_path(const char *path, GPtrArray *all, GError **error)
{
	struct import_text *t;
	bool fine;

	if (strcmp(path, "-") && g_file_test(path, G_FILE_TEST_IS_DIR))
		return from_folder(path, all, error);
	t = import_text_read(path, error);
	fine = t && slab_reports_from_text(t, NULL, all, error);
	import_text_free(t);
	return fine;
}
