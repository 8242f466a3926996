/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be true of a slab report, checked: sums, products, flows; which
 * kernels have counters of these names; whether the sizes are those that the
 * model's rules give.
 */
#ifndef CONFIGS_SLAB_CHECK_H
#define CONFIGS_SLAB_CHECK_H

#include "configs/slab/slab.h"
#include "model/features.h"

enum slab_verdict {
	SLAB_HOLDS,
	SLAB_FAILS,
	SLAB_NEAR, /* within 0.1 %: read while the machine ran, or races */
};

struct slab_check {
	enum slab_verdict verdict;
	char *text; /* "total_objects = slabs x objs_per_slab: 7344 = ..." */
};

enum slab_generation {
	SLAB_NO_COUNTERS,
	SLAB_BEFORE_CPU_PARTIAL, /* 2.6.23 to 3.1 */
	SLAB_CPU_PARTIAL,	 /* 3.2 to 6.17 */
	SLAB_OPT_IN_SHEAVES,	 /* 6.18 and 6.19 */
	SLAB_ALL_SHEAVES,	 /* 7.0 on */
};

enum slab_generation slab_generation_of(const struct slab_report *r);
/* "sheaves only, 7.0 on"; static. */
const char *slab_generation_text(enum slab_generation g);
/* The shipped variant that is nearest to the kernel of a report. */
const char *slab_variant_of(const struct slab_report *r);

/* Whether the model has a counter of that name / sysfs an attribute. */
bool slab_is_counter(const char *name);
bool slab_is_attribute(const char *name);
/* Names that are neither: private counters of a patch; char *, owned. */
GPtrArray *slab_private_counters(const struct slab_report *r);

/* All that can be checked with what is there; struct slab_check *, owned. */
GPtrArray *slab_check_all(const struct slab_report *r);

/*
 * The sizes against model/geometry.h. @features: of the kernel it's thought to
 * be; @nr_cpus: the machine's, 0 = not known (then what depends on it is not
 * compared). Appends to @checks.
 */
void slab_check_geometry(const struct slab_report *r,
			 const struct features *features, const char *variant,
			 int nr_cpus, GPtrArray *checks);

/* Highest CPU number in any counter + 1; 0 = none. A lower bound only. */
int slab_cpus_seen(const struct slab_report *r);

#endif
