/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole files: order of time, objects and caches, what people posted. */
#include <string.h>

#include "configs/trace/objects.h"
#include "configs/trace/summary.h"
#include "configs/trace/trace.h"

static struct trace *open_text(const char *text)
{
	GError *error = NULL;
	struct trace *t = trace_open_memory(text, strlen(text), &error);

	g_assert_no_error(error);
	return t;
}

#define F(cpu, time, ptr)                                                    \
	"a-1 [00" #cpu "] .... " #time ": kfree: call_site=f "               \
	"ptr=0xffff8881000000" #ptr "\n"

/* The last byte of the pointers, in the order given. */
static void order(const char *text, const char *expect, uint64_t reordered,
		  uint64_t raised)
{
	struct trace *t = open_text(text);
	g_autoptr(GString) got = g_string_new(NULL);
	struct trace_event ev;
	uint64_t last = 0;

	while (trace_next(t, &ev, NULL)) {
		g_string_append_printf(got, "%02x", (unsigned)ev.ptr & 0xff);
		g_assert_cmpuint(ev.time_ns, >=, last);
		last = ev.time_ns;
	}
	g_assert_cmpstr(got->str, ==, expect);
	g_assert_cmpuint(trace_notes(t)->count[NOTE_REORDERED], ==, reordered);
	g_assert_cmpuint(trace_notes(t)->count[NOTE_TIME_RAISED], ==, raised);
	trace_close(t);
}

static void test_order(void)
{
	order(F(0, 1.0, 10) F(1, 1.1, 20) F(0, 1.2, 30), "102030", 0, 0);
	/* equal stamps stay as in the file */
	order(F(1, 1.0, 20) F(0, 1.0, 10) F(1, 1.0, 30), "201030", 0, 0);
	/* one CPU after the other, as cat per_cpu/cpu*/
	order(F(0, 1.0, 10) F(0, 1.2, 30) F(1, 1.1, 20) F(1, 1.3, 40),
	      "10203040", 1, 0);
	/* a CPU's own clock went back: its order is kept */
	order(F(0, 1.2, 10) F(0, 1.1, 20) F(1, 1.1, 30), "301020", 1, 1);
}

/* A record that is later than the window is given late, not lost. */
static void test_window(void)
{
	g_autoptr(GString) s = g_string_new(NULL);
	struct trace *t;
	struct trace_event ev;
	unsigned n = 0;

	for (unsigned i = 0; i < 3 * TRACE_ORDER_WINDOW; i++)
		g_string_append_printf(
			s,
			"a-1 [000] .... %u.0: kfree: call_site=f "
			"ptr=0xffff888100000010\n",
			1000 + i);
	g_string_append(s, F(1, 5.0, 20));
	t = open_text(s->str);
	while (trace_next(t, &ev, NULL))
		n++;
	g_assert_cmpuint(n, ==, 3 * TRACE_ORDER_WINDOW + 1);
	g_assert_cmpuint(trace_notes(t)->count[NOTE_TIME_RAISED], ==, 1);
	trace_close(t);
}

/* A million addresses that come and go: the table neither forgets nor makes
 * up one. Compared with a GHashTable. */
static void test_objects(void)
{
	struct trace *t = open_text("");
	struct trace_notes notes = { 0 };
	struct trace_objects *o = trace_objects_new(t, &notes);
	g_autoptr(GHashTable) live = g_hash_table_new(NULL, NULL);
	GRand *rand = g_rand_new_with_seed(3);
	uint64_t lost = 0, unseen = 0;

	for (int i = 0; i < 300000; i++) {
		bool alloc = g_rand_boolean(rand);
		/* strides as an allocator's, and few enough to meet again */
		uint64_t ptr = 0xffff888000000000 +
			       (uint64_t)g_rand_int_range(rand, 0, 30000) *
				       (i % 3 ? 256 : 4096);
		struct trace_event ev = {
			.kind = alloc ? TRACE_KMALLOC : TRACE_KFREE,
			.ptr = ptr, .bytes_req = 100, .bytes_alloc = 128,
			.cpu = i % 7,
		};
		bool was = g_hash_table_contains(live, (gpointer)ptr);
		struct trace_step step;

		trace_objects_step(o, &ev, &step);
		if (alloc) {
			g_assert_cmpint(step.action, ==,
					was ? TRACE_FREE_THEN_ALLOC :
					      TRACE_ALLOC);
			if (was)
				trace_objects_release(o, step.lost);
			lost += was;
			g_hash_table_insert(live, (gpointer)ptr,
					    GUINT_TO_POINTER(step.object));
		} else if (was) {
			g_assert_cmpint(step.action, ==, TRACE_FREE);
			g_assert_true(GUINT_TO_POINTER(step.object) ==
				      g_hash_table_lookup(live,
							  (gpointer)ptr));
			trace_objects_release(o, step.object);
			g_hash_table_remove(live, (gpointer)ptr);
		} else {
			g_assert_cmpint(step.action, ==, TRACE_FREE_UNSEEN);
			unseen++;
		}
	}
	g_assert_cmpuint(notes.count[NOTE_LOST_FREE], ==, lost);
	g_assert_cmpuint(notes.count[NOTE_UNSEEN_FREE], ==, unseen);
	g_assert_cmpuint(trace_objects_cache(o, 0)->live, ==,
			 g_hash_table_size(live));
	/* slots are used again */
	g_assert_cmpuint(trace_objects_slots(o), <,
			 2 * trace_objects_cache(o, 0)->peak);
	g_rand_free(rand);
	trace_objects_free(o);
	trace_close(t);
}

/* What is posted: events and each reason, as a list of "key count". */
static void test_posted(void)
{
	static const struct {
		const char *file;
		uint64_t events, replayed;
		const char *notes; /* in the order of enum trace_note */
	} rows[] = {
		{ "FORMAT-kmem_cache_alloc-name-field-2025.txt", 0, 0,
		  "comment 1 other_text 1" },
		{ "ftrace-5.3-callsite-pS-nocomm.txt", 9, 6,
		  "unseen_free 3 hashed 9 unnamed 2" },
		{ "ftrace-5.4-memleak-module.txt", 9, 9,
		  "comment 11 hashed 9 unnamed 9" },
		{ "ftrace-6.14-options-fields.txt", 5, 4,
		  "unseen_free 1 no_time 1 no_cpu 5 unnamed 3" },
		{ "ftrace-6.x-colon-in-comm.txt", 1, 0,
		  "unseen_free 1 hashed 1" },
		{ "ftrace-6.x-kfree-null-with-function-events.txt", 3, 0,
		  "function 3 null_free 3" },
		{ "ftrace-empty-nop-header-rhcos42.txt", 0, 0, "comment 9" },
		{ "kmem-probe-SLUB-2012-tail.log", 300, 296,
		  "null_free 1 unseen_free 3 unnamed 148" },
		{ "perf-script-rhel7-fio-callchain.txt", 1, 1,
		  "stack 10 joined 1 unnamed 1" },
		{ "trace-cmd-report-6.12-kmalloc-filter.txt", 5, 5,
		  "lost_free 3" },
		{ "trace-cmd-report-6.2-fuse-make.txt", 6, 6,
		  "other_event 4 unnamed 2" },
		{ "hackbench-pipes-6.18-2cpu.perf-script.txt.gz", 9117, 7252,
		  "null_free 1476 unseen_free 389 lost_free 11" },
		{ "hackbench-sockets-6.18-2cpu.perf-script.txt.gz", 177176,
		  175231, "null_free 1550 unseen_free 395 lost_free 25" },
	};
	const char *shared = g_getenv("SLUBSIM_SHARED");
	g_autofree char *dir = g_build_filename(shared ? shared : "",
						"inputs", "traces", NULL);

	if (!shared || !g_file_test(dir, G_FILE_TEST_IS_DIR)) {
		g_test_skip("the posted traces are not there");
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *path = g_build_filename(dir, rows[i].file,
							 NULL);
		g_autoptr(GString) got = g_string_new(NULL);
		g_autofree char *text = NULL;
		GError *error = NULL;
		struct trace *t = trace_open(path, &error);
		const struct trace_notes *n;

		g_test_message("%s", rows[i].file);
		g_assert_no_error(error);
		text = trace_summary(t, path, 0, &error);
		g_assert_no_error(error);
		n = trace_notes(t);
		for (int k = 0; k < NR_TRACE_NOTES; k++)
			if (n->count[k])
				g_string_append_printf(
					got, "%s%s %" G_GUINT64_FORMAT,
					got->len ? " " : "",
					trace_note_table[k].key, n->count[k]);
		g_assert_cmpuint(n->events, ==, rows[i].events);
		g_assert_cmpstr(got->str, ==, rows[i].notes);
		g_assert_cmpuint(n->records - trace_notes_skipped(n), ==,
				 rows[i].replayed);
		trace_close(t);
	}
}

static void test_errors(void)
{
	GError *error = NULL;

	g_assert_null(trace_open("/nonexistent/file", &error));
	g_assert_error(error, TRACE_ERROR, TRACE_ERROR_OPEN);
	g_assert_nonnull(strstr(error->message, "/nonexistent/file"));
	g_clear_error(&error);
	g_assert_null(trace_open("/", &error));
	g_assert_error(error, TRACE_ERROR, TRACE_ERROR_OPEN);
	g_clear_error(&error);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/trace/reader/order", test_order);
	g_test_add_func("/trace/reader/window", test_window);
	g_test_add_func("/trace/reader/objects", test_objects);
	g_test_add_func("/trace/reader/posted", test_posted);
	g_test_add_func("/trace/reader/errors", test_errors);
	return g_test_run();
}
