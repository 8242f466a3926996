/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/zs_class.h"

#include <glib.h>

static unsigned least_waste_chain(unsigned size, unsigned chain)
{
	unsigned best = 1, waste = ZS_PAGE % size;

	if (!(size & (size - 1)))
		return 1; /* a power of two divides the page */
	for (unsigned n = 2; n <= chain; n++)
		if (n * ZS_PAGE % size < waste) {
			waste = n * ZS_PAGE % size;
			best = n;
		}
	return best;
}

unsigned zs_class_shapes(unsigned chain, struct zs_class_shape *shapes)
{
	unsigned distinct = 0;

	g_assert(chain >= 1 && chain <= ZS_MAX_CHAIN);
	for (int i = ZS_CLASSES - 1; i >= 0; i--) {
		struct zs_class_shape *s = &shapes[i];

		s->index = i;
		s->size = MIN(ZS_MIN_ALLOC + i * ZS_CLASS_DELTA, ZS_MAX_ALLOC);
		s->pages_per_zspage = least_waste_chain(s->size, chain);
		s->objs_per_zspage = s->pages_per_zspage * ZS_PAGE / s->size;
		s->huge = s->pages_per_zspage == 1 && s->objs_per_zspage == 1;
		if (i < ZS_CLASSES - 1 &&
		    s[1].pages_per_zspage == s->pages_per_zspage &&
		    s[1].objs_per_zspage == s->objs_per_zspage)
			*s = s[1];
		else
			distinct++;
	}
	return distinct;
}

unsigned zs_class_index(unsigned size)
{
	size += ZS_HANDLE_SIZE;
	if (size <= ZS_MIN_ALLOC)
		return 0;
	return MIN((size - ZS_MIN_ALLOC + ZS_CLASS_DELTA - 1) / ZS_CLASS_DELTA,
		   ZS_CLASSES - 1);
}
