/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test only: results made by hand, with known values. */
#ifndef RESULTS_TEST_FIXTURE_H
#define RESULTS_TEST_FIXTURE_H

#include "results/result.h"

/* Variants "base" and "new", three iterations each (seeds 1, 2, 3): iops_per_s
 * 30e6, 34e6, 38e6 and 13e6, 14e6, 15e6; a series iops_per_s over queue 0, 1
 * (half of that each); 1000 operations; an account; a lock; a cache. */
struct result *fixture_result(void);
struct point *fixture_point(const char *variant, int iteration, double iops,
			    uint64_t lock_wait);
/* A folder under the tests' temporary folder, newly allocated; and its end. */
char *fixture_dir(void);
void fixture_remove(const char *dir);
char *fixture_read(const char *dir, const char *name);

#endif
