/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * percpu: a posted SLUB_STATS dump played back. Each CPU allocates and frees
 * as many objects of the cache as the dump counts for it, times scale.
 *
 * Counts tell how many but not in which order nor for whom. What is assumed:
 * a CPU frees what it allocates itself as far as it frees at all; the surplus
 * of a CPU that allocates more goes to CPUs that free more, the largest
 * surplus to the largest lack and so on down (so a submitter finds its server
 * where each has one). Both go on evenly to the end, in batches through rings
 * of depth objects. Frees beyond all allocations are left out and reported;
 * objects that nobody freed stay allocated, as they did.
 */
#ifndef WORKLOADS_PERCPU_H
#define WORKLOADS_PERCPU_H

#include "workloads/workload.h"

extern const struct workload percpu_workload;

/* A stream of objects from one CPU to another. */
struct percpu_flow {
	int from, to;
	uint64_t objects;
};

/*
 * The streams that the rule above gives for @allocs and @frees of @nr_cpus;
 * newly allocated array of struct percpu_flow. *@left_out: frees for which
 * there is no allocation.
 */
GArray *percpu_flows(const uint64_t *allocs, const uint64_t *frees, int nr_cpus,
		     uint64_t *left_out);

#endif
