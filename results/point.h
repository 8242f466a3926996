/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One point, run in this process: machine, allocator, workload, collected.
 *
 * A process can run one point only (SimGrid keeps one engine per process);
 * results/pool.h gives each its own.
 */
#ifndef RESULTS_POINT_H
#define RESULTS_POINT_H

#include "configs/config.h"
#include "results/result.h"

/* What a point cost the host: never part of a result. */
struct point_price {
	double start_s;	 /* CPU time of machine and allocator's creation */
	double run_s;	 /* of the workload, user and system */
	double sleep_ns; /* machine_measure_sleep() right after it */
	uint64_t operations, engine_events, turns, steps, meets, accesses, cycles;
	int nr_cpus;
	long max_rss_kib; /* of the process, before the sleeps */
};

struct point_options {
	unsigned machine_flags; /* enum machine_flags */
	bool verify;		/* prove every cache's state afterwards */
	/* with MACHINE_TRACE: what to keep, us of simulated time */
	double trace_from_us, trace_to_us;
	const char *trace_window; /* the same as the user wrote it, or NULL */
	struct point_price *price; /* where to put it, or NULL */
};

/* Runs @v of @e once; NULL and @error where the user is to blame. The point's
 * coords, index and iteration are the caller's to fill in. With MACHINE_TRACE
 * and @trace not NULL, *@trace is the text of trace.json. */
struct point *point_run(const struct experiment *e, const struct variant *v,
			uint64_t seed, const struct point_options *options,
			char **trace, GError **error);

/* The options that change what a point holds, as its "flags"; new. */
char *point_flags(const struct point_options *o);

/* A digest of the running program's file: two builds differ, whatever their
 * version says. Newly allocated. */
char *build_digest(void);

#endif
