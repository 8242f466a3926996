/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modeled machine, as the allocator and the workloads see it.
 *
 * A machine is built from a topology and parameters. It has CPUs with local
 * clocks, simulated physical memory with caches in front of it, and locks. It
 * does not know what a slab is.
 *
 * Time. One unit is one cycle of the machine's clock and one second of
 * SimGrid. c->now is CPU c's own clock; it runs ahead of the engine while c
 * touches only what is its own. Before c touches anything that another CPU may
 * touch too, it says so with cpu_meet(): that returns when every CPU that can
 * still act has reached c->now. Locks do this by themselves. Between two
 * cpu_meet()s nothing here is an engine event.
 *
 * A machine without time (MACHINE_TIMELESS) has the same interface, where
 * nothing costs anything and nothing waits: the counters of an op script need
 * no clock, no cache and no engine.
 *
 * Addresses. A sim_addr is a simulated physical address; its top bits name the
 * node whose memory holds it (sim_addr_node()). 0 is never valid. What is
 * never handed out by the page allocator (per-CPU areas, kmem_cache structs,
 * locks, struct page) comes from machine_reserve().
 *
 * Accounting. Each cycle that a CPU spends is charged to the call path it is
 * in (cpu_enter/cpu_leave) and to a cause. Idle waiting is a cause too, so the
 * charges of a CPU sum to its clock.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/machine_params.h"
#include "sim/topology.h"

typedef uint64_t sim_addr;

#define SIM_LINE 64u /* bytes of a cache line, on every machine modeled */
#define SIM_NODE_SHIFT 40
static inline int sim_addr_node(sim_addr a)
{
	return (int)(a >> SIM_NODE_SHIFT) - 1;
}
/* First address of a node's memory. */
static inline sim_addr sim_node_base(int node)
{
	return (sim_addr)(node + 1) << SIM_NODE_SHIFT;
}
/* From there on in a node's memory is what machine_reserve() hands out; all
 * below is the page allocator's. */
#define SIM_RESERVED_OFFSET ((uint64_t)1 << (SIM_NODE_SHIFT - 1))

enum cause {
	CAUSE_INSN,	   /* instructions at the machine's IPC */
	CAUSE_L1,	   /* load-to-use of lines that hit */
	CAUSE_L2,
	CAUSE_L3,
	CAUSE_DRAM_LOCAL,  /* memory of the own node */
	CAUSE_DRAM_REMOTE, /* memory of another node */
	CAUSE_C2C_SMT,	   /* line transfers, by where the owner was */
	CAUSE_C2C_L3,
	CAUSE_C2C_CROSS_L3,
	CAUSE_C2C_SOCKET,
	CAUSE_ATOMIC,	   /* locked operations on an owned line */
	CAUSE_IRQ,	   /* masking and unmasking interrupts */
	CAUSE_LOCK_WAIT,   /* waiting for a lock that another CPU holds */
	CAUSE_STORE,	   /* store buffer full */
	CAUSE_BULK,	   /* copying and clearing memory */
	CAUSE_OUTSIDE,	   /* work outside the allocator (a workload's) */
	CAUSE_IDLE,	   /* nothing to do */
	NR_CAUSES
};
extern const char *const cause_names[NR_CAUSES]; /* "insn", "l1", ... */

enum rmw { /* operations whose price on an owned line differs */
	RMW_LOCK,	     /* lock add, xchg, lock cmpxchg */
	RMW_CMPXCHG16B,	     /* percpu, without lock prefix */
	RMW_LOCK_CMPXCHG16B,
};

struct machine;

/* A way of an L1: see sim/cache.h. */
struct l1_way {
	uint64_t tag;	/* the line's address, thread, writable; 0 = empty */
	uint64_t stamp; /* core's tick at the last use; 0 if empty */
};
#define L1_WRITABLE ((uint64_t)1) /* tag = address | thread << 1 | writable */
#define L1_HINTS 512		  /* a power of two */

/* A core's L1. */
struct l1 {
	uint64_t tick;	  /* accesses of the core */
	uint64_t changes; /* of watched ways' tags: see sim/step.h */
	uint8_t *watched; /* by way, 0 or 1 */
	uint16_t hints[L1_HINTS]; /* [line % L1_HINTS]: way it was seen in */
	struct l1_way ways[];	  /* of set after set */
};

#define NO_SHORT_WAYS UINT64_MAX /* a date that never comes */
/* Dates stay below: the engine orders by (date, CPU id) in one word. At 4 GHz
 * 13 days of simulated time; a run that gets there ends. */
#define MACHINE_MAX_DATE ((uint64_t)1 << 52)

/* Fractions of a cycle: prices that are not whole (instructions, atomics)
 * leave their rest with the CPU, so that clocks stay whole numbers. */
#define CYCLE_FRAC_BITS 24

/* CPUs that may touch the same things. See cpu_meet(). */
struct domain;

/* A call path of one CPU: a node of a tree, its root the CPU's program. */
struct path {
	struct path *parent;
	struct path *recent; /* the child that was entered last */
	struct path *children, *sibling;
	int frame;
	bool traced;
	uint64_t cycles[NR_CAUSES];
};

struct cpu {
	uint64_t now;	/* local clock, cycles */
	bool timed;	/* false on a timeless machine */
	int id;		/* the kernel's CPU number */
	int node;	/* numa_node_id() */
	int mem_node;	/* nearest node with memory, itself if it has some */
	int core, l3, socket;
	struct machine *machine;

	/* sim/'s own, for the short ways below */
	struct path *path; /* the call path it is in */
	uint64_t *cycles;  /* of that, by cause */
	uint64_t frac;	  /* of a cycle, left over */
	uint64_t insn_frac, instructions;
	/* before this date no access takes the short way: a miss is under way;
	 * and no load: it is a prefetch's, what stores wait for is forwarded */
	uint64_t slow_until, slow_load_until;
	struct l1 *l1;
	uint64_t l1_thread; /* of this CPU's writable tags, beside the address */
	uint64_t steps;	    /* that were done at once: see sim/step.h */
};

enum machine_flags {
	MACHINE_TIMELESS = 1,  /* no engine, no caches, no cost */
	/* every shortcut of the simulator off; what is no meeting (see
	 * cpu_meet()) is none here either */
	MACHINE_EXACT_SLOW = 2,
	MACHINE_LINE_STATS = 4, /* keep per-line statistics (c2c.txt) */
	MACHINE_TRACE = 8,	/* keep events for trace.json */
	MACHINE_LOCK_ZERO = 16, /* null case: a lock costs nothing */
	MACHINE_UNIFORM = 32,	/* null case: every access is an L1 hit */
};

/*
 * Borrows @t and @p for its lifetime. @p may be NULL if timeless. One timed
 * machine per process (SimGrid keeps one engine). The environment's
 * SLUBSIM_CONTEXTS names SimGrid's context factory: raw (the default), ucontext
 * or thread; it changes nothing but the host's time.
 */
struct machine *machine_new(const struct topology *t,
			    const struct machine_params *p, unsigned flags,
			    uint64_t seed);
void machine_free(struct machine *m);

const struct topology *machine_topology(const struct machine *m);
const struct machine_params *machine_params(const struct machine *m);
struct cpu *machine_cpu(struct machine *m, int id); /* NULL if offline */
double machine_ns(const struct machine *m, double cycles);
double machine_cycles(const struct machine *m, double ns);

/* @bytes of @node's memory (of the nearest one if it has none), never freed. */
sim_addr machine_reserve(struct machine *m, int node, size_t bytes,
			 size_t align);

/*
 * Runs the machine: @program[id] is started on CPU id (NULL = the CPU stays
 * idle) with @arg[id]. CPUs take turns within one SimGrid actor, or are an
 * actor each (MACHINE_EXACT_SLOW), in the same order. Returns when
 * all programs have returned. May be called once on a timed machine; any
 * number of times on a timeless one, where programs run one after the other.
 */
typedef void (*cpu_program)(struct cpu *c, void *arg);
void machine_run(struct machine *m, cpu_program *program, void **arg);

/* Date of the latest CPU, cycles. */
uint64_t machine_now(const struct machine *m);

/* ---- order ---- */

/* A domain of the given CPUs; machine_everyone() holds all of them. */
struct domain *machine_domain(struct machine *m, const int *cpus, int n);
struct domain *machine_domain_of_node(struct machine *m, int node);
struct domain *machine_everyone(struct machine *m);

void __cpu_meet(struct cpu *c, struct domain *d);
/*
 * "I am about to touch, at c->now, something that the CPUs of @d may touch."
 * Returns when none of them can still act earlier; at equal dates the lower id
 * goes first. In fact it waits for every CPU of the machine that can act, not
 * for @d's alone: CPUs that share nothing else still share caches and memory
 * controllers, and only one order over all makes a run with shortcuts equal to
 * one without, cycle by cycle. If no CPU of @d but @c has a program, it is not
 * a meeting at all.
 */
static inline void cpu_meet(struct cpu *c, struct domain *d)
{
	if (c->timed)
		__cpu_meet(c, d);
}

/*
 * Sleeps until another CPU calls cpu_wake() on this one (a wake that came
 * first is not lost) and returns at the later of c->now and the waker's date;
 * the time is charged to CAUSE_IDLE. Timed machines only.
 */
void cpu_wait(struct cpu *c);
/* At @at, not before the waker's now. Of several wakes before the sleeper waits
 * the earliest counts; one that comes after it was woken is for its next wait. */
void cpu_wake(struct cpu *waker, struct cpu *sleeper, uint64_t at);
/* Lets @cycles pass doing nothing (CAUSE_IDLE). */
void cpu_idle(struct cpu *c, uint64_t cycles);

/* ---- work ---- */

void __cpu_read(struct cpu *c, sim_addr a);
void __cpu_prefetch(struct cpu *c, sim_addr a);
void __cpu_write(struct cpu *c, sim_addr a);
void __cpu_rmw(struct cpu *c, sim_addr a, enum rmw op);
void __cpu_irq(struct cpu *c, bool save);
void __cpu_stall(struct cpu *c, double cycles);
void __cpu_outside(struct cpu *c, double cycles);

static inline void cpu_charge(struct cpu *c, enum cause cause, uint64_t cycles)
{
	c->now += cycles;
	c->cycles[cause] += cycles;
}

static inline void cpu_charge_frac(struct cpu *c, enum cause cause,
				   uint64_t frac)
{
	uint64_t sum = c->frac + frac;

	c->frac = sum & (((uint64_t)1 << CYCLE_FRAC_BITS) - 1);
	cpu_charge(c, cause, sum >> CYCLE_FRAC_BITS);
}

/*
 * Where the line of @a is in L1, if an access to it is a hit that is good
 * enough and it is where it was seen last; else NULL. Nothing is done.
 */
static inline struct l1_way *cpu_l1_look(const struct cpu *c, sim_addr a,
					 bool write)
{
	struct l1_way *way =
		&c->l1->ways[c->l1->hints[a / SIM_LINE % L1_HINTS]];
	uint64_t want = (a & ~(sim_addr)(SIM_LINE - 1)) | c->l1_thread;

	return (way->tag | (write ? 0 : L1_WRITABLE)) == want ? way : NULL;
}

/* The short way of an access: a hit as above, while nothing is under way.
 * Costs nothing; else nothing is done. */
static inline bool cpu_l1_hit(struct cpu *c, sim_addr a, bool write)
{
	struct l1_way *way = cpu_l1_look(c, a, write);

	if (!way || c->now < (write ? c->slow_until : c->slow_load_until))
		return false;
	way->stamp = ++c->l1->tick;
	return true;
}

/* Whether short ways may be taken at all: neither with MACHINE_EXACT_SLOW, nor
 * where each access is looked at, nor without time. */
static inline bool cpu_may_step(const struct cpu *c)
{
	return c->slow_until != NO_SHORT_WAYS;
}
/* Nothing is under way in the CPU's memory system, and they may. */
static inline bool cpu_is_quiet(const struct cpu *c)
{
	return c->now >= c->slow_until;
}

/* Executes @insns instructions. */
static inline void cpu_exec(struct cpu *c, unsigned insns)
{
	if (!c->timed)
		return;
	c->instructions += insns;
	cpu_charge_frac(c, CAUSE_INSN, insns * c->insn_frac);
}
/* Cycles that instructions take beyond their number over the IPC: a front end
 * that waits for the target of a taken branch. Charged as instructions are. */
static inline void cpu_stall(struct cpu *c, double cycles)
{
	if (c->timed)
		__cpu_stall(c, cycles);
}
/* A load whose value is needed now: stalls for the line. */
static inline void cpu_read(struct cpu *c, sim_addr a)
{
	if (c->timed && !cpu_l1_hit(c, a, false))
		__cpu_read(c, a);
}
/* A load or prefetch whose value nothing waits for: overlaps with others up to
 * the miss buffers. */
static inline void cpu_prefetch(struct cpu *c, sim_addr a)
{
	if (c->timed)
		__cpu_prefetch(c, a);
}
/* A store: drains through the store buffer, stalls only if that is full. */
static inline void cpu_write(struct cpu *c, sim_addr a)
{
	if (c->timed && !cpu_l1_hit(c, a, true))
		__cpu_write(c, a);
}
/* An atomic read-modify-write: waits for ownership, then the operation. */
static inline void cpu_rmw(struct cpu *c, sim_addr a, enum rmw op)
{
	if (c->timed)
		__cpu_rmw(c, a, op);
}
/* Masks and unmasks interrupts around a section: with the flags saved and
 * restored (@save) or not. */
static inline void cpu_irq(struct cpu *c, bool save)
{
	if (c->timed)
		__cpu_irq(c, save);
}
/* Work outside the allocator, cycles. */
static inline void cpu_outside(struct cpu *c, double cycles)
{
	if (c->timed)
		__cpu_outside(c, cycles);
}
/* The same, in fractions of a cycle. */
static inline void cpu_outside_frac(struct cpu *c, uint64_t frac)
{
	if (c->timed)
		cpu_charge_frac(c, CAUSE_OUTSIDE, frac);
}
/* Reads @from and writes @to, @bytes each, as a copy loop does. Either may be
 * 0: then it is a clearing, or a reading, of that many bytes. */
void cpu_copy(struct cpu *c, sim_addr to, sim_addr from, size_t bytes);

/* ---- call paths ---- */

/* The number of the function called @name (interned; @name must outlive). */
int machine_frame(struct machine *m, const char *name);
struct path *__cpu_child(struct cpu *c, int frame);
void __cpu_trace_enter(struct cpu *c);
void __cpu_trace_leave(struct cpu *c);

/* The call path of @frame called from where @c is; nothing is entered. */
static inline struct path *cpu_child(struct cpu *c, int frame)
{
	struct path *recent = c->path->recent;

	return recent && recent->frame == frame ? recent :
						  __cpu_child(c, frame);
}
static inline void cpu_enter(struct cpu *c, int frame)
{
	if (!c->timed)
		return;
	c->path = cpu_child(c, frame);
	c->cycles = c->path->cycles;
	if (c->path->traced)
		__cpu_trace_enter(c);
}
static inline void cpu_leave(struct cpu *c)
{
	if (!c->timed)
		return;
	if (c->path->traced)
		__cpu_trace_leave(c);
	c->path = c->path->parent;
	c->cycles = c->path->cycles;
}

/* Walks every (CPU, call path, cause) that has cycles. @path is "a;b;c". */
typedef void (*account_fn)(int cpu, const char *path, enum cause cause,
			   uint64_t cycles, void *arg);
void machine_account(struct machine *m, account_fn fn, void *arg);
/* Starts all accounts, lock and line statistics anew (end of a warm-up). */
void machine_account_reset(struct machine *m);

/* ---- facts about the simulation itself ---- */
struct machine_stats {
	uint64_t engine_events; /* SimGrid simcalls that gave up the actor */
	uint64_t turns;		/* hand-overs from one CPU to another */
	uint64_t meets;		/* cpu_meet() calls */
	uint64_t accesses;	/* to memory, lines */
	uint64_t instructions;
	uint64_t steps;		/* done at once (sim/step.h) */
};
struct machine_stats machine_stats(const struct machine *m);

/*
 * The price of one SimGrid sleep, ns of this process's CPU time, with as many
 * actors as the run had: what a plain discrete-event simulation would pay per
 * interaction. Call after machine_run() on a timed machine; it takes about
 * 50 ms and moves SimGrid's clock, not the machine's.
 */
double machine_measure_sleep(struct machine *m);

/* Seeded per CPU; the only source of chance in a run. */
uint64_t cpu_random(struct cpu *c);
/* The same, evenly from 0 up to below @n. */
static inline uint64_t cpu_random_below(struct cpu *c, uint64_t n)
{
	return ((unsigned __int128)cpu_random(c) * n) >> 64;
}

#endif
