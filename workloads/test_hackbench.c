/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What hackbench allocates, against perf traces of the real program (one
 * group of 40 processes, 100 loops): objects per message and per task.
 */
#include <archive.h>
#include <string.h>

#include "workloads/hackbench.h"

#define CHILDREN 40
#define MESSAGES 40000

/* The text of a gzip file; NULL if it cannot be read. */
static char *unzip(const char *path)
{
	struct archive *a = archive_read_new();
	struct archive_entry *entry;
	GString *text = g_string_new(NULL);
	char buf[65536];
	la_ssize_t n = -1;

	archive_read_support_filter_gzip(a);
	archive_read_support_format_raw(a);
	if (archive_read_open_filename(a, path, sizeof(buf)) == ARCHIVE_OK &&
	    archive_read_next_header(a, &entry) == ARCHIVE_OK)
		while ((n = archive_read_data(a, buf, sizeof(buf))) > 0)
			g_string_append_len(text, buf, n);
	archive_read_free(a);
	return g_string_free(text, n != 0);
}

/* Lines of @text that contain all of the NULL-ended words. */
static unsigned count(const char *text, ...)
{
	unsigned n = 0;

	for (const char *line = text; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t len = end ? (size_t)(end - line) : strlen(line);
		bool all = true;
		const char *word;
		va_list ap;

		va_start(ap, text);
		while (all && (word = va_arg(ap, const char *)))
			all = g_strstr_len(line, len, word) != NULL;
		va_end(ap);
		n += all;
		line = end ? end + 1 : NULL;
	}
	return n;
}

static char *trace(const char *channel)
{
	const char *shared = g_getenv("SLUBSIM_SHARED");
	g_autofree char *name = g_strdup_printf(
		"hackbench-%s-6.18-2cpu.perf-script.txt.gz", channel);
	g_autofree char *path = g_build_filename(shared ? shared : "",
						 "inputs", "traces", name,
						 NULL);
	char *text;

	if (!shared || !g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_test_skip("the recorded traces are not there");
		return NULL;
	}
	text = unzip(path);
	g_assert_nonnull(text);
	return text;
}

static unsigned per_process(const char *cache)
{
	const struct hackbench_object *o = hackbench_task_objects;

	for (; o->cache; o++)
		if (!strcmp(o->cache, cache))
			return o->per_process;
	g_assert_not_reached();
}

/* Two objects a message on a socket. */
static void test_sockets(void)
{
	g_autofree char *t = trace("sockets");
	unsigned n;

	if (!t)
		return;
	n = count(t, "kmem_cache_alloc:", "call_site=__alloc_skb",
		  "name=skbuff_head_cache", NULL);
	g_assert_cmpuint(n, >=, MESSAGES);
	g_assert_cmpuint(n, <, MESSAGES + 2 * CHILDREN);
	n = count(t, "kmalloc:", "call_site=__alloc_skb", "bytes_alloc=512",
		  NULL);
	g_assert_cmpuint(n, >=, MESSAGES);
	g_assert_cmpuint(n, <, MESSAGES + 2 * CHILDREN);
}

/* None on a pipe: fewer events in all than messages. */
static void test_pipes(void)
{
	g_autofree char *t = trace("pipes");

	if (!t)
		return;
	g_assert_cmpuint(count(t, "kmem:", NULL), <, MESSAGES / 4);
	g_assert_cmpuint(count(t, "alloc_skb", NULL), <, CHILDREN);
}

/* Objects of a task, from the forks of both traces; within one of the mean. */
static void test_tasks(void)
{
	static const struct {
		const char *cache;
		const char *site[3]; /* of the allocation in fork */
	} seen[] = {
		{ "vm_area_struct", { "vm_area_dup" } },
		{ "anon_vma_chain",
		  { "anon_vma_clone", "anon_vma_fork", "copy_fs_struct" } },
		{ "anon_vma", { "anon_vma_fork" } },
		{ "maple_node", { "mas_dup_alloc", "__mt_dup" } },
		{ "mm_struct", { "copy_process", "dup_mm" } },
		{ "task_struct", { "copy_process" } },
		{ "signal_cache", { "copy_process" } },
		{ "sighand_cache", { "copy_process" } },
		{ "pid", { "alloc_pid" } },
		{ "files_cache", { "dup_fd" } },
	};
	g_autofree char *t = trace("sockets");

	if (!t)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(seen); i++) {
		g_autofree char *name = g_strdup_printf("name=%s ",
							seen[i].cache);
		double n = 0;

		for (int k = 0; k < 3 && seen[i].site[k]; k++) {
			g_autofree char *site = g_strdup_printf(
				"call_site=%s", seen[i].site[k]);

			n += count(t, "kmem_cache_alloc:", name, site, NULL);
		}
		g_test_message("%s: %.1f in the trace, %u here",
			       seen[i].cache, n / CHILDREN,
			       per_process(seen[i].cache));
		g_assert_cmpfloat_with_epsilon(n / CHILDREN,
					       per_process(seen[i].cache), 1);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/hackbench/sockets", test_sockets);
	g_test_add_func("/hackbench/pipes", test_pipes);
	g_test_add_func("/hackbench/tasks", test_tasks);
	return g_test_run();
}
