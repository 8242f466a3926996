/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is in a trace, in words: `slubsim import trace`.
 */
#ifndef CONFIGS_TRACE_SUMMARY_H
#define CONFIGS_TRACE_SUMMARY_H

#include "configs/trace/trace.h"

/*
 * Reads @t to its end and tells, as text for a terminal: what the file is, how
 * many of its kmem records a replay would use, why not the others, CPUs, time,
 * and the @rows busiest caches (0 = all). NULL with @error set.
 */
char *trace_summary(struct trace *t, const char *path, unsigned rows,
		    GError **error);

/* The part of it about notes: one line per reason that occurred. @replayed is
 * how many of the records were (or would be) replayed. */
void trace_summary_notes(GString *out, const struct trace_notes *n,
			 uint64_t replayed);

#endif
