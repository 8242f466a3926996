/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who calls the allocator. A workload is a table of operations, like an fio
 * engine: its options (a param table), a way to run, and what it measures.
 *
 * run() gets a machine with an allocator on it, runs programs on its CPUs
 * (programs.h) and reports. It never prints. Adding a workload is
 * adding a file, with its name in workloads.c's table and in meson.build. The
 * smallest is null.c.
 */
#ifndef WORKLOADS_WORKLOAD_H
#define WORKLOADS_WORKLOAD_H

#include <glib.h>

#include "model/slub.h"
#include "sim/machine.h"
#include "sim/param.h"

/* What a workload reports; implemented by the runner (results/). Names are
 * lower case with the unit as suffix: "iops_per_s", "time_s", "pair_cycles". */
struct report;
void report_metric(struct report *r, const char *name, const char *unit,
		   bool higher_is_better, double value);
/* A value per key: per queue, per CPU, per bulk size ("iops" "queue" 3 ...) */
void report_series(struct report *r, const char *name, const char *unit,
		   const char *axis, double x, double value);
/* Simulated operations done (alloc or free), for ops per second. */
void report_operations(struct report *r, uint64_t ops);
/* A file as the kernel shows it, written at FOLDER/NAME of the point's results
 * ("sys/kernel/debug/zsmalloc/zram0", "classes"). */
void report_file(struct report *r, const char *folder, const char *name,
		 const char *text);

struct workload {
	const char *name;
	const char *help; /* one sentence */
	size_t options_size;
	const struct param_desc *options;
	void (*defaults)(void *options);
	/* Checks options against each other and the machine: NULL, or a
	 * sentence that begins with the key to blame, see param_blamed(). NULL =
	 * any options within their ranges will do. */
	char *(*check)(const void *options, const struct topology *t);
	/* Checks the files that the options name, before a run begins: NULL
	 * or such a sentence. Not asked by `slubsim check`: a config may name a
	 * file that is not here. NULL = it names none. */
	char *(*inputs)(const void *options);
	/* False with @error on what a user can cause. */
	bool (*run)(struct slub *sl, const void *options, uint64_t seed,
		    struct report *r, GError **error);
};

/* All of them, NULL-terminated; NULL if there is none of that name. */
extern const struct workload *const workloads[];
const struct workload *workload_find(const char *name);

#endif
