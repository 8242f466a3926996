/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a variant's cycles went, over all iterations of one case.
 *
 * Cycles are summed over CPUs and iterations and divided by the operations
 * (allocations and frees) of the same points, so variants that did more or
 * less work in the same time can be compared. Without operations the unit is
 * cycles per run.
 */
#ifndef RESULTS_COSTS_H
#define RESULTS_COSTS_H

#include "results/result.h"

/* What idle time is listed as among functions: it is nobody's cost. */
#define IDLE_FUNCTION "(idle)"

struct cost_line {
	char *name; /* a path, or a function */
	double cycles[NR_CAUSES], total; /* per operation */
};

struct costs {
	char *variant, *where;
	double operations; /* 1 if none were reported */
	bool per_operation;
	double cycles[NR_CAUSES], total; /* per operation, all paths */
	double busy;	      /* total without idle time */
	GPtrArray *paths;     /* struct cost_line *, by path */
	GPtrArray *functions; /* self cycles by function, most first */
};

/* NULL if the result has no point of that variant and case. */
struct costs *costs_of(const struct result *r, const char *variant,
			   const char *where);
void costs_free(struct costs *a);
const struct cost_line *costs_find(const GPtrArray *lines,
					const char *name);
/* The innermost function of a path; what none was entered for is the
 * workload's own. Borrowed from @path. */
const char *path_function(const char *path);
/* Cycles per operation in @function or in what it called. */
double costs_with_callees(const struct costs *a, const char *function);

/* The cases of a result, in order (coords_text()); newly allocated. */
char **result_cases(const struct result *r);

/* What a cause is, in words a table can have as its row. */
const char *cause_title(enum cause c);

#endif
