/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened when: spans of functions and of locks, kept with
 * MACHINE_TRACE, for trace.json.
 *
 * Bounded: only spans that touch the window are kept, and of each CPU only the
 * last TRACE_MAX of them; how many were dropped is told. Looking changes no
 * date.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "sim/machine.h"

#define TRACE_MAX 65536 /* spans per CPU */

enum span_kind {
	TRACE_FRAME,	 /* in a function: from cpu_enter to cpu_leave */
	TRACE_IDLE,	 /* waiting for another CPU in cpu_wait() */
	TRACE_LOCK_WAIT, /* from the arrival to the acquisition */
	TRACE_LOCK_HOLD, /* to the release; readers of a sim_rwlock have none */
};

struct trace_span {
	enum span_kind kind;
	int cpu;
	uint64_t from, to; /* cycles */
	const char *name;  /* of the function, or the lock's class */
	sim_addr lock;	   /* its line, 0 for functions */
};

/* Keeps spans that touch [@from, @to) only. Before machine_run(), or during:
 * what was kept so far stays. At first the window is all time. */
void machine_trace_window(struct machine *m, uint64_t from, uint64_t to);

/* Walks the spans by CPU, then by beginning, the longer first: nested spans
 * follow the one that holds them. Returns how many were dropped. */
typedef void (*trace_fn)(const struct trace_span *s, void *arg);
uint64_t machine_trace(struct machine *m, trace_fn fn, void *arg);

#endif
