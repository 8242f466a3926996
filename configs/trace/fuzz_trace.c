/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: any bytes as a trace. It is read to its end or refused in one
 * line; time never goes back; every kmem record is an event or counted; every
 * object that is freed was live.
 */
#include <string.h>

#include "configs/fuzz.h"
#include "configs/trace/objects.h"
#include "configs/trace/trace.h"

static void walk(struct trace *t)
{
	struct trace_notes notes = { 0 };
	struct trace_objects *o = trace_objects_new(t, &notes);
	const struct trace_notes *n = trace_notes(t);
	uint64_t last = 0, done = 0, live = 0, seen = 0;
	struct trace_event ev;
	GError *error = NULL;

	while (trace_next(t, &ev, &error)) {
		struct trace_step step;

		g_assert_cmpuint(ev.time_ns, >=, last);
		g_assert_cmpint(ev.cpu, >=, 0);
		g_assert_cmpint(ev.cpu, <=, TRACE_MAX_CPU);
		g_assert_cmpint(ev.node, >=, -1);
		g_assert_cmpint(ev.node, <=, TRACE_MAX_NODE);
		g_assert_cmpuint(strlen(trace_name(t, ev.name)), <=,
				 TRACE_MAX_NAME);
		last = ev.time_ns;
		seen++;
		trace_objects_step(o, &ev, &step);
		switch (step.action) {
		case TRACE_ALLOC:
			live++;
			done++;
			break;
		case TRACE_FREE_THEN_ALLOC:
			trace_objects_release(o, step.lost);
			done++;
			break;
		case TRACE_FREE:
			g_assert_cmpuint(live, >, 0);
			live--;
			done++;
			trace_objects_release(o, step.object);
			break;
		case TRACE_NOTHING:
		case TRACE_FREE_UNSEEN:
			break;
		}
	}
	g_assert_cmpuint(n->events, ==, seen);
	g_assert_cmpuint(n->records, ==, n->events + trace_notes_skipped(n));
	g_assert_cmpuint(n->events, ==, done + trace_notes_skipped(&notes));
	for (unsigned i = 0; i < trace_objects_caches(o); i++)
		live -= trace_objects_cache(o, i)->live;
	g_assert_cmpuint(live, ==, 0);
	if (error)
		g_assert_null(strchr(error->message, '\n'));
	g_clear_error(&error);
	trace_objects_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	GError *error = NULL;
	struct trace *t;

	/* libtracecmd runs in a child, where no fuzzer sees it: test_dat.c */
	if (size >= 10 && !memcmp(data, "\x17\x08\x44tracing", 10))
		return 0;
	t = trace_open_memory((const char *)data, size, &error);
	if (t)
		walk(t);
	else
		g_assert_null(strchr(error->message, '\n'));
	g_clear_error(&error);
	trace_close(t);
	return 0;
}
