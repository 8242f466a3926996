/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/test_fixture.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include "workloads/workload.h"

struct point *fixture_point(const char *variant, int iteration, double iops,
			    uint64_t lock_wait)
{
	struct point *p = point_new();
	struct report r = {p};
	struct lock_row *l = g_new0(struct lock_row, 1);
	struct cache_dump *d = cache_dump_new("bio-256");

	p->variant = g_strdup(variant);
	p->kernel = g_strdup("7.0");
	p->description = g_strdup("made by hand");
	p->iteration = iteration;
	p->seed = iteration + 1;
	p->version = g_strdup("0");
	p->build = g_strdup("abc");
	p->config = g_strdup("[workload]\nchannel = pipes\n");
	p->flags = g_strdup("");
	p->topology = g_strdup("twin");
	p->workload = g_strdup("null");
	p->freq_ghz = 2;
	p->nr_cpus = p->nr_nodes = p->nr_node_ids = 2;
	g_array_set_size(p->traffic, 4);
	g_array_index(p->traffic, uint64_t, 1) = 640;
	report_metric(&r, "iops_per_s", "1/s", true, iops);
	report_metric(&r, "time_s", "s", false, 1e9 / iops);
	for (int q = 0; q < 2; q++)
		report_series(&r, "queue_iops_per_s", "1/s", "queue", q,
			      iops / 2);
	report_operations(&r, 1000);
	point_add_account(p, "", CAUSE_IDLE, 500);
	point_add_account(p, "kmem_cache_alloc", CAUSE_INSN, 20000);
	point_add_account(p, "kmem_cache_alloc;___slab_alloc", CAUSE_L1, 5000);
	point_add_account(p,
			  "kmem_cache_alloc;___slab_alloc;get_from_partial_node",
			  CAUSE_LOCK_WAIT, lock_wait);
	l->class = g_strdup("&n->list_lock");
	l->node = 1;
	l->acquisitions = 100;
	l->contentions = 10;
	l->wait_total = lock_wait;
	l->wait_max = lock_wait / 2;
	l->hold_total = 4000;
	g_ptr_array_add(p->locks, l);
	cache_dump_add(d, "alloc_fastpath", "500 C0=300 C3=200");
	cache_dump_add(d, "objs_per_slab", "51");
	g_ptr_array_add(p->caches, d);
	return p;
}

struct result *fixture_result(void)
{
	struct result *r = result_new();
	const char *variants[] = {"base", "new", NULL};
	const char *command[] = {"slubsim", "run", "fixture", NULL};

	r->version = g_strdup("0");
	r->name = g_strdup("fixture");
	r->description = g_strdup("a result made by hand");
	r->topology = g_strdup("twin");
	r->workload = g_strdup("null");
	r->variants = g_strdupv((char **)variants);
	r->command = g_strdupv((char **)command);
	r->seed = 1;
	r->iterations = 3;
	r->complete = true;
	for (int i = 0; i < 3; i++)
		g_ptr_array_add(r->points, fixture_point("base", i,
							 30e6 + 4e6 * i, 1000));
	for (int i = 0; i < 3; i++)
		g_ptr_array_add(r->points, fixture_point("new", i,
							 13e6 + 1e6 * i, 61000));
	for (guint i = 0; i < r->points->len; i++)
		((struct point *)r->points->pdata[i])->index = i;
	return r;
}

char *fixture_dir(void)
{
	g_autoptr(GError) e = NULL;
	char *dir = g_dir_make_tmp("slubsim-test-XXXXXX", &e);

	g_assert_no_error(e);
	return dir;
}

void fixture_remove(const char *dir)
{
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	const char *name;

	while (d && (name = g_dir_read_name(d))) {
		g_autofree char *path = g_build_filename(dir, name, NULL);

		if (g_file_test(path, G_FILE_TEST_IS_DIR) &&
		    !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
			fixture_remove(path);
		else
			g_unlink(path);
	}
	g_rmdir(dir);
}

char *fixture_read(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	char *text = NULL;

	g_file_get_contents(path, &text, NULL, NULL);
	return text;
}
