/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zsmalloc on a machine with time: what inlining takes from a pair follows
 * from the profile, nothing else changes; and a pool that many CPUs used at
 * once is whole afterwards. One timed machine per process: each case forks.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "model/zsmalloc.h"
#include "sim/lock.h"
#include "workloads/zram_sizes.h"
#include "workloads/number_list.h"
#include "workloads/zs.h"

/* The library's; nothing here looks at it. */
void report_file(struct report *r, const char *folder, const char *name,
		 const char *text)
{
}

static const struct zs_codegen profile = {
	.call_return = 3, .save_register = 2, .call_branches = 3,
	.tail_call = 1, .branch_cycles = 0,
	.obj_malloc = { .moves = 4, .saves = 1 },
	.obj_free = { .moves = 3, .spills = -2, .refetch = 2 },
	.obj_write = { .moves = 9, .saves = 5, .spills = -3 },
	.alloc_zspage_inlined = true, .slow_path_spills = 2,
	.malloc = 50, .obj_malloc_body = 30, .hop = 10, .fullness = 20,
	.obj_write_body = 30, .free = 50, .obj_free_body = 20, .lock_call = 10,
};

/* Each kind of saving once, from the profile above by hand. */
static void test_structure(void)
{
	struct zs_codegen g = profile;
	struct zs_features f;
	struct zs_costs out, in;

	zs_features_defaults(&f);
	f.zs_store = f.copy_in_class_lock = true;
	zs_costs_of(&g, &f, &out);
	f.inline_obj_malloc = f.inline_obj_free = f.inline_obj_write = true;
	f.alloc_zspage_noinline = true;
	zs_costs_of(&g, &f, &in);
	g_assert_cmpuint(out.obj_malloc - in.obj_malloc, ==, 3 + 4 + 2);
	g_assert_cmpuint(out.obj_free - in.obj_free, ==, 3 + 3 - 2 + 2);
	g_assert_cmpuint(out.obj_write - in.obj_write, ==, 1 + 9 + 10 - 3);
	g_assert_cmpuint(out.malloc - in.malloc, ==, 2);
	g_assert_cmpint(out.obj_malloc_branches, ==, 3);
	g_assert_cmpint(in.obj_malloc_branches, ==, 0);

	/* what the compiler inlines by itself can't be saved twice */
	g.obj_free.inlined = true;
	zs_features_defaults(&f);
	zs_costs_of(&g, &f, &out);
	f.inline_obj_free = true;
	zs_costs_of(&g, &f, &in);
	g_assert_cmpuint(out.obj_free, ==, in.obj_free);
}

struct crowd {
	struct slub *sl;
	struct zs_build build;
	struct zs_pool *pool;
	struct zs_line line;
	GArray *held[8]; /* sim_addr */
};
struct member {
	struct crowd *crowd;
	int nr;
	sim_addr page;
};

static void crowd_main(struct cpu *c, void *arg)
{
	struct member *me = arg;
	struct crowd *k = me->crowd;
	GArray *mine = k->held[me->nr];

	if (!me->nr)
		k->pool = zs_create_pool(k->sl, c, "crowd", &k->build);
	zs_line_wait(c, &k->line);
	for (int i = 0; i < 1500; i++) {
		uint64_t r = cpu_random(c);
		sim_addr h;

		if (r % 100 < 55 || !mine->len) {
			g_assert_cmpint(zs_save(c, k->pool, me->page,
						r / 100 % 3 ? 1000 : 3000,
						GFP_FOR_KERNEL, c->node, &h),
					==, 0);
			g_array_append_val(mine, h);
		} else {
			guint at = r / 100 % mine->len;

			h = g_array_index(mine, sim_addr, at);
			g_array_remove_index_fast(mine, at);
			zs_obj_read_begin(c, k->pool, h, 900, me->page);
			zs_obj_read_end(c, k->pool, h);
			zs_free(c, k->pool, h);
		}
		if (!me->nr && i % 100 == 0)
			zs_compact(c, k->pool);
	}
}

static uint64_t run_crowd(bool store, bool outside, uint64_t *pages)
{
	struct machine_params p = {
		.freq_ghz = 1, .ipc = 2, .l1_kib = 32, .l1_ways = 8,
		.l2_kib = 512, .l2_ways = 8, .l3_kib = 8192, .l3_ways = 16,
		.l2_cycles = 14, .l3_cycles = 50,
		.dram_local_ns = 100, .dram_remote_ns = 200,
		.remote_distance = 20, .mem_bw_gbs = 100, .miss_buffers = 10,
		.store_buffer = 50, .c2c_smt_ns = 5, .c2c_l3_ns = 20,
		.c2c_cross_l3_ns = 90, .c2c_home_remote_ns = 180,
		.c2c_socket_ns = 190, .lock_rmw_cycles = 18,
		.cmpxchg16b_cycles = 15, .lock_cmpxchg16b_cycles = 22,
		.irq_save_restore_cycles = 20, .irq_disable_enable_cycles = 7,
		.copy_bytes_per_cycle = 32,
		.clear_page_ns = 100, .context_switch_us = 1, .ipi_us = 1,
	};
	static const struct insn_costs costs = { .alloc_fast = 60,
						 .free_fast = 60 };
	struct features f = { .sheaves = SHEAVES_ALL, .slub_stats = true,
			      .stat_set = STATS_SHEAVES };
	struct topology *t = topology_new("eight", 8, 1);
	struct crowd k = { .build.codegen = profile };
	struct member members[8];
	cpu_program program[8];
	void *args[8];
	struct machine *m;
	GArray *all = g_array_new(FALSE, FALSE, sizeof(sim_addr));
	uint64_t end;

	for (int i = 0; i < 8; i++)
		t->cpus[i].online = true;
	t->nodes[0].online = true;
	t->nodes[0].memory_bytes = 4ull << 30;
	topology_finish(t);
	m = machine_new(t, &p, 0, 1);
	k.sl = slub_new(m, &f, &costs);
	zs_features_defaults(&k.build.features);
	k.build.features.zs_store = store;
	k.build.features.copy_in_class_lock = store && !outside;
	k.build.features.zspage_lock_in_store = store && outside;
	zs_line_init(&k.line, 8);
	for (int i = 0; i < 8; i++) {
		k.held[i] = g_array_new(FALSE, FALSE, sizeof(sim_addr));
		members[i] = (struct member){ &k, i, machine_reserve(
			m, 0, ZS_PAGE, ZS_PAGE) };
		program[i] = crowd_main;
		args[i] = &members[i];
	}
	machine_run(m, program, args);
	for (int i = 0; i < 8; i++) {
		g_array_append_vals(all, k.held[i]->data, k.held[i]->len);
		g_array_unref(k.held[i]);
	}
	g_assert_cmpstr(zs_verify(k.pool, (sim_addr *)all->data, all->len),
			==, NULL);
	*pages = zs_get_total_pages(k.pool);
	end = machine_now(m);
	zs_destroy_pool(k.pool);
	zs_line_clear(&k.line);
	slub_free(k.sl);
	machine_free(m);
	topology_free(t);
	g_array_unref(all);
	return end;
}

static void crowd_case(gconstpointer which)
{
	int n = GPOINTER_TO_INT(which);

	if (g_test_subprocess()) {
		uint64_t pages, end = run_crowd(n > 0, n > 1, &pages);

		g_assert_cmpuint(end, >, 0);
		g_assert_cmpuint(pages, >, 100);
		return;
	}
	g_test_trap_subprocess(NULL, 60000000, G_TEST_SUBPROCESS_DEFAULT);
	g_test_trap_assert_passed();
}

static void test_sizes(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	struct size_mix *m = size_mix_new("even", &error);
	unsigned *list;

	g_assert_cmpfloat_with_epsilon(size_mix_mean(m), 1760, 1e-6);
	g_assert_cmpuint(size_mix_draw(m, 0), ==, 384);
	g_assert_cmpuint(size_mix_draw(m, UINT64_MAX), ==, 3136);
	size_mix_free(m);
	/* the only thing known of it: 1.0 to 1.4 KB */
	m = size_mix_new("anon", &error);
	g_assert_cmpfloat(size_mix_mean(m), >, 1000);
	g_assert_cmpfloat(size_mix_mean(m), <, 1400);
	size_mix_free(m);
	g_assert_null(size_mix_new("/nonexistent", &error));
	g_assert_nonnull(error);
	g_clear_error(&error);

	g_close(g_file_open_tmp("sizes-XXXXXX", &path, NULL), NULL);
	g_file_set_contents(path, "# two\n100 1\n\n 200 3 \n", -1, NULL);
	m = size_mix_new(path, &error);
	g_assert_no_error(error);
	g_assert_cmpfloat(size_mix_mean(m), ==, 175);
	size_mix_free(m);
	g_file_set_contents(path, "100 1\n4097 1\n", -1, NULL);
	g_assert_null(size_mix_new(path, &error));
	g_assert_nonnull(strstr(error->message, ":2: expected SIZE WEIGHT"));
	remove(path);

	g_assert_null(number_list("1,x", 1, 4096));
	g_assert_null(number_list("5000", 1, 4096));
	list = number_list("7; 4096", 1, 4096);
	g_assert_true(list[0] == 7 && list[1] == 4096 && !list[2]);
	g_free(list);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/zs/structure", test_structure);
	g_test_add_func("/zs/sizes", test_sizes);
	g_test_add_data_func("/zs/crowd/malloc", GINT_TO_POINTER(0),
			     crowd_case);
	g_test_add_data_func("/zs/crowd/store", GINT_TO_POINTER(1),
			     crowd_case);
	g_test_add_data_func("/zs/crowd/store-outside", GINT_TO_POINTER(2),
			     crowd_case);
	return g_test_run();
}
