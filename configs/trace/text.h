/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of text to events: ftrace, trace-cmd report, perf script, and any of
 * them as a mail left it (quoted, quoted-printable, wrapped, in one line).
 *
 * Cuts the stream into lines in one buffer of TRACE_MAX_LINE bytes, gives each
 * to record.h, puts together what stands over several lines, and counts the
 * rest by what it is. Events come in the order of the file.
 */
#ifndef CONFIGS_TRACE_TEXT_H
#define CONFIGS_TRACE_TEXT_H

#include "configs/trace/names.h"
#include "configs/trace/trace.h"

/* Up to @size bytes into @buf; 0 at the end, -1 with @error set. */
typedef ssize_t (*trace_read_fn)(void *arg, char *buf, size_t size,
				 GError **error);

struct trace_text;
/* Borrows all; notes are added to. */
struct trace_text *trace_text_new(trace_read_fn read, void *arg,
				  struct trace_names *names,
				  struct trace_notes *notes);
void trace_text_free(struct trace_text *t);
bool trace_text_next(struct trace_text *t, struct trace_event *ev,
		     GError **error);
/* "perf script text", "ftrace text": by the records met so far. */
const char *trace_text_flavour(const struct trace_text *t);

#endif
