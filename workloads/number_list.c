/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/number_list.h"

#include <glib.h>

unsigned *number_list(const char *text, unsigned min, unsigned max)
{
	g_auto(GStrv) words = g_strsplit_set(text ? text : "", ",; ", -1);
	g_autoptr(GArray) a = g_array_new(TRUE, FALSE, sizeof(unsigned));

	for (char **w = words; *w; w++) {
		guint64 n;
		unsigned v;

		if (!**w)
			continue;
		if (!g_ascii_string_to_unsigned(*w, 10, min, max, &n, NULL))
			return NULL;
		v = (unsigned)n;
		g_array_append_val(a, v);
	}
	if (!a->len)
		return NULL;
	return (unsigned *)g_array_free(g_steal_pointer(&a), FALSE);
}
