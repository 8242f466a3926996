/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parameter described once.
 *
 * Every number that a user can set (machine latencies, features of a variant,
 * instruction counts, a workload's options) is a member of a plain struct and
 * one line in a table of struct param_desc beside that struct. The config
 * reader, `slubsim list`, --set, range checks, the effective config and the
 * man page all work from these tables; nothing else knows a key by name.
 *
 * Tables end with an entry whose key is NULL.
 */
#ifndef SIM_PARAM_H
#define SIM_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum param_type {
	PARAM_BOOL,   /* member is bool; config true|false */
	PARAM_INT,    /* member is int64_t */
	PARAM_DOUBLE, /* member is double */
	PARAM_ENUM,   /* member is int, an index into .choices */
	PARAM_STRING, /* member is char *, g_free()d by the owner of the struct;
		       * NULL = not given */
};

struct param_desc {
	const char *key; /* as written in the config file */
	enum param_type type;
	size_t offset;	  /* offsetof(the struct, member) */
	const char *unit; /* "ns", "cycles", "objects", ...; "" if none */
	double min, max;  /* inclusive; both 0 = unchecked */
	const char *const *choices; /* PARAM_ENUM: NULL-terminated names */
	const char *help; /* one sentence */
	const char *since; /* features: first kernel that has it, else NULL */
};

/*
 * Whoever checks several parameters against each other says what is wrong in a
 * sentence that begins with the key to blame: "batch = 64, expected at most
 * depth = 32", "counts: not given, expected a path". The line of @table with
 * that key, and in *@rest what follows ("64, expected ..."); NULL, and the whole
 * sentence, if it begins with none.
 */
const struct param_desc *param_blamed(const struct param_desc *table,
				      const char *sentence, const char **rest);

/*
 * A line of a table, for a member of the same name as its key. A table's file
 * says once of which struct: #define P(...) PARAM(struct machine_params,
 * __VA_ARGS__)
 */
#define PARAM(type, member, kind, unit, min, max, help)                        \
	{ #member, kind, offsetof(type, member), unit, min, max, NULL, help,   \
	  NULL }
#define PARAM_CHOICE(type, member, choices, help)                              \
	{ #member, PARAM_ENUM, offsetof(type, member), "", 0, 0, choices,      \
	  help, NULL }

#endif
