/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.dat files made here, byte by byte, by trace-cmd.dat.v6(5): read as
 * they are, compressed, cut anywhere and damaged anywhere.
 */
#include <archive.h>
#include <archive_entry.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "configs/trace/trace.h"

#define PAGE 4096
enum { ID_ALLOC = 500, ID_FREE, ID_KMALLOC, ID_KFREE, ID_OTHER };

static void put(GByteArray *b, const void *p, size_t n)
{
	g_byte_array_append(b, p, n);
}

static void put_int(GByteArray *b, uint64_t v, size_t n)
{
	v = GUINT64_TO_LE(v);
	put(b, &v, n);
}

/* Text with its length in front, @size bytes wide. */
static void put_sized(GByteArray *b, const char *text, size_t size)
{
	put_int(b, strlen(text), size);
	put(b, text, strlen(text));
}

#define COMMON                                                               \
	"format:\n"                                                          \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;"            \
	"\tsigned:0;\n"                                                      \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;"            \
	"\tsigned:0;\n"                                                      \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;"    \
	"\tsigned:0;\n"                                                      \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"         \
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"  \
	"\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n"
#define SIZES                                                                \
	"\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n"        \
	"\tfield:size_t bytes_alloc;\toffset:32;\tsize:8;\tsigned:0;\n"      \
	"\tfield:unsigned long gfp_flags;\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\tfield:int node;\toffset:48;\tsize:4;\tsigned:1;\n"                \
	"\tfield:bool accounted;\toffset:52;\tsize:1;\tsigned:0;\n"
#define PRINT "\nprint fmt: \"ptr=%p\", REC->ptr\n"

static void put_formats(GByteArray *b)
{
	put(b, "\x17\x08\x44tracing" "6", 12); /* with its NUL */
	put_int(b, 0, 1);			 /* little endian */
	put_int(b, 8, 1);			 /* bytes of a long */
	put_int(b, PAGE, 4);
	put(b, "header_page", 12);
	put_sized(b,
		  "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n",
		  8);
	put(b, "header_event", 13);
	put_sized(b,
		  "# compressed entry header\n\ttype_len    :    5 bits\n"
		  "\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
		  "\tpadding     : type == 29\n\ttime_extend : type == 30\n"
		  "\ttime_stamp : type == 31\n"
		  "\tdata max type_len  == 28\n",
		  8);
	put_int(b, 0, 4); /* ftrace's own formats */
	put_int(b, 2, 4); /* systems */
	put(b, "kmem", 5);
	put_int(b, 4, 4);
	put_sized(b, "name: kmem_cache_alloc\nID: 500\n" COMMON SIZES PRINT,
		  8);
	put_sized(b,
		  "name: kmem_cache_free\nID: 501\n" COMMON
		  "\tfield:__data_loc char[] name;\toffset:24;\tsize:4;"
		  "\tsigned:1;\n" PRINT,
		  8);
	put_sized(b, "name: kmalloc\nID: 502\n" COMMON SIZES PRINT, 8);
	put_sized(b, "name: kfree\nID: 503\n" COMMON PRINT, 8);
	put(b, "sched", 6);
	put_int(b, 1, 4);
	put_sized(b, "name: sched_other\nID: 504\n" COMMON PRINT, 8);
	put_int(b, 0, 4); /* kallsyms */
	put_int(b, 0, 4); /* printk formats */
	put_int(b, 0, 8); /* command lines */
}

/* An event of the ring buffer, @delta ns after the one before. */
static void put_event(GByteArray *page, unsigned delta, int id, uint64_t ptr,
		      uint64_t bytes_req, uint64_t bytes_alloc, uint64_t gfp,
		      const char *name)
{
	GByteArray *e = g_byte_array_new();

	put_int(e, id, 2);
	put_int(e, 0, 2);
	put_int(e, 42, 4);
	put_int(e, 0xffffffff81000000, 8);
	put_int(e, ptr, 8);
	if (id == ID_ALLOC || id == ID_KMALLOC) {
		put_int(e, bytes_req, 8);
		put_int(e, bytes_alloc, 8);
		put_int(e, gfp, 8);
		put_int(e, -1, 4);
		put_int(e, 1, 1);
	} else if (name) {
		put_int(e, (strlen(name) + 1) << 16 | 28, 4);
		put(e, name, strlen(name) + 1);
	}
	while (e->len % 4)
		put_int(e, 0, 1);
	put_int(page, (uint32_t)(e->len / 4) | delta << 5, 4);
	put(page, e->data, e->len);
	g_byte_array_free(e, TRUE);
}

static void put_page(GByteArray *b, uint64_t time, GByteArray *events,
		     bool missed)
{
	size_t start = b->len;

	put_int(b, time, 8);
	put_int(b, events->len | (missed ? 1u << 31 : 0), 8);
	put(b, events->data, events->len);
	while (b->len < start + PAGE)
		put_int(b, 0, 1);
	g_byte_array_free(events, TRUE);
}

#define P0 0xffff888100001000
#define P1 0xffff888100002000

/* CPU 0 allocates two objects, CPU 1 frees them in between and after. */
static GByteArray *make(void)
{
	GByteArray *b = g_byte_array_new();
	GByteArray *cpu0 = g_byte_array_new(), *cpu1 = g_byte_array_new();
	size_t offsets;

	put_formats(b);
	put_int(b, 2, 4); /* CPUs */
	put(b, "options  ", 10);
	put_int(b, 0, 2);
	put(b, "flyrecord", 10);
	offsets = b->len;
	for (int i = 0; i < 4; i++)
		put_int(b, 0, 8);
	while (b->len % PAGE)
		put_int(b, 0, 1);
	put_event(cpu0, 0, ID_ALLOC, P0, 200, 256, 0xcc0, NULL);
	put_event(cpu0, 1000, ID_KMALLOC, P1, 60, 64, 0xd20, NULL);
	put_event(cpu0, 10, ID_OTHER, 0, 0, 0, 0, NULL);
	put_event(cpu1, 0, ID_FREE, P0, 0, 0, 0, "skbuff_head_cache");
	put_event(cpu1, 1000, ID_KFREE, P1, 0, 0, 0, NULL);
	put_page(b, 1000000000, cpu0, false);
	put_page(b, 1000000500, cpu1, true);
	for (int cpu = 0; cpu < 2; cpu++) {
		uint64_t at = b->len - (2 - cpu) * PAGE, size = PAGE;

		memcpy(b->data + offsets + 16 * cpu, &at, 8);
		memcpy(b->data + offsets + 16 * cpu + 8, &size, 8);
	}
	return b;
}

static void check_events(struct trace *t)
{
	static const struct {
		enum trace_kind kind;
		int cpu;
		uint64_t ns, ptr;
	} rows[] = {
		{ TRACE_CACHE_ALLOC, 0, 1000000000, P0 },
		{ TRACE_CACHE_FREE, 1, 1000000500, P0 },
		{ TRACE_KMALLOC, 0, 1000001000, P1 },
		{ TRACE_KFREE, 1, 1000001500, P1 },
	};
	struct trace_event ev;
	GError *error = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		bool got = trace_next(t, &ev, &error);

		g_assert_no_error(error);
		g_assert_true(got);
		g_assert_cmpint(ev.kind, ==, rows[i].kind);
		g_assert_cmpint(ev.cpu, ==, rows[i].cpu);
		g_assert_cmpuint(ev.time_ns, ==, rows[i].ns);
		g_assert_cmphex(ev.ptr, ==, rows[i].ptr);
		if (!i) {
			g_assert_cmpuint(ev.bytes_req, ==, 200);
			g_assert_cmpuint(ev.bytes_alloc, ==, 256);
			g_assert_cmpint(ev.node, ==, -1);
			g_assert_cmpint(ev.gfp, ==,
					TRACE_GFP_BLOCK | TRACE_GFP_RECLAIM |
						TRACE_GFP_ACCOUNT);
		}
		if (i == 1)
			g_assert_cmpstr(trace_name(t, ev.name), ==,
					"skbuff_head_cache");
	}
	g_assert_false(trace_next(t, &ev, &error));
	g_assert_no_error(error);
	g_assert_cmpuint(trace_notes(t)->count[NOTE_OTHER_EVENT], ==, 1);
	g_assert_cmpuint(trace_notes(t)->count[NOTE_LOST_MARK], ==, 1);
	g_assert_cmpuint(trace_notes(t)->records, ==, 4);
}

static void test_read(void)
{
	GByteArray *b = make();
	GError *error = NULL;
	struct trace *t = trace_open_memory((char *)b->data, b->len, &error);

	g_assert_no_error(error);
	check_events(t);
	g_assert_cmpstr(trace_format(t), ==, "trace.dat");
	trace_close(t);
	g_byte_array_free(b, TRUE);
}

/* The same, and a text, through each compression. */
static void test_compressed(void)
{
	static const struct {
		int (*add)(struct archive *);
		const char *name;
	} filters[] = { { archive_write_add_filter_gzip, "gzip" },
			{ archive_write_add_filter_xz, "xz" },
			{ archive_write_add_filter_zstd, "zstd" },
			{ archive_write_add_filter_bzip2, "bzip2" } };

	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++) {
		GByteArray *b = make();
		size_t size = b->len + 65536, used = 0;
		g_autofree char *packed = g_malloc(size);
		struct archive *a = archive_write_new();
		struct archive_entry *e = archive_entry_new();
		g_autofree char *format =
			g_strdup_printf("trace.dat, %s", filters[i].name);
		GError *error = NULL;
		struct trace *t;

		archive_write_set_format_raw(a);
		archive_write_set_bytes_in_last_block(a, 1);
		filters[i].add(a);
		g_assert_cmpint(archive_write_open_memory(a, packed, size,
							  &used),
				==, ARCHIVE_OK);
		archive_entry_set_filetype(e, AE_IFREG);
		archive_write_header(a, e);
		archive_write_data(a, b->data, b->len);
		archive_write_free(a);
		archive_entry_free(e);
		t = trace_open_memory(packed, used, &error);
		g_assert_no_error(error);
		check_events(t);
		g_assert_cmpstr(trace_format(t), ==, format);
		trace_close(t);
		/* half of it is an error, not a short trace */
		t = trace_open_memory(packed, used / 2, &error);
		g_assert_null(t);
		g_assert_nonnull(error);
		g_clear_error(&error);
		g_byte_array_free(b, TRUE);
	}
}

/* Whatever it holds, reading it ends, in events or in one error. */
static bool ends(const GByteArray *b, size_t len)
{
	GError *error = NULL;
	struct trace *t = trace_open_memory((char *)b->data, len, &error);
	struct trace_event ev;
	bool failed;
	int n = 0;

	while (t && trace_next(t, &ev, &error))
		g_assert_cmpint(n++, <, 100000);
	failed = error;
	if (error)
		g_assert_null(strchr(error->message, '\n'));
	g_clear_error(&error);
	trace_close(t);
	return !failed;
}

static void test_damaged(void)
{
	GByteArray *b = make();
	GRand *rand = g_rand_new_with_seed(7);

	g_assert_false(ends(b, 20));
	g_assert_false(ends(b, 2000));
	for (int i = 0; i < 60; i++)
		ends(b, g_rand_int_range(rand, 10, b->len));
	for (int i = 0; i < 120; i++) {
		GByteArray *c = make();

		for (int k = g_rand_int_range(rand, 1, 6); k; k--) {
			/* headers and the pages' first bytes matter most */
			int at = g_rand_int_range(rand, 12, c->len);

			if (g_rand_boolean(rand))
				at = c->len - PAGE * (1 + k % 2) + at % 300;
			c->data[at] = g_rand_int(rand);
		}
		ends(c, c->len);
		g_byte_array_free(c, TRUE);
	}
	g_rand_free(rand);
	g_byte_array_free(b, TRUE);
}

static void test_refused(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *part;
	} rows[] = {
		{ "PERFILE2\0\0", 10, "perf script -i" },
		{ "\x7f" "ELF\0\0", 6, "is binary" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		GError *error = NULL;

		g_assert_null(trace_open_memory(rows[i].bytes, rows[i].len,
						&error));
		g_assert_nonnull(error);
		g_assert_nonnull(strstr(error->message, rows[i].part));
		g_clear_error(&error);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/trace/dat/read", test_read);
	g_test_add_func("/trace/dat/compressed", test_compressed);
	g_test_add_func("/trace/dat/damaged", test_damaged);
	g_test_add_func("/trace/dat/refused", test_refused);
	return g_test_run();
}
