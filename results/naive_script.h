/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test only: op scripts on the naive implementation, and random ones. */
#ifndef RESULTS_NAIVE_SCRIPT_H
#define RESULTS_NAIVE_SCRIPT_H

#include <glib.h>

#include "model/features.h"
#include "sim/topology.h"
#include "workloads/script.h"

/* The script's output in the form of .out, as far as model/naive.h shows it. */
char *naive_script_run(const struct script *s, const struct topology *t,
		       const struct features *f);

/*
 * Appends to @report each line of @naive that @model (two outputs of the same
 * script) has otherwise, and returns how many. What naive.h doesn't know
 * (flags, aliases) is not looked at.
 */
int naive_compare(const char *naive, const char *model, GString *report);

/*
 * A script of about @length statements on a machine of its own (the header's),
 * for kernels with @f. The same @seed gives the same text.
 */
char *random_script(uint64_t seed, int length, const struct features *f);

#endif
