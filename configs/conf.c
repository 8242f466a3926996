/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "configs/config.h"
#include "sim/nearest.h"

GQuark config_error_quark(void)
{
	return g_quark_from_static_string("slubsim-config-error");
}

/* ---- errors ---- */

static void set_error(GError **error, const char *file, int line,
		      const char *group, const char *key, const char *format,
		      va_list args)
{
	g_autoptr(GString) s = g_string_new(file);
	g_autofree char *what = g_strdup_vprintf(format, args);

	if (line)
		g_string_append_printf(s, ":%d", line);
	g_string_append(s, ": ");
	if (group)
		g_string_append_printf(s, "[%s]", group);
	if (key)
		g_string_append_printf(s, " %s", key);
	if (group)
		g_string_append(s, ": ");
	g_string_append(s, what);
	/* an error is one line of printable text, whatever the file holds */
	for (char *p = s->str; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	g_set_error_literal(error, CONFIG_ERROR, 0, s->str);
}

bool conf_fail(GError **error, const struct conf_entry *e, const char *format,
	       ...)
{
	va_list args;

	va_start(args, format);
	set_error(error, e->file, e->line, e->group, e->key, format, args);
	va_end(args);
	return false;
}

bool conf_fail_missing(GError **error, const struct conf *c, const char *group,
		       const char *key, const char *format, ...)
{
	const struct conf_group *g = group ? conf_group(c, group) : NULL;
	va_list args;

	va_start(args, format);
	set_error(error, g ? g->file : c->file, g ? g->line : 0, group, key,
		  format, args);
	va_end(args);
	return false;
}

bool conf_fail_check(GError **error, const struct conf *c, const char *group,
		     const struct param_desc *table, const char *sentence)
{
	const struct param_desc *p = param_blamed(table, sentence, &sentence);
	const struct conf_entry *e = p ? conf_find(c, group, p->key) : NULL;

	if (e)
		return conf_fail(error, e, "%s", sentence);
	return conf_fail_missing(error, c, group, p ? p->key : NULL, "%s",
				 sentence);
}

static bool fail_line(GError **error, const char *file, int line,
		      const char *group, const char *key, const char *format,
		      ...) G_GNUC_PRINTF(6, 7);
static bool fail_line(GError **error, const char *file, int line,
		      const char *group, const char *key, const char *format,
		      ...)
{
	va_list args;

	va_start(args, format);
	set_error(error, file, line, group, key, format, args);
	va_end(args);
	return false;
}

/* ---- the store ---- */

static void free_entry(gpointer p)
{
	struct conf_entry *e = p;

	g_free(e->value);
	g_free(e);
}

struct conf *conf_new(const char *file)
{
	struct conf *c = g_new0(struct conf, 1);

	c->strings = g_string_chunk_new(1024);
	c->groups = g_ptr_array_new_with_free_func(g_free);
	c->entries = g_ptr_array_new_with_free_func(free_entry);
	c->index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	c->file = g_string_chunk_insert_const(c->strings, file);
	return c;
}

void conf_free(struct conf *c)
{
	if (!c)
		return;
	g_hash_table_destroy(c->index);
	g_ptr_array_free(c->entries, TRUE);
	g_ptr_array_free(c->groups, TRUE);
	g_string_chunk_free(c->strings);
	g_free(c);
}

/* A newline is in no key, so the pair is unique. A group by itself is in the
 * index too, under "group\n". */
static char *index_name(const char *group, const char *key)
{
	return g_strdup_printf("%s\n%s", group, key);
}

const struct conf_entry *conf_find(const struct conf *c, const char *group,
				   const char *key)
{
	g_autofree char *name = index_name(group, key);

	return g_hash_table_lookup(c->index, name);
}

const char *conf_get(const struct conf *c, const char *group, const char *key)
{
	const struct conf_entry *e = conf_find(c, group, key);

	return e ? e->value : NULL;
}

const struct conf_group *conf_group(const struct conf *c, const char *group)
{
	g_autofree char *name = index_name(group, "");

	return g_hash_table_lookup(c->index, name);
}

/* A group that is there already is from now on where it was said last. */
static void add_group(struct conf *c, const char *group, const char *file,
		      int line)
{
	struct conf_group *g = (struct conf_group *)conf_group(c, group);

	if (!g) {
		g = g_new0(struct conf_group, 1);
		g->name = g_string_chunk_insert_const(c->strings, group);
		g_ptr_array_add(c->groups, g);
		g_hash_table_insert(c->index, index_name(group, ""), g);
	}
	g->file = g_string_chunk_insert_const(c->strings, file);
	g->line = line;
}

void conf_set(struct conf *c, const char *group, const char *key,
	      const char *value, const char *file, int line)
{
	struct conf_entry *e = (struct conf_entry *)conf_find(c, group, key);

	if (!conf_group(c, group))
		add_group(c, group, file, line);
	if (!e) {
		e = g_new0(struct conf_entry, 1);
		e->group = g_string_chunk_insert_const(c->strings, group);
		e->key = g_string_chunk_insert_const(c->strings, key);
		g_ptr_array_add(c->entries, e);
		g_hash_table_insert(c->index, index_name(group, key), e);
	}
	g_free(e->value);
	e->value = g_strdup(value);
	e->file = g_string_chunk_insert_const(c->strings, file);
	e->line = line;
}

void conf_remove(struct conf *c, const char *group, const char *key)
{
	g_autofree char *name = index_name(group, key);
	struct conf_entry *e = g_hash_table_lookup(c->index, name);

	if (!e)
		return;
	g_hash_table_remove(c->index, name);
	g_ptr_array_remove(c->entries, e);
}

void conf_merge(struct conf *to, const struct conf *from,
		bool (*keep)(const char *group))
{
	for (guint i = 0; i < from->groups->len; i++) {
		const struct conf_group *g = from->groups->pdata[i];

		if (!keep || keep(g->name))
			add_group(to, g->name, g->file, g->line);
	}
	for (guint i = 0; i < from->entries->len; i++) {
		const struct conf_entry *e = from->entries->pdata[i];

		if (!keep || keep(e->group))
			conf_set(to, e->group, e->key, e->value, e->file,
				 e->line);
	}
}

/* ---- reading ---- */

static bool name_ok(const char *s, const char *others)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!g_ascii_isalnum(*s) && !strchr(others, *s))
			return false;
	return true;
}

/* All of @path, at most CONF_MAX_BYTES: also of a pipe or a device that never
 * ends. */
static char *read_text(const char *path, size_t *len, GError **error)
{
	g_autofree char *buf = g_malloc(4096);
	size_t size = 4096, n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		goto failed;
	for (;;) {
		ssize_t got = read(fd, buf + n, size - n - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			goto failed;
		if (!got)
			break;
		n += got;
		if (n > CONF_MAX_BYTES) {
			close(fd);
			fail_line(error, path, 0, NULL, NULL, "larger than "
				  "%d MiB, expected a config file",
				  CONF_MAX_BYTES >> 20);
			return NULL;
		}
		if (n == size - 1)
			buf = g_realloc(buf, size *= 2);
	}
	close(fd);
	buf[n] = 0;
	*len = n;
	return g_steal_pointer(&buf);
failed:
	fail_line(error, path, 0, NULL, NULL, "%s", g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* One line of a file: a comment, a group or an entry (its value is read by
 * GKeyFile later). */
static bool scan_line(struct conf *c, char *s, int line, char **group,
		      GError **error)
{
	char *eq, *key;

	g_strstrip(s);
	if (!*s || *s == '#')
		return true;
	if (*s == '[') {
		size_t n = strlen(s);
		const struct conf_group *old;

		if (s[n - 1] != ']')
			return fail_line(error, c->file, line, NULL, NULL,
					 "'%.60s', expected [group]", s);
		s[n - 1] = 0;
		if (!name_ok(++s, "_- "))
			return fail_line(error, c->file, line, NULL, NULL,
					 "group name '%.60s', expected "
					 "letters, digits, '_', '-' or ' '", s);
		old = conf_group(c, s);
		if (old)
			return fail_line(error, c->file, line, s, NULL,
					 "duplicate group, expected it once "
					 "(first in line %d)", old->line);
		add_group(c, s, c->file, line);
		g_free(*group);
		*group = g_strdup(s);
		return true;
	}
	eq = strchr(s, '=');
	if (!eq)
		return fail_line(error, c->file, line, *group, NULL,
				 "'%.60s', expected key=value, [group] or "
				 "# comment", s);
	if (!*group)
		return fail_line(error, c->file, line, NULL, NULL,
				 "'%.60s', expected a [group] before it", s);
	*eq = 0;
	key = g_strchomp(s);
	if (!name_ok(key, "_-."))
		return fail_line(error, c->file, line, *group, NULL,
				 "key '%.60s', expected letters, digits, '_', "
				 "'-' or '.'", key);
	if (conf_find(c, *group, key))
		return fail_line(error, c->file, line, *group, key,
				 "duplicate key, expected it once (first in "
				 "line %d)", conf_find(c, *group, key)->line);
	conf_set(c, *group, key, "", c->file, line);
	return true;
}

static bool scan(struct conf *c, const char *text, GError **error)
{
	g_autofree char *group = NULL;

	for (int line = 1; *text; line++) {
		size_t n = strcspn(text, "\n");
		g_autofree char *s = g_strndup(text, n);

		if (!scan_line(c, s, line, &group, error))
			return false;
		text += n + (text[n] == '\n');
	}
	return true;
}

/* Lets GKeyFile unescape what scan() found. */
static bool read_values(struct conf *c, GKeyFile *file, GError **error)
{
	for (guint i = 0; i < c->entries->len; i++) {
		struct conf_entry *e = c->entries->pdata[i];
		g_autofree char *raw = g_key_file_get_value(file, e->group,
							    e->key, NULL);
		g_autoptr(GError) err = NULL;
		char *value;

		if (!raw)
			return conf_fail(error, e, "can't be read");
		g_key_file_set_value(file, e->group, e->key, g_strchomp(raw));
		value = g_key_file_get_string(file, e->group, e->key, &err);
		if (!value || err) {
			g_free(value);
			return conf_fail(error, e, "'%.60s', expected plain "
					 "text (a '\\' is written '\\\\')",
					 raw);
		}
		g_free(e->value);
		e->value = value;
	}
	return true;
}

struct conf *conf_read(const char *path, GError **error)
{
	conf_auto struct conf *c = conf_new(path);
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) err = NULL;
	g_autofree char *text = NULL;
	size_t len = 0;

	text = read_text(path, &len, error);
	if (!text)
		return NULL;
	if (memchr(text, 0, len) || !g_utf8_validate(text, len, NULL)) {
		fail_line(error, path, 0, NULL, NULL,
			  "not text, expected a config file in UTF-8");
		return NULL;
	}
	if (!scan(c, text, error))
		return NULL;
	if (!c->groups->len) {
		fail_line(error, path, 0, NULL, NULL,
			  "no group, expected [group] and key=value lines");
		return NULL;
	}
	if (!g_key_file_load_from_data(file, text, len, G_KEY_FILE_NONE,
				       &err)) {
		fail_line(error, path, 0, NULL, NULL, "%s", err->message);
		return NULL;
	}
	if (!read_values(c, file, error))
		return NULL;
	return g_steal_pointer(&c);
}

bool conf_override(struct conf *c, char **overrides, GError **error)
{
	for (; overrides && *overrides; overrides++) {
		const char *o = *overrides;
		const char *eq = strchr(o, '=');
		const char *dot = strchr(o, '.');
		g_autofree char *group = NULL, *key = NULL, *value = NULL;

		if (!eq || !dot || dot > eq || !g_utf8_validate(o, -1, NULL))
			return fail_line(error, "--set", 0, NULL, NULL,
					 "'%.60s', expected GROUP.KEY=VALUE",
					 o);
		group = g_strstrip(g_strndup(o, dot - o));
		key = g_strstrip(g_strndup(dot + 1, eq - dot - 1));
		value = g_strstrip(g_strdup(eq + 1));
		if (!name_ok(group, "_- ") || !name_ok(key, "_-."))
			return fail_line(error, "--set", 0, NULL, NULL,
					 "'%.60s', expected GROUP.KEY=VALUE",
					 o);
		conf_set(c, group, key, value, "--set", 0);
	}
	return true;
}

/* ---- what is known ---- */

static bool is_prefix(const char *name)
{
	size_t n = strlen(name);

	return n && name[n - 1] == ' ';
}

static const struct conf_known *find_known(const struct conf_known *known,
					   const char *group)
{
	for (; known->name; known++)
		if (is_prefix(known->name) ?
			    g_str_has_prefix(group, known->name) :
			    !strcmp(group, known->name))
			return known;
	return NULL;
}

static bool check_group(const struct conf_group *g,
			const struct conf_known *known, GError **error)
{
	struct nearest nearest = { .word = g->name };
	g_autoptr(GString) all = g_string_new(NULL);
	g_autofree char *numbered = NULL;
	const char *number = strrchr(g->name, ' ');

	if (find_known(known, g->name))
		return true;
	for (; known->name; known++) {
		if (!is_prefix(known->name)) {
			nearest_offer(&nearest, known->name);
		} else if (number && !numbered) {
			numbered = g_strconcat(known->name, number + 1, NULL);
			nearest_offer(&nearest, numbered);
		}
		g_string_append_printf(all, "%s[%s%s]", all->len ? ", " : "",
				       known->name,
				       is_prefix(known->name) ? "N" : "");
	}
	if (nearest.name)
		return fail_line(error, g->file, g->line, g->name, NULL,
				 "unknown group, did you mean [%s]?",
				 nearest.name);
	return fail_line(error, g->file, g->line, g->name, NULL,
			 "unknown group, expected %s", all->str);
}

static bool has_key(const struct conf_known *k, const char *key)
{
	for (int i = 0; k->keys && k->keys[i]; i++)
		if (!strcmp(key, k->keys[i]))
			return true;
	for (int i = 0; k->table && k->table[i].key; i++)
		if (!strcmp(key, k->table[i].key))
			return true;
	return false;
}

static bool check_key(const struct conf_entry *e, const struct conf_known *k,
		      GError **error)
{
	struct nearest nearest = { .word = e->key };

	if ((!k->keys && !k->table) || has_key(k, e->key))
		return true;
	for (int i = 0; k->keys && k->keys[i]; i++)
		nearest_offer(&nearest, k->keys[i]);
	for (int i = 0; k->table && k->table[i].key; i++)
		nearest_offer(&nearest, k->table[i].key);
	if (nearest.name)
		return conf_fail(error, e, "unknown key, did you mean %s?",
				 nearest.name);
	if (k->keys && !k->table && k->keys[0]) {
		g_autofree char *all = g_strjoinv(", ", (char **)k->keys);

		return conf_fail(error, e, "unknown key, expected %s", all);
	}
	return conf_fail(error, e, "unknown key, see slubsim list parameters");
}

bool conf_check_known(const struct conf *c, const struct conf_known *known,
		      GError **error)
{
	for (guint i = 0; i < c->groups->len; i++)
		if (!check_group(c->groups->pdata[i], known, error))
			return false;
	for (guint i = 0; i < c->entries->len; i++) {
		const struct conf_entry *e = c->entries->pdata[i];

		if (!check_key(e, find_known(known, e->group), error))
			return false;
	}
	return true;
}
