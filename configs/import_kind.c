/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/import_kind.h"

#include <string.h>

#include "configs/import_tree.h"

static bool is_tar(const struct import_text *t)
{
	static const struct {
		const char *magic;
		size_t len;
	} compressed[] = {
		{"\x1f\x8b", 2},
		{"BZh", 3},
		{"\xfd"
		 "7zXZ",
		 5},
		{"\x28\xb5\x2f\xfd", 4},
	};

	for (guint i = 0; i < G_N_ELEMENTS(compressed); i++)
		if (t->size > compressed[i].len &&
		    !memcmp(t->raw, compressed[i].magic, compressed[i].len))
			return true;
	return t->size >= 512 && !memcmp(t->raw + 257, "ustar", 5);
}

static bool is_numactl(const char *s)
{
	uint64_t n;

	if (g_str_has_prefix(s, "available: ") ||
	    g_str_has_prefix(s, "node distances:"))
		return true;
	if (!g_str_has_prefix(s, "node "))
		return false;
	s = import_skip_blanks(s + 5);
	if (!import_uint(&s, UINT64_MAX, &n))
		return false;
	s = import_skip_blanks(s);
	/* a header of distances has nothing but numbers */
	return g_str_has_prefix(s, "cpus:") || g_str_has_prefix(s, "size:") ||
	       !s[strspn(s, " \t0123456789")];
}

static bool is_table(const char *s)
{
	int commas = 0;

	if (*s == '#')
		return g_str_has_prefix(import_skip_blanks(s + 1), "CPU,");
	if (g_str_has_prefix(s, "CPU "))
		return strstr(s, " CORE") || strstr(s, " NODE");
	if (!g_ascii_isdigit(*s) || s[strspn(s, "0123456789,: \t")])
		return false;
	for (; *s; s++)
		commas += *s == ',';
	return commas >= 3;
}

static bool is_lscpu(const char *s)
{
	static const char *const words[] = {
		"CPU(s):",
		"CPU(s) list:",
		"Thread(s) per core:",
		"Socket(s):",
		"Core(s) per socket:",
		"NUMA node(s):",
		"Processeur(s) :",
		"Liste de processeur(s)",
		"CPU(s) pro",
		"Thread(s) pro Kern",
		"Liste der Online-CPU",
		"Thread(s) par",
		"在线 CPU 列表",
		"每个核的线程数",
	};

	for (guint i = 0; i < G_N_ELEMENTS(words); i++)
		if (strstr(s, words[i]))
			return true;
	return false;
}

unsigned import_recognise(const struct import_text *t)
{
	unsigned kinds = 0;
	bool content = false;

	if (is_tar(t))
		return KIND_TAR;
	for (int i = 0; i < t->nr_lines; i++) {
		const char *s = import_skip_blanks(t->lines[i].text);

		if (g_str_has_prefix(s, "<?xml") ||
		    g_str_has_prefix(s, "<topology"))
			return KIND_HWLOC;
		if (*s && !content) {
			content = true;
			if (*s == '{' && (strstr(t->raw, "\"lscpu\"") ||
					  strstr(t->raw, "\"cpus\"")))
				return KIND_LSCPU_JSON;
		}
		if (is_numactl(s))
			kinds |= KIND_NUMACTL;
		else if (is_table(s))
			kinds |= KIND_LSCPU_TABLE;
		else if (is_lscpu(s))
			kinds |= KIND_LSCPU;
	}
	return kinds;
}

GPtrArray *facts_array_new(void)
{
	return g_ptr_array_new_with_free_func((GDestroyNotify)facts_free);
}

static bool take(GPtrArray *all, struct machine_facts *f)
{
	if (f)
		g_ptr_array_add(all, f);
	return f != NULL;
}

static bool facts_from_tar(const struct import_text *t, GPtrArray *all,
			   GError **error)
{
	struct import_tree *tree = import_tree_open_tar(t, error);
	bool fine = tree && take(all, facts_from_tree(tree, error));

	import_tree_free(tree);
	return fine;
}

bool facts_from_text(const struct import_text *t, GPtrArray *all,
		     GError **error)
{
	unsigned kinds = import_recognise(t);

	if (!kinds)
		return import_fail(error, t->name, 0,
				   "not recognised, "
				   "expected the output of numactl -H, lscpu "
				   "(-p, -e, -J) or lstopo (XML), or a folder "
				   "or tar of /sys/devices/system");
	if (kinds & KIND_TAR)
		return facts_from_tar(t, all, error);
	if (kinds & KIND_HWLOC)
		return take(all, facts_from_hwloc(t, error));
	if (kinds & KIND_LSCPU_JSON)
		return take(all, facts_from_lscpu_json(t, error));
	return (!(kinds & KIND_NUMACTL) ||
		take(all, facts_from_numactl(t, error))) &&
	       (!(kinds & KIND_LSCPU_TABLE) ||
		take(all, facts_from_lscpu_table(t, error))) &&
	       (!(kinds & KIND_LSCPU) || take(all, facts_from_lscpu(t, error)));
}

bool facts_from_path(const char *path, GPtrArray *all, GError **error)
{
	struct import_text *t;
	bool fine;

	if (strcmp(path, "-") && g_file_test(path, G_FILE_TEST_IS_DIR)) {
		struct import_tree *tree = import_tree_open_folder(path, error);

		fine = tree && take(all, facts_from_tree(tree, error));
		import_tree_free(tree);
		return fine;
	}
	t = import_text_read(path, error);
	fine = t && facts_from_text(t, all, error);
	import_text_free(t);
	return fine;
}

static int by_kind(gconstpointer a, gconstpointer b)
{
	const struct machine_facts *f = *(struct machine_facts *const *)a;
	const struct machine_facts *g = *(struct machine_facts *const *)b;

	return (int)f->kind - (int)g->kind;
}

struct machine_facts *facts_merge_all(GPtrArray *all)
{
	g_assert(all->len);
	/* stable: the order of the user decides among equals */
	g_ptr_array_sort(all, by_kind);
	for (guint i = 1; i < all->len; i++)
		facts_merge(all->pdata[0], all->pdata[i]);
	return all->pdata[0];
}
