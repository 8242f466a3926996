/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory system behind cpu_read(), cpu_write() and cpu_rmw().
 *
 * What is modeled: set-associative L1 and L2 per core (shared by its SMT
 * threads, LRU), an L3 per L3 domain, a directory that knows for each line the
 * one owner (modified or exclusive) or the sharers, and DRAM at the line's
 * home node behind a controller of finite bandwidth.
 *
 * A hit in L1 costs nothing beyond its instruction: the machine's IPC is that of
 * code which misses nothing, so load-to-use of L1 is in it. All rules, in whole
 * cycles, are in memory.c.
 *
 * Price of a miss, by where the line is found (machine_params.h):
 *   own L2, own L3                    l2_cycles, l3_cycles
 *   dirty or exclusive, other core    c2c_smt / c2c_l3 / c2c_cross_l3 /
 *                                     c2c_home_remote / c2c_socket: requester,
 *                                     owner and home decide (a Zen4 probe
 *                                     filter sits at the home)
 *   shared clean, same L3             l3_cycles
 *   nobody                            DRAM of the home node by the route's
 *                                     latency, plus queueing at its controller
 * A write to a line that others share pays the farthest sharer's transfer.
 *
 * Order. Lines are looked at when the access is simulated; accesses that race
 * in the kernel are preceded by cpu_meet() in the model, all others are ordered
 * by the program's own locks, so a CPU that runs ahead sees no line early.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "sim/machine.h"

/* Names the @bytes at @a for c2c.txt: "struct slab", "node_barn" ... Every 8
 * bytes have one kind, the last given; @kind must outlive the machine. Costs
 * nothing without MACHINE_LINE_STATS. */
void machine_name_region(struct machine *m, sim_addr a, size_t bytes,
			 const char *kind);

/* The kind that the 8 bytes at @a were named, and in *@base where what was named
 * begins; NULL if they never were. */
const char *machine_region(struct machine *m, sim_addr a, sim_addr *base);

/* Statistics of one line, kept with MACHINE_LINE_STATS. */
struct line_stat {
	sim_addr line;
	const char *kind; /* of its first touched bytes that have one, or NULL */
	uint64_t loads, stores, rmws;
	uint64_t hitm_local, hitm_remote; /* dirty in the socket / beyond */
	uint64_t dram_local, dram_remote;
	uint64_t offsets; /* bit k: the 8 bytes at 8k were touched */
	int last_cpus[8]; /* CPUs that took it, most frequent first, -1 ends */
	uint64_t last_counts[8];
};
typedef void (*line_stat_fn)(const struct line_stat *s, void *arg);
/* Walks the lines with at least one HITM, most first. */
void machine_line_stats(struct machine *m, line_stat_fn fn, void *arg);

/* Bytes moved between CPU node and memory node since the last reset:
 * @bytes[cpu_node * nr_node_ids + mem_node]. */
void machine_traffic(struct machine *m, uint64_t *bytes);

/* Test only: NULL, or a newly allocated sentence on the first line whose caches
 * and directory disagree. Walks everything. Timed machines. */
char *machine_check(struct machine *m);

#endif
