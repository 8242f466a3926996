/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the reader of topology files (topology.c, topology_parts.c).
 */
#ifndef CONFIGS_TOPOLOGY_DRAFT_H
#define CONFIGS_TOPOLOGY_DRAFT_H

#include "configs/conf.h"
#include "sim/topology.h"

/* What is known of the machine while its file is read. */
struct draft {
	const struct conf *c;
	int nr_cpu_ids, nr_node_ids;
	int nr_cpus;
	int threads;
	bool adjacent;
	bool online[TOPOLOGY_MAX_CPUS];
	int node_of[TOPOLOGY_MAX_CPUS];
	bool node[TOPOLOGY_MAX_NODES];
	int64_t node_socket[TOPOLOGY_MAX_NODES]; /* -1 = not said */
	double memory_mb[TOPOLOGY_MAX_NODES];
	bool set[TOPOLOGY_MAX_CPUS]; /* of the list that is being read */
};

/* Fills core, l3 and socket of the CPUs and the nodes' sockets of @t. */
bool topology_set_parts(struct draft *d, struct topology *t, GError **error);

#endif
