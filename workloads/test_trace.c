/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replays small traces written here, our example and, where they are there,
 * the recorded ones, and compares what the allocator counted. */
#include <glib/gstdio.h>
#include <string.h>
#include <time.h>

#include "sim/test_sim.h"
#include "workloads/test_report.h"
#include "workloads/trace.h"
#include "workloads/trace_replay.h"

static const struct features cpu_slabs = {
	.cpu_slabs = true,
	.cpu_partial = true,
	.partial_break = PARTIAL_BREAK_GT_NONZERO,
	.node_two_pass = true,
	.bulk_stats = true,
	.bulk_alloc = BULK_ALLOC_SLOWPATH,
	.bulk_free = BULK_FREE_DETACHED,
	.freeptr_in_middle = true,
	.order_rule = ORDER_BY_FRACTION,
	.slub_stats = true,
	.stat_set = STATS_CPU_SLAB,
};
static const struct features sheaves = {
	.sheaves = SHEAVES_ALL,
	.rcu_sheaves = true,
	.refill_without_blocking = true,
	.bulk_alloc = BULK_ALLOC_SLOWPATH,
	.bulk_free = BULK_FREE_DETACHED,
	.freeptr_in_middle = true,
	.order_rule = ORDER_BY_FRACTION,
	.slub_stats = true,
	.stat_set = STATS_SHEAVES,
};

/* A replay to be looked at. */
struct bench {
	struct topology *t;
	struct machine_params p;
	struct insn_costs costs;
	struct machine *m;
	struct slub *sl;
	struct trace_options o;
	struct report r;
	GError *error;
	bool ok;
	double cpu_s; /* of this process, for the workload alone */
};

static void bench_start(struct bench *b, const struct features *f, int sockets,
			int cores, unsigned flags)
{
	memset(b, 0, sizeof(*b));
	b->t = test_topology(sockets, 1, cores, 1);
	b->p = test_params();
	b->costs = (struct insn_costs){ .alloc_fast = 60, .free_fast = 60 };
	b->m = machine_new(b->t, &b->p, flags, 1);
	b->sl = slub_new(b->m, f, &b->costs);
	trace_workload.defaults(&b->o);
}

static struct kmem_cache *find_cache(struct bench *b, const char *name)
{
	for (struct kmem_cache *s = slub_next_cache(b->sl, NULL); s;
	     s = slub_next_cache(b->sl, s))
		if (!strcmp(kmem_cache_name(s), name))
			return s;
	g_assert_not_reached();
}

static void bench_end(struct bench *b)
{
	g_clear_error(&b->error);
	report_clear(&b->r);
	slub_free(b->sl);
	machine_free(b->m);
	topology_free(b->t);
	g_free(b->o.file);
}

/* Allocations and frees that SLUB itself counted, whatever the path. */
static uint64_t slub_allocs(const struct kmem_cache *s)
{
	return kmem_cache_stat(s, stat_alloc_cpu_sheaf, -1) +
	       kmem_cache_stat(s, stat_alloc_fastpath, -1) +
	       kmem_cache_stat(s, stat_alloc_slowpath, -1);
}

static uint64_t slub_frees(const struct kmem_cache *s)
{
	return kmem_cache_stat(s, stat_free_cpu_sheaf, -1) +
	       kmem_cache_stat(s, stat_free_fastpath, -1) +
	       kmem_cache_stat(s, stat_free_slowpath, -1);
}

static void bench_run(struct bench *b)
{
	clock_t begin = clock();

	b->ok = trace_workload.run(b->sl, &b->o, 1, &b->r, &b->error);
	b->cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
	if (!b->ok)
		return;
	for (struct kmem_cache *s = slub_next_cache(b->sl, NULL); s;
	     s = slub_next_cache(b->sl, s)) {
		g_autofree char *wrong = kmem_cache_verify(
			s, NULL, slub_allocs(s) - slub_frees(s));

		if (wrong)
			g_error("%s: %s", kmem_cache_name(s), wrong);
	}
}

static char *write_trace(const char *text)
{
	char *name = NULL;
	int fd = g_file_open_tmp("slubsim-test-XXXXXX", &name, NULL);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(name, text, -1, NULL));
	return name;
}

/* Replays @text timelessly on @cores CPUs per socket. */
static void replay_text(struct bench *b, const char *text, int sockets,
			int cores)
{
	bench_start(b, &cpu_slabs, sockets, cores, MACHINE_TIMELESS);
	b->o.file = write_trace(text);
	bench_run(b);
	g_unlink(b->o.file);
}

#define A(cpu, time, ptr)                                                    \
	"a-1 [00" #cpu "] .... " #time ": kmem_cache_alloc: call_site=f "    \
	"ptr=0xffff8881000000" #ptr " name=x bytes_req=100 bytes_alloc=104 " \
	"gfp_flags=GFP_KERNEL node=-1 accounted=false\n"
#define F(cpu, time, ptr)                                                    \
	"a-1 [00" #cpu "] .... " #time ": kmem_cache_free: call_site=f "     \
	"ptr=0xffff8881000000" #ptr " name=x\n"
#define K(cpu, time, ptr, size, more)                                        \
	"a-1 [00" #cpu "] .... " #time ": kmalloc: call_site=f "             \
	"ptr=0xffff8881000000" #ptr " bytes_req=" #size " bytes_alloc="      \
	#size " gfp_flags=GFP_KERNEL" more "\n"

static void test_counts(void)
{
	struct bench b;
	struct kmem_cache *s;

	replay_text(&b,
		    A(0, 1.0, 10) A(1, 1.1, 20) F(1, 1.2, 10) F(1, 1.3, 20)
			    A(0, 1.4, 30),
		    1, 2);
	g_assert_no_error(b.error);
	s = find_cache(&b, "x");
	g_assert_cmpuint(slub_allocs(s), ==, 3);
	g_assert_cmpuint(slub_frees(s), ==, 2);
	g_assert_cmpfloat(reported(&b.r, "records"), ==, 5);
	g_assert_cmpfloat(reported(&b.r, "replayed"), ==, 5);
	g_assert_cmpfloat(reported(&b.r, "remote_frees"), ==, 1);
	g_assert_cmpuint(b.r.ops, ==, 5);
	bench_end(&b);
}

static void test_odd(void)
{
	struct bench b;
	struct kmem_cache *s;

	/* unseen, lost free, NULL, failed allocation, name of another */
	replay_text(&b,
		    F(0, 0.9, 90) A(0, 1.0, 10) A(1, 1.1, 10)
			    F(0, 1.2, 10) F(0, 1.3, 10)
			    "a-1 [000] .... 1.4: kfree: call_site=f "
			    "ptr=(null)\n"
			    "a-1 [000] .... 1.5: kmalloc: call_site=f "
			    "ptr=(null) bytes_req=8 bytes_alloc=8 "
			    "gfp_flags=GFP_ATOMIC\n",
		    1, 2);
	s = find_cache(&b, "x");
	g_assert_cmpuint(slub_allocs(s), ==, 2);
	g_assert_cmpuint(slub_frees(s), ==, 2); /* one is made up */
	g_assert_cmpfloat(reported(&b.r, "records"), ==, 7);
	g_assert_cmpfloat(reported(&b.r, "replayed"), ==, 3);
	g_assert_cmpfloat(reported(&b.r, "skipped_unseen_free"), ==, 2);
	g_assert_cmpfloat(reported(&b.r, "skipped_null_free"), ==, 1);
	g_assert_cmpfloat(reported(&b.r, "skipped_failed_alloc"), ==, 1);
	g_assert_cmpfloat(reported(&b.r, "mended_lost_free"), ==, 1);
	bench_end(&b);
}

static void test_preallocate(void)
{
	struct bench b;
	struct kmem_cache *s;

	bench_start(&b, &cpu_slabs, 1, 2, MACHINE_TIMELESS);
	b.o.file = write_trace(F(1, 0.9, 90) A(0, 1.0, 10) F(0, 1.1, 10)
				       F(1, 1.2, 95));
	b.o.preallocate = true;
	bench_run(&b);
	s = find_cache(&b, "x");
	g_assert_cmpuint(slub_allocs(s), ==, 3);
	g_assert_cmpuint(slub_frees(s), ==, 3);
	g_assert_cmpfloat(reported(&b.r, "replayed"), ==, 4);
	g_assert_cmpfloat(reported(&b.r, "skipped_unseen_free"), ==, 0);
	g_assert_cmpfloat(reported(&b.r, "mended_preallocated"), ==, 2);
	g_unlink(b.o.file);
	bench_end(&b);
}

static void test_kmalloc(void)
{
	struct bench b;

	replay_text(&b,
		    K(0, 1.0, 10, 100, "") K(0, 1.1, 20, 96, " node=0")
			    K(0, 1.2, 30, 100, "|__GFP_ACCOUNT")
				    K(0, 1.3, 40, 100, "|__GFP_RECLAIMABLE")
					    K(0, 1.4, 50, 20000, "")
						    K(0, 1.5, 60, 9000000, "")
							    K(0, 1.6, 70, 8,
							      " node=7"),
		    1, 1);
	g_assert_cmpuint(slub_allocs(find_cache(&b, "kmalloc-128")), ==, 1);
	g_assert_cmpuint(slub_allocs(find_cache(&b, "kmalloc-96")), ==, 1);
	g_assert_cmpuint(slub_allocs(find_cache(&b, "kmalloc-cg-128")), ==, 1);
	g_assert_cmpuint(slub_allocs(find_cache(&b, "kmalloc-rcl-128")), ==,
			 1);
	g_assert_cmpfloat(reported(&b.r, "skipped_size_range"), ==, 1);
	g_assert_cmpfloat(reported(&b.r, "mended_node_mapped"), ==, 1);
	g_assert_cmpfloat(reported(&b.r, "replayed"), ==, 6);
	bench_end(&b);
}

/* Sizes of the caches of the recorded traces, made from what they show. */
static void test_geometry(void)
{
	static const struct {
		unsigned object, size;
	} rows[] = { { 224, 256 }, { 184, 192 }, { 96, 104 },  { 24, 24 },
		     { 688, 696 }, { 576, 584 }, { 4096, 4096 } };
	GString *text = g_string_new(NULL);
	struct bench b;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		g_string_append_printf(
			text,
			"1.%zu: kmem_cache_alloc: call_site=f "
			"ptr=0xffff88810000%04zx name=c%zu bytes_req=%u "
			"bytes_alloc=%u gfp_flags=GFP_KERNEL\n",
			i, i * 16 + 4096, i, rows[i].object, rows[i].size);
	replay_text(&b, text->str, 1, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *name = g_strdup_printf("c%zu", i);

		g_assert_cmpuint(kmem_cache_object_size(find_cache(&b, name)),
				 ==, rows[i].size);
	}
	g_assert_cmpfloat(reported(&b.r, "caches_of_other_size"), ==, 0);
	bench_end(&b);
	/* slub_debug's red zones are not replayed, and said so */
	replay_text(&b,
		    "1.0: kmem_cache_alloc: call_site=f ptr=00000000cef40c80 "
		    "bytes_req=168 bytes_alloc=576 gfp_flags=GFP_KERNEL\n",
		    1, 1);
	g_assert_cmpfloat(reported(&b.r, "caches_of_other_size"), ==, 1);
	bench_end(&b);
	g_string_free(text, TRUE);
}

static void test_cpu_map(void)
{
	struct topology *t = test_topology(2, 1, 2, 2);
	static const int pack[] = { 0, 1, 4, 5, 2, 3, 6, 7 };
	static const int spread[] = { 0, 2, 1, 3, 4, 6, 5, 7 };
	int *same = trace_cpu_order(t, TRACE_MAP_SAME);
	int *p = trace_cpu_order(t, TRACE_MAP_PACK);
	int *s = trace_cpu_order(t, TRACE_MAP_SPREAD);
	struct bench b;

	for (int i = 0; i < 8; i++) {
		g_assert_cmpint(same[i], ==, i);
		g_assert_cmpint(p[i], ==, pack[i]);
		g_assert_cmpint(s[i], ==, spread[i]);
	}
	g_free(same);
	g_free(p);
	g_free(s);
	topology_free(t);

	/* CPU 5 of a machine of two is CPU 1 */
	replay_text(&b, A(5, 1.0, 10) F(1, 1.1, 10) A(0, 1.2, 20), 1, 2);
	g_assert_cmpfloat(reported(&b.r, "mended_cpu_mapped"), ==, 1);
	g_assert_cmpfloat(reported(&b.r, "remote_frees"), ==, 0);
	bench_end(&b);
}

static void test_errors(void)
{
	struct bench b;

	replay_text(&b, "# tracer: nop\n#\n", 1, 1);
	g_assert_error(b.error, TRACE_ERROR, TRACE_ERROR_FORMAT);
	bench_end(&b);
	bench_start(&b, &cpu_slabs, 1, 1, MACHINE_TIMELESS);
	b.o.file = g_strdup("/nonexistent/trace");
	bench_run(&b);
	g_assert_error(b.error, TRACE_ERROR, TRACE_ERROR_OPEN);
	bench_end(&b);
	/* three years: no date of the machine */
	bench_start(&b, &cpu_slabs, 1, 1, MACHINE_TIMELESS);
	b.o.file = write_trace(A(0, 1.0, 10) F(0, 100.0, 10));
	b.o.time_scale = 1e6;
	bench_run(&b);
	g_unlink(b.o.file);
	g_assert_error(b.error, TRACE_ERROR, TRACE_ERROR_FORMAT);
	g_assert_nonnull(strstr(b.error->message, "time_scale"));
	bench_end(&b);
}

/* A trace too long to be kept is read twice, with the same result. */
static void test_long(void)
{
	g_autofree char *file = g_test_build_filename(
		G_TEST_DIST, "testdata", "skb-two-cpus.trace.txt", NULL);

	for (unsigned keep = 100; keep <= 1000; keep += 900) {
		GError *error = NULL;
		struct replay *rp;
		struct bench b;

		bench_start(&b, &cpu_slabs, 1, 2, MACHINE_TIMELESS);
		b.o.file = g_strdup(file);
		rp = replay_new(b.sl, &b.o, keep, &error);
		g_assert_no_error(error);
		g_assert_cmpint(rp->scan.events != NULL, ==, keep == 1000);
		g_assert_true(replay_run(rp, &error));
		g_assert_cmpuint(rp->replayed, ==, 383);
		g_assert_cmpuint(replay_count(rp, NOTE_NULL_FREE), ==, 1);
		g_assert_cmpuint(replay_count(rp, NOTE_UNSEEN_FREE), ==, 1);
		g_assert_cmpuint(replay_count(rp, NOTE_LOST_FREE), ==, 1);
		g_assert_cmpuint(replay_count(rp, NOTE_LOST_MARK), ==, 1);
		replay_free(rp);
		bench_end(&b);
	}
}

/* ---- with time ---- */

struct timed_result {
	double cpu_s; /* if asked to .measure: differs from run to run */
	double time_s, replayed, records, remote_frees, late_ns, other;
	uint64_t allocs, frees, now;
};

struct timed_args {
	const char *file, *cache;
	double scale;
	int64_t window;
	const struct features *f;
	unsigned flags;
	int cores;
	bool measure;
};

static void timed_child(void *result, void *arg)
{
	struct timed_args *a = arg;
	struct timed_result *res = result;
	struct kmem_cache *s;
	struct bench b;

	bench_start(&b, a->f, 1, a->cores, a->flags);
	b.o.file = g_strdup(a->file);
	b.o.time_scale = a->scale;
	if (a->window)
		b.o.window = a->window;
	bench_run(&b);
	g_assert_no_error(b.error);
	s = find_cache(&b, a->cache);
	*res = (struct timed_result){
		.cpu_s = a->measure ? b.cpu_s : 0,
		.time_s = reported(&b.r, "time_s"),
		.replayed = reported(&b.r, "replayed"),
		.records = reported(&b.r, "records"),
		.remote_frees = reported(&b.r, "remote_frees"),
		.late_ns = reported(&b.r, "mean_late_ns"),
		.other = reported(&b.r, "caches_of_other_size"),
		.allocs = slub_allocs(s),
		.frees = slub_frees(s),
		.now = machine_now(b.m),
	};
	bench_end(&b);
}

static struct timed_result timed(struct timed_args a)
{
	struct timed_result r;

	in_child(timed_child, &r, sizeof(r), &a);
	return r;
}

static void test_example(void)
{
	g_autofree char *file = g_test_build_filename(
		G_TEST_DIST, "testdata", "skb-two-cpus.trace.txt", NULL);
	const struct features *f[] = { &cpu_slabs, &sheaves };

	for (int i = 0; i < 2; i++) {
		struct timed_args a = { .file = file, .f = f[i], .scale = 1,
					.cache = "skbuff_head_cache",
					.cores = 2 };
		struct timed_result one = timed(a), two, slow;

		g_assert_cmpuint(one.allocs, ==, 96);
		g_assert_cmpuint(one.frees, ==, 96);
		g_assert_cmpfloat(one.replayed, ==, 383);
		/* 96 skbs, 95 data; the lost one was freed on CPU 0 */
		g_assert_cmpfloat(one.remote_frees, ==, 191);
		/* the trace's own time, and a bit for the last event */
		g_assert_cmpfloat(one.time_s, >, 0.001411 - 0.00022);
		g_assert_cmpfloat(one.time_s, <, 0.0016);
		/* the same again; the same without shortcuts */
		two = timed(a);
		g_assert_cmpmem(&one, sizeof(one), &two, sizeof(two));
		a.flags = MACHINE_EXACT_SLOW;
		slow = timed(a);
		g_assert_cmpmem(&one, sizeof(one), &slow, sizeof(slow));
		a.flags = 0;
		/* back to back; in strict order; with idle CPUs */
		a.scale = 0;
		two = timed(a);
		g_assert_cmpfloat(two.replayed, ==, 383);
		g_assert_cmpfloat(two.time_s, <, 0.0008);
		a.window = 1;
		slow = timed(a);
		g_assert_cmpfloat(slow.replayed, ==, 383);
		g_assert_cmpfloat(slow.time_s, >, two.time_s);
		a.cores = 8;
		two = timed(a);
		g_assert_cmpfloat(two.replayed, ==, 383);
		/* twice the time between events */
		a.cores = 2;
		a.window = 0;
		a.scale = 2;
		two = timed(a);
		g_assert_cmpfloat(two.time_s, >, 1.9 * one.time_s);
		g_assert_cmpfloat(two.late_ns, <, one.late_ns + 1);
	}
}

/* A free that comes early on its CPU waits for the allocation on another. */
static void test_waits(void)
{
	GString *text = g_string_new(NULL);
	struct timed_args a = { .cache = "x", .cores = 2, .f = &cpu_slabs };
	struct timed_result r;
	g_autofree char *file = NULL;

	/* CPU 0 allocates 100 objects, CPU 1 frees only the last of them */
	for (int i = 0; i < 100; i++)
		g_string_append_printf(
			text,
			"a-1 [000] .... 1.0: kmem_cache_alloc: call_site=f "
			"ptr=0xffff88810000%04x name=x bytes_req=100 "
			"bytes_alloc=104 gfp_flags=GFP_KERNEL\n",
			4096 + i * 16);
	g_string_append_printf(text,
			       "a-1 [001] .... 1.0: kmem_cache_free: "
			       "call_site=f ptr=0xffff88810000%04x name=x\n",
			       4096 + 99 * 16);
	file = write_trace(text->str);
	a.file = file;
	r = timed(a);
	g_assert_cmpfloat(r.replayed, ==, 101);
	g_assert_cmpfloat(r.remote_frees, ==, 1);
	g_assert_cmpuint(r.frees, ==, 1);
	g_unlink(file);
	g_string_free(text, TRUE);
}

/* The recorded hackbench traces: what they hold is what SLUB counts. */
static void recorded(const char *name, double records, uint64_t skbs)
{
	const char *shared = g_getenv("SLUBSIM_SHARED");
	g_autofree char *file = g_build_filename(shared ? shared : "",
						 "inputs", "traces", name,
						 NULL);
	const char *cache = skbs ? "skbuff_head_cache" : "vm_area_struct";
	uint64_t expect = skbs ? skbs : 1158;
	struct timed_args a = { .file = file, .f = &sheaves, .cache = cache,
				.cores = 2 };
	struct timed_result r;
	struct bench b;

	if (!shared || !g_file_test(file, G_FILE_TEST_EXISTS)) {
		g_test_skip("the recorded traces are not there");
		return;
	}
	bench_start(&b, &cpu_slabs, 1, 2, MACHINE_TIMELESS);
	b.o.file = g_strdup(file);
	bench_run(&b);
	g_assert_no_error(b.error);
	g_assert_cmpfloat(reported(&b.r, "records"), ==, records);
	g_assert_cmpuint(slub_allocs(find_cache(&b, cache)), ==, expect);
	g_assert_cmpuint(slub_frees(find_cache(&b, cache)), ==, expect);
	g_assert_cmpfloat(records, ==,
			  reported(&b.r, "replayed") +
				  reported(&b.r, "skipped_null_free") +
				  reported(&b.r, "skipped_unseen_free"));
	bench_end(&b);

	for (a.scale = 0; a.scale < 2; a.scale++) {
		r = timed(a);
		g_assert_cmpfloat(r.records, ==, records);
		g_assert_cmpuint(r.allocs, ==, expect);
		g_assert_cmpuint(r.frees, ==, expect);
		g_assert_cmpfloat(r.other, ==, 0);
	}
}

static void test_recorded_pipes(void)
{
	recorded("hackbench-pipes-6.18-2cpu.perf-script.txt.gz", 9117, 0);
}

static void test_recorded_sockets(void)
{
	recorded("hackbench-sockets-6.18-2cpu.perf-script.txt.gz", 177176,
		 40041);
}

/* test_trace -m perf: records a second, reading and replaying, with time and
 * without. Depends on the host, so nothing is asserted. */
static void test_speed(void)
{
	const char *shared = g_getenv("SLUBSIM_SHARED");
	g_autofree char *file = g_build_filename(
		shared ? shared : "", "inputs", "traces",
		"hackbench-sockets-6.18-2cpu.perf-script.txt.gz", NULL);
	const struct features *f[] = { &cpu_slabs, &sheaves };

	if (!g_test_perf() || !shared ||
	    !g_file_test(file, G_FILE_TEST_EXISTS)) {
		g_test_skip("only with -m perf and the recorded traces");
		return;
	}
	for (int i = 0; i < 6; i++) {
		struct timed_args a = { .file = file, .f = f[i % 2],
					.cache = "skbuff_head_cache",
					.cores = 2, .measure = true,
					.scale = i / 2 == 1 };
		struct timed_result r;

		a.flags = i / 2 == 2 ? MACHINE_TIMELESS : 0;
		r = timed(a);
		g_test_message("%s, %s: %.2f million records/s",
			       i % 2 ? "sheaves" : "cpu slabs",
			       i / 2 == 2 ? "timeless" :
			       i / 2      ? "the trace's time" :
					    "back to back",
			       r.records / r.cpu_s * 1e-6);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/trace/counts", test_counts);
	g_test_add_func("/trace/odd", test_odd);
	g_test_add_func("/trace/preallocate", test_preallocate);
	g_test_add_func("/trace/kmalloc", test_kmalloc);
	g_test_add_func("/trace/geometry", test_geometry);
	g_test_add_func("/trace/cpu-map", test_cpu_map);
	g_test_add_func("/trace/errors", test_errors);
	g_test_add_func("/trace/long", test_long);
	g_test_add_func("/trace/example", test_example);
	g_test_add_func("/trace/waits", test_waits);
	g_test_add_func("/trace/recorded-pipes", test_recorded_pipes);
	g_test_add_func("/trace/recorded-sockets", test_recorded_sockets);
	g_test_add_func("/trace/speed", test_speed);
	return g_test_run();
}
