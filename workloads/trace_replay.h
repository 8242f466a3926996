/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the workload trace: from events to calls of the allocator.
 *
 * The trace is gone through twice. The scan finds its caches, so that they are
 * there before time begins, and what it frees without having allocated it; it
 * keeps the events of a trace that is not too long, so that a short file is
 * read once. The replay has one reader for all CPUs: whoever runs out of
 * events, or has finished one, reads the next and gives it to the CPU it
 * belongs to, so at most .window wait at any time. Addresses become objects in
 * that order, which is the trace's; execution may come later and in another
 * order between CPUs, with the one rule that an object is there before it is
 * freed.
 */
#ifndef WORKLOADS_TRACE_REPLAY_H
#define WORKLOADS_TRACE_REPLAY_H

#include "configs/trace/objects.h"
#include "workloads/trace.h"

struct replay_cache { /* a cache of the trace, as the model has it */
	char *name;
	struct kmem_cache *s; /* NULL: pages, or it cannot be */
	bool pages;
	unsigned order;
	/* done by the replay */
	uint64_t allocs, frees, remote_frees;
	uint64_t alloc_cycles, free_cycles;
};

struct replay_object { /* by the slots of trace_objects */
	sim_addr addr;	   /* 0 = not yet */
	struct cpu *waiter; /* waits to free it */
	struct replay_cache *cache;
	uint64_t ready_at; /* when its allocation ended */
	int cpu;	   /* that allocated it */
	bool failed;	   /* there will be none: .why */
	enum trace_note why;
};

#define REPLAY_KEEP (1u << 20) /* events; 40 MB */

/* What a CPU has to do for one event. */
struct replay_op {
	uint64_t time_ns;
	uint32_t object; /* slot; not used if .before */
	sim_addr before; /* an object from before the trace, to be freed */
	struct replay_cache *before_cache;
	uint32_t next; /* in the CPU's queue, or of the unused; 0 = none */
	int32_t node;
	uint8_t gfp; /* enum gfp */
	bool alloc;
	bool counts; /* is an event, not a lost free made up for */
};

struct lane { /* a CPU and its queue */
	struct replay *rp;
	struct cpu *cpu;
	uint32_t head, tail; /* of .ops; 0 = empty */
	bool sleeping;	     /* until there is an op, or none will come */
};

/* What the first pass leaves. */
struct scan {
	GArray *events; /* struct trace_event; NULL = too many, read again */
	unsigned keep;	/* at most */
	struct trace_objects *objects;
	struct trace_notes objects_notes; /* of no further use */
	/* objects from before the trace, per cache and CPU that frees them */
	GHashTable *stacks;
	GPtrArray *stacks_in_order;
};

struct replay {
	const struct trace_options *o;
	struct slub *sl;
	struct machine *m;
	bool timed;
	struct scan scan;
	struct trace *trace;
	struct trace_objects *objects;
	struct trace_notes notes; /* the replay's, beside the reader's */
	unsigned next_event;	  /* of scan.events */
	GArray *objs;	   /* struct replay_object */
	GPtrArray *caches; /* struct replay_cache by number */
	/* queues */
	struct lane *lanes; /* by CPU id */
	GArray *ops;	    /* struct replay_op; [0] is not used */
	uint32_t unused;
	int64_t queued;
	bool ended;
	GError *error;
	/* CPUs */
	int *order;	  /* see trace_cpu_order() */
	int nr_order, next_order;
	int *mapped; /* trace's CPU -> machine's; -1 = not met yet */
	/* time */
	bool created; /* the caches are there */
	int arrived;  /* CPUs that are ready to begin */
	uint64_t first_ns, start; /* of the trace; date of the machine */
	int frame;
	/* results */
	uint64_t replayed;
	double late_ns; /* sum over events, time_scale > 0 */
	uint64_t other_size; /* caches whose objects take more or less room
			      * here than in the trace */
};

/* NULL with @error set if the trace cannot be read. @keep is how many of its
 * events are kept at most, so that it need not be read again: REPLAY_KEEP. */
struct replay *replay_new(struct slub *sl, const struct trace_options *o,
			  unsigned keep, GError **error);
bool replay_run(struct replay *rp, GError **error);
void replay_free(struct replay *rp);
/* How often, by reader and replay together. */
uint64_t replay_count(const struct replay *rp, enum trace_note n);

/* ---- trace_scan.c ---- */

/* The machine's CPU for one of the trace; counted in @n if it is another. */
int replay_map_cpu(struct replay *rp, int cpu, struct trace_notes *n);
bool scan_run(struct replay *rp, GError **error);
void scan_clear(struct scan *s);
/* Creates the model's caches on @c. */
void scan_create_caches(struct replay *rp, struct cpu *c);
/* Allocates on @c what @c will free without an allocation in the trace. */
void scan_preallocate(struct replay *rp, struct cpu *c);
/* One of these for a free of cache @tc on CPU @cpu; 0 = there is none. */
sim_addr scan_take(struct replay *rp, const struct trace_cache *tc, int cpu);

#endif
