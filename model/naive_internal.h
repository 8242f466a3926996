/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the naive implementation share; see naive.h. */
#ifndef MODEL_NAIVE_INTERNAL_H
#define MODEL_NAIVE_INTERNAL_H

#include "model/naive.h"

struct naive_obj {
	struct nv_slab *slab;
	int index;
};

struct nv_slab {
	int node, objects, inuse;
	bool frozen, on_list;
	int slabs, pobjects; /* of the cpu partial list from here on */
	GQueue free;	     /* struct naive_obj *, head first */
	struct naive_obj *obj;
};

struct naive_sheaf {
	GPtrArray *objs;
	unsigned capacity;
	int cpu;      /* who queued it for RCU */
	int node;     /* whose barn an RCU sheaf goes to */
	bool no_barn; /* ... or none */
};

struct nv_cpu {
	int id, node, mem_node;
	struct nv_slab *slab;
	GQueue freelist; /* of the cpu slab */
	GQueue partial;	 /* struct nv_slab *, head first */
	struct naive_sheaf *main, *spare, *rcu;
	GPtrArray *batch; /* kfree_rcu() without a sheaf */
};

struct nv_node {
	bool memory, barn;
	GQueue partial, full, empty;
	int slabs, objects;
};

struct naive {
	const struct topology *t;
	const struct features *f;
	int nr_cpus, nr_nodes;
	struct nv_cpu *cpu;
	struct nv_node *node;
	int *order, *nr_order; /* zonelists */
	uint64_t *stat;	       /* [stat * nr_cpus + cpu] */
	int64_t cycles;
	/* geometry */
	unsigned object_size, size, align, slab_order, objects, min_partial,
		cpu_partial, cpu_partial_slabs, capacity, ratio;
	GQueue callbacks;  /* struct naive_sheaf *, oldest first */
	GHashTable *slabs; /* set of all struct nv_slab * */
};

#define NV_MAX_SHEAVES 10
#define NV_BATCH 32

void nv_count(struct naive *n, struct nv_cpu *c, enum slub_stat s, int by);
void nv_geometry(struct naive *n, const struct kmem_cache_args *a);

/* Nodes in which to look from @from, ended by -1; only @from itself where the
 * caller insists. */
int nv_nth_node(struct naive *n, int from, unsigned gfp, int k);
bool nv_look_elsewhere(struct naive *n);

/* ---- slabs ---- */
struct nv_slab *nv_new_slab(struct naive *n, struct nv_cpu *c, unsigned gfp,
			    int node);
void nv_discard(struct naive *n, struct nv_slab *s);
void nv_list_add(struct naive *n, struct nv_slab *s, bool tail);
void nv_list_del(struct naive *n, struct nv_slab *s);
/* __slab_free(); @chain is head first */
void nv_slab_free(struct naive *n, struct nv_cpu *c, struct nv_slab *s,
		  GQueue *chain);
void nv_do_free(struct naive *n, struct nv_cpu *c, struct nv_slab *s,
		GQueue *chain);
/* Bulk free by detached freelists, @relink: each reversed before it goes. */
void nv_free_detached(struct naive *n, struct nv_cpu *c, unsigned count,
		      struct naive_obj **p, bool relink);

/* ---- cpu slabs ---- */
struct naive_obj *nv_cpu_alloc(struct naive *n, struct nv_cpu *c, unsigned gfp,
			       int node);
unsigned nv_cpu_alloc_bulk(struct naive *n, struct nv_cpu *c, unsigned gfp,
			   unsigned count, struct naive_obj **p);
void nv_put_cpu_partial(struct naive *n, struct nv_cpu *c, struct nv_slab *s,
			bool drain);
void nv_flush_cpu_slab(struct naive *n, struct nv_cpu *c);

/* ---- sheaves ---- */
void nv_sheaves_init(struct naive *n);
bool nv_pcs_alloc(struct naive *n, struct nv_cpu *c, unsigned gfp, int node,
		  struct naive_obj **o);
bool nv_pcs_free(struct naive *n, struct nv_cpu *c, struct naive_obj *o);
unsigned nv_pcs_alloc_bulk(struct naive *n, struct nv_cpu *c, unsigned gfp,
			   unsigned count, struct naive_obj **p);
void nv_pcs_free_bulk(struct naive *n, struct nv_cpu *c, unsigned count,
		      struct naive_obj **p);
bool nv_pcs_kfree_rcu(struct naive *n, struct nv_cpu *c, struct naive_obj *o);
void nv_pcs_flush(struct naive *n, struct nv_cpu *c);
void nv_barn_shrink(struct naive *n, struct nv_cpu *c, int node);
void nv_retire_rcu(struct naive *n, struct nv_cpu *c);
void nv_run_callbacks(struct naive *n);
unsigned nv_refill(struct naive *n, struct nv_cpu *c, unsigned gfp,
		   unsigned want, struct naive_obj **p);
struct naive_obj *nv_slow_alloc(struct naive *n, struct nv_cpu *c, unsigned gfp,
				int node);

#endif
