/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each CPU of a machine shall run: set CPU by CPU, then run. A CPU that
 * nothing is set for stays idle.
 */
#ifndef WORKLOADS_PROGRAMS_H
#define WORKLOADS_PROGRAMS_H

#include <glib.h>

#include "sim/machine.h"

struct programs;
struct programs *programs_new(struct machine *m);
/* @cpu is one of the machine's; once for each. */
void programs_set(struct programs *p, int cpu, cpu_program program, void *arg);
/* machine_run() with these; frees @p. */
void programs_run(struct programs *p);

/* False with @error, for a run() whose programs were refused memory. */
bool programs_out_of_memory(GError **error);

#endif
