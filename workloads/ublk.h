/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ublk: fio's t/io_uring on a ublk null device, as the slab allocator sees it.
 *
 * Queue q has two CPUs: the submitter on CPU 2q+1 allocates a bio for each IO,
 * does its share of the work and hands batches to the server on CPU 2q, which
 * does its share, frees the bio and reports batches back. At most `depth` IOs
 * of a queue are under way. Both shares are work_ns outside the allocator; the
 * slower stage sets the rate and the other one waits.
 *
 * With counts= the numbers of allocations and frees per CPU come from a posted
 * SLUB_STATS dump (alloc_fastpath + alloc_slowpath, free_fastpath +
 * free_slowpath), times scale; then the run ends when all are done, else after
 * warmup_ms + run_ms. A CPU that isn't a queue's submitter allocates its
 * counted objects at the start and frees them itself.
 */
#ifndef WORKLOADS_UBLK_H
#define WORKLOADS_UBLK_H

#include "workloads/workload.h"

extern const struct workload ublk_workload;

#endif
