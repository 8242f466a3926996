/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test only: SLUB a second time, deliberately naive.
 *
 * Written from the behaviour's description alone, with lists of objects where
 * model/ has freelists in memory, one loop where it has a fast path, no time
 * and no addresses. It shares with model/ the names of the features and of the
 * counters, nothing else; results/test_differential.c compares the two.
 *
 * One struct naive is one cache on one machine. CPUs and nodes are numbers.
 */
#ifndef MODEL_NAIVE_H
#define MODEL_NAIVE_H

#include <glib.h>

#include "model/features.h"
#include "model/slub.h"
#include "sim/topology.h"

struct naive;
struct naive_obj;
struct naive_sheaf;

/* Borrows @t and @f; the cache is created on CPU 0. */
struct naive *naive_new(const struct topology *t, const struct features *f,
			const struct kmem_cache_args *args);
void naive_free(struct naive *n);
/* As slub_set_cycles(), but there is no chance in here: without it other nodes'
 * lists are always looked at. */
void naive_set_cycles(struct naive *n, int64_t cycles);

struct naive_obj *naive_alloc(struct naive *n, int cpu, unsigned gfp, int node);
void naive_release(struct naive *n, int cpu, struct naive_obj *o);
unsigned naive_alloc_bulk(struct naive *n, int cpu, unsigned gfp,
			  unsigned count, struct naive_obj **objs);
void naive_free_bulk(struct naive *n, int cpu, unsigned count,
		     struct naive_obj **objs);
void naive_kfree_rcu(struct naive *n, int cpu, struct naive_obj *o);
void naive_barrier(struct naive *n);
void naive_shrink(struct naive *n);

struct naive_sheaf *naive_prefill(struct naive *n, int cpu, unsigned gfp,
				  unsigned size);
struct naive_obj *naive_from_sheaf(struct naive_sheaf *sheaf);
void naive_return(struct naive *n, int cpu, unsigned gfp,
		  struct naive_sheaf *sheaf);

/* "attr:content" lines of all that it knows, unsorted. */
void naive_show(struct naive *n, GString *out);
/* 0 or an errno. */
int naive_store(struct naive *n, const char *attr, const char *value);
struct object_place naive_place(const struct naive_obj *o);

#endif
