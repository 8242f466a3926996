/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two bulk workloads: bulk (slab_bulk_test01) and bulk_refill
 * (slub_bulk_bench). What they do is told in bulk.c and bulk_refill.c.
 */
#ifndef WORKLOADS_BULK_H
#define WORKLOADS_BULK_H

#include "workloads/workload.h"

#define BULK_MAX_SIZE 65536 /* objects at once */

enum bulk_api { BULK_API_SINGLE, BULK_API_BULK, BULK_API_BOTH };

struct bulk_options {
	int64_t object_size;
	bool hwcache_align;
	char *sizes;
	int64_t rounds, warm_rounds;
	int alloc, free; /* enum bulk_api */
	int64_t cpu;
	int64_t merged_slabs;
	double merged_held;
};

struct bulk_refill_options {
	char *sizes; /* of objects, bytes */
	double total_mb; /* held at once */
	int64_t warm_rounds;
	int64_t cpu;
	double scale; /* of the whole, a slower guest's */
};

extern const struct workload bulk_workload, bulk_refill_workload;

#endif
