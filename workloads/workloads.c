/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of workloads: NAME_workload of each file. */
#include "workloads/workload.h"

#include <string.h>

#define WORKLOADS(X)                                                           \
	X(bulk) X(bulk_refill) X(hackbench) X(null) X(percpu) X(trace)         \
	X(ublk) X(zspair) X(zram)

#define X(name) extern const struct workload name##_workload;
WORKLOADS(X)
#undef X

const struct workload *const workloads[] = {
#define X(name) &name##_workload,
	WORKLOADS(X)
#undef X
	NULL
};

const struct workload *workload_find(const char *name)
{
	for (int i = 0; workloads[i]; i++)
		if (!strcmp(workloads[i]->name, name))
			return workloads[i];
	return NULL;
}
