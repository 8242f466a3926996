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

struct point_options {
	unsigned machine_flags; /* enum machine_flags */
	bool verify;		/* prove every cache's state afterwards */
};

/* Runs @v of @e once; NULL and @error where the user is to blame. The point's
 * coords, index and iteration are the caller's to fill in. */
struct point *point_run(const struct experiment *e, const struct variant *v,
			uint64_t seed, const struct point_options *options,
			GError **error);

/* A digest of the running program's file: two builds differ, whatever their
 * version says. Newly allocated. */
char *build_digest(void);

#endif
