/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of the allocator, shared by the files of model/ only.
 *
 * Names are the kernel's. Where a struct has simulated counterparts, .line (or
 * .addr) is where the simulated one lives; the C struct is its content.
 *
 * An object is in exactly one place: with its user, in a slab's freelist, in a
 * cpu slab's freelist, or in a sheaf. kmem_cache_verify() proves it.
 */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include <string.h>

#include "model/geometry.h"
#include "model/list.h"
#include "model/slub.h"
#include "sim/lock.h"
#include "sim/memory.h"
#include "sim/step.h"

#define NO_OBJECT 0xffffu /* end of a freelist */
#define MAX_FULL_SHEAVES 10
#define MAX_EMPTY_SHEAVES 10
#define PCS_BATCH_MAX 32 /* objects moved per lock hold of a flush */

/* Where members lie in the simulated structs, bytes: the kernel's layout on 64
 * bits without debugging options. */
enum {
	SLAB_LIST = 16,	    /* links of a node's list; next of a chain */
	SLAB_CHAIN = 24,    /* how many slabs are in a cpu partial chain */
	SLAB_FREELIST = 32, /* freelist and counters, for cmpxchg16b */
	CPU_PARTIAL = 24,   /* of struct kmem_cache_cpu */
	NODE_LIST = 8,	    /* nr_partial, the list's head behind it */
	NODE_NR_SLABS = 32,
	NODE_TOTAL_OBJECTS = 40,
	SHEAF_SIZE = 24, /* objects behind SHEAF_HEADER bytes */
	BARN_FULL = 8,	 /* list heads */
	BARN_EMPTY = 24,
	BARN_COUNTS = 40,
	CACHE_NODES = 256, /* node and barn of each node id */
	CACHE_NODE_BYTES = 16,
};

/* struct slab: one line, the first struct page of its pages. */
struct slab {
	struct kmem_cache *cache;
	sim_addr base; /* first byte of the first object */
	sim_addr line; /* its struct page */
	int node;
	unsigned order;
	uint16_t objects, inuse;
	uint16_t freelist; /* index of the first free object */
	bool frozen;
	bool node_partial; /* SL_partial: on its node's list */
	uint32_t version;  /* changes with freelist and counters: what a
			    * cmpxchg16b compares */
	struct list_head list;	/* node partial list, or a private list */
	struct slab *next;	/* cpu partial chain, discard chains */
	unsigned slabs;		/* in the head of a cpu partial chain */
	unsigned pobjects;	/* the same in objects (2015) */
	struct list_head all;	/* of the cache, for the checker */
	uint16_t next_free[];	/* free pointer of each object */
};

/* A freelist taken out of its slab: a chain over slab->next_free. */
struct freelist {
	struct slab *slab;
	uint16_t head;
};

struct slab_sheaf {
	sim_addr addr;
	unsigned size, capacity;
	int node;	       /* rcu sheaves: whose barn gets it */
	int cpu;	       /* rcu sheaves: who queued it */
	struct list_head list; /* in a barn, or among the RCU callbacks */
	struct kmem_cache *cache;
	bool nobarn; /* rcu sheaf that was detached by a flush */
	sim_addr objects[];
};

struct node_barn {
	const struct insn_costs *cost;
	sim_addr line;
	struct sim_lock lock;
	struct domain *domain;
	struct list_head full, empty; /* LIFO */
	unsigned nr_full, nr_empty;
	int node;
};

struct kmem_cache_node {
	sim_addr line;
	struct sim_lock list_lock;
	struct list_head partial;
	unsigned nr_partial;
	unsigned nr_slabs, total_objects; /* atomics on the same line */
	int node;
};

/* What a CPU does again and again with its main sheaf: see single.c. */
struct private_step {
	/* told for this sheaf, for slots of this line, and if it is a free for
	 * objects of the slab with this struct page */
	sim_addr main, slot_line, slab;
	uint64_t *stat;
	struct cpu_step step;
};

/* One CPU's part of a cache. */
struct kmem_cache_cpu {
	/* cpu slab */
	sim_addr line;
	struct slab *slab;
	uint16_t freelist;
	struct slab *partial;
	/* slub_percpu_sheaves */
	sim_addr pcs_line;
	struct slab_sheaf *main, *spare, *rcu_free;
	struct private_step alloc, free;
	/* SLUB_STATS */
	sim_addr stat_line;
	uint64_t stat[NR_SLUB_STATS];
};

/* An object that waits for its grace period outside any sheaf. */
struct rcu_object {
	sim_addr obj;
	int cpu;
};

struct kmem_cache {
	char *name;
	struct slub *slub;
	const struct features *f; /* = slub->f */
	const struct insn_costs *cost;
	struct geometry g;
	unsigned flags; /* enum slab_flags */
	unsigned remote_node_defrag_ratio; /* 0..1000 */
	sim_addr line;	      /* line 0; the nodes at line + CACHE_NODES */
	sim_addr random_line; /* s->random; the permutation follows */
	uint16_t *random_seq;
	uint64_t reciprocal; /* of g.size */
	struct kmem_cache_cpu **cpu;   /* by CPU id, NULL = offline */
	struct kmem_cache_node **node; /* by node id, NULL = none */
	struct node_barn **barn;       /* by node id, NULL = none */
	struct list_head slabs;
	uint64_t allocs, frees; /* objects handed to and taken from users */
	GHashTable *lost;	/* addresses lost by bulk_free_loses_objects */
	GArray *rcu_batch;	/* kfree_rcu() without a sheaf: rcu_object */
	struct list_head prefilled; /* sheaves that users hold */
	struct kmem_cache *next;
};

/* Functions whose cycles are told apart; names in slub.c. */
#define SLUB_FRAMES(X)                                                         \
	X(kmem_cache_alloc) X(kmem_cache_free) X(kmem_cache_alloc_bulk)        \
	X(kmem_cache_free_bulk) X(___slab_alloc) X(__slab_free)                \
	X(get_partial_node) X(get_any_partial) X(deactivate_slab)              \
	X(put_cpu_partial) X(__put_partials) X(allocate_slab)                  \
	X(alloc_from_new_slab) X(discard_slab) X(__pcs_replace_empty_main)     \
	X(__pcs_replace_full_main) X(refill_sheaf) X(refill_objects)           \
	X(get_from_partial_node) X(get_from_any_partial)                       \
	X(__refill_objects_node) X(__refill_objects_any) X(sheaf_flush)        \
	X(alloc_empty_sheaf) X(kfree_rcu) X(rcu_free_sheaf) X(alloc_pages)     \
	X(free_pages) X(build_detached_freelist) X(kmem_cache_create)        \
	X(kmem_cache_prefill_sheaf) X(kmem_cache_return_sheaf)

enum slub_frame {
#define X(name) FR_##name,
	SLUB_FRAMES(X)
#undef X
	NR_SLUB_FRAMES
};

struct page_allocator;

struct slub {
	struct machine *machine;
	const struct features *f;
	const struct insn_costs *cost;
	struct page_allocator *pages;
	int nr_cpu_ids, nr_node_ids;
	struct kmem_cache *caches, **last_cache;
	GHashTable *kmalloc;   /* size -> kmem_cache */
	GHashTable *kmem_free; /* size and node -> free helper memory */
	struct list_head rcu;  /* sheaves whose grace period runs, in order */
	struct cache_tuning tuning;
	int64_t fixed_cycles;  /* get_cycles() of the ratio test, -1 = random */
	struct domain *everyone;
	int frame[NR_SLUB_FRAMES];
	const char **attr_names; /* sysfs.c's, made at first use */
	const struct zs_build *zs_build; /* see slub.h */
};

static inline struct kmem_cache_cpu *this_cpu(const struct kmem_cache *s,
					      const struct cpu *c)
{
	return s->cpu[c->id];
}

/* numa_mem_id(): only kernels with HAVE_MEMORYLESS_NODES know better than
 * the CPU's own node. */
static inline int numa_mem_id(const struct kmem_cache *s, const struct cpu *c)
{
	return s->f->have_memoryless_nodes ? c->mem_node : c->node;
}

static inline struct kmem_cache_node *get_node(const struct kmem_cache *s,
					       int node)
{
	return s->node[node];
}

/* Counting costs a write to the CPU's own counter line; the instructions are
 * part of the measured steps. */
static inline void stat_add(struct kmem_cache *s, struct cpu *c,
			    enum slub_stat stat, uint64_t n)
{
	struct kmem_cache_cpu *p = this_cpu(s, c);

	p->stat[stat] += n;
	if (s->f->slub_stats)
		cpu_write(c, p->stat_line + 4 * stat);
}
static inline void stat(struct kmem_cache *s, struct cpu *c,
			enum slub_stat stat)
{
	stat_add(s, c, stat, 1);
}

static inline void enter(struct kmem_cache *s, struct cpu *c,
			 enum slub_frame frame)
{
	cpu_enter(c, s->slub->frame[frame]);
}

/* ---- slab.c: slabs and their freelists ---- */

struct slab *slab_of(const struct slub *sl, sim_addr obj);
static inline unsigned object_index(const struct slab *slab, sim_addr obj)
{
	/* exact for all offsets below 2^32 with the rounded-up reciprocal */
	return (unsigned)(((unsigned __int128)(obj - slab->base) *
			   slab->cache->reciprocal) >> 64);
}
static inline sim_addr object_addr(const struct slab *slab, unsigned i)
{
	return slab->base + (sim_addr)i * slab->cache->g.size;
}
static inline sim_addr freeptr_addr(const struct slab *slab, unsigned i)
{
	return object_addr(slab, i) + slab->cache->g.offset;
}
/* Free pointer of object @i: read (stalls) and written through memory. */
uint16_t get_freepointer(struct cpu *c, struct slab *slab, unsigned i);
void set_freepointer(struct cpu *c, struct slab *slab, unsigned i,
		     uint16_t next);

/*
 * A new slab from the page allocator, all objects free on its freelist (or not
 * yet: with bulk_refill_freelist the taker builds it), counted nowhere. NULL if
 * there is no memory.
 */
struct slab *new_slab(struct cpu *c, struct kmem_cache *s, unsigned gfp,
		      int node);
/* Gives a slab that is on no list back to the page allocator. */
void discard_slab(struct cpu *c, struct kmem_cache *s, struct slab *slab);
/* Without accounting (a slab that was never put to use, shrink). */
void free_slab(struct cpu *c, struct kmem_cache *s, struct slab *slab);
void inc_slabs_node(struct cpu *c, struct kmem_cache *s, struct slab *slab);
void dec_slabs_node(struct cpu *c, struct kmem_cache *s, struct slab *slab);
/*
 * Takes up to @n objects of a new slab into @objs, links the rest and puts the
 * slab to use (on the node list's head if objects are left). Returns how many.
 */
unsigned alloc_from_new_slab(struct cpu *c, struct kmem_cache *s,
			     struct slab *slab, unsigned n, sim_addr *objs);
/* Takes the whole freelist out of @slab in one cmpxchg16b. */
uint16_t take_freelist(struct cpu *c, struct slab *slab, bool freeze);
/* Reads the slab's line and returns its version as it is when that came. */
static inline uint32_t meet_slab(struct cpu *c, struct slab *slab)
{
	cpu_read(c, slab->line);
	cpu_meet(c, slab->cache->slub->everyone);
	return slab->version;
}
/* cmpxchg16b on the slab line: false if somebody changed it since @version. */
bool slab_cmpxchg(struct cpu *c, struct slab *slab, uint32_t version);

/* ---- node.c: node partial lists ---- */

void add_partial(struct cpu *c, struct kmem_cache_node *n, struct slab *slab,
		 bool tail);
void remove_partial(struct cpu *c, struct kmem_cache_node *n,
		    struct slab *slab);
/* False: this time no other node's list is looked at. */
bool defrag_ratio_allows(struct cpu *c, struct kmem_cache *s);
/*
 * Walks the nodes that get_any_partial() would, in its order: *@pos starts at
 * 0; returns a node whose list holds more than min_partial slabs, NULL at the
 * end.
 */
struct kmem_cache_node *next_node_to_rob(struct cpu *c, struct kmem_cache *s,
					 unsigned gfp, int *pos);
/* The slow half of free: objects head..tail of one slab, @cnt of them. */
void __slab_free(struct cpu *c, struct kmem_cache *s, struct slab *slab,
		 uint16_t head, uint16_t tail, unsigned cnt);
/* One slab's @n addresses, back to it (flushes and single slow frees). */
void slab_free_one(struct cpu *c, struct kmem_cache *s, sim_addr obj);

/* ---- cpu_slab.c: the front end up to 6.19 ---- */

sim_addr cpu_slab_alloc(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			int node);
/* @objs head..tail already linked in @slab. */
void cpu_slab_free(struct cpu *c, struct kmem_cache *s, struct slab *slab,
		   uint16_t head, uint16_t tail, unsigned cnt);
unsigned cpu_slab_alloc_bulk(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			     unsigned n, sim_addr *objs);
void put_cpu_partial(struct cpu *c, struct kmem_cache *s, struct slab *slab,
		     bool drain);
/* Empties a CPU's cpu slab and partial list; runs on that CPU. */
void flush_cpu_slab(struct cpu *c, struct kmem_cache *s);

/* ---- sheaf.c: the front end from 6.18 on ---- */

static inline sim_addr sheaf_slot(const struct slab_sheaf *sheaf, unsigned i)
{
	return sheaf->addr + SHEAF_HEADER + 8 * i;
}
static inline bool cache_has_sheaves(const struct kmem_cache *s)
{
	return s->g.sheaf_capacity > 0;
}
void init_percpu_sheaves(struct cpu *c, struct kmem_cache *s);
sim_addr alloc_from_pcs(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			int node);
/* May an object of @node's memory be put into this CPU's sheaf? */
bool can_free_to_pcs(struct cpu *c, const struct kmem_cache *s, int node);
bool free_to_pcs(struct cpu *c, struct kmem_cache *s, sim_addr obj);
unsigned alloc_from_pcs_bulk(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			     unsigned n, sim_addr *objs);
/* Frees @n objects, reordering @objs; all of them find a place. */
void free_to_pcs_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
		      sim_addr *objs);
void pcs_flush_all(struct cpu *c, struct kmem_cache *s);
/* An empty sheaf's memory and its release, neither counted. */
struct slab_sheaf *sheaf_new(struct cpu *c, struct kmem_cache *s,
			     unsigned capacity);
void kmem_free_sheaf(struct kmem_cache *s, struct slab_sheaf *sheaf);
/* Fills an empty or partly filled sheaf up; false if that is not possible. */
bool refill_sheaf(struct cpu *c, struct kmem_cache *s, struct slab_sheaf *sheaf,
		  unsigned gfp);
struct slab_sheaf *alloc_empty_sheaf(struct cpu *c, struct kmem_cache *s,
				     unsigned gfp);
void free_empty_sheaf(struct cpu *c, struct kmem_cache *s,
		      struct slab_sheaf *sheaf);
void sheaf_flush_unused(struct cpu *c, struct kmem_cache *s,
			struct slab_sheaf *sheaf);
/* Frees a sheaf's C memory without simulating anything (teardown). */
void sheaf_destroy(struct slab_sheaf *sheaf);

/* ---- barn.c ---- */

struct node_barn *barn_create(struct cpu *c, struct kmem_cache *s, int node);
/* The barn that this CPU uses, NULL if its node has none. */
struct node_barn *get_barn(struct cpu *c, struct kmem_cache *s);
struct slab_sheaf *barn_get_empty_sheaf(struct cpu *c, struct node_barn *b);
void barn_put_empty_sheaf(struct cpu *c, struct node_barn *b,
			  struct slab_sheaf *sheaf);
void barn_put_full_sheaf(struct cpu *c, struct node_barn *b,
			 struct slab_sheaf *sheaf);
struct slab_sheaf *barn_get_full_or_empty_sheaf(struct cpu *c,
						struct node_barn *b);
struct slab_sheaf *barn_replace_empty_sheaf(struct cpu *c, struct node_barn *b,
					    struct slab_sheaf *empty);
enum barn_replace { BARN_REPLACED, BARN_TOO_FULL, BARN_NO_EMPTY };
enum barn_replace barn_replace_full_sheaf(struct cpu *c, struct node_barn *b,
					  struct slab_sheaf *full,
					  struct slab_sheaf **empty);
void barn_shrink(struct cpu *c, struct kmem_cache *s, struct node_barn *b);

/* ---- refill.c: objects for a sheaf, from slabs ---- */

/* Gets up to @max objects, at least @min if at all possible. */
unsigned refill_objects(struct cpu *c, struct kmem_cache *s, sim_addr *objs,
			unsigned gfp, unsigned min, unsigned max);
/* One object, the slow way of kernels without cpu slabs. */
sim_addr slab_alloc_slow(struct cpu *c, struct kmem_cache *s, unsigned gfp,
			 int node);

/* ---- bulk.c ---- */

/* Back to slabs by detached freelists; uncounted but for cpu-slab kernels. */
void __kmem_cache_free_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
			    sim_addr *objs);

/* The same for objects that come straight from a caller. */
void slab_free_bulk(struct cpu *c, struct kmem_cache *s, unsigned n,
		    sim_addr *objs);

/* ---- rcu.c ---- */

void call_rcu_sheaf(struct slub *sl, struct slab_sheaf *sheaf);

/* ---- memory of the allocator itself (sheaves, barns) ---- */

/* @bytes from the kmalloc class that they land in, near @node. The caller
 * prices the call; only addresses come from here. */
sim_addr kmem_alloc(struct slub *sl, int node, size_t bytes);
void kmem_free(struct slub *sl, sim_addr addr, size_t bytes);

/* ---- page_alloc.c ---- */

struct page_allocator *page_allocator_new(struct slub *sl);
void page_allocator_free(struct page_allocator *pa);
/* Of the page at @addr: its slab, that one's cache and struct page. All that most
 * frees need to know of an object; the slab itself they leave alone. */
struct page_owner {
	struct slab *slab; /* NULL: none, and nothing else is valid */
	const struct kmem_cache *cache;
	sim_addr line;
};
const struct page_owner *page_owner(const struct page_allocator *pa,
				    sim_addr addr);
struct slab *page_slab(const struct page_allocator *pa, sim_addr addr);
/* The same for any address, NULL if it is in no slab (the checker's). */
struct slab *page_slab_checked(const struct page_allocator *pa, sim_addr addr);
void page_set_slab(struct page_allocator *pa, sim_addr addr, unsigned order,
		   struct slab *slab);
/* Nodes with memory nearest first from @node; returns how many. */
int page_zonelist(const struct page_allocator *pa, int node,
		  const int **order);
/* What a CPU keeps of a node's pages now (for tests). */
struct pcp_state {
	unsigned count, high, batch; /* pages */
	unsigned blocks[4];	     /* by order */
};
struct pcp_state page_pcp_state(struct page_allocator *pa, struct cpu *c,
				int node);

#endif
