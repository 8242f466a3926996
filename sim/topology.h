/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shape of a machine: which CPUs, cores, L3 domains (CCD, ring or mesh),
 * sockets and NUMA nodes there are, and how far apart the nodes are.
 *
 * Plain data without behaviour; configs/ fills it from a .conf file, importers
 * from what people post, workloads/script from an op script's header, tests by
 * hand. Nothing in here has a latency: those are struct machine_params.
 *
 * Ids are the kernel's. CPU and node ids may have holes: a slot whose .online
 * is false is a hole and owns nothing.
 *
 * Ownership: topology_new() allocates, topology_free() frees, everybody else
 * borrows. Errors a user can cause are found by topology_check().
 */
#ifndef SIM_TOPOLOGY_H
#define SIM_TOPOLOGY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Refused beyond this, in constant memory (a hostile file). */
#define TOPOLOGY_MAX_CPUS 4096
#define TOPOLOGY_MAX_THREADS 16 /* of a core */
#define TOPOLOGY_MAX_NODES 1024

struct topology_cpu {
	bool online;
	int node;   /* NUMA node id */
	int core;   /* physical core, 0.. ; SMT siblings share it (and L1, L2) */
	int l3;	    /* L3 domain, 0.. */
	int socket; /* 0.. */
};

struct topology_node {
	bool online;
	uint64_t memory_bytes; /* 0 = memoryless */
	int socket;	       /* where its memory controller sits */
	int nr_cpus;	       /* derived by topology_finish() */
};

struct topology {
	char *name;
	char *machine; /* name of the machine parameters, NULL if not named */
	int nr_cpu_ids;	 /* highest CPU id + 1 */
	int nr_node_ids; /* highest node id + 1 */
	struct topology_cpu *cpus;
	struct topology_node *nodes;
	int *distances; /* [from * nr_node_ids + to], SLIT units, 10 = local */
	/* derived by topology_finish() */
	int nr_cpus; /* online */
	int nr_nodes;
	int nr_cores, nr_l3, nr_sockets;
};

/*
 * @name is copied. All CPUs and nodes start offline, distances are 10 on the
 * diagonal and 20 elsewhere; core = CPU id, l3 = socket = 0.
 */
struct topology *topology_new(const char *name, int nr_cpu_ids,
			      int nr_node_ids);
void topology_free(struct topology *t);

/* Computes the derived members. Call once after filling. */
void topology_finish(struct topology *t);

/*
 * Returns NULL if the topology can be simulated, else a newly allocated
 * sentence that says what is wrong ("node 3: distance to itself is 12,
 * expected 10"). The caller prefixes the file and frees it.
 */
char *topology_check(const struct topology *t);

static inline int topology_distance(const struct topology *t, int from, int to)
{
	return t->distances[from * t->nr_node_ids + to];
}

static inline bool topology_node_has_memory(const struct topology *t, int node)
{
	return t->nodes[node].online && t->nodes[node].memory_bytes > 0;
}

/* Bytes of all nodes. */
static inline uint64_t topology_memory(const struct topology *t)
{
	uint64_t bytes = 0;

	for (int i = 0; i < t->nr_node_ids; i++)
		bytes += t->nodes[i].online ? t->nodes[i].memory_bytes : 0;
	return bytes;
}

/*
 * The kernel's zonelists: for each node, in which order memory is looked for.
 * Fills orders[from * nr_node_ids + k] with the k-th node (nodes with memory
 * only) and counts[from] with how many there are.
 *
 * The rule: the node itself if it has memory, then repeatedly the unused node
 * of least distance, where +1 is added if its id is below @from's and +1 if it
 * has CPUs; ties go to the node that was less often the first of a distance
 * group so far, then to the lower id. Lists are built in ascending node id, so
 * one call computes all of them (the ties depend on it).
 */
void topology_zonelists(const struct topology *t, int *orders, int *counts);

#endif
