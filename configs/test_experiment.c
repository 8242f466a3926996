/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments: what a file says, what overrides change, and that the effective
 * config is the whole of it.
 */
#include <glib/gstdio.h>

#include "configs/conf.h"
#include "configs/config.h"
#include "configs/test_workload.h"

static const char text[] =
	"[experiment]\n"
	"description=queues on the Zen4 machine\n"
	"topology=zen4-2s-8node-2mem\n"
	"workload=queues\n"
	"variants=v6.19-rc5; v7.0-rc3 ;v7.1;\n"
	"iterations=3\n"
	"seed=9999999999999999999\n"
	"published=memoryless-2026\n"
	"\n"
	"[workload]\n"
	"queues=16\n"
	"work_ns=123.456\n"
	"pinned=false\n"
	"mode=socket\n"
	"dump= a\\sfile with \\\\ and = \n"
	"\n"
	"[machine]\n"
	"ipc=1.25\n"
	"\n"
	"[topology]\n"
	"far_distance=40\n"
	"\n"
	"[node 2]\n"
	"memory_mb=0.5\n"
	"\n"
	"[features]\n"
	"freelist_random=true\n"
	"\n"
	"[instructions]\n"
	"caller=17\n"
	"\n"
	"[sweep]\n"
	"workload.queues=1;2;4\n"
	"machine.ipc=1;2\n"
	"\n"
	"[fitted]\n"
	"workload.work_ns=v6.19-rc5: 34 M IOPS\n";

static char *write_temp(const char *s)
{
	char *path = NULL;
	int fd = g_file_open_tmp("slubsim-XXXXXX.conf", &path, NULL);

	g_close(fd, NULL);
	g_assert_true(g_file_set_contents(path, s, -1, NULL));
	return path;
}

static struct experiment *load(const char *s, char **overrides, GError **error)
{
	g_autofree char *path = write_temp(s);
	struct experiment *x = config_load_experiment(path, overrides, error);

	g_unlink(path);
	return x;
}

static void test_fields(void)
{
	g_autoptr(GError) error = NULL;
	struct experiment *x = load(text, NULL, &error);
	const struct test_options *o;
	const struct variant *v;
	const struct sweep_axis *a;

	g_assert_no_error(error);
	o = x->options;
	g_assert_cmpstr(x->description, ==, "queues on the Zen4 machine");
	g_assert_cmpint(x->topology->nr_cpus, ==, 64);
	g_assert_cmpint(topology_distance(x->topology, 0, 7), ==, 40);
	g_assert_cmpint(topology_distance(x->topology, 0, 3), ==, 12);
	g_assert_cmpuint(x->topology->nodes[2].memory_bytes, ==, 1 << 19);
	g_assert_cmpfloat(x->params.ipc, ==, 1.25);
	g_assert_cmpfloat(x->params.dram_local_ns, ==, 105);
	g_assert_cmpint(x->variants->len, ==, 3);
	for (guint i = 0; i < 3; i++) {
		v = x->variants->pdata[i];
		g_assert_true(v->features.freelist_random);
		g_assert_cmpint(v->costs.caller, ==, 17);
	}
	g_assert_cmpstr(v->name, ==, "v7.1");
	g_assert_true(v->features.barns_on_memoryless);
	g_assert_cmpint(x->iterations, ==, 3);
	g_assert_cmpuint(x->seed, ==, 9999999999999999999ull);
	g_assert_cmpint(o->queues, ==, 16);
	g_assert_cmpfloat(o->work_ns, ==, 123.456);
	g_assert_false(o->pinned);
	g_assert_cmpint(o->mode, ==, 1);
	g_assert_cmpstr(o->dump, ==, "a file with \\ and =");
	g_assert_true(g_str_has_suffix(x->published,
				       "/published/memoryless-2026.tsv"));
	g_assert_cmpint(x->sweep->len, ==, 2);
	a = x->sweep->pdata[0];
	g_assert_cmpstr(a->key, ==, "workload.queues");
	g_assert_cmpstr(a->values[2], ==, "4");
	g_assert_cmpstr(g_hash_table_lookup(x->fitted, "workload.work_ns"), ==,
			"v6.19-rc5: 34 M IOPS");
	experiment_free(x);
}

/* Published rows are of the file's machine and load. */
static void test_published_elsewhere(void)
{
	static const struct {
		char *set[3];
		bool kept;
	} cases[] = {
		{ { "experiment.iterations=2" }, true },
		{ { "machine.dram_remote_ns=100" }, true },
		{ { "experiment.topology=smp16n1", "topology.machine="
		    "zen4-epyc-9004-2s" }, false },
		{ { "experiment.topology=smp16n1",
		    "experiment.published=memoryless-2026" }, true },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		struct experiment *x = load(
			"[experiment]\ntopology=smp16n8m2\nworkload=queues\n"
			"variants=v6.12\npublished=memoryless-2026\n",
			(char **)cases[i].set, &error);

		g_assert_no_error(error);
		g_assert_true((x->published != NULL) == cases[i].kept);
		g_assert_true((x->published_name != NULL) == cases[i].kept);
		experiment_free(x);
	}
}

static void test_defaults_kept(void)
{
	g_autoptr(GError) error = NULL;
	struct experiment *x = load("[experiment]\ntopology=smp16n1\n"
				    "workload=queues\nvariants=v6.12\n", NULL,
				    &error);
	const struct test_options *o;

	g_assert_no_error(error);
	o = x->options;
	g_assert_cmpint(o->queues, ==, 16);
	g_assert_true(o->pinned);
	g_assert_null(o->dump);
	g_assert_cmpint(x->iterations, ==, 1);
	g_assert_cmpuint(x->seed, ==, 1);
	g_assert_null(x->published);
	g_assert_null(x->sweep);
	g_assert_cmpuint(g_hash_table_size(x->fitted), ==, 0);
	experiment_free(x);
}

static void test_overrides(void)
{
	char *sets[] = { (char *)"workload.queues=2",
			 (char *)"machine.dram_remote_ns=230",
			 (char *)"features.freelist_random=false",
			 (char *)"instructions.caller=5",
			 (char *)"experiment.variants=v6.12",
			 (char *)"topology.memory_nodes=0,4",
			 (char *)"node 1.socket=1", NULL };
	g_autoptr(GError) error = NULL;
	struct experiment *x = load(text, sets, &error);
	const struct test_options *o;
	const struct variant *v;

	g_assert_no_error(error);
	o = x->options;
	g_assert_cmpint(o->queues, ==, 2);
	g_assert_cmpfloat(x->params.dram_remote_ns, ==, 230);
	g_assert_cmpint(x->variants->len, ==, 1);
	v = x->variants->pdata[0];
	g_assert_cmpstr(v->name, ==, "v6.12");
	g_assert_false(v->features.freelist_random);
	g_assert_cmpint(v->costs.caller, ==, 5);
	g_assert_true(topology_node_has_memory(x->topology, 0));
	g_assert_true(topology_node_has_memory(x->topology, 4));
	g_assert_false(topology_node_has_memory(x->topology, 1));
	g_assert_cmpint(x->topology->nodes[1].socket, ==, 1);
	experiment_free(x);
}

static void test_wrong_overrides(void)
{
	const char *const cases[][2] = {
		{ "workload.queues=0", "--set: [workload] queues: '0', "
				       "expected an integer from 1 to 64 "
				       "queues" },
		{ "workload.queue=1", "--set: [workload] queue: unknown key, "
				      "did you mean queues?" },
		{ "wrkload.queues=1", "--set: [wrkload]: unknown group, did "
				      "you mean [workload]?" },
		{ "features.cpu_partial=true", "--set: [features] cpu_partial: "
					       "cpu_partial needs cpu_slabs "
					       "(in variant v7.0-rc3)" },
		{ "queues=1", "--set: 'queues=1', expected GROUP.KEY=VALUE" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *sets[] = { (char *)cases[i][0], NULL };
		g_autoptr(GError) error = NULL;

		g_assert_null(load(text, sets, &error));
		g_assert_cmpstr(error->message, ==, cases[i][1]);
	}
}

/* Without any other file: $SLUBSIM_CONFIGS has none of them. */
static void test_effective(void)
{
	g_autofree char *configs = g_strdup(g_getenv("SLUBSIM_CONFIGS"));
	g_autoptr(GError) error = NULL;
	struct experiment *x = load(text, NULL, &error);
	g_autofree char *first = NULL, *second = NULL;
	const struct test_options *o;
	struct experiment *y;

	g_assert_no_error(error);
	first = config_effective(x, x->variants->pdata[1]);
	g_setenv("SLUBSIM_CONFIGS", "/nonexistent", TRUE);
	y = load(first, NULL, &error);
	g_assert_no_error(error);
	second = config_effective(y, y->variants->pdata[0]);
	if (configs)
		g_setenv("SLUBSIM_CONFIGS", configs, TRUE);
	else
		g_unsetenv("SLUBSIM_CONFIGS");
	g_assert_cmpstr(first, ==, second);
	g_assert_cmpint(y->variants->len, ==, 1);
	g_assert_cmpmem(x->variants->pdata[1] + offsetof(struct variant,
							 features),
			sizeof(struct features),
			y->variants->pdata[0] + offsetof(struct variant,
							 features),
			sizeof(struct features));
	g_assert_cmpmem(&x->params, sizeof(x->params), &y->params,
			sizeof(y->params));
	o = y->options;
	g_assert_cmpstr(o->dump, ==, "a file with \\ and =");
	g_assert_cmpint(topology_distance(y->topology, 0, 7), ==, 40);
	g_assert_cmpstr(y->published_name, ==, "memoryless-2026");
	experiment_free(x);
	experiment_free(y);
}

/* Names that are paths are relative to the file that says them. */
static void test_relative(void)
{
	g_autofree char *dir = g_dir_make_tmp("slubsim-XXXXXX", NULL);
	g_autofree char *topology = g_build_filename(dir, "t.conf", NULL);
	g_autofree char *variant = g_build_filename(dir, "v.conf", NULL);
	g_autofree char *experiment = g_build_filename(dir, "x.conf", NULL);
	g_autoptr(GError) error = NULL;
	struct experiment *x;
	const struct variant *v;

	g_file_set_contents(topology, "[topology]\nmachine=haswell-i7-4790k\n"
				      "[node 0]\ncpus=0\nmemory_mb=1\n", -1,
			    NULL);
	g_file_set_contents(variant, "[variant]\nbase=v7.1\n[features]\n"
				     "rcu_sheaves=false\n", -1, NULL);
	g_file_set_contents(experiment, "[experiment]\ntopology=t.conf\n"
					"workload=queues\nvariants=v.conf\n"
					"published=./p.tsv\n"
					"[workload]\nqueues=1\n", -1, NULL);
	x = config_load_experiment(experiment, NULL, &error);
	g_assert_no_error(error);
	v = x->variants->pdata[0];
	g_assert_cmpstr(x->topology->name, ==, "t");
	g_assert_cmpstr(v->name, ==, "v");
	g_assert_cmpstr(v->kernel, ==, "7.1");
	g_assert_false(v->features.rcu_sheaves);
	g_assert_true(g_str_has_prefix(x->published, dir));
	experiment_free(x);
	g_unlink(topology);
	g_unlink(variant);
	g_unlink(experiment);
	g_rmdir(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/experiment/fields", test_fields);
	g_test_add_func("/experiment/published-elsewhere",
			test_published_elsewhere);
	g_test_add_func("/experiment/defaults", test_defaults_kept);
	g_test_add_func("/experiment/overrides", test_overrides);
	g_test_add_func("/experiment/wrong-overrides", test_wrong_overrides);
	g_test_add_func("/experiment/effective", test_effective);
	g_test_add_func("/experiment/relative", test_relative);
	return g_test_run();
}
