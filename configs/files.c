/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where config files are, and what they are based on.
 */
#include <string.h>

#include "configs/conf.h"
#include "configs/config.h"
#include "sim/nearest.h"

/* A chain of base= longer than this is a circle. */
enum { MAX_BASES = 32 };

static const char *configs_folder(void)
{
	const char *folder = g_getenv("SLUBSIM_CONFIGS");

	return folder && *folder ? folder : SLUBSIM_CONFIGS;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **config_list(const char *folder)
{
	g_autofree char *path = g_build_filename(configs_folder(), folder,
						 NULL);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	GPtrArray *names = g_ptr_array_new();
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_suffix(name, ".conf") && name[0] != '.')
			g_ptr_array_add(names, config_base_name(name));
	g_ptr_array_sort(names, compare_names);
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(names, FALSE);
}

char *config_published_path(const char *name)
{
	const char *suffix = strchr(name, '.') ? "" : ".tsv";

	return g_strdup_printf("%s/../results/published/%s%s",
			       configs_folder(), name, suffix);
}

char *config_base_name(const char *path)
{
	char *name = g_path_get_basename(path);

	if (g_str_has_suffix(name, ".conf"))
		name[strlen(name) - strlen(".conf")] = 0;
	return name;
}

/* "topologies" -> "topology"; "codegen" stays */
static char *singular(const char *folder)
{
	size_t n = strlen(folder);

	if (g_str_has_suffix(folder, "ies"))
		return g_strdup_printf("%.*sy", (int)n - 3, folder);
	return g_strndup(folder, g_str_has_suffix(folder, "s") ? n - 1 : n);
}

static bool is_path(const char *name)
{
	return strchr(name, '/') || g_str_has_suffix(name, ".conf");
}

char *config_path(const char *folder, const char *name, const char *from,
		  GError **error)
{
	g_autofree char *what = singular(folder);
	g_autofree char *path = NULL;

	if (is_path(name)) {
		if (from && !g_path_is_absolute(name)) {
			g_autofree char *dir = g_path_get_dirname(from);

			return g_build_filename(dir, name, NULL);
		}
		return g_strdup(name);
	}
	path = g_strdup_printf("%s/%s/%s.conf", configs_folder(), folder, name);
	if (!*name || !g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_auto(GStrv) names = config_list(folder);
		struct nearest nearest = { .word = name };

		for (int i = 0; names[i]; i++)
			nearest_offer(&nearest, names[i]);
		if (nearest.name)
			g_set_error(error, CONFIG_ERROR, 0,
				    "no %s '%.60s', did you mean %s?", what,
				    name, nearest.name);
		else
			g_set_error(error, CONFIG_ERROR, 0,
				    "no %s '%.60s', expected a name that "
				    "slubsim list %s prints, or a path", what,
				    name, folder);
		return NULL;
	}
	return g_steal_pointer(&path);
}

static struct conf *read_based(const char *folder, const char *header,
			       const char *path, int depth, GError **error)
{
	conf_auto struct conf *c = conf_read(path, error);
	conf_auto struct conf *base = NULL;
	const struct conf_entry *e;
	g_autofree char *base_path = NULL;
	g_autoptr(GError) err = NULL;

	if (!c)
		return NULL;
	e = conf_find(c, header, "base");
	if (!e)
		return g_steal_pointer(&c);
	if (depth == MAX_BASES) {
		conf_fail(error, e, "'%.60s', expected a file that is not "
			  "based on this one", e->value);
		return NULL;
	}
	base_path = config_path(folder, e->value, path, &err);
	if (!base_path) {
		conf_fail(error, e, "%s", err->message);
		return NULL;
	}
	base = read_based(folder, header, base_path, depth + 1, error);
	if (!base)
		return NULL;
	conf_remove(base, header, "name");
	conf_remove(base, header, "description");
	conf_remove(c, header, "base");
	/* a new value is not in the old value's range */
	for (guint i = 0; i < c->entries->len; i++) {
		const struct conf_entry *mine = c->entries->pdata[i];

		conf_remove(base, "range", mine->key);
	}
	conf_merge(base, c, NULL);
	/* what is missing is missing in the file that was asked for */
	base->file = g_string_chunk_insert_const(base->strings, path);
	return g_steal_pointer(&base);
}

struct conf *conf_read_based(const char *folder, const char *header,
			     const char *name, const char *from,
			     GError **error)
{
	g_autofree char *path = config_path(folder, name, from, error);

	return path ? read_based(folder, header, path, 0, error) : NULL;
}
