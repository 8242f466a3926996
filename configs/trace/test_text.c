/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record or two at a time, in every spelling met so far. */
#include <string.h>

#include "configs/trace/gfp.h"
#include "configs/trace/trace.h"

struct parsed {
	struct trace *t;
	GArray *events; /* struct trace_event */
	struct trace_notes *n;
};

static struct parsed parse(const char *text)
{
	struct parsed p = { .events = g_array_new(
				    FALSE, FALSE, sizeof(struct trace_event)) };
	GError *error = NULL;
	struct trace_event ev;
	uint64_t skipped = 0;

	p.t = trace_open_memory(text, strlen(text), &error);
	g_assert_no_error(error);
	while (trace_next(p.t, &ev, &error))
		g_array_append_val(p.events, ev);
	g_assert_no_error(error);
	p.n = trace_notes(p.t);
	/* what goes in comes out, or is counted */
	skipped = trace_notes_skipped(p.n);
	g_assert_cmpuint(p.n->records, ==, p.n->events + skipped);
	g_assert_cmpuint(p.n->events, ==, p.events->len);
	return p;
}

static struct trace_event *event(const struct parsed *p, unsigned i)
{
	g_assert_cmpuint(i, <, p->events->len);
	return &g_array_index(p->events, struct trace_event, i);
}

static void done(struct parsed *p)
{
	trace_close(p->t);
	g_array_free(p->events, TRUE);
}

/* A line that gives one event of this kind, CPU, time, pointer. */
static void one(const char *line, enum trace_kind kind, int cpu,
		uint64_t time_ns, uint64_t ptr)
{
	struct parsed p = parse(line);
	struct trace_event *ev;

	g_test_message("%s", line);
	g_assert_cmpuint(p.events->len, ==, 1);
	ev = event(&p, 0);
	g_assert_cmpint(ev->kind, ==, kind);
	g_assert_cmpint(ev->cpu, ==, cpu);
	g_assert_cmpuint(ev->time_ns, ==, time_ns);
	g_assert_cmphex(ev->ptr, ==, ptr);
	done(&p);
}

/* A text that gives no event and one count. */
static void none(const char *text, enum trace_note note)
{
	struct parsed p = parse(text);

	g_test_message("%s", text);
	g_assert_cmpuint(p.events->len, ==, 0);
	g_assert_cmpuint(p.n->count[note], ==, 1);
	done(&p);
}

#define FREE "kmem_cache_free: call_site=f+0x1/0x2 ptr=00000000cef40c80"
#define FREED 0xcef40c80

static void test_headers(void)
{
	static const struct {
		const char *header;
		int cpu;
		uint64_t ns;
	} rows[] = {
		{ "a-1 [002] .... 808.188897: ", 2, 808188897000 },
		{ "  <idle>-0     [003] d..1. 12.000001: ", 3, 12000001000 },
		{ "<...>-41112 [002] .... 313039.418842: ", 2,
		  313039418842000 },
		{ "mmcblk0p4--114 [001] ..s. 5.000000: ", 1, 5000000000 },
		{ "kworker/0:1-12 [000] .N.. 5.000000: ", 0, 5000000000 },
		{ "test:.sh-1299    [004] .....  2886.040608: ", 4,
		  2886040608000 },
		{ "Web Content-77 [011] ...1 5.000000: ", 11, 5000000000 },
		{ "a [9] b: c-1 [007] ...1 5.000000: ", 7, 5000000000 },
		{ "[002] ....   808.188897: ", 2, 808188897000 },
		{ "808.188897: ", 0, 808188897000 },
		{ "", 0, 0 },
		{ "a-1 [000] 8115.304880123: ", 0, 8115304880123 },
		{ "perf 16583 [001]  2162.946896:  kmem:", 1, 2162946896000 },
		{ "a b 1/2 [001]  2162.946896:  kmem:", 1, 2162946896000 },
		{ "sh-15      1d..3 1234us : ", 1, 1234000 },
		{ "sh-15      0d..3. 1234us+: ", 0, 1234000 },
		{ "sh-15      2.... 17us!: ", 2, 17000 },
		{ "make-16810  4d..1.  2319.000857: ", 4, 2319000857000 },
		{ "[   12.345678] ", 0, 12345678000 },
		{ "[   12.345678] [    C3] ", 3, 12345678000 },
		{ "[   12.345678] [  T123] ", 0, 12345678000 },
		{ "a-1 [001] .... 123456: ", 1, 123456 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *line =
			g_strconcat(rows[i].header, FREE, NULL);

		one(line, TRACE_CACHE_FREE, rows[i].cpu, rows[i].ns, FREED);
	}
}

static void test_header_notes(void)
{
	struct parsed p = parse("1.5: " FREE "\n" FREE "\n");

	g_assert_cmpuint(p.n->count[NOTE_NO_CPU], ==, 2);
	g_assert_cmpuint(p.n->count[NOTE_NO_TIME], ==, 1);
	g_assert_cmpuint(event(&p, 1)->time_ns, ==, 1500000000);
	g_assert_cmpuint(p.n->count[NOTE_HASHED], ==, 2);
	done(&p);
	none("a-1 [9000] .... 1.0: " FREE, NOTE_BAD_FIELD);
}

static void test_pointers(void)
{
	static const struct {
		const char *text;
		uint64_t ptr;
	} rows[] = {
		{ "0xffff888104412b80", 0xffff888104412b80 },
		{ "ffff888104412b80", 0xffff888104412b80 },
		{ "00000000cef40c80", 0xcef40c80 },
		{ "c14c1500", 0xc14c1500 },
		{ "18446612134395152256", 0xffff88007c088780 },
		{ "0xffff9e0e8571e000 (-107689771147264)",
		  0xffff9e0e8571e000 },
		{ "3D0xffff888104412b80", 0xffff888104412b80 },
		{ "(null)", 0 },
		{ "          (null)", 0 },
		{ "0x0", 0 },
		{ "0x10", 0 }, /* ZERO_SIZE_PTR */
		{ "0000000000000000", 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *line = g_strdup_printf(
			"a-1 [000] .... 1.0: kfree: call_site=f ptr=%s",
			rows[i].text);

		one(line, TRACE_KFREE, 0, 1000000000, rows[i].ptr);
	}
	none("1.0: kfree: call_site=f ptr=(____ptrval____)",
	     NOTE_HIDDEN_POINTER);
	none("1.0: kfree: call_site=f ptr=(ptrval)", NOTE_HIDDEN_POINTER);
	none("1.0: kfree: call_site=f ptr=(efault)", NOTE_BAD_FIELD);
	none("1.0: kfree: call_site=f ptr=zz", NOTE_BAD_FIELD);
	none("1.0: kfree: call_site=f ptr=0xffff88810441", NOTE_CUT);
	none("1.0: kfree: call_site=f ptr=00000000ce", NOTE_CUT);
	none("1.0: kfree: call_site=f ptr=", NOTE_CUT);
	none("1.0: kfree: call_si", NOTE_CUT);
	none("1.0: kmem_cache_alloc: ca", NOTE_CUT);
}

#define ALLOC                                                                \
	"a-1 [001] .... 7.0: kmem_cache_alloc: call_site=f+0x1/0x2 [m] "     \
	"ptr=0xffff888104412b80 "

static void test_fields(void)
{
	struct parsed p = parse(ALLOC "name=skbuff_head_cache bytes_req=224 "
				      "bytes_alloc=256 gfp_flags=GFP_KERNEL|"
				      "__GFP_ZERO node=1 accounted=true\n");
	struct trace_event *ev = event(&p, 0);

	g_assert_cmpstr(trace_name(p.t, ev->name), ==, "skbuff_head_cache");
	g_assert_cmpuint(ev->bytes_req, ==, 224);
	g_assert_cmpuint(ev->bytes_alloc, ==, 256);
	g_assert_cmpint(ev->node, ==, 1);
	g_assert_cmpint(ev->gfp, ==,
			TRACE_GFP_BLOCK | TRACE_GFP_RECLAIM | TRACE_GFP_ZERO |
				TRACE_GFP_ACCOUNT);
	done(&p);

	/* no blank; options/fields; old and new order of name */
	p = parse(ALLOC "bytes_req=56bytes_alloc=64 gfp_flags=0x820 node=-1 "
			"accounted=false\n");
	ev = event(&p, 0);
	g_assert_cmpuint(ev->bytes_req, ==, 56);
	g_assert_cmpuint(ev->bytes_alloc, ==, 64);
	g_assert_cmpint(ev->gfp, ==, TRACE_GFP_RECLAIM);
	g_assert_cmpint(ev->node, ==, -1);
	done(&p);
	p = parse(ALLOC "bytes_req=0x168 (360) bytes_alloc=0x180 (384) "
			"gfp_flags=0xcc0 (3264) node=0xffffffff (-1) "
			"accounted=(0)");
	ev = event(&p, 0);
	g_assert_cmpuint(ev->bytes_req, ==, 360);
	g_assert_cmpuint(ev->bytes_alloc, ==, 384);
	g_assert_cmpint(ev->node, ==, -1);
	g_assert_cmpint(ev->gfp, ==, TRACE_GFP_BLOCK | TRACE_GFP_RECLAIM);
	done(&p);

	/* names with a blank, and names that are no file's name */
	p = parse("1.0: " FREE " name=a b\n1.1: " FREE " name=x/y\n");
	g_assert_cmpstr(trace_name(p.t, event(&p, 0)->name), ==, "a b");
	g_assert_cmpstr(trace_name(p.t, event(&p, 1)->name), ==, "x!y");
	g_assert_cmpuint(p.n->count[NOTE_NAME_ALTERED], ==, 1);
	done(&p);

	/* sizes */
	none(ALLOC "bytes_req=99999999999 bytes_alloc=64 gfp_flags=0xcc0",
	     NOTE_BAD_FIELD);
	none(ALLOC "bytes_req=-5 bytes_alloc=64 gfp_flags=0xcc0",
	     NOTE_BAD_FIELD);
	none(ALLOC "bytes_req=22", NOTE_CUT);
	p = parse(ALLOC "bytes_req=22 gfp_flags=GFP_ATOMIC");
	g_assert_cmpuint(p.n->count[NOTE_SIZE_GUESSED], ==, 1);
	g_assert_cmpuint(event(&p, 0)->bytes_alloc, ==, 22);
	done(&p);
	p = parse(ALLOC "bytes_req=22 bytes_alloc=32");
	g_assert_cmpuint(p.n->count[NOTE_GFP_ABSENT], ==, 1);
	done(&p);
	p = parse(ALLOC "bytes_req=22 bytes_alloc=32 gfp_flags=GFP_NOVEL");
	g_assert_cmpuint(p.n->count[NOTE_GFP_UNKNOWN], ==, 1);
	done(&p);
	none(ALLOC "bytes_req=22 bytes_alloc=32 gfp_flags=0xcc0 node=4711",
	     NOTE_BAD_FIELD);
}

static void test_gfp(void)
{
	static const struct {
		const char *text;
		unsigned bits;
		bool known;
	} rows[] = {
		{ "GFP_KERNEL", 3, true },
		{ "GFP_KERNEL|GFP_ZERO", 11, true },
		{ "GFP_KERNEL|__GFP_ZERO", 11, true },
		{ "GFP_NOWAIT|__GFP_NOWARN", 2, true },
		{ "GFP_KERNEL_ACCOUNT", 19, true },
		{ "__GFP_RECLAIMABLE|GFP_NOFS", 35, true },
		{ "GFP_ATOMIC|0x1000000", 2, true },
		{ "GFP_KER", 0, false },
		{ "none", 0, true },
		{ "0xcc0", 3, true },
		{ "0xdc0", 11, true },
		{ "3264", 3, true },
		{ "0x820", 2, true },
		{ "0x402800", 18, true },
		{ "0x14000c0", 3, true }, /* 4.14's GFP_KERNEL */
		{ "0x1080020", 2, true }, /* 4.14's GFP_ATOMIC */
		{ "0xd0", 3, true },	  /* 3.x's GFP_KERNEL */
		{ "0x80d0", 11, true },	  /* with __GFP_ZERO */
		{ "0x20", 0, true },
		{ "", 0, false },
		{ "|", 0, false },
	};
	struct gfp_memo memo = { 0 };

	for (int twice = 0; twice < 2; twice++) {
		for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
			bool known;
			unsigned bits = trace_gfp_memo(&memo, rows[i].text,
						       strlen(rows[i].text),
						       &known);

			g_test_message("%s", rows[i].text);
			g_assert_cmphex(bits, ==, rows[i].bits);
			g_assert_cmpint(known, ==, rows[i].known);
		}
	}
}

/* One record however it was broken; all fields must have come through. */
static void whole(const char *text, enum trace_note note)
{
	struct parsed p = parse(text);
	struct trace_event *ev;

	g_test_message("%s", text);
	g_assert_cmpuint(p.events->len, ==, 1);
	ev = event(&p, 0);
	g_assert_cmpint(ev->cpu, ==, 20);
	g_assert_cmpuint(ev->time_ns, ==, 3116264020748000);
	g_assert_cmphex(ev->ptr, ==, 0xffff9234810d5000);
	g_assert_cmpuint(ev->bytes_req, ==, 4000);
	g_assert_cmpuint(ev->bytes_alloc, ==, 4096);
	g_assert_cmpint(ev->gfp, ==, 3);
	g_assert_cmpuint(p.n->count[note], >, 0);
	g_assert_cmpuint(p.n->count[NOTE_GFP_UNKNOWN], ==, 0);
	g_assert_cmpuint(p.n->count[NOTE_OTHER_TEXT], ==, 0);
	done(&p);
}

static void test_broken_lines(void)
{
#define HEAD "fio 264249 [020] 3116264.020748:"
#define NAME " kmem:kmem_cache_alloc: "
#define BODY "(f+0x4f) call_site=ffffffff8785c74f ptr=0xffff9234810d5000 "
#define SIZE "bytes_req=4000 bytes_alloc=4096 "
	whole(HEAD NAME BODY SIZE "gfp_flags=GFP\n_KERNEL\n\tffff f\n",
	      NOTE_JOINED);
	whole(HEAD NAME BODY SIZE "gfp_flags=GFP_KER\nNEL", NOTE_JOINED);
	whole(HEAD NAME BODY "\n" SIZE "gfp_flags=GFP_KERNEL", NOTE_JOINED);
	whole(HEAD "\n" NAME BODY "\n" SIZE "gfp_flags=GFP_KERNEL",
	      NOTE_JOINED);
	whole(HEAD NAME "\n" BODY SIZE "\ngfp_flags=GFP_KERNEL\n",
	      NOTE_JOINED);
	whole("fio 264249 [020]\n 3116264.020748:" NAME BODY SIZE
	      "gfp_flags=GFP_KERNEL\n",
	      NOTE_JOINED);
}

/* A key cut in its middle is put together too. */
static void test_cut_key(void)
{
	whole(HEAD NAME BODY "bytes_req=4000 bytes_al\nloc=4096 "
			     "gfp_flags=GFP_KERNEL",
	      NOTE_JOINED);
	whole("> " HEAD NAME BODY "bytes_req=4000 bytes_alloc=4096\n"
	      "> gfp_flags=GFP_KERNEL\n",
	      NOTE_MAIL);
	whole(HEAD NAME "(f+0x4f) call_site=3Dffffffff8785c74f ptr=3D0xfff=\n"
			"f9234810d5000 bytes_req=3D4000 bytes_al=\n"
			"loc=3D4096 gfp_flags=3DGFP_KERNEL=20\n",
	      NOTE_MAIL);
}

static void test_one_line(void)
{
	struct parsed p = parse(
		"a-1 [001] .... 7.0: " FREE " name=x a-1 [002] .... 7.1: "
		"kfree: call_site=g ptr=00000000cef40c81 b-2 [003] .... 7.2: "
		"kmalloc: call_site=g [mod] ptr=00000000cef40c82 bytes_req=4 "
		"bytes_alloc=8 gfp_flags=GFP_KERNEL node=-1 accounted=false");

	g_assert_cmpuint(p.events->len, ==, 3);
	for (unsigned i = 0; i < 3; i++) {
		g_assert_cmphex(event(&p, i)->ptr, ==, FREED + i);
		g_assert_cmpint(event(&p, i)->cpu, ==, i + 1);
		g_assert_cmpuint(event(&p, i)->time_ns, ==,
				 7000000000 + i * 100000000);
	}
	g_assert_cmpstr(trace_name(p.t, event(&p, 0)->name), ==, "x");
	done(&p);

	/* the first was torn off by the second */
	p = parse("a-1 [001] .... 7.0: kmalloc: call_si a-1 [002] .... 7.1: "
		  "kfree: call_site=g ptr=00000000cef40c81\n");
	g_assert_cmpuint(p.events->len, ==, 1);
	g_assert_cmpint(event(&p, 0)->cpu, ==, 2);
	g_assert_cmpuint(p.n->count[NOTE_CUT], ==, 1);
	done(&p);
	p = parse("a-1 [001] .... 7.0: kmalloc: call_site=f ptr=0000 a-1 "
		  "[002] .... 7.1: kfree: call_site=g ptr=00000000cef40c81\n");
	g_assert_cmpuint(p.events->len, ==, 1);
	g_assert_cmpuint(p.n->count[NOTE_CUT], ==, 1);
	done(&p);
}

static void test_noise(void)
{
	none("\n", NOTE_BLANK);
	none("# tracer: nop\n", NOTE_COMMENT);
	none("cpus=4\n", NOTE_BANNER);
	none("version = 6\n", NOTE_BANNER);
	none("CPU 1 is empty\n", NOTE_BANNER);
	none(" => kmem_cache_alloc\n", NOTE_STACK);
	none("a-1 [001] .... 7.0: <stack trace>\n", NOTE_STACK);
	none("\tffffffff8782660d kmem_cache_alloc+0xfd ([kernel.kallsyms])\n",
	     NOTE_STACK);
	none("            8000 [unknown] ([unknown])\n", NOTE_OTHER_TEXT);
	none("find-5351 [005] ...1. 678288.910143: do_filp_open <-do_sys\n",
	     NOTE_FUNCTION);
	none(" 1)   0.123 us    |  kfree();\n", NOTE_FUNCTION);
	none("make-1 [004] ..... 2.0: mm_page_alloc: page=0xff pfn=0x1\n",
	     NOTE_OTHER_EVENT);
	none("a-1 [004] ..... 2.0: rpc_x: call_site=f ptr=0xff\n",
	     NOTE_OTHER_EVENT);
	none("Dear all, this is what I see with kfree:\n", NOTE_CUT);
	none("Dear all, this is what I see\n", NOTE_OTHER_TEXT);
	none("call_site=%pS ptr=%p name=%s bytes_req=%zu\n", NOTE_OTHER_TEXT);
}

static void test_lost(void)
{
	static const struct {
		const char *text;
		uint64_t lost;
	} rows[] = {
		{ "CPU:7 [204600 EVENTS DROPPED]\n", 204600 },
		{ "CPU:1 [LOST 29 EVENTS]\n", 29 },
		{ "CPU:1 [LOST EVENTS]\n", 0 },
		{ "x 0 [000] 1.0: PERF_RECORD_LOST lost 12\n", 12 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct parsed p = parse(rows[i].text);

		g_assert_cmpuint(p.n->count[NOTE_LOST_MARK], ==, 1);
		g_assert_cmpuint(p.n->count[NOTE_LOST_EVENTS], ==,
				 rows[i].lost);
		done(&p);
	}
	{
		struct parsed p = parse(
			"# entries-in-buffer/entries-written: 55/200   #P:4");

		g_assert_cmpuint(p.n->count[NOTE_LOST_EVENTS], ==, 145);
		done(&p);
	}
}

static void test_long_line(void)
{
	GString *s = g_string_new("1.0: " FREE "\n");
	struct parsed p;

	for (unsigned i = 0; i < 3 * TRACE_MAX_LINE / 8; i++)
		g_string_append(s, "longline");
	g_string_append(s, "\n1.1: " FREE "\n");
	p = parse(s->str);
	g_assert_cmpuint(p.events->len, ==, 2);
	g_assert_cmpuint(p.n->count[NOTE_LONG_LINE], ==, 1);
	g_assert_cmpuint(p.n->lines, ==, 3);
	done(&p);
	g_string_free(s, TRUE);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/trace/text/headers", test_headers);
	g_test_add_func("/trace/text/header-notes", test_header_notes);
	g_test_add_func("/trace/text/pointers", test_pointers);
	g_test_add_func("/trace/text/fields", test_fields);
	g_test_add_func("/trace/text/gfp", test_gfp);
	g_test_add_func("/trace/text/broken-lines", test_broken_lines);
	g_test_add_func("/trace/text/cut-key", test_cut_key);
	g_test_add_func("/trace/text/one-line", test_one_line);
	g_test_add_func("/trace/text/noise", test_noise);
	g_test_add_func("/trace/text/lost", test_lost);
	g_test_add_func("/trace/text/long-line", test_long_line);
	return g_test_run();
}
