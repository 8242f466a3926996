/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of sim/ know of each other; nobody else includes this.
 *
 * machine.c	builds the parts, reserves memory, random numbers
 * engine.c	who runs when; engine_fast.c and engine_slow.c how they take turns
 * fiber.c	flows of control within an actor
 * platform.c	the topology as a SimGrid platform, latencies from its routes
 * memory.c	what an access costs; its parts are in memory_internal.h
 * step.c	steps that are done over and over
 * lock.c	spinlocks and reader-writer locks
 * account.c	cycles by call path and cause
 * trace.c	spans of functions and locks
 */
#ifndef SIM_INTERNAL_H
#define SIM_INTERNAL_H

#include <simgrid/forward.h>

#include "sim/lock.h"
#include "sim/machine.h"
#include "sim/memory.h"
#include "sim/trace.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define FRAC_ONE ((uint64_t)1 << CYCLE_FRAC_BITS)

struct memory;
struct engine;
struct account;
struct core;
struct cpu_trace;

/* A miss in flight: of a prefetch or of a store's read for ownership. */
struct miss {
	uint64_t line, done;
	enum cause cause;
	bool load; /* a reader must wait for it (a store's is forwarded) */
};

enum run_state { RUN_NONE, RUN_READY, RUN_BLOCKED, RUN_DONE };

struct cpu_private {
	struct cpu cpu; /* first: a struct cpu * is a struct cpu_private * */

	uint64_t random[4];
	uint64_t meets;

	/* memory */
	struct core *core;
	uint64_t store_last; /* when the youngest store will have drained; not
			      * after the later of slow_until and now */
	struct miss *misses; /* under way, in no order; room for max_misses */
	int nr_misses, max_misses;
	uint64_t *stores;    /* ring of store_buffer completion dates */
	int next_store, max_stores;
	const uint32_t *dram; /* latency by home node, cycles */

	/* engine */
	sg_actor_t actor;
	enum run_state state;
	const char *blocked_on;
	uint64_t wake_at;
	bool waiting;	   /* in cpu_wait() */
	bool wake_pending; /* a wake that came first, at pending_at */
	uint64_t pending_at;
	cpu_program program;
	void *arg;

	/* account */
	struct path *root; /* of its call paths */
	struct cpu_trace *trace; /* NULL without MACHINE_TRACE */
};

struct domain {
	int nr;
	int *cpus; /* sorted */
	int only;  /* the one that has a program, -1 if several or none: all
		    * that an order over the whole machine needs to know */
};

struct machine {
	const struct topology *topology;
	const struct machine_params *params;
	unsigned flags;
	bool timed, slow, uniform;
	struct cpu_private **cpus; /* [nr_cpu_ids], NULL = offline */
	uint64_t *reserved;	   /* bytes per node */
	int *nearest;		   /* node with memory, per node */
	GPtrArray *domains;
	struct domain *everyone;
	GHashTable *lock_stats;
	struct engine *engine;
	struct memory *memory;
	struct account *account;
	uint64_t trace_from, trace_to;
	/* rmw by kind, in fractions of a cycle */
	uint64_t rmw_frac[3], irq_frac[2];
};

static inline struct cpu_private *priv(struct cpu *c)
{
	return (struct cpu_private *)c;
}

/* Whole cycles of a time in ns. */
static inline uint64_t machine_whole(const struct machine *m, double ns)
{
	return (uint64_t)(ns * m->params->freq_ghz + 0.5);
}

static inline void charge(struct cpu_private *p, enum cause cause,
			  uint64_t cycles)
{
	cpu_charge(&p->cpu, cause, cycles);
}

static inline void charge_frac(struct cpu_private *p, enum cause cause,
			       uint64_t frac)
{
	cpu_charge_frac(&p->cpu, cause, frac);
}

/* engine.c */
struct engine *engine_new(struct machine *m);
void engine_free(struct engine *e);
void engine_run(struct machine *m);
uint64_t engine_events(const struct engine *e);
uint64_t engine_turns(const struct engine *e);
/* Lets everybody run who is earlier than @p. */
void engine_pass(struct cpu_private *p);
/* Sleeps until engine_wake(); returns with the clock at the date given there,
 * the time charged to @cause. @on is for the message on a deadlock. */
void engine_block(struct cpu_private *p, const char *on, enum cause cause);
void engine_wake(struct cpu_private *p, uint64_t at);

/* platform.c: loads the platform; @latency[cpu * nr_node_ids + node] */
void platform_load(struct machine *m, uint32_t *latency);
/* The SimGrid host of a CPU. */
sg_host_t platform_host(const struct machine *m, int cpu);

/* memory.c */
struct memory *memory_new(struct machine *m);
void memory_free(struct memory *mm);
void memory_reset(struct memory *mm);
uint64_t memory_accesses(const struct memory *mm);
/* Makes @p's core the owner of @line; the caller charges what it costs. */
void memory_take(struct cpu_private *p, sim_addr line);
/* Transfer of a line homed at node @home from CPU @from to CPU @to. */
uint64_t memory_transfer(const struct machine *m, int from, int to, int home);

/* account.c */
struct account *account_new(void);
void account_free(struct account *a);
void account_attach(struct cpu_private *p);
void account_detach(struct cpu_private *p);
void account_reset(struct machine *m);

/* trace.c: only with MACHINE_TRACE */
void trace_attach(struct cpu_private *p);
void trace_detach(struct cpu_private *p);
void trace_enter(struct cpu_private *p);
void trace_leave(struct cpu_private *p, const char *name);
void trace_span(struct cpu_private *p, enum span_kind kind, const char *name,
		sim_addr lock, uint64_t from, uint64_t to);

/* lock.c */
void lock_stats_reset(struct machine *m);

#endif
