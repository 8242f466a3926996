/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CPU scheduler for workloads with more tasks than CPUs.
 *
 * A task is a state machine: its step() runs on a CPU for as long as the task
 * has something to do without waiting (one message, say), and tells whether
 * it goes on, waits to be woken, or has ended. One program per CPU picks tasks
 * from that CPU's queue and runs their steps.
 *
 * The rules are those of the kernel's fair class as far as they decide who
 * runs where:
 *  - A CPU runs the task of the earliest virtual deadline among those that
 *    got no more than their share (EEVDF, equal weights). It runs until it
 *    waits, or until a tick finds its slice over; a woken task takes the CPU
 *    from it if it is the next by that rule and the running one has had its
 *    share (RUN_TO_PARITY). So where few tasks wait, a task that sleeps often
 *    preempts, where many wait it queues.
 *  - A woken task goes to the CPU where it ran last if that is idle, else to an
 *    idle one that shares the L3 if one is found, else to the waker's queue if
 *    that has nobody waiting or fewer than its last CPU's, else back there. The
 *    busier the machine, the fewer CPUs are looked at (SIS_UTIL).
 *  - A CPU that runs out of tasks pulls one from the longest queue, nearest
 *    first, unless it used to be idle for less than newidle_us: then that would
 *    not pay. Others' ticks give idle CPUs tasks of their sibling's queue, and
 *    after a while of any queue; busy CPUs even out rarely.
 *
 * Costs: a switch between two tasks costs context_switch_us of the machine; a
 * wake-up costs the waker wakeup_cycles, and if the target CPU was idle the
 * task begins there ipi_us later. They are charged to "schedule" and
 * "try_to_wake_up" as work outside the allocator.
 *
 * Order: sched_wake() and everything that decides whether a task waits must
 * follow a cpu_meet() (or lock) with no engine event in between; then a
 * wake-up is never lost.
 */
#ifndef WORKLOADS_SCHED_H
#define WORKLOADS_SCHED_H

#include "sim/machine.h"

enum step_result {
	STEP_AGAIN, /* has more to do */
	STEP_WAITS, /* entered itself in a wait list; someone will wake it */
	STEP_ENDS,
};

struct sched;
struct task {
	enum step_result (*step)(struct cpu *c, struct task *t);
	int cpu; /* where it ran last, or shall begin */
	/* sched.c's own */
	struct sched *sched;
	struct task *next; /* in the run queue, or in a wait list */
	bool queued, waits;
	double vruntime, deadline; /* virtual, cycles */
	double lag;		   /* service owed when it left a queue */
	uint64_t runs; /* times that a CPU switched to it */
};

/* FIFO list of tasks: a wait queue. Zero is the empty list. */
struct task_list {
	struct task *head, *tail;
};
void task_list_add(struct task_list *l, struct task *t);
struct task *task_list_take(struct task_list *l); /* NULL if empty */
/* @t enters @l to be woken; its step then returns STEP_WAITS. */
void sched_wait_on(struct task_list *l, struct task *t);

struct sched_params {
	double slice_ms;  /* a task's time slice */
	double wakeup_us; /* try_to_wake_up(), on the waker */
	double newidle_us; /* what balancing on going idle costs */
};

struct sched_stats {
	uint64_t switches, wakeups, idle_wakeups, pulls;
};

struct sched *sched_new(struct machine *m, const struct sched_params *p);
void sched_free(struct sched *s);
/* Before sched_run(): puts @t, which the caller owns, on @t->cpu's queue. */
void sched_add(struct sched *s, struct task *t);
/* The same for a task that begins by waiting in @l. */
void sched_add_waiting(struct sched *s, struct task_list *l, struct task *t);
/* @c makes @t, which waits, runnable. */
void sched_wake(struct cpu *c, struct task *t);
/*
 * Runs the machine until all tasks have ended. @before, unless NULL, runs
 * first on the lowest CPU while all others stand still.
 */
void sched_run(struct sched *s, void (*before)(struct cpu *c, void *arg),
	       void *arg);
struct sched_stats sched_stats(const struct sched *s);

#endif
