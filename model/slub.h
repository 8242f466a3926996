/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator as its callers see it: kmem_cache_create() and friends.
 *
 * One struct slub is one kernel's allocator on one machine. Objects are
 * simulated addresses (sim_addr); 0 means that the allocation failed. All
 * calls run on the CPU given, at its local time, and go through the machine's
 * memory. The steps behind each call are in the files of model/ that carry the
 * kernel's names: slab.c, node.c, cpu_slab.c, sheaf.c, bulk.c, rcu.c.
 *
 * Ownership: slub_free() frees everything, caches included.
 */
#ifndef MODEL_SLUB_H
#define MODEL_SLUB_H

#include <glib.h>

#include "model/costs.h"
#include "model/features.h"
#include "model/stats.h"
#include "model/tuning.h"
#include "sim/machine.h"

struct slub;
struct kmem_cache;

/* Borrows all arguments. @costs may be NULL on a timeless machine. */
struct slub *slub_new(struct machine *m, const struct features *f,
		      const struct insn_costs *costs);
void slub_free(struct slub *sl);
/* Settings of the caches that are created from here on; copied. */
void slub_tune(struct slub *sl, const struct cache_tuning *tuning);
struct machine *slub_machine(const struct slub *sl);

/* How this kernel's zsmalloc is built (model/zsmalloc.h): said by whoever
 * loaded the variant, asked by the workloads that use it. Borrowed; NULL if
 * never said. */
struct zs_build;
void slub_set_zs_build(struct slub *sl, const struct zs_build *b);
const struct zs_build *slub_zs_build(const struct slub *sl);

enum gfp { /* what the caller allows; 0 = GFP_ATOMIC's strictness */
	GFP_MAY_BLOCK = 1,    /* __GFP_DIRECT_RECLAIM */
	GFP_MAY_SPIN = 2,     /* any reclaim bit: KERNEL, NOWAIT, ATOMIC */
	GFP_ONLY_NODE = 4,    /* __GFP_THISNODE */
	GFP_ZEROED = 8,	      /* __GFP_ZERO */
	GFP_NO_EXT = 16,      /* __GFP_NO_OBJ_EXT: sheaf allocation's own */
	/* the combinations that callers use */
	GFP_FOR_KERNEL = GFP_MAY_BLOCK | GFP_MAY_SPIN,
	GFP_FOR_NOWAIT = GFP_MAY_SPIN,
	GFP_FOR_ATOMIC = GFP_MAY_SPIN,
};
#define NO_NODE (-1) /* NUMA_NO_NODE */

enum slab_flags {
	SLAB_HW_ALIGN = 1,	 /* SLAB_HWCACHE_ALIGN */
	SLAB_RCU = 2,		 /* SLAB_TYPESAFE_BY_RCU */
	SLAB_RECLAIM = 4,	 /* SLAB_RECLAIM_ACCOUNT */
	SLAB_ACCOUNTED = 8,	 /* SLAB_ACCOUNT */
	SLAB_NO_SHEAVES = 16,	 /* boot caches: SLAB_NO_OBJ_EXT */
	SLAB_CTOR = 32,		 /* has a constructor */
};

struct kmem_cache_args {
	const char *name;
	unsigned object_size, align; /* bytes; align 0 = default */
	unsigned flags;		     /* enum slab_flags */
	unsigned sheaf_capacity;     /* asked for by the caller, 0 = not */
};

/* Runs on @c. Never fails: sizes out of range are a programmer's error; check
 * a user's with kmem_cache_args_check(), which returns NULL or a sentence. */
struct kmem_cache *kmem_cache_create(struct slub *sl, struct cpu *c,
				     const struct kmem_cache_args *args);
char *kmem_cache_args_check(const struct kmem_cache_args *args);
/* Walks all caches in order of creation. */
struct kmem_cache *slub_next_cache(struct slub *sl, struct kmem_cache *prev);
const char *kmem_cache_name(const struct kmem_cache *s);
/* The kmalloc cache that serves @bytes, created at first use on @c. */
struct kmem_cache *kmalloc_cache(struct slub *sl, struct cpu *c, size_t bytes);

sim_addr kmem_cache_alloc(struct cpu *c, struct kmem_cache *s, unsigned gfp);
sim_addr kmem_cache_alloc_node(struct cpu *c, struct kmem_cache *s,
			       unsigned gfp, int node);
void kmem_cache_free(struct cpu *c, struct kmem_cache *s, sim_addr obj);
/* All @n or nothing: returns @n or 0. */
unsigned kmem_cache_alloc_bulk(struct cpu *c, struct kmem_cache *s,
			       unsigned gfp, unsigned n, sim_addr *objs);
void kmem_cache_free_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
			  sim_addr *objs); /* reorders @objs, as the kernel */
void kfree_rcu(struct cpu *c, struct kmem_cache *s, sim_addr obj);
/* kvfree_rcu_barrier() then rcu_barrier(), on all CPUs in turn: while no other
 * CPU runs. */
void kfree_rcu_barrier(struct cpu *c, struct slub *sl);
/* Flushes all CPUs, each on itself in turn: while no other CPU runs. */
void kmem_cache_shrink(struct cpu *c, struct kmem_cache *s);

/*
 * From here on get_cycles() in the test of remote_node_defrag_ratio is
 * @cycles; negative: by chance again, as on a real machine.
 */
void slub_set_cycles(struct slub *sl, int64_t cycles);

/* ---- what the kernel shows in /sys/kernel/slab/NAME ---- */

/* Attributes of this generation in sorted order; NULL ends. */
const char *const *kmem_cache_attrs(const struct kmem_cache *s);
/* The content of one, without newline; newly allocated. NULL = unknown. */
char *kmem_cache_attr_show(const struct kmem_cache *s, const char *attr);
/* A write on @c, while no other CPU runs; returns 0 or a positive errno, as the kernel would. */
int kmem_cache_attr_store(struct cpu *c, struct kmem_cache *s,
			  const char *attr, const char *value);
uint64_t kmem_cache_stat(const struct kmem_cache *s, enum slub_stat stat,
			 int cpu); /* cpu -1 = sum over CPUs */

/* Where an object is: its slab (an opaque identity), index and node. */
struct object_place {
	const void *slab;
	unsigned index;
	int node;
};
struct object_place kmem_cache_place(const struct kmem_cache *s, sim_addr obj);
unsigned kmem_cache_object_size(const struct kmem_cache *s); /* s->size */
unsigned kmem_cache_objs_per_slab(const struct kmem_cache *s);
unsigned kmem_cache_order(const struct kmem_cache *s); /* preferred */

/* ---- the checker ---- */

/*
 * Proves that each object of @s is in exactly one place and that all counts
 * agree. @held are the objects that the user holds, @n of them (any order), or
 * NULL to check their number @n only. Objects known to be lost by
 * bulk_free_loses_objects are accounted for. Returns NULL or a newly allocated
 * sentence on the first thing that is wrong. Touches no simulated memory.
 */
char *kmem_cache_verify(struct kmem_cache *s, const sim_addr *held, size_t n);
/* Objects that were allocated and not freed. */
uint64_t kmem_cache_live(const struct kmem_cache *s);
/* Test only: breaks the state in way @kind (0..N-1); false if there is nothing
 * of that kind to break now. kmem_cache_verify() must notice each. */
bool kmem_cache_corrupt(struct kmem_cache *s, int kind);
int kmem_cache_corruptions(void);
const char *kmem_cache_corruption_name(int kind);

/* ---- the page allocator below (also zsmalloc's) ---- */

/* 2^@order pages near @node (or exactly there: GFP_ONLY_NODE); 0 = none. */
sim_addr alloc_pages(struct cpu *c, struct slub *sl, unsigned gfp,
		     unsigned order, int node);
void free_pages(struct cpu *c, struct slub *sl, sim_addr addr,
		unsigned order);
/* Address of the struct page (64 B, on the page's own node) of @addr. */
sim_addr page_struct(const struct slub *sl, sim_addr addr);

#endif
