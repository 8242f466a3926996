/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/cases.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "workloads/script.h"

G_DEFINE_QUARK(case-error-quark, case_error)

/* A folder of golden cases is 13 MB; far beyond it something is wrong. */
#define MAX_UNPACKED ((gint64)1 << 30)
#define MAX_MEMBER ((gint64)64 << 20)
#define MAX_DEPTH 32

static void case_free(gpointer p)
{
	struct script_case *c = p;

	g_free(c->name);
	g_free(c->ops);
	g_free(c->expected);
	g_free(c);
}

GPtrArray *script_case_list_new(void)
{
	return g_ptr_array_new_with_free_func(case_free);
}

static struct script_case *add_case(GPtrArray *cases, const char *name)
{
	struct script_case *c = g_new0(struct script_case, 1);

	c->name = g_strdup(name);
	g_ptr_array_add(cases, c);
	return c;
}

static int by_name(gconstpointer a, gconstpointer b)
{
	const struct script_case *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* ---- folders ---- */

static bool find_in_folder(const char *path, int depth, GPtrArray *cases,
			   GError **error)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, error);
	const char *name;

	if (!dir)
		return false;
	if (depth > MAX_DEPTH) {
		g_set_error(error, SCRIPT_ERROR, 0,
			    "%s: more than %d folders deep", path, MAX_DEPTH);
		return false;
	}
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(path, name, NULL);

		if (g_file_test(file, G_FILE_TEST_IS_DIR)) {
			if (!find_in_folder(file, depth + 1, cases, error))
				return false;
		} else if (g_str_has_suffix(name, ".ops")) {
			add_case(cases, file);
		}
	}
	return true;
}

/* ---- archives ---- */

static char *read_member(struct archive *a, const char *path,
			 const char *member, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char buffer[65536];
	la_ssize_t n;

	while ((n = archive_read_data(a, buffer, sizeof(buffer))) > 0) {
		g_string_append_len(text, buffer, n);
		if ((gint64)text->len > MAX_MEMBER ||
		    archive_filter_bytes(a, 0) > MAX_UNPACKED) {
			g_set_error(error, SCRIPT_ERROR, 0,
				    "%s: %s: too large for a script", path,
				    member);
			return NULL;
		}
	}
	if (n < 0) {
		g_set_error(error, SCRIPT_ERROR, 0, "%s: %s: %s", path, member,
			    archive_error_string(a));
		return NULL;
	}
	if (memchr(text->str, 0, text->len)) {
		g_set_error(error, SCRIPT_ERROR, 0,
			    "%s: %s: holds a NUL byte, expected text", path,
			    member);
		return NULL;
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool read_archive(struct archive *a, const char *path,
			 GHashTable *members, GError **error)
{
	struct archive_entry *e;
	int rc;

	while ((rc = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
		const char *member = archive_entry_pathname(e);
		char *text;

		if (archive_entry_filetype(e) != AE_IFREG || !member ||
		    !(g_str_has_suffix(member, ".ops") ||
		      g_str_has_suffix(member, ".out")))
			continue;
		text = read_member(a, path, member, error);
		if (!text)
			return false;
		g_hash_table_replace(members, g_strdup(member), text);
	}
	if (rc == ARCHIVE_EOF)
		return true;
	g_set_error(error, SCRIPT_ERROR, 0, "%s: %s", path,
		    archive_error_string(a));
	return false;
}

static char *out_of_ops(const char *name)
{
	return g_strdup_printf("%.*s.out", (int)strlen(name) - 4, name);
}

static bool find_in_archive(const char *path, GPtrArray *cases, GError **error)
{
	g_autoptr(GHashTable) members =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	struct archive *a = archive_read_new();
	GHashTableIter it;
	gpointer name, text;
	bool ok;

	archive_read_support_filter_all(a);
	archive_read_support_format_tar(a);
	archive_read_support_format_zip(a);
	ok = archive_read_open_filename(a, path, 65536) == ARCHIVE_OK;
	if (!ok)
		g_set_error(error, SCRIPT_ERROR, 0, "%s: %s", path,
			    archive_error_string(a));
	ok = ok && read_archive(a, path, members, error);
	archive_read_free(a);
	if (!ok)
		return false;

	g_hash_table_iter_init(&it, members);
	while (g_hash_table_iter_next(&it, &name, &text)) {
		g_autofree char *full = NULL, *out = NULL;
		struct script_case *c;

		if (!g_str_has_suffix(name, ".ops"))
			continue;
		full = g_strdup_printf("%s:%s", path, (char *)name);
		out = out_of_ops(name);
		c = add_case(cases, full);
		c->archived = true;
		c->ops = g_strdup(text);
		c->expected = g_strdup(g_hash_table_lookup(members, out));
	}
	return true;
}

bool script_cases_find(const char *path, GPtrArray *cases, GError **error)
{
	g_autoptr(GPtrArray) found = script_case_list_new();
	bool ok = true;

	if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
		ok = find_in_folder(path, 0, found, error);
	} else if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_set_error(error, SCRIPT_ERROR, 0, "%s: no such file", path);
		ok = false;
	} else if (strstr(path, ".tar") || g_str_has_suffix(path, ".zip") ||
		   g_str_has_suffix(path, ".tgz")) {
		ok = find_in_archive(path, found, error);
	} else {
		add_case(found, path);
	}
	if (ok && !found->len) {
		g_set_error(error, SCRIPT_ERROR, 0,
			    "%s: holds no op script, expected files that end "
			    "in .ops", path);
		ok = false;
	}
	if (!ok)
		return false;
	g_ptr_array_sort(found, by_name);
	g_ptr_array_extend_and_steal(cases, g_steal_pointer(&found));
	return true;
}

/* ---- running ---- */

struct case_runner {
	struct topology *topology; /* NULL: each header's */
	struct variant *variant;   /* NULL: of each header's kernel */
	bool verify;
	GHashTable *variants; /* name -> struct variant */
};

/* Counters are what a script is run for, whatever the variant's build. */
static struct variant *load_variant(const char *name, GError **error)
{
	struct variant *v = config_load_variant(name, NULL, error);

	if (v)
		v->features.slub_stats = true;
	return v;
}

struct case_runner *case_runner_new(const char *topology, const char *variant,
				    bool verify, GError **error)
{
	struct case_runner *r = g_new0(struct case_runner, 1);

	r->verify = verify;
	r->variants = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					    (GDestroyNotify)variant_free);
	if ((topology && !(r->topology = config_load_topology(topology, NULL,
							      error))) ||
	    (variant && !(r->variant = load_variant(variant, error)))) {
		case_runner_free(r);
		return NULL;
	}
	return r;
}

void case_runner_free(struct case_runner *r)
{
	if (!r)
		return;
	if (r->variant)
		variant_free(r->variant);
	topology_free(r->topology);
	g_hash_table_unref(r->variants);
	g_free(r);
}

static struct variant *variant_of(struct case_runner *r, const struct script *s,
				  GError **error)
{
	g_autofree char *name = NULL;
	struct variant *v;

	if (r->variant)
		return r->variant;
	if (!s->kernel) {
		g_set_error(error, SCRIPT_ERROR, 0,
			    "%s: the header names no kernel, expected '# "
			    "kernel: Linux version N' or --variant", s->file);
		return NULL;
	}
	name = config_variant_of_kernel(s->kernel);
	if (!name) {
		g_set_error(error, SCRIPT_ERROR, 0,
			    "%s: no variant is of kernel %s, expected "
			    "--variant (see slubsim list variants)", s->file,
			    s->kernel);
		return NULL;
	}
	v = g_hash_table_lookup(r->variants, name);
	if (!v) {
		v = load_variant(name, error);
		if (v)
			g_hash_table_insert(r->variants, g_strdup(name), v);
	}
	return v;
}

static bool run_script(struct case_runner *r, const struct script *s,
		       GString *out, GError **error)
{
	const struct topology *t = r->topology ? r->topology : s->topology;
	struct variant *v = variant_of(r, s, error);
	struct machine *m;
	struct slub *sl;
	bool ok;

	if (!v)
		return false;
	if (!t) {
		g_set_error(error, SCRIPT_ERROR, 0,
			    "%s: the header describes no machine, expected '# "
			    "guest: ...' lines or --topology", s->file);
		return false;
	}
	if (!script_fits(s, t, error))
		return false;
	m = machine_new(t, NULL, MACHINE_TIMELESS, 1);
	sl = slub_new(m, &v->features, NULL);
	ok = script_run(s, sl, r->verify, out, error);
	slub_free(sl);
	machine_free(m);
	if (!ok && error && *error) {
		(*error)->domain = CASE_ERROR;
		(*error)->code = CASE_ERROR_STATE;
	}
	return ok;
}

char *script_case_run(struct case_runner *r, struct script_case *c,
		      GError **error)
{
	g_autoptr(GString) out = g_string_new(NULL);
	struct script *s = c->archived ? script_parse(c->name, c->ops, error) :
					 script_load(c->name, error);
	bool ok = s && run_script(r, s, out, error);

	script_free(s);
	return ok ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

bool script_case_agrees(struct case_runner *r, struct script_case *c,
			GString *report)
{
	g_autofree char *got = NULL, *expected = g_strdup(c->expected);
	g_autoptr(GError) error = NULL;

	if (!c->archived) {
		g_autofree char *file = NULL;

		if (!g_str_has_suffix(c->name, ".ops")) {
			g_string_append_printf(report, "%s: no name in .ops, "
					       "so there's no .out beside it\n",
					       c->name);
			return false;
		}
		file = out_of_ops(c->name);
		g_file_get_contents(file, &expected, NULL, NULL);
	}
	if (!expected) {
		g_string_append_printf(report, "%s: no .out beside it\n",
				       c->name);
		return false;
	}
	got = script_case_run(r, c, &error);
	if (!got) {
		g_string_append_printf(report, "%s\n", error->message);
		return false;
	}
	return !script_compare(c->name, expected, got, report);
}
