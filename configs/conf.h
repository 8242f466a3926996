/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of config files, before anybody knows what it means.
 *
 * A struct conf holds groups and entries in file order, each with the file and
 * line it came from, so that an error can be shown where it was made however
 * files were merged (base=, an experiment over a topology, --set over all).
 * GKeyFile reads the syntax; what it lets pass is refused here: a group or key
 * that is there twice, a key that no reader knows, a file without end.
 *
 * Errors are of the domain CONFIG_ERROR, one line each:
 *   FILE:LINE: [group] key: what is wrong, expected what
 */
#ifndef CONFIGS_CONF_H
#define CONFIGS_CONF_H

#include <glib.h>
#include <stdbool.h>

#include "sim/param.h"

/* A larger file is refused unread: the longest honest one, 1024 nodes with
 * their distances, has 4 MiB. */
#define CONF_MAX_BYTES (8 << 20)

struct conf_entry {
	const char *group, *key; /* interned in the conf */
	char *value;		 /* unescaped */
	const char *file;	 /* "--set" for an override */
	int line;		 /* 0 if there is none */
};

struct conf_group {
	const char *name;
	const char *file;
	int line;
};

struct conf {
	const char *file;   /* what was read, for errors about what is missing */
	GPtrArray *groups;  /* struct conf_group *, each name once */
	GPtrArray *entries; /* struct conf_entry *, each (group, key) once */
	GHashTable *index;  /* "group\nkey" -> entry */
	GStringChunk *strings;
};

struct conf *conf_new(const char *file); /* empty */
struct conf *conf_read(const char *path, GError **error);
void conf_free(struct conf *c);

const struct conf_entry *conf_find(const struct conf *c, const char *group,
				   const char *key);
/* The value, or NULL. */
const char *conf_get(const struct conf *c, const char *group, const char *key);
const struct conf_group *conf_group(const struct conf *c, const char *group);

/* Adds or replaces an entry and, if new, its group. Strings are copied. */
void conf_set(struct conf *c, const char *group, const char *key,
	      const char *value, const char *file, int line);
void conf_remove(struct conf *c, const char *group, const char *key);

/* Copies groups of @from over @to: all, or those whose name @keep accepts. */
void conf_merge(struct conf *to, const struct conf *from,
		bool (*keep)(const char *group));

/* "GROUP.KEY=VALUE" strings, NULL-terminated or NULL. */
bool conf_override(struct conf *c, char **overrides, GError **error);

/* ---- what is known ---- */

/*
 * A group that a reader knows, with its keys: names, a table, both, or any
 * (no names and no table). A @name that ends in a blank ("node ") stands for
 * all groups that begin so.
 */
struct conf_known {
	const char *name;
	const char *const *keys;	  /* NULL-terminated, or NULL */
	const struct param_desc *table; /* or NULL */
};

/* Fails on the first group or key that @known (ended by a NULL name) lacks. */
bool conf_check_known(const struct conf *c, const struct conf_known *known,
		      GError **error);

/* ---- values ---- */

/*
 * Fills @base from [group] by @table. A key that is not there is an error if
 * @all, else its member keeps its value.
 */
bool conf_read_table(const struct conf *c, const char *group,
		     const struct param_desc *table, void *base, bool all,
		     GError **error);
/* An integer of [group] key; @missing if it is not there. */
bool conf_read_int(const struct conf *c, const char *group, const char *key,
		   int64_t min, int64_t max, int64_t missing, int64_t *value,
		   GError **error);

/* Frees the PARAM_STRING members and sets them to NULL. */
void params_clear(const struct param_desc *table, void *base);
/* What a value may be: "an integer from 1 to 64 ways"; newly allocated. */
char *param_expected(const struct param_desc *p);
/* Shortest text that reads back as @d, with '.' whatever the locale. */
char *param_number(double d);
/* Strict readers: the whole text, decimal, finite. */
bool parse_int(const char *text, int64_t *value);
bool parse_double(const char *text, double *value);

/* ---- errors; all return false ---- */

/* "FILE:LINE: [group] key: ..." of @e */
bool conf_fail(GError **error, const struct conf_entry *e, const char *format,
	       ...) G_GNUC_PRINTF(3, 4);
/* "FILE: [group] key: ..." about what is not there (@key may be NULL) */
bool conf_fail_missing(GError **error, const struct conf *c, const char *group,
		       const char *key, const char *format, ...)
	G_GNUC_PRINTF(5, 6);
/* The same about a sentence that blames a key of [group], see param_blamed():
 * with the line of that key if it is there. */
bool conf_fail_check(GError **error, const struct conf *c, const char *group,
		     const struct param_desc *table, const char *sentence);

/* ---- files ---- */

/*
 * The path of @name in a shipped folder ("variants"), or @name itself if it is
 * a path (then relative to the folder of the file @from, if not NULL). NULL
 * with @error if there is no such file.
 */
char *config_path(const char *folder, const char *name, const char *from,
		  GError **error);
/*
 * Reads @name and what it is based on: [header] base=NAME, in turn. A base's
 * own name and description are left out.
 */
struct conf *conf_read_based(const char *folder, const char *header,
			     const char *name, const char *from,
			     GError **error);
/* The published table of that name, beside the configs; newly allocated. */
char *config_published_path(const char *name);
/* "zen4" of "configs/topologies/zen4.conf"; newly allocated. */
char *config_base_name(const char *path);

/* conf_auto struct conf *c: freed when it goes out of scope. */
static inline void conf_freep(struct conf **c)
{
	conf_free(*c);
}
#define conf_auto __attribute__((cleanup(conf_freep)))

#endif
