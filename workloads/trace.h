/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace: replays a recorded kmem trace.
 *
 * Order. On a timed machine there is one program per CPU that works through
 * that CPU's events: their order on a CPU is the trace's. Between CPUs the
 * order is that of the time stamps as far as time_scale lets it be: an event
 * begins at its stamp times time_scale, or as soon after as its CPU is done
 * with the one before. With time_scale = 0 events follow each other back to
 * back. A free never begins before its object's allocation has ended,
 * whichever CPU does that. Events are read ahead by at most .window. On a
 * timeless machine all events run in the order of their stamps.
 *
 * CPUs. An event runs on the CPU that recorded it, a free thus on the CPU that
 * freed. Where the machine has no CPU of that number, or another placement is
 * asked for, cpu_map says which one it is:
 *   same	CPU n; if there is none, the (n mod number of CPUs)th CPU, counted
 *   pack	the trace's CPUs in the order of their first events fill the
 *		machine core by core, L3 domain by L3 domain, SMT siblings last
 *   spread	the same, going round the nodes
 *
 * Caches and objects are those of configs/trace/objects.h. A cache is created
 * from the sizes that the trace shows (object size and, where bytes_alloc
 * betrays them, alignment and a free pointer behind the object), kmalloc's
 * plain caches are the model's own.
 *
 * All caches are created before the first event. A trace of more than a
 * million events is read from its file twice.
 *
 * Nothing is dropped silently: see enum trace_note. Reported are the records
 * replayed, and each reason why others were not, by its key.
 */
#ifndef WORKLOADS_TRACE_H
#define WORKLOADS_TRACE_H

#include "configs/trace/trace.h"
#include "workloads/workload.h"

enum trace_cpu_map { TRACE_MAP_SAME, TRACE_MAP_PACK, TRACE_MAP_SPREAD };

struct trace_options {
	char *file;
	double time_scale;
	int cpu_map; /* enum trace_cpu_map */
	int64_t window;
	bool preallocate;
	int64_t write_lines;
	int64_t report_caches;
};

extern const struct workload trace_workload;

/* .file as a path: a name without '/' that is no file here is looked for among
 * the example traces of the sources (workloads/testdata). The caller frees. */
char *trace_path(const struct trace_options *o);

/* CPUs of @t in the order in which pack or spread fill them. */
int *trace_cpu_order(const struct topology *t, enum trace_cpu_map map);

#endif
