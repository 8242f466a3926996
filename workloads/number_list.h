/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that are lists of numbers: "384,777", "1;2;4", "64 128".
 */
#ifndef WORKLOADS_NUMBER_LIST_H
#define WORKLOADS_NUMBER_LIST_H

/*
 * The numbers of @text as a newly allocated, 0-ended array; the caller frees.
 * NULL if one is none or not in @min (at least 1) to @max, or if there is
 * none at all; @text may be NULL.
 */
unsigned *number_list(const char *text, unsigned min, unsigned max);

#endif
