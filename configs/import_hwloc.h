/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the process that imports and the child that libhwloc runs in: plain
 * data in shared memory, filled by the child.
 *
 * libhwloc's tree knows where memory is, the kernel's nodes are a little
 * different: memory of a node without CPUs (HBM, CXL) covers the CPUs it is
 * next to, and nodes without memory are often missing. The child tells which
 * node is a CPU's in the kernel's sense.
 */
#ifndef CONFIGS_IMPORT_HWLOC_H
#define CONFIGS_IMPORT_HWLOC_H

#include "configs/import_facts.h"

struct hwloc_pu {
	bool there;
	int core, package, l3; /* logical indices, FACT_UNKNOWN = none */
	int node;	       /* the kernel's, FACT_UNKNOWN = in none */
};

struct hwloc_node {
	bool there;
	int64_t memory_kib;
	int nearest_cpu;
};

struct hwloc_result {
	char error[256]; /* empty = fine */
	char architecture[64], model[128];
	struct {
		int64_t kib;
		int ways, shared;
	} caches[3];
	struct hwloc_pu pus[TOPOLOGY_MAX_CPUS];
	struct hwloc_node nodes[TOPOLOGY_MAX_NODES];
	int ignored_distances;
	int nr_distances; /* nodes of the matrix, 0 = there is none */
	int distance_nodes[TOPOLOGY_MAX_NODES];
	int distances[TOPOLOGY_MAX_NODES * TOPOLOGY_MAX_NODES];
};

/* Runs libhwloc on @xml. May crash: call it in a child. @r is all zero. */
void hwloc_result_load(const char *xml, struct hwloc_result *r);

#endif
