/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/out.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "results/result.h"
#include "sim/file_replace.h"

struct outdir {
	char *path;
	int lock;
	GHashTable *written; /* names already in DIR/.written */
	int list;
};

static bool io_error(const char *path, int err, GError **error)
{
	g_set_error(error, RESULT_ERROR, RESULT_ERROR_IO, "%s: %s", path,
		    g_strerror(err));
	return false;
}

static bool write_data(const char *path, const char *data, size_t length,
		       GError **error)
{
	int err = file_replace(path, data, length);

	return !err || io_error(path, err, error);
}

bool write_aside(const char *path, const char *text, GError **error)
{
	int err = file_write_to(path, text, strlen(text));

	return !err || io_error(path, err, error);
}

static bool make_dirs(const char *dir, GError **error)
{
	if (g_mkdir_with_parents(dir, 0777))
		return io_error(dir, errno, error);
	return true;
}

struct outdir *outdir_open(const char *path, GError **error)
{
	g_autofree char *lock = g_build_filename(path, ".lock", NULL);
	struct outdir *o;
	int fd;

	if (!make_dirs(path, error))
		return NULL;
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		io_error(path, errno, error);
		return NULL;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno == EWOULDBLOCK)
			g_set_error(error, RESULT_ERROR, RESULT_ERROR_BUSY,
				    "%s: another run is writing there", path);
		else
			io_error(path, errno, error);
		close(fd);
		return NULL;
	}
	o = g_new0(struct outdir, 1);
	o->path = g_strdup(path);
	o->lock = fd;
	o->list = -1;
	o->written = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					   NULL);
	return o;
}

const char *outdir_path(const struct outdir *o)
{
	return o->path;
}

void outdir_close(struct outdir *o)
{
	if (!o)
		return;
	if (o->list >= 0)
		close(o->list);
	close(o->lock);
	g_hash_table_unref(o->written);
	g_free(o->path);
	g_free(o);
}

/* A listed name must not lead out of the folder, whoever wrote the list. */
static bool inside(const char *name)
{
	g_auto(GStrv) parts = g_strsplit(name, "/", -1);

	for (int i = 0; parts[i]; i++)
		if (!*parts[i] || !strcmp(parts[i], ".."))
			return false;
	return *name != '\0';
}

/* In folder @dir of @root: what killed writers left, of @names or (NULL) all. */
static void remove_tmp(const char *root, const char *dir, GHashTable *names)
{
	g_autofree char *path = g_build_filename(root, dir, NULL);
	g_autoptr(GDir) d = g_dir_open(path, 0, NULL);
	const char *name;

	while (d && (name = g_dir_read_name(d))) {
		const char *end = g_strrstr(name, ".tmp-");
		g_autofree char *base = NULL, *of = NULL, *tmp = NULL;

		if (!end)
			continue;
		base = g_strndup(name, end - name);
		of = strcmp(dir, ".") ? g_build_filename(dir, base, NULL) :
					g_strdup(base);
		tmp = g_build_filename(path, name, NULL);
		if (!names || g_hash_table_contains(names, of))
			unlink(tmp);
	}
}

/* In the folders of @names, one look at each: they may be thousands. */
static void remove_leftovers(const struct outdir *o, GHashTable *names,
			     bool others_too)
{
	g_autoptr(GHashTable) dirs = g_hash_table_new_full(
		g_str_hash, g_str_equal, g_free, NULL);
	GHashTableIter it;
	void *key;

	g_hash_table_iter_init(&it, names);
	while (g_hash_table_iter_next(&it, &key, NULL))
		g_hash_table_add(dirs, g_path_get_dirname(key));
	g_hash_table_iter_init(&it, dirs);
	while (g_hash_table_iter_next(&it, &key, NULL))
		remove_tmp(o->path, key, others_too ? NULL : names);
}

void outdir_drop_partial(struct outdir *o, GHashTable *names)
{
	remove_leftovers(o, names, false);
}

static void remove_empty_dirs(const char *root, const char *name)
{
	g_autofree char *dir = g_path_get_dirname(name);

	while (strcmp(dir, ".")) {
		g_autofree char *path = g_build_filename(root, dir, NULL);
		char *up;

		if (rmdir(path))
			break;
		up = g_path_get_dirname(dir);
		g_free(dir);
		dir = up;
	}
}

bool outdir_clear(struct outdir *o, GHashTable *keep, GError **error)
{
	g_autofree char *list = g_build_filename(o->path, ".written", NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) names = NULL;
	g_autoptr(GString) kept = g_string_new(NULL);
	g_autoptr(GHashTable) gone = g_hash_table_new(g_str_hash, g_str_equal);

	g_assert(o->list < 0);
	if (keep)
		remove_leftovers(o, keep, true);
	if (!g_file_get_contents(list, &text, NULL, NULL))
		return true;
	names = g_strsplit(text, "\n", -1);
	for (int i = 0; names[i]; i++) {
		g_autofree char *path = g_build_filename(o->path, names[i],
							 NULL);

		if (!inside(names[i]))
			continue;
		if (keep && g_hash_table_contains(keep, names[i])) {
			if (g_hash_table_add(o->written, g_strdup(names[i])))
				g_string_append_printf(kept, "%s\n", names[i]);
			continue;
		}
		unlink(path);
		g_hash_table_add(gone, names[i]);
	}
	remove_leftovers(o, gone, false);
	for (int i = 0; names[i]; i++)
		if (g_hash_table_contains(gone, names[i]))
			remove_empty_dirs(o->path, names[i]);
	return write_aside(list, kept->str, error);
}

bool outdir_expect(struct outdir *o, const char *name, GError **error)
{
	g_autofree char *line = g_strconcat(name, "\n", NULL);
	g_autofree char *path = g_build_filename(o->path, name, NULL);
	g_autofree char *dir = g_path_get_dirname(path);
	int err;

	if (!make_dirs(dir, error))
		return false;
	if (!g_hash_table_add(o->written, g_strdup(name)))
		return true;
	if (o->list < 0) {
		g_autofree char *list = g_build_filename(o->path, ".written",
							 NULL);

		o->list = open(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			       0666);
		if (o->list < 0)
			return io_error(list, errno, error);
	}
	err = file_write_all(o->list, line, strlen(line));
	return err ? io_error(o->path, err, error) : true;
}

bool outdir_write(struct outdir *o, const char *name, const char *text,
		  GError **error)
{
	g_autofree char *path = g_build_filename(o->path, name, NULL);

	return outdir_expect(o, name, error) &&
	       write_aside(path, text, error);
}

bool outdir_write_data(struct outdir *o, const char *name, const char *data,
		       size_t length, GError **error)
{
	g_autofree char *path = g_build_filename(o->path, name, NULL);

	return outdir_expect(o, name, error) &&
	       write_data(path, data, length, error);
}

char *safe_name(const char *name)
{
	char *s = g_strdup(*name ? name : "_");

	for (char *p = s; *p; p++)
		if (*p == '/' || (unsigned char)*p < ' ')
			*p = '_';
	if (!strcmp(s, ".") || !strcmp(s, ".."))
		s[0] = '_';
	return s;
}
