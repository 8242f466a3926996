/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every importer needs: a pasted text as bounded, numbered lines without
 * the marks of a mail; whole numbers, id lists and masks read without a locale;
 * errors that name file, line and expectation.
 */
#ifndef CONFIGS_IMPORT_TEXT_H
#define CONFIGS_IMPORT_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/topology.h"

#define IMPORT_ERROR import_error_quark()
GQuark import_error_quark(void);

/* The largest input that is read; the biggest honest one (an lstopo XML of 384
 * PUs) has 0.3 MB. */
#define IMPORT_MAX_BYTES (16u << 20)

/* Lines beyond are left out; import_text_read() refuses. */
#define IMPORT_MAX_LINES (1 << 19)

struct import_line {
	/* points into the text; without newline, CR, a mail's "> " and
	 * quoted-printable's "=3D" */
	const char *text;
	int number; /* 1.. in the file */
};

/* Owned by the caller; import_text_free() frees. */
struct import_text {
	char *name; /* as given by the user; "-" is shown as "stdin" */
	char *raw;  /* as read, NUL-terminated */
	size_t size;
	char *clean; /* the lines live in here */
	struct import_line *lines;
	int nr_lines;
};

/* Reads @path, or standard input for "-". NULL with @error: unreadable, or
 * larger than IMPORT_MAX_BYTES. */
struct import_text *import_text_read(const char *path, GError **error);
/* From memory (@size bytes are copied). Never fails. */
struct import_text *import_text_new(const char *name, const char *data,
				    size_t size);
void import_text_free(struct import_text *t);

/* A sysfs file has at most a page, meminfo somewhat more. */
#define IMPORT_SMALL_FILE 65536
/* At most so many bytes of a regular file, NUL-terminated, newly allocated;
 * NULL if it can't be read or is none (a pipe would block). */
char *import_read_small(const char *path);

/* Sets "NAME:LINE: sentence" (no line if @line is 0); always false. */
bool import_fail(GError **error, const char *name, int line, const char *format,
		 ...) G_GNUC_PRINTF(4, 5);

const char *import_skip_blanks(const char *s);

/* Reads decimal digits at *@s and moves *@s behind them. False if there are
 * none or the value exceeds @max (then *@s is unchanged). */
bool import_uint(const char **s, uint64_t max, uint64_t *value);

/* A set of CPU or node ids. */
struct id_set {
	uint64_t bits[TOPOLOGY_MAX_CPUS / 64];
};

static inline bool id_set_has(const struct id_set *set, int id)
{
	return set->bits[id / 64] >> (id % 64) & 1;
}

static inline void id_set_add(struct id_set *set, int id)
{
	set->bits[id / 64] |= UINT64_C(1) << (id % 64);
}

int id_set_count(const struct id_set *set);
int id_set_next(const struct id_set *set, int after); /* -1 starts and ends */

/*
 * Adds "0-3,8 12-62:2" (ids below @limit, separated by commas or blanks) to
 * @set. Reads up to the end or the first thing that is not a list and returns
 * where that is. On an impossible range returns NULL and sets *@what to a
 * static sentence. No list at all is no error: @s is returned.
 */
const char *id_set_parse_list(struct id_set *set, const char *s, int limit,
			      const char **what);
/* Adds the kernel's "ffffffff,00000003". False if that's not one. */
bool id_set_parse_mask(struct id_set *set, const char *s, int limit);
/* "0-3,8"; newly allocated. */
char *id_set_to_list(const struct id_set *set);

/* The name of a config as it's written into another: a path is made absolute,
 * since that file may lie elsewhere. NULL for NULL; newly allocated. */
char *import_config_name(const char *name);

/* Writes @text to @path (aside, then renamed), or to stdout if it's NULL or
 * "-". */
bool import_write(const char *path, const char *text, GError **error);

#endif
