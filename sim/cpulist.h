/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU and node lists as the kernel writes them: "0-3,32-35", also with a
 * stride, "0-62:2" (every second), and in the kernel's own form of that,
 * "0-62:1/2" (the first one of every two).
 *
 * A list is a bool per id, so that a hostile list takes no memory.
 */
#ifndef SIM_CPULIST_H
#define SIM_CPULIST_H

#include <stdbool.h>

/*
 * Sets set[id] for each id of @text, clears the others below @limit, and adds
 * the number of ids to *count (may be NULL). An id from @limit on or one that
 * is there twice is an error, so the work is bounded by @limit. Returns NULL,
 * or a newly allocated sentence: "'0-x', expected ...". An empty text is an
 * empty list.
 */
char *cpulist_parse(const char *text, int limit, bool *set, int *count);

/* The list of the ids below @limit that are set; newly allocated. */
char *cpulist_format(const bool *set, int limit);

#endif
