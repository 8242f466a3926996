/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which object and which cache each event of a trace is about.
 *
 * Goes through the events in their order and keeps what the trace itself
 * implies: the caches there are, the objects live, which free belongs to which
 * allocation. Used by the replay and by the summary of `import trace`, so both
 * count the same things. Simulates nothing.
 *
 * Caches. kmem_cache_alloc with a name= is the cache of that name; without one
 * it is the cache of all objects of its two sizes, called after them much as
 * the kernel calls merged caches: ":0000184-0000192". kmalloc is the size class of its bytes_req, in
 * the set of its gfp flags (DMA, reclaimable, accounted), as kmalloc_type()
 * decides it; above KMALLOC_MAX_CACHE_SIZE it is pages. A name on kmalloc is
 * ignored.
 *
 * Objects are numbered by slots that are used again. trace_objects_step()
 * takes an event and says what to do; when the caller is done with a freed
 * object (which may be later, if it works in parallel) it gives the slot back.
 */
#ifndef CONFIGS_TRACE_OBJECTS_H
#define CONFIGS_TRACE_OBJECTS_H

#include "configs/trace/trace.h"

/* kmalloc's limits on a machine with 4 KiB pages (linux/slab.h). */
#define TRACE_KMALLOC_MAX_CACHE 8192
#define TRACE_KMALLOC_MAX (4u << 20)
#define TRACE_MAX_OBJECT (1u << 20) /* of a named cache */
#define TRACE_MAX_CACHES 65536

enum trace_cache_kind {
	TRACE_CACHE_NAMED,
	TRACE_CACHE_BY_SIZE,
	TRACE_CACHE_KMALLOC,	  /* kmalloc-N */
	TRACE_CACHE_KMALLOC_SET,  /* kmalloc-cg-N, kmalloc-rcl-N ... */
	TRACE_CACHE_PAGES,	  /* kmalloc above the largest class */
};

struct trace_cache {
	enum trace_cache_kind kind;
	char *name;
	unsigned number;      /* in the order of first events, from 0 */
	uint32_t name_number; /* see trace_name(); 0 = has none */
	unsigned object_size; /* bytes; of the class for kmalloc */
	unsigned align;	      /* 0 = the default */
	unsigned order;	      /* TRACE_CACHE_PAGES: log2 of pages */
	unsigned size;	      /* bytes_alloc of the first allocation */
	bool pointer_outside; /* free pointer behind the object: a constructor
			       * or SLAB_TYPESAFE_BY_RCU */
	bool accounted;
	/* what the trace says, not what the replay did */
	uint64_t allocs, frees;
	uint64_t unseen_frees; /* of objects from before the trace */
	uint64_t lost_frees;   /* made up for; not in .frees */
	uint64_t remote_frees; /* by another CPU than the allocation's */
	uint64_t live, peak;
};

enum trace_action {
	TRACE_NOTHING, /* skipped; why was counted */
	TRACE_ALLOC,
	TRACE_FREE,
	TRACE_FREE_THEN_ALLOC, /* a lost free: .lost first, on this CPU */
	TRACE_FREE_UNSEEN,     /* of an object from before the trace */
};

struct trace_step {
	enum trace_action action;
	uint32_t object;	   /* slot */
	uint32_t lost;		   /* slot, TRACE_FREE_THEN_ALLOC */
	struct trace_cache *cache; /* of .object; NULL if not known */
};

struct trace_objects;
/* Borrows @t for its names, and @notes, which it adds to. */
struct trace_objects *trace_objects_new(struct trace *t,
					struct trace_notes *notes);
void trace_objects_free(struct trace_objects *o);

void trace_objects_step(struct trace_objects *o, const struct trace_event *ev,
			struct trace_step *step);
/* Says that an event of @ptr will come soon: the table is larger than the
 * host's caches. */
void trace_objects_expect(const struct trace_objects *o, uint64_t ptr);
/* The slot of a freed object may be used again. */
void trace_objects_release(struct trace_objects *o, uint32_t slot);
struct trace_cache *trace_objects_cache_of(struct trace_objects *o,
					   uint32_t slot);
/* Slots below this have been used: for arrays beside them. */
uint32_t trace_objects_slots(const struct trace_objects *o);

/* Caches in the order of their first event. */
unsigned trace_objects_caches(const struct trace_objects *o);
struct trace_cache *trace_objects_cache(struct trace_objects *o, unsigned i);

#endif
