/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of a trace.dat, read by libtracecmd and libtraceevent.
 *
 * Those libraries trust the file: a damaged one can crash them or make them
 * loop. They therefore run in a child process that sends plain records through
 * a pipe; its death or silence is an error of the file, not ours. All CPUs and
 * all buffer instances are merged by time stamp.
 */
#ifndef CONFIGS_TRACE_DAT_H
#define CONFIGS_TRACE_DAT_H

#include "configs/trace/names.h"
#include "configs/trace/trace.h"

/* Seconds without a record after which the child is given up. */
#define TRACE_DAT_TIMEOUT_S 60

struct trace_dat;
/* Takes over @fd, a seekable file; borrows the rest. */
struct trace_dat *trace_dat_new(int fd, const char *file,
				struct trace_names *names,
				struct trace_notes *notes, GError **error);
void trace_dat_free(struct trace_dat *d);
bool trace_dat_next(struct trace_dat *d, struct trace_event *ev,
		    GError **error);

#endif
