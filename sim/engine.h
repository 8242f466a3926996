/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the engine share.
 *
 * engine.c	the order: who is next, meeting, waiting and waking
 * engine_fast.c	hand-overs without SimGrid: all CPUs are fibers of one actor
 * engine_slow.c	hand-overs by SimGrid alone: an actor per CPU that sleeps
 *
 * The dates at which the CPUs that don't run are parked are the leaves of a
 * tournament tree of (date, CPU id), its root the earliest.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim/internal.h"

#define ID_BITS 12 /* TOPOLOGY_MAX_CPUS */
#define NEVER UINT64_MAX

/* The least of one key per CPU. */
struct tree {
	uint64_t *keys; /* [1] is the root, leaves from [leaves] on */
	int leaves;
};

struct engine {
	struct machine *machine;
	struct tree ready; /* CPUs that can act and don't run */
	struct fiber *fibers; /* fast: by CPU id */
	struct fiber *root;   /* fast: the actor's own flow */
	uint64_t clock;	      /* fast: SimGrid's, as far as we moved it */
	bool running;
	int current; /* the CPU that runs, -1: none */
	uint64_t events; /* simcalls that gave up the actor */
	uint64_t turns;	 /* hand-overs from one CPU to another */
	int alive;	 /* CPUs whose program has not returned */
};

static inline uint64_t key_of(const struct cpu_private *p, uint64_t date)
{
	g_assert(date < MACHINE_MAX_DATE);
	return date << ID_BITS | (uint64_t)p->cpu.id;
}

static inline int id_of(uint64_t key)
{
	return (int)(key & ((1 << ID_BITS) - 1));
}

static inline uint64_t date_of(uint64_t key)
{
	return key >> ID_BITS;
}

static inline void tree_set(struct tree *t, int id, uint64_t key)
{
	uint64_t *keys = t->keys;
	int i = t->leaves + id;

	keys[i] = key;
	while (i > 1) {
		uint64_t least = MIN(keys[i], keys[i ^ 1]);

		i >>= 1;
		if (keys[i] == least)
			break;
		keys[i] = least;
	}
}

static inline uint64_t tree_first(const struct tree *t)
{
	return t->keys[1];
}

/* All that could run wait for each other: a bug of the program simulated. */
G_NORETURN void engine_deadlock(struct engine *e);

/* Each way to hand over: @p, parked at wake_at or blocked until somebody sets
 * that, gives way to the first of e->ready and returns when it is the first. */
void fast_hand_over(struct engine *e, struct cpu_private *p);
void slow_hand_over(struct engine *e, struct cpu_private *p);
/* @p can act again. */
void slow_wake(struct engine *e, struct cpu_private *p);
/* Starts all CPUs of e->ready; SimGrid runs them. */
void fast_start(struct engine *e);
void slow_start(struct engine *e);
void fast_end(struct engine *e);

#endif
