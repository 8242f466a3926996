/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths whose instructions were counted on real kernels, run on the model.
 *
 * ../shared/facts/instruction-counts.tsv (not part of this tree) tells, per
 * kernel, object size and path, how many instructions an operation retired.
 * Here the same paths run on a machine of the same shape with the model's own
 * counts, so that both can be compared
 * (test_costs.c) and the counts per step can be fitted to the measured totals
 * (fit.c): a path's total is linear in the steps.
 *
 * A measured operation includes the caller's loop and call: the step "caller".
 */
#ifndef WORKLOADS_COSTS_PATHS_H
#define WORKLOADS_COSTS_PATHS_H

#include <glib.h>

#include "model/slub.h"

/* The machines on which they were counted. */
enum cost_machine {
	COST_ONE_NODE,	 /* 4 CPUs, one node (the slab sizes told need 2 to 7) */
	COST_TWO_NODES,	 /* 4 CPUs, 2 nodes */
	COST_MEMORYLESS, /* 8 CPUs, 4 nodes, 1 and 3 without memory */
	NR_COST_MACHINES
};

struct cost_row { /* a line of that file */
	char *kernel, *path;
	unsigned size;
	double measured;	 /* instructions per object */
	const struct features *f; /* set by the user of the rows */
};

/* Reads it; NULL if the file is not there. Free with g_ptr_array_unref. */
GPtrArray *cost_rows_read(const char *path);
/* Whether the row tells how the path costs on a large run. */
bool cost_row_usable(const struct cost_row *row);
/* The machine that the path was counted on; -1 if it is no path known. */
int cost_path_machine(const char *path);

/*
 * Runs each of @rows (those of machine @which; the others' results are left
 * alone) with each of @costs and stores instructions per object in
 * results[row * nr_costs + k]. Runs in a child process, because a process can
 * have one timed machine only. False if the child failed.
 */
bool cost_measure(const GPtrArray *rows, enum cost_machine which,
		  const struct insn_costs *costs, unsigned nr_costs,
		  double *results);

#endif
