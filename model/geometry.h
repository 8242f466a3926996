/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes that follow from an object's size by rule: what a slab of the cache
 * looks like, before any object exists.
 */
#ifndef MODEL_GEOMETRY_H
#define MODEL_GEOMETRY_H

#include "model/features.h"
#include "model/slub.h"

#define PAGE_BYTES 4096u
#define SLUB_MAX_ORDER 3     /* slub_max_order, PAGE_ALLOC_COSTLY_ORDER */
#define MAX_OBJS_PER_PAGE 32767 /* 15 bits in the slab's counters */
#define SHEAF_HEADER 32u     /* bytes before a sheaf's first pointer */

struct geometry {
	unsigned object_size; /* as asked for */
	unsigned align;	      /* effective */
	unsigned size;	      /* distance of objects (slab_size in sysfs) */
	unsigned offset;      /* of the free pointer inside an object */
	unsigned order, objects;	 /* preferred slab */
	unsigned min_order, min_objects; /* when memory is short */
	unsigned min_partial;	/* slabs a node list keeps even if empty */
	unsigned cpu_partial;	/* objects; 0 without cpu slabs */
	unsigned cpu_partial_slabs;
	unsigned sheaf_capacity; /* 0 = no sheaves */
};

/* @nr_cpus is the number of present CPUs. */
struct geometry kmem_cache_geometry(const struct features *f,
				    const struct kmem_cache_args *args,
				    int nr_cpus);

/* The limit in slabs that a limit in objects means. */
unsigned cpu_partial_to_slabs(unsigned cpu_partial, unsigned objects);

/* The kmalloc size class that holds @bytes: 8, 16, 32, 64, 96, 128, 192, 256,
 * 512 ... 8192. Larger requests are no slab's business: 0. */
unsigned kmalloc_size(size_t bytes);

#endif
