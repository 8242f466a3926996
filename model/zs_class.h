/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Size classes of zsmalloc: which sizes there are, over how many pages a
 * zspage of a class is chained, and which classes are one.
 *
 * Pure arithmetic, without a machine. Requests of 1..ZS_MAX_ALLOC bytes fall
 * into ZS_CLASSES slots, 16 bytes apart. Each slot takes the chain length
 * that leaves the least waste at its end; neighbours that agree in pages and
 * objects share the larger one's class. At the default chain size of 8 that
 * leaves 119 classes.
 */
#ifndef MODEL_ZS_CLASS_H
#define MODEL_ZS_CLASS_H

#include <stdbool.h>

#define ZS_PAGE 4096u
#define ZS_MIN_ALLOC 32u
#define ZS_MAX_ALLOC ZS_PAGE
#define ZS_CLASS_DELTA (ZS_PAGE >> 8)
#define ZS_CLASSES 255
#define ZS_HANDLE_SIZE 8u /* header of an object that shares its page */
#define ZS_MAX_CHAIN 16

struct zs_class_shape {
	unsigned index; /* the slot that gives the class its size */
	unsigned size;	/* bytes of an object, header included */
	unsigned pages_per_zspage, objs_per_zspage;
	bool huge; /* one object is one page: no header in it */
};

/* Fills @shapes[ZS_CLASSES]: slot i gets the class that serves it, so merged
 * slots have equal content. @chain is 1..ZS_MAX_CHAIN. Returns the number of
 * distinct classes. */
unsigned zs_class_shapes(unsigned chain, struct zs_class_shape *shapes);

/* The slot of a request of @size bytes, header not included. */
unsigned zs_class_index(unsigned size);

#endif
