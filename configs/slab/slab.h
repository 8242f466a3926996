/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What people post about a slab cache, as one kind of thing: a list of named
 * values with parts per CPU or node. A sysfs dump is that already; what
 * slabinfo -r and /proc/slabinfo print is given the names of sysfs. Read by
 * slubsim import cache and by the workloads that replay counts.
 */
#ifndef CONFIGS_SLAB_SLAB_H
#define CONFIGS_SLAB_SLAB_H

#include "configs/import_text.h"

/* Bounds: what is beyond is an error, not cut off. */
#define SLAB_MAX_REPORTS 2048
#define SLAB_MAX_VALUES 160 /* of a report; kernels have about 70 */

struct slab_part {
	int id;
	uint64_t value, slabs; /* .slabs: the second number of "99(7)" */
};

struct slab_value {
	char *name;
	int line;
	bool number; /* else it's a word (ctor) or empty */
	bool word;
	uint64_t total, slabs;
	char part_kind; /* 'C', 'N', or 0 without parts */
	GArray *parts;	/* struct slab_part, ids rising */
};

enum slab_source { SLAB_SYSFS, SLAB_SLABINFO, SLAB_PROC };

/* One cache at one moment. */
struct slab_report {
	char *file;
	char *cache; /* NULL = not said */
	char *title; /* what stands above it in the text, or NULL */
	enum slab_source source;
	int line;		/* of the first value */
	GPtrArray *values;	/* struct slab_value * */
	GHashTable *index;	/* name -> value */
	GPtrArray *unavailable; /* char *: attributes that grep failed on */
};

GPtrArray *slab_reports_new(void); /* of struct slab_report *, owned */
struct slab_report *slab_report_new(const char *file, enum slab_source source,
				    const char *cache, int line);
void slab_report_free(struct slab_report *r);

/* NULL if the report lacks it. */
const struct slab_value *slab_report_find(const struct slab_report *r,
					  const char *name);
/* Its number, or -1; larger ones than INT64_MAX don't exist. */
int64_t slab_report_get(const struct slab_report *r, const char *name);
/* The value of a CPU or node; 0 where it's left out. */
uint64_t slab_value_part(const struct slab_value *v, int id);

/* The counters that together count a CPU's allocations, and its frees; ended
 * by NULL. */
extern const char *const slab_alloc_counters[], *const slab_free_counters[];

/* For the parsers: adds a value; NULL with @error if there are too many or the
 * report has it already. */
struct slab_value *slab_report_add(struct slab_report *r, const char *name,
				   int line, GError **error);
bool slab_report_add_number(struct slab_report *r, const char *name, int line,
			    uint64_t number, GError **error);
/* Appends @r to @all (which owns it); false with @error if there are too many,
 * then @r is freed. */
bool slab_reports_take(GPtrArray *all, struct slab_report *r, GError **error);

/* Recognises and parses; appends to @all. @cache names what the text does not
 * name, may be NULL. */
bool slab_reports_from_text(const struct import_text *t, const char *cache,
			    GPtrArray *all, GError **error);
/* A file, "-", or a folder: a cache's, or one that holds some. */
bool slab_reports_from_path(const char *path, GPtrArray *all, GError **error);

/* ---- the parsers ---- */

/* [PATH/]name:value [C0=n ...] words in any arrangement of lines. */
bool slab_parse_sysfs(const struct import_text *t, const char *cache,
		      GPtrArray *all, GError **error);
/* slabinfo -r */
bool slab_parse_slabinfo(const struct import_text *t, GPtrArray *all,
			 GError **error);
/* /proc/slabinfo, whole or some lines */
bool slab_parse_proc(const struct import_text *t, GPtrArray *all,
		     GError **error);

#endif
