/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cache holds which line: tags and the directory, without any time.
 *
 * A line that was ever touched has an entry in the directory and a number for
 * it, its handle. Entries come in chunks of 2 MiB of simulated memory, found
 * through a table per node; a chunk is a mapping that the host fills page by
 * page, so what is never touched costs nothing.
 *
 * L1 tags are words of (address, flags): a hit needs nothing else. Its ways
 * have stamps of when they were used, and a table of hints says in which way a
 * line was last seen, so that a hit rarely searches. L2 and L3 tags are
 * handles, their ways are kept in LRU order, most recent first. Few sets of a
 * large cache are ever used: they are numbered in the order of their first use
 * and lie one behind the other.
 *
 * Invariants, checked by caches_check(): L1 is within L2; an entry's owner, or
 * its sharers, are exactly the cores whose L2 has it; a line with an owner has
 * no sharers; an L1 tag is writable only in the owner's L1; with inclusive L3s
 * whatever a core holds, its L3 holds.
 */
#ifndef SIM_CACHE_H
#define SIM_CACHE_H

#include "sim/machine.h"

#define NO_CORE 0xffffu
#define NO_L3 0xffffu
#define INLINE_SHARERS 4

#define L1_THREAD_SHIFT 1 /* of a tag: below its address, 64-byte lines */
G_STATIC_ASSERT(TOPOLOGY_MAX_THREADS << L1_THREAD_SHIFT <= SIM_LINE);

struct line {
	uint64_t l3s;	   /* bit (L3 % 64): such an L3 holds it */
	uint16_t owner;	   /* core that has it alone (E or M), or NO_CORE */
	uint16_t dirty_l3; /* L3 that holds it newer than memory, or NO_L3 */
	bool dirty;	   /* the owner's is newer than memory */
	bool many;	   /* sharers are in set number .set */
	uint16_t nr;	   /* sharers */
	union {
		uint16_t sharer[INLINE_SHARERS];
		uint32_t set;
	};
	uint32_t handle; /* 0: never used */
};

/* Tags of an L2 or L3. */
struct tags {
	uint32_t *number; /* of a set, from 1 on; 0: never used */
	uint32_t *ways;	  /* of set after set, by number */
	uint32_t used;
};

struct core {
	int id, l3, socket, node;
	struct l1 *l1;
	struct tags l2;
	struct chunk *chunk; /* that the last line asked for is in */
	int nr_threads;
};

struct l3 {
	int id, socket, node;
	struct tags tags;
	int *cores; /* ids */
	int nr_cores; /* 0: no such L3 */
};

struct chunk {
	uint64_t first; /* line number */
	struct line *lines;
	uint32_t number;
};

struct cache_shape {
	uint64_t sets, mask; /* mask 0: not a power of two */
	unsigned ways;
};

struct caches {
	const struct topology *topology;
	struct cache_shape l1, l2, l3;
	bool inclusive;
	struct core *cores;
	int nr_cores;
	struct l3 *l3s;
	int nr_l3;
	/* handles: chunks[handle >> CHUNK_BITS]->lines[handle & mask] */
	struct chunk **chunks;
	uint32_t nr_chunks, room_chunks;
	struct chunk_table *tables; /* two per node */
	GArray *sets;		    /* bit sets of sharers */
	GArray *free_sets;
	int set_words;
	uint16_t *scratch; /* nr_cores */
	/* what fell out of the last level dirty: told to the owner */
	void (*write_back)(void *arg, uint64_t line, int l3);
	void *arg;
};

struct caches *caches_new(const struct topology *t,
			  const struct machine_params *p);
void caches_free(struct caches *x);

/* The entry of a line that core @k asks for, made at first use. */
struct line *cache_line(struct caches *x, struct core *k, uint64_t line);

/* Whether an L3 other than @l3 holds the line. */
bool other_l3_holds(const struct caches *x, const struct line *e, int l3,
		    uint64_t line);

/* Says that a line that is in L2 was used. */
void l2_touch(struct caches *x, struct core *k, uint32_t handle,
	      uint64_t line);
void l2_insert(struct caches *x, struct core *k, uint32_t handle,
	       uint64_t line);
bool l3_touch(struct caches *x, struct l3 *l, uint32_t handle, uint64_t line);
void l3_insert(struct caches *x, struct l3 *l, uint32_t handle, uint64_t line);
void l3_remove(struct caches *x, struct l3 *l, uint32_t handle, uint64_t line);

static inline struct l1_way *l1_set(const struct caches *x,
				    const struct core *k, uint64_t line)
{
	return k->l1->ways + (line & x->l1.mask) * x->l1.ways;
}
static inline uint64_t l1_line(const struct l1_way *way)
{
	return way->tag / SIM_LINE;
}
/* Where @line is in the core's L1 if it's where it was seen last, else NULL. */
static inline struct l1_way *l1_hinted(const struct core *k, uint64_t line)
{
	struct l1_way *way = &k->l1->ways[k->l1->hints[line % L1_HINTS]];

	return l1_line(way) == line ? way : NULL;
}
/* The same wherever it is. */
struct l1_way *l1_search(const struct caches *x, const struct core *k,
			 uint64_t line);
static inline struct l1_way *l1_find(const struct caches *x,
				     const struct core *k, uint64_t line)
{
	struct l1_way *way = l1_hinted(k, line);

	return way ? way : l1_search(x, k, line);
}
/* All changes of tags go through here. */
static inline void l1_set_tag(const struct core *k, struct l1_way *way,
			      uint64_t tag)
{
	uint8_t *watched = &k->l1->watched[way - k->l1->ways];

	way->tag = tag;
	k->l1->changes += *watched;
	*watched = 0;
}
/* Says that the way was used. */
void l1_use(struct core *k, struct l1_way *way);
/* Puts @tag, which isn't there, in place of the least recent of its set. */
void l1_put(const struct caches *x, struct core *k, uint64_t tag);

/* Takes the line out of a core's L1 and L2 (not out of the directory). */
void core_drop(struct caches *x, struct core *k, uint32_t handle,
	       uint64_t line);

bool is_sharer(const struct caches *x, const struct line *e, int core);
void sharer_add(struct caches *x, struct line *e, int core);
void sharer_remove(struct caches *x, struct line *e, int core);
/* Whether the core's L2 has the line. */
static inline bool core_holds(const struct caches *x, const struct line *e,
			      const struct core *k)
{
	return e->owner == k->id || (e->nr && is_sharer(x, e, k->id));
}
bool sharer_in_l3(const struct caches *x, const struct line *e, int l3);
/* Their cores, ascending or in order of arrival, valid until they change;
 * returns how many. */
int sharer_list(struct caches *x, const struct line *e, const uint16_t **cores);
void sharer_clear(struct caches *x, struct line *e);

/* NULL, or a sentence on the first invariant that doesn't hold (tests). */
char *caches_check(const struct caches *x);

#endif
