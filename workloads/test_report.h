/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test only: keeps what a workload reports, in place of results/. Included by
 * one file of a test. struct report begins as zeros; report_clear() frees it.
 */
#ifndef WORKLOADS_TEST_REPORT_H
#define WORKLOADS_TEST_REPORT_H

#include "workloads/workload.h"

struct report {
	GHashTable *values; /* name of a metric -> double * */
	GHashTable *points; /* axis of series -> values so far, as a pointer */
	uint64_t ops;
};

void report_metric(struct report *r, const char *name, const char *unit,
		   bool higher_is_better, double value)
{
	if (!r->values)
		r->values = g_hash_table_new_full(g_str_hash, g_str_equal,
						  g_free, g_free);
	g_hash_table_insert(r->values, g_strdup(name),
			    g_memdup2(&value, sizeof(value)));
}

void report_series(struct report *r, const char *name, const char *unit,
		   const char *axis, double x, double value)
{
	gpointer n;

	if (!r->points)
		r->points = g_hash_table_new_full(g_str_hash, g_str_equal,
						  g_free, NULL);
	n = g_hash_table_lookup(r->points, axis);
	g_hash_table_insert(r->points, g_strdup(axis),
			    GUINT_TO_POINTER(GPOINTER_TO_UINT(n) + 1));
}

void report_file(struct report *r, const char *folder, const char *name,
		 const char *text)
{
}

void report_operations(struct report *r, uint64_t ops)
{
	r->ops += ops;
}

/* 0 if it was not reported. */
static inline double reported(const struct report *r, const char *name)
{
	double *v = r->values ? g_hash_table_lookup(r->values, name) : NULL;

	return v ? *v : 0;
}

static inline unsigned reported_points(const struct report *r, const char *axis)
{
	return r->points ?
		       GPOINTER_TO_UINT(g_hash_table_lookup(r->points, axis)) :
		       0;
}

static inline void report_clear(struct report *r)
{
	g_clear_pointer(&r->values, g_hash_table_destroy);
	g_clear_pointer(&r->points, g_hash_table_destroy);
	r->ops = 0;
}

#endif
