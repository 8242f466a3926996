/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every shipped config file: loads, says what its facts say, and reads back
 * from its effective text as the same struct.
 */
#include <glib/gstdio.h>

#include "configs/conf.h"
#include "configs/config.h"
#include "sim/cpulist.h"
#include "configs/test_workload.h"
#include "configs/topology.h"

static void assert_same_topology(const struct topology *a,
				 const struct topology *b)
{
	g_assert_cmpstr(a->name, ==, b->name);
	g_assert_cmpstr(a->machine, ==, b->machine);
	g_assert_cmpint(a->nr_cpu_ids, ==, b->nr_cpu_ids);
	g_assert_cmpint(a->nr_node_ids, ==, b->nr_node_ids);
	g_assert_cmpint(a->nr_cpus, ==, b->nr_cpus);
	g_assert_cmpint(a->nr_nodes, ==, b->nr_nodes);
	g_assert_cmpint(a->nr_cores, ==, b->nr_cores);
	g_assert_cmpint(a->nr_l3, ==, b->nr_l3);
	g_assert_cmpint(a->nr_sockets, ==, b->nr_sockets);
	for (int i = 0; i < a->nr_cpu_ids; i++) {
		const struct topology_cpu *x = &a->cpus[i], *y = &b->cpus[i];

		g_assert_cmpint(x->online, ==, y->online);
		g_assert_cmpint(x->node, ==, y->node);
		g_assert_cmpint(x->core, ==, y->core);
		g_assert_cmpint(x->l3, ==, y->l3);
		g_assert_cmpint(x->socket, ==, y->socket);
	}
	for (int i = 0; i < a->nr_node_ids; i++) {
		g_assert_cmpint(a->nodes[i].online, ==, b->nodes[i].online);
		g_assert_cmpuint(a->nodes[i].memory_bytes, ==,
				 b->nodes[i].memory_bytes);
		g_assert_cmpint(a->nodes[i].socket, ==, b->nodes[i].socket);
		g_assert_cmpint(a->nodes[i].nr_cpus, ==, b->nodes[i].nr_cpus);
	}
	g_assert_cmpmem(a->distances,
			sizeof(int) * a->nr_node_ids * a->nr_node_ids,
			b->distances,
			sizeof(int) * b->nr_node_ids * b->nr_node_ids);
}

static char *write_temp(const char *text)
{
	g_autoptr(GError) error = NULL;
	char *path = NULL;
	int fd = g_file_open_tmp("slubsim-XXXXXX.conf", &path, &error);

	g_assert_no_error(error);
	g_close(fd, NULL);
	g_file_set_contents(path, text, -1, &error);
	g_assert_no_error(error);
	return path;
}

static void test_topology(gconstpointer name)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GKeyFile) file = g_key_file_new();
	struct topology *t = config_load_topology(name, NULL, &error);
	g_autofree char *text = NULL, *path = NULL;
	struct topology *again;
	struct machine_params p;

	g_assert_no_error(error);
	g_assert_cmpstr(t->name, ==, name);
	g_assert_nonnull(t->machine);
	g_assert_true(config_load_machine(t->machine, NULL, &p, &error));
	topology_to_conf(file, t);
	text = g_key_file_to_data(file, NULL, NULL);
	path = write_temp(text);
	again = config_load_topology(path, NULL, &error);
	g_assert_no_error(error);
	assert_same_topology(t, again);
	topology_free(t);
	topology_free(again);
	g_unlink(path);
}

static void test_zen4(void)
{
	struct topology *t = config_load_topology("zen4-2s-8node-2mem", NULL,
						  NULL);

	g_assert_cmpint(t->nr_cpus, ==, 64);
	g_assert_cmpint(t->nr_nodes, ==, 8);
	g_assert_cmpint(t->nr_cores, ==, 32);
	g_assert_cmpint(t->nr_l3, ==, 8);
	g_assert_cmpint(t->nr_sockets, ==, 2);
	for (int i = 0; i < 64; i++) {
		const struct topology_cpu *c = &t->cpus[i];

		g_assert_cmpint(c->node, ==, i % 32 / 4);
		g_assert_cmpint(c->core, ==, i % 32);
		g_assert_cmpint(c->l3, ==, c->node);
		g_assert_cmpint(c->socket, ==, c->node / 4);
	}
	for (int n = 0; n < 8; n++) {
		g_assert_cmpint(topology_node_has_memory(t, n), ==,
				n == 1 || n == 5);
		g_assert_cmpint(t->nodes[n].socket, ==, n / 4);
	}
	topology_free(t);
}

static void test_large(void)
{
	struct topology *t = config_load_topology("server-512cpu-64node", NULL,
						  NULL);

	g_assert_cmpint(t->nr_cpus, ==, 512);
	g_assert_cmpint(t->nr_nodes, ==, 64);
	g_assert_cmpint(t->nr_sockets, ==, 8);
	g_assert_cmpint(t->cpus[256].core, ==, 0);
	g_assert_cmpint(topology_distance(t, 0, 7), ==, 12);
	g_assert_cmpint(topology_distance(t, 7, 8), ==, 32);
	topology_free(t);
}

/* The machines of the golden scripts are those of the scripts' headers. */
static void check_golden_line(const struct topology *t, const char *line)
{
	int node, n = 0;
	long kb;
	char cpus[256];
	g_auto(GStrv) d = NULL;
	bool in[TOPOLOGY_MAX_CPUS];

	if (sscanf(line, "# guest: node %d cpus: %255s size: %ld kB distances:"
		   "%n", &node, cpus, &kb, &n) < 3 || !n)
		return;
	g_assert_cmpint(node, <, t->nr_node_ids);
	g_assert_null(cpulist_parse(cpus, TOPOLOGY_MAX_CPUS, in, NULL));
	for (int i = 0; i < t->nr_cpu_ids; i++)
		g_assert_cmpint(in[i], ==, t->cpus[i].node == node);
	g_assert_cmpint(kb > 0, ==, topology_node_has_memory(t, node));
	/* what the kernel keeps for itself is missing in the guest's figure */
	g_assert_cmpint(t->nodes[node].memory_bytes / 1024, >=, kb);
	g_assert_cmpint(t->nodes[node].memory_bytes / 1024, <,
			kb + kb / 10 + 1);
	d = g_strsplit(line + n + 1, " ", -1);
	for (int to = 0; d[to]; to++)
		g_assert_cmpint(atoi(d[to]), ==,
				topology_distance(t, node, to));
}

static void test_golden(void)
{
	const char *names[] = { "smp1", "smp4n2", "smp8n4m2", "smp16n1",
				"smp16n8m2", "smp16n8all" };
	const char *root = "../shared/golden/7.1.5";
	g_autofree char *folder = g_build_filename(SLUBSIM_CONFIGS, "..", root,
						   NULL);

	if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
		g_test_skip("no ../shared/golden");
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		struct topology *t = config_load_topology(names[i], NULL, NULL);
		g_autofree char *sub = g_build_filename(folder, names[i], NULL);
		g_autoptr(GDir) dir = g_dir_open(sub, 0, NULL);
		const char *name;

		g_assert_nonnull(dir);
		while ((name = g_dir_read_name(dir)))
			if (g_str_has_suffix(name, ".ops"))
				break;
		g_autofree char *path = g_build_filename(sub, name, NULL);
		g_autofree char *text = NULL;

		g_file_get_contents(path, &text, NULL, NULL);
		g_auto(GStrv) lines = g_strsplit(text, "\n", 64);

		for (int n = 0; lines[n]; n++)
			check_golden_line(t, lines[n]);
		topology_free(t);
	}
}

static void test_machine(gconstpointer name)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) ranges = NULL;
	struct machine_params p;

	config_load_machine(name, NULL, &p, &error);
	g_assert_no_error(error);
	/* nearer is never dearer */
	g_assert_cmpfloat(p.l2_cycles, <, p.l3_cycles);
	g_assert_cmpfloat(p.l3_cycles / p.freq_ghz, <, p.dram_local_ns);
	g_assert_cmpfloat(p.dram_local_ns, <=, p.dram_remote_ns);
	g_assert_cmpfloat(p.c2c_smt_ns, <=, p.c2c_l3_ns);
	g_assert_cmpfloat(p.c2c_l3_ns, <=, p.c2c_cross_l3_ns);
	g_assert_cmpfloat(p.c2c_cross_l3_ns, <=, p.c2c_socket_ns);
	ranges = config_estimates("machines", name, &error);
	g_assert_no_error(error);
	for (guint i = 0; i < ranges->len; i++) {
		const struct estimate *e = ranges->pdata[i];

		g_assert_cmpfloat(e->low, <=, e->value);
		g_assert_cmpfloat(e->value, <=, e->high);
	}
}

static bool has_range(GPtrArray *ranges, const char *key, char kind)
{
	for (guint i = 0; i < ranges->len; i++) {
		const struct estimate *e = ranges->pdata[i];

		if (!strcmp(e->param->key, key))
			return e->kind == kind;
	}
	return false;
}

/*
 * Above each value stands "# UNIT, KIND: source", the unit is the table's, and
 * what is from memory or guessed has a range of that kind.
 */
static void test_sources(gconstpointer name)
{
	g_autofree char *path = config_path("machines", name, NULL, NULL);
	g_autoptr(GPtrArray) ranges = config_estimates("machines", name, NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	bool inside = false;

	g_file_get_contents(path, &text, NULL, NULL);
	lines = g_strsplit(text, "\n", -1);
	for (int i = 0; lines[i]; i++) {
		const struct param_desc *p = machine_param_table;
		g_autofree char *key = g_strndup(lines[i],
						 strcspn(lines[i], "="));
		g_autofree char *unit = NULL;
		char kind;

		if (lines[i][0] == '[')
			inside = !strcmp(lines[i], "[machine]");
		while (p->key && strcmp(p->key, key))
			p++;
		if (!inside || !p->key)
			continue;
		unit = g_strdup_printf("# %s, ", *p->unit ? p->unit : "-");
		if (!g_str_has_prefix(lines[i - 1], unit))
			g_error("%s:%d: expected \"%s...\" above it", path,
				i + 1, unit);
		kind = lines[i - 1][strlen(unit)];
		g_assert_nonnull(strchr("SDMG", kind));
		g_assert_true(g_str_has_prefix(lines[i - 1] + strlen(unit) + 1,
					       ": "));
		if (strchr("MG", kind) && p->type != PARAM_BOOL &&
		    !has_range(ranges, key, kind))
			g_error("%s:%d: %s is of kind %c, expected it in "
				"[range] with that kind", path, i + 1, key,
				kind);
	}
}

/* An experiment of one variant on a small machine, as its effective text. */
static char *effective_of(const char *variant)
{
	g_autofree char *text = g_strdup_printf(
		"[experiment]\ntopology=smp4n2\nworkload=queues\nvariants=%s\n"
		"[workload]\nqueues=2\n", variant);
	g_autofree char *path = write_temp(text);
	g_autoptr(GError) error = NULL;
	struct experiment *x = config_load_experiment(path, NULL, &error);
	char *effective;

	g_assert_no_error(error);
	effective = config_effective(x, x->variants->pdata[0]);
	experiment_free(x);
	g_unlink(path);
	return effective;
}

static void test_variant(gconstpointer name)
{
	g_autoptr(GError) error = NULL;
	struct variant *v = config_load_variant(name, NULL, &error);
	g_autofree char *text = NULL, *path = NULL, *text2 = NULL;
	struct experiment *x;
	const struct variant *again;

	g_assert_no_error(error);
	g_assert_cmpstr(v->name, ==, name);
	g_assert_cmpstr(v->description, !=, "");
	text = effective_of(name);
	path = write_temp(text);
	x = config_load_experiment(path, NULL, &error);
	g_assert_no_error(error);
	again = x->variants->pdata[0];
	g_assert_cmpmem(&v->features, sizeof(v->features), &again->features,
			sizeof(again->features));
	g_assert_cmpmem(&v->costs, sizeof(v->costs), &again->costs,
			sizeof(again->costs));
	text2 = config_effective(x, again);
	g_assert_cmpstr(text, ==, text2);
	experiment_free(x);
	variant_free(v);
	g_unlink(path);
}

static void test_costs(gconstpointer name)
{
	g_autoptr(GError) error = NULL;
	struct insn_costs costs;

	config_load_costs(name, &costs, &error);
	g_assert_no_error(error);
}

static void test_codegen(gconstpointer name)
{
	g_autoptr(GError) error = NULL;
	struct zs_codegen g = { 0 };

	config_load_codegen(name, &g, &error);
	g_assert_no_error(error);
	g_assert_true(g_str_has_prefix(name, g.compiler));
	g_assert_true(g_str_has_suffix(name, strcmp(g.arch, "arm64") ?
				       "x86_64" : "arm64"));
	params_clear(zs_codegen_table, &g);
}

/* [zsmalloc] and [codegen] come back from the effective text. */
static void test_zsmalloc(void)
{
	char *sets[] = { "zsmalloc.codegen=clang22-autofdo-arm64",
			 "codegen.cold_jumps=9", NULL };
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL, *text = NULL;
	struct experiment *x, *y;
	const struct zs_build *zs, *again;

	text = g_strdup_printf("[experiment]\ntopology=zen4-2s-8node-2mem\n"
			       "workload=%s\n"
			       "variants=zs-store+inline-obj-write\n",
			       workloads[0]->name);
	path = write_temp(text);
	x = config_load_experiment(path, sets, &error);
	g_assert_no_error(error);
	zs = ((struct variant *)x->variants->pdata[0])->zs;
	g_assert_true(zs->features.inline_obj_write);
	g_assert_cmpint(zs->codegen.cold_jumps, ==, 9);
	g_assert_cmpint(zs->codegen.obj_write.saves, ==, 6);

	g_free(text);
	text = config_effective(x, x->variants->pdata[0]);
	g_file_set_contents(path, text, -1, &error);
	y = config_load_experiment(path, NULL, &error);
	g_assert_no_error(error);
	again = ((struct variant *)y->variants->pdata[0])->zs;
	g_assert_cmpmem(&zs->features, sizeof(zs->features), &again->features,
			sizeof(again->features));
	g_assert_cmpint(again->codegen.cold_jumps, ==, 9);
	g_assert_cmpstr(again->codegen.arch, ==, "arm64");
	experiment_free(x);
	experiment_free(y);
	g_unlink(path);
}

/* What the table of zsmalloc refuses is told with file, group and key. */
static void test_zsmalloc_refused(void)
{
	char *set[] = { "zsmalloc.inline_obj_write=true", NULL };
	g_autoptr(GError) error = NULL;

	g_assert_null(config_load_variant("zsmalloc-7.1", set, &error));
	g_assert_nonnull(strstr(error->message, "[zsmalloc]"));
	g_assert_nonnull(strstr(error->message, "needs zs_store"));
}

static void test_kernels(void)
{
	const char *const map[][2] = {
		{ "6.12.117", "v6.12" }, { "6.19.0", "v6.19" },
		{ "7.0.0", "v7.0" },	 { "7.1.5", "v7.1" },
		{ "7.2", "v7.2" },	 { "6.1.192", "v6.1" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(map); i++) {
		g_autofree char *name = config_variant_of_kernel(map[i][0]);

		g_assert_cmpstr(name, ==, map[i][1]);
	}
	g_assert_null(config_variant_of_kernel("5.10.1"));
}

static const struct variant *loaded(const char *name)
{
	return config_load_variant(name, NULL, NULL);
}

/* What the generations are known for. */
static void test_generations(void)
{
	struct variant *v61 = (struct variant *)loaded("v6.1");
	struct variant *v612 = (struct variant *)loaded("v6.12");
	struct variant *v619 = (struct variant *)loaded("v6.19");
	struct variant *v70 = (struct variant *)loaded("v7.0");
	struct variant *v71 = (struct variant *)loaded("v7.1");
	struct variant *v72 = (struct variant *)loaded("v7.2");

	g_assert_true(v61->features.frozen_partial);
	g_assert_cmpint(v61->features.order_rule, ==, ORDER_BY_OBJECTS);
	g_assert_false(v612->features.frozen_partial);
	g_assert_cmpint(v612->features.partial_break, ==,
			PARTIAL_BREAK_GT_NONZERO);
	g_assert_cmpint(v612->features.sheaves, ==, SHEAVES_NONE);
	g_assert_cmpint(v619->features.sheaves, ==, SHEAVES_OPT_IN);
	g_assert_true(v619->features.cpu_slabs);
	g_assert_false(v619->features.refill_without_blocking);
	g_assert_cmpint(v70->features.sheaves, ==, SHEAVES_ALL);
	g_assert_false(v70->features.cpu_slabs);
	g_assert_true(v70->features.refill_without_blocking);
	g_assert_true(v70->features.bulk_free_loses_objects);
	g_assert_false(v70->features.barns_on_memoryless);
	g_assert_true(v71->features.barns_on_memoryless);
	g_assert_true(v71->features.bulk_free_loses_objects);
	g_assert_true(v72->features.bulk_refill_freelist);
	g_assert_false(v72->features.bulk_free_loses_objects);
	variant_free(v61);
	variant_free(v612);
	variant_free(v619);
	variant_free(v70);
	variant_free(v71);
	variant_free(v72);
}

/* Each feature is told in a sentence and with a version, and some variant has
 * each choice of it. */
static void test_feature_table(void)
{
	g_auto(GStrv) names = config_list("variants");

	for (const struct param_desc *p = feature_table; p->key; p++) {
		int choices = p->type == PARAM_ENUM ?
			(int)g_strv_length((char **)p->choices) : 2;
		unsigned seen = 0;

		g_assert_cmpuint(strlen(p->help), >, 20);
		if (p->since)
			g_assert_true(g_ascii_isdigit(p->since[0]));
		for (int i = 0; names[i]; i++) {
			struct variant *v = config_load_variant(names[i], NULL,
								NULL);
			char *member = (char *)&v->features + p->offset;

			seen |= 1u << (p->type == PARAM_ENUM ? *(int *)member :
							       *(bool *)member);
			variant_free(v);
		}
		/* choices of the kernel's configuration, not of its version */
		if (!strcmp(p->key, "freelist_random") ||
		    !strcmp(p->key, "freelist_hardened") ||
		    !strcmp(p->key, "have_memoryless_nodes"))
			continue;
		if (seen != (1u << choices) - 1)
			g_error("%s: no variant has each of its choices",
				p->key);
	}
}

static void add_all(const char *folder, const char *what,
		    void (*test)(gconstpointer))
{
	g_auto(GStrv) names = config_list(folder);

	g_assert_nonnull(names[0]);
	for (int i = 0; names[i]; i++) {
		g_autofree char *path = g_strdup_printf("/%s/%s", what,
							names[i]);

		g_test_add_data_func_full(path, g_strdup(names[i]), test,
					  g_free);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_all("topologies", "topology", test_topology);
	add_all("machines", "machine", test_machine);
	add_all("machines", "sources", test_sources);
	add_all("costs", "costs", test_costs);
	add_all("codegen", "codegen", test_codegen);
	add_all("variants", "variant", test_variant);
	g_test_add_func("/zsmalloc", test_zsmalloc);
	g_test_add_func("/zsmalloc-refused", test_zsmalloc_refused);
	g_test_add_func("/zen4", test_zen4);
	g_test_add_func("/large", test_large);
	g_test_add_func("/golden-topologies", test_golden);
	g_test_add_func("/kernels", test_kernels);
	g_test_add_func("/generations", test_generations);
	g_test_add_func("/feature-table", test_feature_table);
	return g_test_run();
}
