/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zsmalloc as zram and zswap see it: a pool of compressed objects.
 *
 * A pool stands on the same machine and the same struct slub as everything
 * else: handles and zspages are slab objects, memory comes from the page
 * allocator as order-0 pages, and every lock, list head, handle and object
 * header is a simulated line. A handle is the simulated address of an 8-byte
 * slab object; it stays valid while compaction moves what it names. 0 is
 * never a handle.
 *
 * The steps behind the calls: zs_class.c (size classes), zs_zspage.c (zspages
 * and fullness groups), zs_object.c (objects in zspages), zsmalloc.c (the
 * calls), zs_compact.c, zs_stat.c (what debugfs shows), zs_verify.c.
 *
 * Ownership: zs_destroy_pool() frees the host's memory; simulated memory goes
 * with the machine.
 */
#ifndef MODEL_ZSMALLOC_H
#define MODEL_ZSMALLOC_H

#include "model/slub.h"
#include "model/zs_class.h"
#include "model/zs_codegen.h"
#include "model/zs_features.h"

struct zs_pool;

/* How a kernel's zsmalloc is written and how it was compiled. */
struct zs_build {
	struct zs_features features;
	struct zs_codegen codegen; /* not looked at on a timeless machine */
};

/* Runs on @c; borrows @sl, @name and @b. */
struct zs_pool *zs_create_pool(struct slub *sl, struct cpu *c,
			       const char *name, const struct zs_build *b);
void zs_destroy_pool(struct zs_pool *pool);

/*
 * Allocates @size bytes near @nid (NO_NODE: where the caller runs) and returns
 * 0 with *@handle set, or EINVAL (size 0), ENOSPC (too large) or ENOMEM.
 */
int zs_malloc(struct cpu *c, struct zs_pool *pool, unsigned size, unsigned gfp,
	      int nid, sim_addr *handle);
/* The same with the @size bytes at @from written into it. Needs the feature
 * zs_store; zs_save() takes whichever way the pool's features have. */
int zs_store(struct cpu *c, struct zs_pool *pool, sim_addr from, unsigned size,
	     unsigned gfp, int nid, sim_addr *handle);
int zs_save(struct cpu *c, struct zs_pool *pool, sim_addr from, unsigned size,
	    unsigned gfp, int nid, sim_addr *handle);
void zs_free(struct cpu *c, struct zs_pool *pool, sim_addr handle);

void zs_obj_write(struct cpu *c, struct zs_pool *pool, sim_addr handle,
		  sim_addr from, unsigned len);
/*
 * Reading @len bytes: between begin and end the object cannot move. begin
 * returns where the bytes are: the object itself, or @bounce (@len bytes of
 * the caller's), into which an object that spans two pages was copied.
 */
sim_addr zs_obj_read_begin(struct cpu *c, struct zs_pool *pool,
			   sim_addr handle, unsigned len, sim_addr bounce);
void zs_obj_read_end(struct cpu *c, struct zs_pool *pool, sim_addr handle);

/* Moves objects from the emptiest zspages to the fullest, class by class;
 * returns the pages freed. */
uint64_t zs_compact(struct cpu *c, struct zs_pool *pool);
/* Pages that zs_compact() could free. */
uint64_t zs_compactable(const struct zs_pool *pool);

/*
 * Somebody outside (reclaim, a migration) holds the page lock of the page
 * that @handle's object begins in, until it is given back by its address.
 * A zspage that becomes empty meanwhile cannot be freed: it waits in the
 * empty group for zs_free_deferred(), the pool's worker, or for reuse.
 */
sim_addr zs_page_lock(struct zs_pool *pool, sim_addr handle);
void zs_page_unlock(struct zs_pool *pool, sim_addr page);
void zs_free_deferred(struct cpu *c, struct zs_pool *pool);

/* ---- what the kernel shows ---- */

#define ZS_GROUPS 12 /* empty, 10 % .. 90 %, 99 %, full */
enum zs_group { ZS_EMPTY = 0, ZS_ALMOST_FULL = 10, ZS_FULL = 11 };

struct zs_class_stats {
	unsigned index, size, pages_per_zspage, objs_per_zspage;
	uint64_t zspages[ZS_GROUPS];
	uint64_t obj_allocated, obj_used, pages_used, freeable;
};
/* Walks the distinct classes, smallest first: fills @s for the first class
 * whose index is at least @from. False when there is none. */
bool zs_class_stats(const struct zs_pool *pool, unsigned from,
		    struct zs_class_stats *s);
uint64_t zs_get_total_pages(const struct zs_pool *pool);
uint64_t zs_pages_compacted(const struct zs_pool *pool);
/* The file debugfs zsmalloc/POOL/classes; newly allocated. */
char *zs_classes_show(const struct zs_pool *pool);

/* Where an object is, for comparisons: the zspage's number in order of
 * creation and the index in it. */
void zs_handle_place(const struct zs_pool *pool, sim_addr handle,
		     uint64_t *zspage, unsigned *index);

/* ---- the checker ---- */

/* Proves that every object is in one place, free lists and fullness groups
 * are what the objects say, and all counts agree; @held are the caller's @n
 * handles. NULL or a newly allocated sentence. */
char *zs_verify(const struct zs_pool *pool, const sim_addr *held, size_t n);
/* Test only: breaks the state in way @kind of zs_corruptions(); false where
 * there is nothing of that kind to break. */
bool zs_corrupt(struct zs_pool *pool, int kind);
int zs_corruptions(void);

#endif
