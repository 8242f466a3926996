/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often each CPU allocated and freed, from a posted SLUB_STATS dump of one
 * cache, in whatever form slubsim import cache reads (configs/slab). Fast and
 * slow path counters (and those of sheaves beside cpu slabs) are added up.
 */
#ifndef WORKLOADS_COUNTS_H
#define WORKLOADS_COUNTS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define COUNTS_ERROR counts_error_quark()
GQuark counts_error_quark(void);

/*
 * Where the dump named @name is: a path, or, without a slash and if no file here
 * has that name, among the published ones. Newly allocated.
 */
char *counts_path(const char *name);

/* What is wrong with it whatever the machine: NULL, or a sentence. */
char *counts_check(const char *name);

/*
 * Adds to @allocs and @frees, which have room for @nr_cpus. False with @error
 * "FILE:LINE: what, expected what": a count that is no number, a CPU that the
 * machine lacks, parts that don't sum to the total (a cut line), no counters,
 * more than one cache.
 */
bool counts_read(const char *file, int nr_cpus, uint64_t *allocs,
		 uint64_t *frees, GError **error);

/* The total of one counter of a dump that counts_read() took; 0 if the dump
 * has no such counter. */
uint64_t counts_total(const char *file, const char *counter);

#endif
