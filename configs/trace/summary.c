/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/trace/summary.h"

#include <inttypes.h>
#include <string.h>

#include "configs/trace/objects.h"

struct tally {
	uint64_t kinds[NR_TRACE_KINDS];
	uint64_t cpus[TRACE_MAX_CPU + 1];
	uint64_t first_ns, last_ns;
	uint64_t replayed;
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

void trace_summary_notes(GString *out, const struct trace_notes *n,
			 uint64_t replayed)
{
	static const char *const titles[] = {
		[NOTE_IS_SKIP] = "Not replayed",
		[NOTE_IS_MEND] = "Replayed after mending",
		[NOTE_IS_FACT] = "To be known",
		[NOTE_IS_LINE] = "Lines that hold no kmem record",
	};
	static const enum trace_note_class order[] = {
		NOTE_IS_SKIP, NOTE_IS_MEND, NOTE_IS_FACT, NOTE_IS_LINE
	};

	g_string_append_printf(out,
			       "%" PRIu64 " of %" PRIu64
			       " kmem records replayed (%.2f %%), %" PRIu64
			       " not\n",
			       replayed, n->records,
			       percent(replayed, n->records),
			       n->records - replayed);
	for (size_t k = 0; k < G_N_ELEMENTS(order); k++) {
		bool any = false;

		for (int i = 0; i < NR_TRACE_NOTES; i++) {
			if (trace_note_table[i].class != order[k] ||
			    !n->count[i])
				continue;
			if (!any)
				g_string_append_printf(out, "\n%s\n",
						       titles[order[k]]);
			any = true;
			g_string_append_printf(out, "%10" PRIu64 "  %s\n",
					       n->count[i],
					       trace_note_table[i].text);
		}
	}
}

static int by_events(gconstpointer a, gconstpointer b)
{
	const struct trace_cache *x = *(struct trace_cache *const *)a;
	const struct trace_cache *y = *(struct trace_cache *const *)b;
	uint64_t nx = x->allocs + x->frees + x->unseen_frees;
	uint64_t ny = y->allocs + y->frees + y->unseen_frees;

	return nx != ny ? (nx < ny ? 1 : -1) : strcmp(x->name, y->name);
}

/* Of a cache that was only freed to, nothing tells the sizes. */
static char *size_cell(unsigned size)
{
	return size ? g_strdup_printf("%u", size) : g_strdup("-");
}

static void print_cache(GString *out, const struct trace_cache *c)
{
	g_autofree char *object = size_cell(c->object_size);
	g_autofree char *size = size_cell(c->size);

	g_string_append_printf(out,
			       "%-24s %6s %6s %9" PRIu64 " %9" PRIu64
			       " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
			       " %7.1f\n",
			       c->name, object, size, c->allocs,
			       c->frees, c->unseen_frees, c->live, c->peak,
			       percent(c->remote_frees, c->frees));
}

static void print_caches(GString *out, struct trace_objects *o, unsigned rows)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	struct trace_cache rest = { .name = NULL };

	for (unsigned i = 0; i < trace_objects_caches(o); i++)
		g_ptr_array_add(all, trace_objects_cache(o, i));
	if (!all->len)
		return;
	g_ptr_array_sort(all, by_events);
	g_string_append_printf(out, "\n%-24s %6s %6s %9s %9s %8s %8s %8s %7s\n",
			       "cache", "object", "size", "allocs", "frees",
			       "unseen", "live", "peak", "remote%");
	for (unsigned i = 0; i < all->len; i++) {
		const struct trace_cache *c = all->pdata[i];

		if (!rows || i < rows) {
			print_cache(out, c);
			continue;
		}
		rest.allocs += c->allocs;
		rest.frees += c->frees;
		rest.unseen_frees += c->unseen_frees;
		rest.live += c->live;
		rest.peak += c->peak;
		rest.remote_frees += c->remote_frees;
	}
	if (rows && all->len > rows) {
		g_autofree char *name =
			g_strdup_printf("(%u more)", all->len - rows);

		rest.name = name;
		print_cache(out, &rest);
	}
}

static void print_cpus(GString *out, const struct tally *t, uint64_t events)
{
	unsigned n = 0, shown = 0;

	for (unsigned i = 0; i <= TRACE_MAX_CPU; i++)
		n += !!t->cpus[i];
	g_string_append_printf(out, "%u CPUs:", n);
	for (unsigned i = 0; i <= TRACE_MAX_CPU && shown < 16; i++) {
		if (!t->cpus[i])
			continue;
		g_string_append_printf(out, " %u (%.1f %%)", i,
				       percent(t->cpus[i], events));
		shown++;
	}
	g_string_append(out, n > shown ? " ...\n" : "\n");
}

/* Frees of earlier objects that the option preallocate could replay: those
 * whose cache is named and has a size somewhere in the trace. */
static uint64_t preallocatable(struct trace_objects *o)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < trace_objects_caches(o); i++) {
		const struct trace_cache *c = trace_objects_cache(o, i);

		n += c->object_size ? c->unseen_frees : 0;
	}
	return n;
}

static char *print_all(struct trace *t, const char *path, unsigned rows,
		       struct trace_objects *o, const struct tally *tally)
{
	const struct trace_notes *n = trace_notes(t);
	GString *out = g_string_new(NULL);
	uint64_t can = preallocatable(o);

	g_string_append_printf(out, "%s: %s", path, trace_format(t));
	if (n->lines)
		g_string_append_printf(out, ", %" PRIu64 " lines", n->lines);
	g_string_append_c(out, '\n');
	if (n->events) {
		uint64_t ns = tally->last_ns - tally->first_ns;

		g_string_append_printf(out,
				       "%" PRIu64 ".%06" PRIu64
				       " s of time, from %" PRIu64 ".%06" PRIu64
				       "\n",
				       ns / 1000000000,
				       ns % 1000000000 / 1000,
				       tally->first_ns / 1000000000,
				       tally->first_ns % 1000000000 / 1000);
		print_cpus(out, tally, n->events);
	}
	for (int i = 0; i < NR_TRACE_KINDS; i++)
		g_string_append_printf(out, "%s%" PRIu64 " %s", i ? ", " : "",
				       tally->kinds[i], trace_kind_names[i]);
	g_string_append(out, "\n\n");
	trace_summary_notes(out, n, tally->replayed);
	if (can)
		g_string_append_printf(out,
				       "\nWith the workload's option "
				       "preallocate, %" PRIu64
				       " frees more are replayed.\n",
				       can);
	print_caches(out, o, rows);
	return g_string_free(out, FALSE);
}

char *trace_summary(struct trace *t, const char *path, unsigned rows,
		    GError **error)
{
	struct trace_objects *o = trace_objects_new(t, trace_notes(t));
	struct tally *tally = g_new0(struct tally, 1);
	struct trace_event ev;
	GError *err = NULL;
	char *text = NULL;

	while (trace_next(t, &ev, &err)) {
		struct trace_step step;

		if (!tally->last_ns && !tally->first_ns)
			tally->first_ns = ev.time_ns;
		tally->last_ns = ev.time_ns;
		tally->kinds[ev.kind]++;
		tally->cpus[ev.cpu]++;
		trace_objects_step(o, &ev, &step);
		if (step.action == TRACE_NOTHING ||
		    step.action == TRACE_FREE_UNSEEN)
			continue;
		tally->replayed++;
		if (step.action == TRACE_FREE)
			trace_objects_release(o, step.object);
		if (step.action == TRACE_FREE_THEN_ALLOC)
			trace_objects_release(o, step.lost);
	}
	if (err)
		g_propagate_error(error, err);
	else
		text = print_all(t, path, rows, o, tally);
	trace_objects_free(o);
	g_free(tally);
	return text;
}
