/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/import_tree.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

/* Of a tar: what is unpacked at most, and kept at most. */
#define MAX_UNPACKED (256u << 20)
#define MAX_KEPT (64u << 20)
#define MAX_ENTRIES 1000000

struct import_tree {
	char *name;
	char *base;	   /* of a folder: where cpu/ and node/ are */
	GHashTable *files; /* of a tar: path below base -> content */
	struct id_set cpus, nodes;
};

/* Notes cpuN and nodeN; false if @path (from cpu/ or node/ on) is neither. */
static bool note_path(struct import_tree *t, const char *path)
{
	bool cpu = g_str_has_prefix(path, "cpu/cpu");
	const char *s = path + (cpu ? 7 : 9);
	uint64_t id;

	if (!cpu && !g_str_has_prefix(path, "node/node"))
		return false;
	if (!import_uint(&s, (cpu ? TOPOLOGY_MAX_CPUS : TOPOLOGY_MAX_NODES) - 1,
			 &id) ||
	    (*s && *s != '/'))
		return false;
	id_set_add(cpu ? &t->cpus : &t->nodes, id);
	return true;
}

static void list_folder(struct import_tree *t, const char *sub)
{
	g_autofree char *path = g_build_filename(t->base, sub, NULL);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	if (!dir)
		return;
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *entry = g_strdup_printf("%s/%s", sub, name);

		note_path(t, entry);
	}
	g_dir_close(dir);
}

static bool is_base(const char *path)
{
	g_autofree char *cpu = g_build_filename(path, "cpu", NULL);

	return g_file_test(cpu, G_FILE_TEST_IS_DIR);
}

/* The folder that holds cpu/ and node/: @path or one of the usual ways down,
 * or the same in the only folder that has it below @path. */
static char *find_base(const char *path, bool deeper)
{
	static const char *const ways[] = {".", "devices/system",
					   "sys/devices/system"};
	const char *name;
	char *found = NULL;
	GDir *dir;

	for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
		char *base = g_build_filename(path, ways[i], NULL);

		if (is_base(base))
			return base;
		g_free(base);
	}
	dir = deeper ? g_dir_open(path, 0, NULL) : NULL;
	if (!dir)
		return NULL;
	while (!found && (name = g_dir_read_name(dir))) {
		g_autofree char *below = g_build_filename(path, name, NULL);

		found = find_base(below, false);
	}
	g_dir_close(dir);
	return found;
}

static struct import_tree *tree_new(const char *name)
{
	struct import_tree *t = g_new0(struct import_tree, 1);

	t->name = g_strdup(name);
	return t;
}

struct import_tree *import_tree_open_folder(const char *path, GError **error)
{
	struct import_tree *t = tree_new(path);

	t->base = find_base(path, true);
	if (t->base) {
		list_folder(t, "cpu");
		list_folder(t, "node");
	}
	if (id_set_count(&t->cpus) || id_set_count(&t->nodes))
		return t;
	import_fail(error, path, 0,
		    "no cpu/cpuN below, expected a copy of "
		    "/sys/devices/system");
	import_tree_free(t);
	return NULL;
}

/* "a/b/sys/devices/system/cpu/cpu0/online" -> "cpu/cpu0/online" */
static const char *below_base(const char *path)
{
	const char *system = strstr(path, "devices/system/");

	if (system)
		return system + strlen("devices/system/");
	while (g_str_has_prefix(path, "./"))
		path += 2;
	return path;
}

static bool wanted(const char *path)
{
	static const char *const last[] = {
		"online",
		"cpulist",
		"cpumap",
		"meminfo",
		"distance",
		"thread_siblings",
		"thread_siblings_list",
		"core_siblings",
		"core_siblings_list",
		"core_cpus",
		"core_cpus_list",
		"package_cpus",
		"package_cpus_list",
		"physical_package_id",
		"core_id",
		"level",
		"type",
		"size",
		"shared_cpu_map",
		"shared_cpu_list",
		"ways_of_associativity",
	};
	const char *slash = strrchr(path, '/');

	for (guint i = 0; slash && i < G_N_ELEMENTS(last); i++)
		if (!strcmp(slash + 1, last[i]))
			return true;
	return false;
}

static bool read_entries(struct import_tree *t, struct archive *a,
			 GError **error)
{
	g_autofree char *buffer = g_malloc(IMPORT_SMALL_FILE + 1);
	struct archive_entry *e;
	uint64_t kept = 0;
	int entries = 0, rc;

	while ((rc = archive_read_next_header(a, &e)) == ARCHIVE_OK ||
	       rc == ARCHIVE_WARN) {
		const char *path = archive_entry_pathname(e);
		la_ssize_t n;

		if (++entries > MAX_ENTRIES ||
		    archive_entry_size(e) > MAX_UNPACKED ||
		    archive_filter_bytes(a, 0) + archive_entry_size(e) >
			    MAX_UNPACKED)
			return import_fail(error, t->name, 0,
					   "more than %u "
					   "MiB unpacked, expected a copy of "
					   "/sys/devices/system",
					   MAX_UNPACKED >> 20);
		if (!path)
			continue;
		path = below_base(path);
		if (!g_str_has_prefix(path, "cpu/") &&
		    !g_str_has_prefix(path, "node/"))
			continue;
		note_path(t, path);
		if (archive_entry_filetype(e) != AE_IFREG || !wanted(path))
			continue;
		n = archive_read_data(a, buffer, IMPORT_SMALL_FILE);
		if (n < 0)
			break;
		buffer[n] = '\0';
		kept += n + strlen(path);
		if (kept > MAX_KEPT)
			return import_fail(error, t->name, 0,
					   "more than %u "
					   "MiB of sysfs files, expected a "
					   "copy of /sys/devices/system",
					   MAX_KEPT >> 20);
		g_hash_table_replace(t->files, g_strdup(path),
				     g_strdup(buffer));
	}
	if (rc != ARCHIVE_EOF)
		return import_fail(error, t->name, 0,
				   "%s after %d entries, "
				   "expected a whole tar",
				   archive_error_string(a)
					   ? archive_error_string(a)
					   : "it breaks off",
				   entries);
	return true;
}

struct import_tree *import_tree_open_tar(const struct import_text *tar,
					 GError **error)
{
	struct import_tree *t = tree_new(tar->name);
	struct archive *a = archive_read_new();
	bool fine;

	t->files =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	/* only these: no filter that runs a program */
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	if (archive_read_open_memory(a, tar->raw, tar->size) != ARCHIVE_OK)
		fine = import_fail(error, tar->name, 0, "%s, expected a tar",
				   archive_error_string(a));
	else
		fine = read_entries(t, a, error);
	archive_read_free(a);
	if (fine && !id_set_count(&t->cpus) && !id_set_count(&t->nodes))
		fine = import_fail(error, tar->name, 0,
				   "no cpu/cpuN inside, "
				   "expected a copy of /sys/devices/system");
	if (fine)
		return t;
	import_tree_free(t);
	return NULL;
}

void import_tree_free(struct import_tree *t)
{
	if (!t)
		return;
	g_free(t->name);
	g_free(t->base);
	if (t->files)
		g_hash_table_unref(t->files);
	g_free(t);
}

const char *import_tree_name(const struct import_tree *t)
{
	return t->name;
}

const struct id_set *import_tree_cpus(const struct import_tree *t)
{
	return &t->cpus;
}

const struct id_set *import_tree_nodes(const struct import_tree *t)
{
	return &t->nodes;
}

char *import_tree_get(const struct import_tree *t, const char *format, ...)
{
	g_autofree char *path = NULL;
	char *content;
	va_list args;

	va_start(args, format);
	path = g_strdup_vprintf(format, args);
	va_end(args);
	if (t->files) {
		content = g_strdup(g_hash_table_lookup(t->files, path));
	} else {
		g_autofree char *full = g_build_filename(t->base, path, NULL);

		content = import_read_small(full);
	}
	return content ? g_strstrip(content) : NULL;
}
