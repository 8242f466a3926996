/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the zsmalloc workloads share: a pool made by the first CPU, and a line
 * behind which all CPUs start measuring at once.
 */
#ifndef WORKLOADS_ZS_H
#define WORKLOADS_ZS_H

#include "model/zsmalloc.h"
#include "workloads/workload.h"

/* All CPUs of a run wait for the last of them: the barrier of a benchmark. */
struct zs_line {
	struct cpu **waiting;
	int nr, expected;
	uint64_t opened; /* date of the last one */
};
void zs_line_init(struct zs_line *l, int expected);
void zs_line_clear(struct zs_line *l);
/* True on the CPU that came last, whose date all have afterwards. */
bool zs_line_wait(struct cpu *c, struct zs_line *l);

/* The first @n online CPUs' ids into @ids; there are as many. */
void zs_first_cpus(const struct topology *t, int64_t n, int *ids);

/* NULL with @error set if the variant has no zsmalloc. */
const struct zs_build *zs_build_of(const struct slub *sl, GError **error);

/* Shows debugfs' zsmalloc/POOL/classes among the results. */
void zs_report_classes(struct report *r, const struct zs_pool *pool,
		       const char *name);

extern const struct workload zspair_workload, zram_workload;

#endif
