/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was measured: points, and the result that collects them.
 *
 * A point is one process: one variant of the allocator, one case of the sweep
 * (or the only one), one iteration with its seed. A result is what a run
 * leaves: the points in the order of the experiment, whoever finished first.
 * Everything else in results/ (tables, plots, comparison, explanation) works
 * on a struct result, and a result folder can be read back at any time.
 *
 * JSON. A point is an object with the members of struct point under the names
 * given there in the comments; result.json is
 *   { "schema_version": 1, "program", "version", "command": [...],
 *     "complete": true|false,
 *     "experiment": { "name", "description", "topology", "workload", "seed",
 *                     "iterations", "published", "fitted": {"key": "why"},
 *                     "variants": [names, the baseline first] },
 *     "summary": [ one object per figure, see results/figures.h ],
 *     "points": [ ... ] }
 * All keys are always there; what does not apply is null. Units are in the
 * names of keys ("_cycles", "_ns", "_bytes") or, for metrics, beside the value.
 * A reader of an older or newer schema refuses the file.
 *
 * Ownership: structs own what they point to; *_free() frees all of it.
 */
#ifndef RESULTS_RESULT_H
#define RESULTS_RESULT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/machine.h"

#define RESULT_SCHEMA 1
#define RESULT_ERROR result_error_quark()
GQuark result_error_quark(void);
enum { RESULT_ERROR_IO, RESULT_ERROR_FORMAT, RESULT_ERROR_BUSY };

/* A coordinate: where in a sweep or on an axis a value was measured. The value
 * is text: "12", "process-pipes". */
struct coord {
	char *name, *value;
};

struct metric { /* "metrics": {name: {unit, higher_is_better, value}} */
	char *name, *unit;
	bool higher_is_better;
	double value;
};

struct sample { /* "series": [{name, unit, higher_is_better, axis, x, value}] */
	char *name, *unit, *axis;
	bool higher_is_better;
	double x, value;
};

struct account_row { /* "account": [{path, cause, cycles}], all CPUs */
	char *path;  /* "a;b;c"; "" for what no function was entered for */
	enum cause cause;
	uint64_t cycles;
};

struct cpu_account { /* "cpus": [{cpu, node, cycles: {cause: n}}] */
	int cpu, node;
	uint64_t cycles[NR_CAUSES];
};

struct cache_attr {
	char *name, *text;
};
struct cache_dump { /* "caches": [{name, attributes: {name: text}}] */
	char *name;
	GPtrArray *attrs; /* struct cache_attr * */
};

struct cache_dump *cache_dump_new(const char *name);
void cache_dump_add(struct cache_dump *d, const char *name, const char *text);
void cache_dump_free(struct cache_dump *d);

struct lock_row { /* "locks": [{class, node, acquisitions, ..., wait_*_cycles,
		   * hold_*_cycles}], as struct lock_stat */
	char *class;
	int node;
	uint64_t acquisitions, contentions, acq_bounces, con_bounces;
	uint64_t wait_total, wait_min, wait_max;
	uint64_t hold_total, hold_min, hold_max;
};

struct line_row { /* "lines", only with --c2c, else null */
	uint64_t line;
	char *kind; /* or NULL */
	int node;
	uint64_t loads, stores, rmws, hitm_local, hitm_remote;
	uint64_t dram_local, dram_remote, offsets;
	char *fields[8]; /* of the 8 bytes at 8k: "freelist", or NULL */
	int cpus[8]; /* most frequent first, -1 ends */
	uint64_t counts[8];
};

/* A point keeps the lines with the most HITM, so many of them. */
#define MAX_LINE_ROWS 200
struct lines_left_out { /* "lines_left_out": {lines, hitm_local, ...} */
	uint64_t lines, hitm_local, hitm_remote;
};

struct point {
	/* who: "variant", "kernel", "description", "case", "index" (its rank in
	 * the experiment), "iteration", "seed" */
	char *variant, *kernel, *description;
	GPtrArray *coords; /* struct coord *, empty without a sweep */
	int index, iteration;
	uint64_t seed;
	/* provenance: "version", "build" (a digest of the program), "command",
	 * "config" (effective), "flags" ("exact-slow", ...) */
	char *version, *build, *config, *flags;
	/* where: "topology", "workload", "machine": {...} */
	char *topology, *workload;
	double freq_ghz;
	int nr_cpus, nr_nodes, nr_node_ids;
	uint64_t cycles; /* when the last CPU was done */
	uint64_t engine_events, meets, accesses, instructions;
	uint64_t operations; /* simulated allocations and frees */
	/* what */
	GPtrArray *metrics; /* struct metric *, the first is the headline */
	GPtrArray *series;  /* struct sample * */
	GPtrArray *account; /* struct account_row *, by path, then cause */
	GPtrArray *cpus;    /* struct cpu_account * */
	GPtrArray *caches;  /* struct cache_dump * */
	GPtrArray *files;   /* the same, "files": named by folder (report_file) */
	GPtrArray *locks;   /* struct lock_row *, by class, then node */
	GPtrArray *lines;   /* struct line_row *, most HITM first, or NULL */
	struct lines_left_out lines_left_out; /* with lines, else null */
	/* bytes moved, [CPU's node * nr_node_ids + memory's node] */
	GArray *traffic; /* uint64_t */
};

struct fit {
	char *key, *why;
};

struct result {
	char *version;
	char **command; /* argv of the run */
	bool complete;
	char *name, *description, *topology, *workload;
	char *published; /* as the experiment names it, or NULL */
	char **variants; /* names, the baseline first */
	GPtrArray *fitted; /* struct fit *, by key */
	uint64_t seed;
	int iterations;
	GPtrArray *points; /* struct point *, by index */
	char *dir;	   /* where it was read from, or NULL */
};

struct point *point_new(void);
void point_free(struct point *p);
/* Appends in the given direction; names are copied. */
void point_add_coord(struct point *p, const char *name, const char *value);
void point_add_account(struct point *p, const char *path, enum cause cause,
		       uint64_t cycles);
/* "groups=4 mode=threads", "" without coordinates; newly allocated. */
char *coords_text(const GPtrArray *coords);
void line_row_free(void *line_row);
struct coord *coord_new(const char *name, const char *value);
void coord_free(struct coord *c);
/* The shortest text that reads back as @v; newly allocated. */
char *value_text(double v);

/* What --set changed, as given, "; " between; "" if nothing. Newly allocated. */
char *result_changes(const struct result *r);

struct result *result_new(void);
void result_free(struct result *r);

/* JSON text, newly allocated, '\n' at its end. */
char *point_to_json(const struct point *p);
char *result_to_json(const struct result *r);
/* NULL and @error (naming @file) if it is not such a file. */
struct point *point_from_json(const char *file, GError **error);
struct result *result_from_json(const char *file, GError **error);
/* @path is a result folder or a result.json. */
struct result *result_load(const char *path, GError **error);

/* What a workload reports into (workloads/workload.h); borrows the point. */
struct report {
	struct point *point;
};

/* Which way is better for a series or a table row that does not say: more of
 * "1/s" and the like, less of everything else. */
bool unit_higher_is_better(const char *unit);

#endif
