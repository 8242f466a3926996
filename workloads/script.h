/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Op scripts: a cache and operations on it, one after the other, on named CPUs.
 *
 * The text format is that of the golden files: one statement a line, '#' begins
 * a comment, the header's comments name kernel and machine. Statements (cpu and
 * slot are numbers; gfp is letters: K kernel, N nowait, A atomic, t this node,
 * z zeroed):
 *
 *   cache SIZE ALIGN FLAGS SHEAF_CAPACITY     first; FLAGS of H R C A, or -
 *   a CPU SLOT [GFP]          f CPU SLOT      n CPU SLOT NODE [GFP]
 *   A CPU SLOT N [GFP]        F CPU SLOT N    bulk
 *   ra CPU SLOT N STEP [GFP]  rf CPU SLOT N STEP  rn CPU SLOT N STEP NODE [GFP]
 *   pair CPU N [GFP]          k CPU SLOT      rk CPU SLOT N STEP
 *   kb   s   set ATTR VALUE   cyc V   dump LABEL   where SLOT N
 *   rep N ... end             stream P C SLOT TOTAL WINDOW BURST [GFP]
 *   mstream M P0 C0 ... SLOT TOTAL WINDOW BURST [GFP]
 *
 * A script needs no time: it runs on a timeless machine.
 */
#ifndef WORKLOADS_SCRIPT_H
#define WORKLOADS_SCRIPT_H

#include <glib.h>

#include "model/slub.h"
#include "sim/topology.h"

#define SCRIPT_MAX_SLOTS 1048576
#define SCRIPT_ERROR script_error_quark()
GQuark script_error_quark(void);

enum script_op_kind {
	OP_CACHE, OP_ALLOC, OP_FREE, OP_ALLOC_NODE, OP_ALLOC_BULK,
	OP_FREE_BULK, OP_PAIR, OP_KFREE_RCU, OP_RCU_BARRIER, OP_SHRINK, OP_SET,
	OP_CYCLES, OP_DUMP, OP_WHERE, OP_REPEAT, OP_END, OP_STREAM
};

struct script_op {
	enum script_op_kind kind;
	int line;	/* in the file, for errors */
	int cpu, node;
	int slot, n, step; /* single operations have n = 1 */
	unsigned gfp;
	int64_t value;	/* cyc; rep: how often */
	char *attr, *text; /* set: attribute and value; dump: label in text */
	/* streams: pairs of CPUs, objects of each, ring and burst */
	int pairs, *cpus, total, window, burst;
	int target; /* rep: index of its end; end: index of its rep */
};

struct script {
	char *file;
	char *kernel;	 /* "7.1.5", NULL if the header names none */
	struct topology *topology; /* from the header, NULL if it has none */
	struct kmem_cache_args cache;
	GArray *ops; /* struct script_op */
};

/* NULL with @error (SCRIPT_ERROR: "FILE:LINE: what, expected what"). */
struct script *script_parse(const char *file, const char *text, GError **error);
struct script *script_load(const char *file, GError **error);
void script_free(struct script *s);
/* CPUs and nodes that it names exist on @t; else false with @error. */
bool script_fits(const struct script *s, const struct topology *t,
		 GError **error);

/*
 * Runs it on a new cache of @sl (of a timeless machine) and appends what the
 * kernel would have shown to @out, in the form of golden .out files. With
 * @verify the checker runs after every operation; its complaint becomes @error.
 */
bool script_run(const struct script *s, struct slub *sl, bool verify,
		GString *out, GError **error);

/*
 * Compares two outputs; appends a line per attribute, list state or place that
 * differs to @report. Returns how many differ.
 */
int script_compare(const char *name, const char *expected, const char *got,
		   GString *report);

#endif
