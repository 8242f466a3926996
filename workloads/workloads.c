/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/workload.h"

#include <string.h>

#include "workloads/bulk.h"
#include "workloads/hackbench.h"
#include "workloads/percpu.h"
#include "workloads/trace.h"
#include "workloads/ublk.h"
#include "workloads/zs.h"

const struct workload *const workloads[] = {
	&bulk_workload,
	&bulk_refill_workload,
	&hackbench_workload,
	&percpu_workload,
	&trace_workload,
	&ublk_workload,
	&zspair_workload,
	&zram_workload,
	NULL
};

const struct workload *workload_find(const char *name)
{
	for (int i = 0; workloads[i]; i++)
		if (!strcmp(workloads[i]->name, name))
			return workloads[i];
	return NULL;
}
