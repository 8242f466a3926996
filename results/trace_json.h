/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.json: what happened when, for Perfetto (ui.perfetto.dev) and
 * chrome://tracing. A NUMA node is a process, a CPU a thread of it with its
 * functions, lock waits and idle times; a further process has a track per lock
 * with who held it. Times in us of simulated time.
 */
#ifndef RESULTS_TRACE_JSON_H
#define RESULTS_TRACE_JSON_H

#include "sim/machine.h"

/* Of a machine that ran with MACHINE_TRACE; newly allocated. */
char *trace_json(struct machine *m);

/* "A:B" in us of simulated time, A < B; either may be left out. */
bool trace_window_parse(const char *text, double *from_us, double *to_us);

#endif
