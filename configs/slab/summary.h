/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slubsim import cache prints and writes about slab reports. */
#ifndef CONFIGS_SLAB_SUMMARY_H
#define CONFIGS_SLAB_SUMMARY_H

#include "configs/slab/check.h"

/* Sizes, checks, generation and rates per CPU of one report; @cpus: rows of
 * the table per CPU at most. */
void slab_summary(GString *out, const struct slab_report *r,
		  const GPtrArray *checks, const char *variant, int cpus);
/* One line per report: for /proc/slabinfo. */
void slab_table(GString *out, const GPtrArray *reports);

/* A line for each check that fails; whether there was one. */
bool slab_failures(GString *out, const struct slab_report *r,
		   const GPtrArray *checks);

/* The counters again in the plainest form, "name:total C0=n C1=n", for a
 * workload's counts=. */
char *slab_counts(const struct slab_report *r);

struct slab_conf {
	const char *topology; /* NULL: left to the user */
	const char *variants; /* ;-list */
	const char *counts;   /* path, or NULL: there are none per CPU */
	double scale;
};

/* Which workload a report can be replayed with: allocations and frees per CPU
 * are needed. */
bool slab_has_counts(const struct slab_report *r);
/* An experiment file that makes that cache and replays the counts. */
char *slab_experiment(const struct slab_report *r, const char *name,
		      const GPtrArray *checks, const struct slab_conf *conf);

#endif
