/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spinlocks and reader-writer spinlocks on real lines.
 *
 * A spinlock is a FIFO queue, as the kernel's qspinlock: whoever comes first
 * in simulated time gets it first. Taking a free lock costs an atomic on its
 * line (whose transfer is priced by who had it last); handing over to a waiter
 * costs one transfer of the waiter's own word and one of the lock word. The
 * lock word shares its line with whatever the owner placed there: pass the
 * address of that line.
 *
 * Every lock belongs to a class ("&n->list_lock"), as in /proc/lock_stat.
 * The domain is the set of CPUs that may take it. All calls are free on a
 * timeless machine, where cpu_trylock() always succeeds.
 */
#ifndef SIM_LOCK_H
#define SIM_LOCK_H

#include "sim/machine.h"

struct sim_lock {
	sim_addr line;
	struct domain *domain;
	const char *class;
	int node;
	/* sim/'s own */
	bool held;
	int owner;	  /* CPU id of the holder, or of the last one */
	uint64_t free_at; /* when the last holder let go */
	uint64_t acquired_at;
	uint64_t granted_at; /* when the last waiter got it */
	struct lock_waiter *head, *tail;
	struct lock_stat *stat;
};

/* @class must outlive the machine. @domain NULL = everyone. */
void lock_init(struct machine *m, struct sim_lock *l, const char *class,
	       sim_addr line, struct domain *domain);
/* Forgets the lock's place in lists; its statistics stay with the class. */
void lock_destroy(struct machine *m, struct sim_lock *l);

void __cpu_lock(struct cpu *c, struct sim_lock *l);
bool __cpu_trylock(struct cpu *c, struct sim_lock *l);
void __cpu_unlock(struct cpu *c, struct sim_lock *l);

static inline void cpu_lock(struct cpu *c, struct sim_lock *l)
{
	if (c->timed)
		__cpu_lock(c, l);
}
/* False if another CPU holds it at c->now; costs the look (and the atomic). */
static inline bool cpu_trylock(struct cpu *c, struct sim_lock *l)
{
	return c->timed ? __cpu_trylock(c, l) : true;
}
static inline void cpu_unlock(struct cpu *c, struct sim_lock *l)
{
	if (c->timed)
		__cpu_unlock(c, l);
}

/* A reader-writer lock: readers share, each entry and exit is an atomic on
 * the one line; a writer waits for all readers. FIFO between both kinds. */
struct sim_rwlock {
	struct sim_lock wait; /* line, class, queue and statistics */
	int readers;
	uint64_t readers_gone_at;
};
void rwlock_init(struct machine *m, struct sim_rwlock *l, const char *class,
		 sim_addr line, struct domain *domain);
void cpu_read_lock(struct cpu *c, struct sim_rwlock *l);
void cpu_read_unlock(struct cpu *c, struct sim_rwlock *l);
void cpu_write_lock(struct cpu *c, struct sim_rwlock *l);
void cpu_write_unlock(struct cpu *c, struct sim_rwlock *l);

/* Per class and node, cycles; walked in order of class, then node. */
struct lock_stat {
	const char *class;
	int node;
	uint64_t acquisitions, contentions;
	uint64_t acq_bounces, con_bounces; /* line came from another CPU */
	uint64_t wait_total, wait_min, wait_max;
	uint64_t releases; /* holds counted below */
	uint64_t hold_total, hold_min, hold_max;
};
typedef void (*lock_stat_fn)(const struct lock_stat *s, void *arg);
void machine_lock_stats(struct machine *m, lock_stat_fn fn, void *arg);

#endif
