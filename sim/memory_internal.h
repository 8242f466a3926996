/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the memory system share.
 *
 * memory.c	accesses: hits, miss buffers, the store buffer, atomics, copies
 * coherence.c	a miss: where the line comes from, who loses it, the price
 * cache.c	tags and the directory, without any time
 * controller.c	the bandwidth of each node's memory
 * line_stat.c	statistics and names of lines
 */
#ifndef SIM_MEMORY_INTERNAL_H
#define SIM_MEMORY_INTERNAL_H

#include "sim/cache.h"
#include "sim/controller.h"
#include "sim/internal.h"
#include "sim/line_stat.h"

/* How far a line's new place is from its old one. */
enum distance { SAME_CORE, SAME_L3, CROSS_L3, HOME_REMOTE, CROSS_SOCKET,
		NR_DISTANCES };

struct memory {
	struct machine *machine;
	struct caches *caches;
	uint64_t l2, l3;
	uint64_t c2c[NR_DISTANCES];
	uint64_t bulk_line_frac;  /* copying a line that is in L1 */
	uint64_t clear_line_frac; /* clearing one that is in no cache */
	uint32_t *dram;		  /* [cpu * nr_node_ids + node] */
	struct controllers *controllers;
	struct line_stats *stats; /* NULL without MACHINE_LINE_STATS */
	uint64_t date; /* of the access under way, for write-backs */
};

struct access_price {
	uint64_t cycles;
	enum cause cause;
};

/* Where a line is for one core: its way in L1, or NULL, and its entry in the
 * directory, NULL if nobody has asked yet. */
struct place {
	struct l1_way *way;
	struct line *entry;
};

/* The tag of a line in @p's L1, not writable. */
static inline uint64_t tag_of(const struct cpu_private *p, uint64_t line)
{
	return line * SIM_LINE | (p->cpu.l1_thread & ~L1_WRITABLE);
}

/* Makes @line present in @p's L1, writable if @write. Not for L1 hits that are
 * good enough. */
struct access_price fetch(struct cpu_private *p, struct place at, uint64_t line,
			  bool write);

/* A dirty line falls out of an L3: struct caches' write_back, @arg a memory. */
void memory_write_back(void *arg, uint64_t line, int l3);

#endif
