/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/geometry.h"

/* A fixed-size table by the size of an object, largest first. */
struct by_size {
	unsigned from, value;
};

static unsigned by_size(const struct by_size *t, unsigned size)
{
	while (size < t->from)
		t++;
	return t->value;
}

static unsigned order_of(unsigned bytes)
{
	unsigned order = 0;

	while ((PAGE_BYTES << order) < bytes)
		order++;
	return order;
}

static unsigned fls(unsigned x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static unsigned align_of(const struct kmem_cache_args *a)
{
	unsigned align = a->align;

	if (a->flags & SLAB_HW_ALIGN) {
		unsigned line = SIM_LINE;

		/* small objects may share a line as long as none straddles */
		while (a->object_size <= line / 2)
			line /= 2;
		align = MAX(align, line);
	}
	align = MAX(align, 8);
	return (align + 7) & ~7u;
}

/*
 * Smallest order whose waste is at most 1/fraction of the slab, or -1. The
 * search begins where @min_objects fit.
 */
static int order_for_waste(unsigned size, unsigned min_order, unsigned fraction)
{
	for (unsigned order = min_order; order <= SLUB_MAX_ORDER; order++) {
		unsigned bytes = PAGE_BYTES << order;

		if (bytes % size <= bytes / fraction)
			return order;
	}
	return -1;
}

static unsigned slab_order(const struct features *f, unsigned size, int nr_cpus)
{
	unsigned min_objects = 4 * (fls(nr_cpus) + 1);
	unsigned fit = (PAGE_BYTES << SLUB_MAX_ORDER) / size;
	int order;

	min_objects = MIN(min_objects, fit);
	if (f->order_rule == ORDER_BY_FRACTION) {
		unsigned min_order = order_of(MAX(min_objects, 1) * size);

		for (unsigned fraction = 16; fraction > 1; fraction /= 2) {
			order = order_for_waste(size, min_order, fraction);
			if (order >= 0)
				return order;
		}
	} else {
		/* older kernels give up objects before they give up fit */
		for (; min_objects > 1; min_objects--) {
			for (unsigned fraction = 16; fraction >= 4;
			     fraction /= 2) {
				order = order_for_waste(
					size, order_of(min_objects * size),
					fraction);
				if (order >= 0)
					return order;
			}
		}
	}
	return order_of(size);
}

unsigned kmalloc_size(size_t bytes)
{
	unsigned size = 8;

	if (bytes > 2 * PAGE_BYTES)
		return 0;
	if (bytes > 64 && bytes <= 96)
		return 96;
	if (bytes > 128 && bytes <= 192)
		return 192;
	while (size < bytes)
		size *= 2;
	return size;
}

static unsigned sheaf_capacity(const struct features *f,
			       const struct kmem_cache_args *a, unsigned size)
{
	static const struct by_size base[] = {
		{4096, 4}, {1024, 12}, {256, 26}, {0, 60}};
	unsigned cap;

	if (f->sheaves == SHEAVES_NONE || a->flags & SLAB_NO_SHEAVES)
		return 0;
	if (f->sheaves == SHEAVES_OPT_IN)
		return a->sheaf_capacity;
	/* fill the kmalloc object that the array lands in anyway */
	cap = by_size(base, size);
	cap = (kmalloc_size(SHEAF_HEADER + 8 * cap) - SHEAF_HEADER) / 8;
	return MAX(cap, a->sheaf_capacity);
}

unsigned cpu_partial_to_slabs(unsigned cpu_partial, unsigned objects)
{
	/* slabs on a cpu partial list are taken to be half full */
	return (2 * cpu_partial + objects - 1) / objects;
}

struct geometry kmem_cache_geometry(const struct features *f,
				    const struct kmem_cache_args *a,
				    int nr_cpus)
{
	static const struct by_size partial_2015[] = {
		{4096, 2}, {1024, 6}, {256, 13}, {0, 30}};
	static const struct by_size partial_now[] = {
		{4096, 6}, {1024, 24}, {256, 52}, {0, 120}};
	struct geometry g = {.object_size = a->object_size};
	unsigned size = (a->object_size + 7) & ~7u;

	g.align = align_of(a);
	if (a->flags & (SLAB_RCU | SLAB_CTOR)) {
		/* the object must stay intact while it is free */
		g.offset = size;
		size += 8;
	} else if (f->freeptr_in_middle) {
		g.offset = (a->object_size / 2) & ~7u;
	}
	g.size = (size + g.align - 1) / g.align * g.align;
	g.order = slab_order(f, g.size, nr_cpus);
	g.objects = MIN((PAGE_BYTES << g.order) / g.size, MAX_OBJS_PER_PAGE);
	g.min_order = order_of(g.size);
	g.min_objects =
		MIN((PAGE_BYTES << g.min_order) / g.size, MAX_OBJS_PER_PAGE);
	g.min_partial = CLAMP((fls(g.size) - 1) / 2, 5, 10);
	if (f->cpu_slabs && f->cpu_partial) {
		g.cpu_partial = by_size(f->cpu_partial_in_objects ? partial_2015
								  : partial_now,
					g.size);
		g.cpu_partial_slabs =
			cpu_partial_to_slabs(g.cpu_partial, g.objects);
	}
	g.sheaf_capacity = sheaf_capacity(f, a, g.size);
	return g;
}
