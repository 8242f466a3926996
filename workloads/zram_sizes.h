/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large compressed pages are: a distribution to draw from.
 *
 * Named ones, or a file: lines of "SIZE WEIGHT", '#' comments. SIZE 0 stands
 * for a page of one repeated word, which zram keeps without an object; weights
 * are relative.
 */
#ifndef WORKLOADS_ZRAM_SIZES_H
#define WORKLOADS_ZRAM_SIZES_H

#include <glib.h>
#include <stdint.h>

struct size_mix; /* a distribution */

/* @name is a named one, or a path. NULL with @error set. */
struct size_mix *size_mix_new(const char *name, GError **error);
void size_mix_free(struct size_mix *m);
/* A size for the random number @r. */
unsigned size_mix_draw(const struct size_mix *m, uint64_t r);
double size_mix_mean(const struct size_mix *m);
extern const char *const size_mix_names[]; /* NULL-terminated */

#endif
