/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/trace.h"

#include <stdlib.h>

#include "sim/internal.h"

struct cpu_trace {
	GArray *open; /* uint64_t: when each function of the path began */
	struct trace_span *ring;
	uint64_t nr; /* ever kept; the last TRACE_MAX are in the ring */
};

void trace_attach(struct cpu_private *p)
{
	p->trace = g_new0(struct cpu_trace, 1);
	p->trace->open = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

void trace_detach(struct cpu_private *p)
{
	if (!p->trace)
		return;
	g_array_free(p->trace->open, TRUE);
	g_free(p->trace->ring);
	g_free(p->trace);
}

void trace_span(struct cpu_private *p, enum span_kind kind, const char *name,
		sim_addr lock, uint64_t from, uint64_t to)
{
	const struct machine *m = p->cpu.machine;
	struct cpu_trace *t = p->trace;

	if (to < m->trace_from || from >= m->trace_to)
		return;
	if (!t->ring)
		t->ring = g_new(struct trace_span, TRACE_MAX);
	t->ring[t->nr++ % TRACE_MAX] = (struct trace_span){
		kind, p->cpu.id, from, to, name, lock
	};
}

void trace_enter(struct cpu_private *p)
{
	g_array_append_val(p->trace->open, p->cpu.now);
}

void trace_leave(struct cpu_private *p, const char *name)
{
	GArray *open = p->trace->open;

	trace_span(p, TRACE_FRAME, name, 0,
		   g_array_index(open, uint64_t, open->len - 1), p->cpu.now);
	g_array_set_size(open, open->len - 1);
}

void machine_trace_window(struct machine *m, uint64_t from, uint64_t to)
{
	m->trace_from = from;
	m->trace_to = to;
}

/* A span that was kept later lies outside of one that ended at its end. */
struct numbered {
	struct trace_span span;
	uint64_t number;
};

static int by_beginning(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->span.from != y->span.from)
		return x->span.from < y->span.from ? -1 : 1;
	if (x->span.to != y->span.to)
		return x->span.to > y->span.to ? -1 : 1;
	return x->number > y->number ? -1 : 1;
}

uint64_t machine_trace(struct machine *m, trace_fn fn, void *arg)
{
	uint64_t dropped = 0;

	for (int i = 0; i < m->topology->nr_cpu_ids; i++) {
		const struct cpu_trace *t = m->cpus[i] ? m->cpus[i]->trace :
							 NULL;
		g_autofree struct numbered *sorted = NULL;
		uint64_t nr;

		if (!t || !t->nr)
			continue;
		nr = MIN(t->nr, TRACE_MAX);
		dropped += t->nr - nr;
		sorted = g_new(struct numbered, nr);
		for (uint64_t k = 0; k < nr; k++) {
			uint64_t number = t->nr - nr + k;

			sorted[k].span = t->ring[number % TRACE_MAX];
			sorted[k].number = number;
		}
		qsort(sorted, nr, sizeof(*sorted), by_beginning);
		for (uint64_t k = 0; k < nr; k++)
			fn(&sorted[k].span, arg);
	}
	return dropped;
}
