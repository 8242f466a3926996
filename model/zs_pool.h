/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zsmalloc's own structures, for the files zs_*.c and zsmalloc.c only.
 *
 * Each struct has a host part (what it holds) and an address (where the
 * kernel's struct would be, so that its lines are touched). Offsets within
 * are those of the kernel's layout on 64 bits without debugging.
 */
#ifndef MODEL_ZS_POOL_H
#define MODEL_ZS_POOL_H

#include "model/zsmalloc.h"
#include "sim/lock.h"
#include "sim/memory.h"

/* Location word: page frame of where the object starts, index in its zspage.
 * 24 bits of index remain of 64 where 52 address bits minus 12 name a page. */
#define ZS_INDEX_BITS 24
typedef uint64_t zs_obj;

enum { /* offsets, bytes */
	ZSPAGE_FLAGS = 0,  /* huge, fullness, class, magic; inuse; freeobj */
	ZSPAGE_LOCK = 48,
	ZSPAGE_BYTES = 56,
	CLASS_LOCK = 0,
	CLASS_LISTS = 8, /* two words a list head */
	CLASS_SIZE = 200,
	CLASS_STATS = 216, /* one word per group, then objects */
	CLASS_BYTES = 328,
	POOL_CLASSES = 8,
	POOL_PAGES = POOL_CLASSES + 8 * ZS_CLASSES,
	POOL_LOCK = POOL_PAGES + 8 + 32 + 32, /* behind statistics, shrinker */
	POOL_BYTES = POOL_LOCK + 8,
};
/* Statistics words of a class behind the groups' own. */
enum { ZS_STAT_ALLOCATED = ZS_GROUPS, ZS_STAT_INUSE, NR_ZS_STATS };

struct zspage {
	uint64_t id; /* number in order of creation */
	sim_addr addr;
	struct zs_class *class;
	int group;
	unsigned inuse;
	int freeobj; /* first free index, -1 = none */
	int locked_pages; /* page locks that somebody outside holds */
	struct sim_lock lock;
	int readers; /* zspage read locks held, -1 = write locked */
	GList node;  /* on class->groups[group] unless isolated */
	bool isolated;
	sim_addr *pages; /* pages_per_zspage */
	/* The word at the start of each object: a handle, or 0 and the next
	 * free index beside it. */
	sim_addr *handle;
	int *next_free;
};

struct zs_class {
	struct zs_class_shape shape;
	sim_addr addr;
	struct sim_lock lock;
	GQueue groups[ZS_GROUPS];
	uint64_t stats[NR_ZS_STATS];
};

struct zs_frames {
	int malloc, free, store, write, read, obj_malloc, obj_free, obj_write,
		find, fix_fullness, alloc_zspage, free_zspage, compact;
};

struct zs_pool {
	char *name;
	struct slub *slub;
	const struct zs_build *build;
	struct zs_costs costs;
	struct zs_frames frame;
	sim_addr addr;
	struct sim_rwlock lock;
	struct zs_class *class[ZS_CLASSES]; /* merged slots share */
	struct kmem_cache *handle_cache, *zspage_cache;
	uint64_t pages_allocated, pages_compacted, zspages_made;
	GHashTable *words;  /* handle -> zs_obj: the handles' contents */
	GHashTable *frames; /* page frame -> its struct zspage */
	bool deferred;	    /* the worker is scheduled */
};

/* Instructions, and taken branches among them that fetch waits for. */
static inline void zs_exec(struct cpu *c, const struct zs_pool *pool,
			   unsigned instructions, int branches)
{
	cpu_exec(c, instructions);
	cpu_stall(c, branches * pool->costs.branch_cycles);
}

/* ---- zs_zspage.c ---- */

struct zspage *alloc_zspage(struct cpu *c, struct zs_pool *pool,
			    struct zs_class *class, unsigned gfp, int nid);
/* Under class->lock: false if a page lock was held elsewhere; then the worker
 * is scheduled and the zspage stays. Frees @z if not. */
bool free_zspage(struct cpu *c, struct zs_pool *pool, struct zspage *z);
struct zspage *find_get_zspage(struct cpu *c, struct zs_pool *pool,
			       struct zs_class *class);
void insert_zspage(struct cpu *c, struct zspage *z, int group);
void remove_zspage(struct cpu *c, struct zspage *z);
int get_fullness_group(const struct zspage *z);
/* Moves @z to the list of its fullness; returns the group. */
int fix_fullness_group(struct cpu *c, struct zs_pool *pool, struct zspage *z);
void class_stat_add(struct cpu *c, struct zs_class *class, int stat, int by);
/* Host memory only; the machine keeps the lines. */
void zspage_release(struct zs_pool *pool, struct zspage *z);

/* ---- zs_object.c ---- */

struct zs_place { /* what a location word says */
	struct zspage *zspage;
	unsigned index, page; /* page of the zspage, not a frame */
};
zs_obj handle_word(const struct zs_pool *pool, sim_addr handle);
struct zs_place obj_to_location(const struct zs_pool *pool, zs_obj obj);
sim_addr object_address(const struct zspage *z, unsigned index);
static inline sim_addr zspage_struct_page(const struct zs_pool *pool,
					  const struct zspage *z, unsigned page)
{
	return page_struct(pool->slub, z->pages[page]);
}

/* Under class->lock. */
zs_obj obj_malloc(struct cpu *c, struct zs_pool *pool, struct zspage *z,
		  sim_addr handle);
void obj_free(struct cpu *c, struct zs_pool *pool, zs_obj obj);
/* Copies @len bytes in; the object can't move meanwhile. */
void object_copy_in(struct cpu *c, struct zs_pool *pool, struct zs_place at,
		    sim_addr from, unsigned len);
/* zs_store()'s: the same from the location word that obj_malloc() made. */
void obj_write(struct cpu *c, struct zs_pool *pool, zs_obj obj, sim_addr from,
	       unsigned len);
bool object_spans(const struct zspage *z, unsigned index, unsigned len);

/* The zspage's reader count, guarded by its spinlock. */
void zspage_read_lock(struct cpu *c, struct zs_pool *pool, struct zspage *z);
void zspage_read_unlock(struct cpu *c, struct zs_pool *pool, struct zspage *z);
bool zspage_write_trylock(struct cpu *c, struct zs_pool *pool,
			  struct zspage *z);
void zspage_write_unlock(struct cpu *c, struct zs_pool *pool,
			 struct zspage *z);

#endif
