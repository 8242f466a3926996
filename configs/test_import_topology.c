/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines that people posted, against figures counted by hand, and made-up
 * ones for what those lack. Every result is loaded again from its .conf text.
 */
#include <archive.h>
#include <archive_entry.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <string.h>

#include "configs/config.h"
#include "configs/import_caches.h"
#include "configs/import_kind.h"
#include "configs/import_resolve.h"
#include "configs/import_tree.h"

/* Relative to the source folder; beside the tree for what is not ours. */
#define POSTED "../shared/inputs/topo/"
#define OWN "configs/testdata/"

struct imported {
	GPtrArray *facts;
	struct imported_machine *m;
	char *conf;
	char *error;
};

static char *source_path(const char *path)
{
	return g_build_filename(SOURCE_ROOT, path, NULL);
}

static void resolve(struct imported *in, GError **error)
{
	struct resolve_options how = {0};
	struct machine_facts *f = facts_merge_all(in->facts);
	g_autofree char *caches = NULL;

	in->m = facts_resolve(f, "test", &how, error);
	if (!in->m)
		return;
	caches = import_caches_to_conf(f, NULL, NULL, in->m->notes);
	in->conf = imported_machine_to_conf(in->m, f, "test", NULL, caches);
}

/* Imports one or two files; .error is set if that fails. */
static struct imported import(const char *path, const char *second)
{
	struct imported in = {.facts = facts_array_new()};
	g_autofree char *full = source_path(path);
	g_autofree char *full2 = second ? source_path(second) : NULL;
	g_autoptr(GError) error = NULL;

	if (facts_from_path(full, in.facts, &error) &&
	    (!second || facts_from_path(full2, in.facts, &error)))
		resolve(&in, &error);
	g_assert_true((error != NULL) == (in.m == NULL));
	in.error = error ? g_strdup(error->message) : NULL;
	return in;
}

static struct imported import_string(const char *s)
{
	struct imported in = {.facts = facts_array_new()};
	struct import_text *t = import_text_new("text", s, strlen(s));
	g_autoptr(GError) error = NULL;

	if (facts_from_text(t, in.facts, &error))
		resolve(&in, &error);
	import_text_free(t);
	g_assert_true((error != NULL) == (in.m == NULL));
	in.error = error ? g_strdup(error->message) : NULL;
	return in;
}

static void imported_clear(struct imported *in)
{
	imported_machine_free(in->m);
	g_ptr_array_unref(in->facts);
	g_free(in->conf);
	g_free(in->error);
}

static void assert_same(const struct topology *a, const struct topology *b)
{
	g_assert_cmpint(a->nr_cpu_ids, >=, b->nr_cpu_ids);
	for (int i = 0; i < b->nr_cpu_ids; i++) {
		g_assert_cmpint(a->cpus[i].online, ==, b->cpus[i].online);
		if (!b->cpus[i].online)
			continue;
		g_assert_cmpint(a->cpus[i].node, ==, b->cpus[i].node);
		g_assert_cmpint(a->cpus[i].core, ==, b->cpus[i].core);
		g_assert_cmpint(a->cpus[i].l3, ==, b->cpus[i].l3);
		g_assert_cmpint(a->cpus[i].socket, ==, b->cpus[i].socket);
	}
	g_assert_cmpint(a->nr_cpus, ==, b->nr_cpus);
	g_assert_cmpint(a->nr_nodes, ==, b->nr_nodes);
	for (int i = 0; i < b->nr_node_ids; i++) {
		g_assert_cmpint(a->nodes[i].online, ==, b->nodes[i].online);
		g_assert_cmpuint(a->nodes[i].memory_bytes >> 20, ==,
				 b->nodes[i].memory_bytes >> 20);
		for (int j = 0; b->nodes[i].online && j < b->nr_node_ids; j++)
			if (b->nodes[j].online)
				g_assert_cmpint(topology_distance(a, i, j), ==,
						topology_distance(b, i, j));
	}
}

/* What is written is what the reader of topology files reads. */
static void assert_loads(const struct imported *in)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	struct topology *t;
	int fd = g_file_open_tmp("slubsim-XXXXXX.conf", &path, &error);

	g_assert_no_error(error);
	g_close(fd, NULL);
	g_assert_true(g_file_set_contents(path, in->conf, -1, &error));
	t = config_load_topology(path, NULL, &error);
	g_assert_no_error(error);
	assert_same(in->m->topology, t);
	topology_free(t);
	g_unlink(path);
}

struct expected {
	const char *file;
	int cpus, nodes, cores, l3s, sockets;
	int memoryless, cpuless; /* nodes */
	int64_t memory_mb;	 /* of all nodes; 0 = assumed, not checked */
	int from, to, distance;	 /* one of the matrix */
	const char *second;	 /* completing input, or NULL */
};

/* Counted in the files: CPU numbers per line, sizes, PU and Core elements. */
static const struct expected posted[] = {
	{"hwloc-16em64t-4s2c2t-offlines.xml", 7, 1, 6, 4, 4, 0, 0, 0, 0, 0, 10},
	{"hwloc-AMD-Zen4-2xEpyc-9654.xml", 384, 1, 192, 24, 2, 0, 0, 0, 0, 0,
	 10},
	{"hwloc-KnightsLanding-XeonPhi-7210.xml", 256, 1, 64, 1, 1, 0, 0, 0, 0,
	 0, 10},
	{"hwloc-SapphireRapids-2xXeonMax9460.xml", 160, 1, 80, 2, 2, 0, 0, 0, 0,
	 0, 10},
	{"hwloc-cxlmem-dax.v2.xml", 4, 1, 4, 1, 1, 0, 0, 2919, 0, 0, 10},
	{"hwloc1-8ia64-2n2s2c+1n.v1.xml", 8, 3, 8, 4, 4, 0, 1, 196948, 0, 2,
	 20},
	{"hwloc1.11-16amd64-4distances.xml", 16, 8, 16, 8, 8, 0, 0, 65534, 0, 7,
	 20},
	{"hwloc2-96em64t-4n4d3ca2co-pci.xml", 96, 4, 96, 16, 16, 0, 0, 195582,
	 0, 3, 26},
	{"lscpu-J-grace-4socket-36nodes-32-cpuless.json", 288, 36, 288, 4, 4,
	 32, 32, 0, 0, 35, 20},
	{"lscpu-epyc7601-8nodes.txt", 128, 8, 64, 8, 2, 0, 0, 0, 0, 7, 20},
	{"lscpu-kunpeng-608cpu-32nodes-hbm-only-16-31.txt", 608, 32, 608, 16, 2,
	 16, 16, 0, 0, 31, 20},
	{"lscpu-offline-epyc7742-cpu255.txt", 255, 2, 128, 2, 2, 0, 0, 0, 0, 1,
	 20},
	{"lscpu-phytium2500-16nodes.txt", 128, 16, 128, 16, 2, 0, 0, 0, 0, 15,
	 20},
	{"numactl-2socket-node1-memoryless-even-odd.txt", 72, 2, 72, 2, 2, 1, 0,
	 128702, 0, 1, 20},
	{"numactl-broadwell-2socket-36cpu.txt", 36, 2, 36, 2, 2, 0, 0, 262030,
	 1, 0, 21},
	{"numactl-desktop-1node.txt", 8, 1, 8, 1, 1, 0, 0, 7957, 0, 0, 10},
	{"numactl-epyc7601-6of8-nodes-memoryless.txt", 128, 8, 128, 8, 2, 6, 0,
	 51419, 3, 4, 32},
	{"numactl-newformat-wide-columns-virtme2025.txt", 16, 2, 16, 2, 2, 1, 0,
	 1952, 1, 0, 20},
	{"numactl-power9-nodes-0-8.txt", 128, 2, 128, 2, 2, 0, 0, 260919, 8, 0,
	 40},
	{"numactl-virtme-noncontig-cpus.txt", 8, 2, 8, 2, 2, 0, 0, 3921, 0, 1,
	 20},
	{"rendered-numactl-256ia64-64n2s2c.txt", 256, 64, 256, 64, 0, 0, 0,
	 504788, 63, 63, 10},
	{"rendered-numactl-48amd64-4pa2n6c-sparse.txt", 48, 8, 48, 8, 1, 0, 0,
	 98301, 33, 73, 22},
	{"rendered-numactl-fakeheteromemtiers.txt", 6, 7, 6, 3, 3, 0, 4, 6088,
	 0, 9, 20},
	{"rendered-numactl-offline-cpu0-node0.txt", 12, 1, 12, 1, 1, 0, 0,
	 65536, 1, 1, 10},
	{"synthetic-numactl-1536cpu-8node.txt", 1536, 8, 1536, 8, 2, 0, 0,
	 514552, 0, 7, 40},
	{"ul-lscpu-x86_64-64cpu.txt", 64, 3, 32, 4, 4, 0, 0, 0, 0, 3, 20},
	{"ul-lscpu-x86_64-epyc_7451.txt", 96, 8, 48, 16, 2, 0, 0, 0, 0, 7, 20},
	/* completed by another one of the same machine */
	{"lscpu-epyc7601-8nodes.txt", 128, 8, 64, 8, 2, 6, 0, 51419, 3, 4, 32,
	 POSTED "numactl-epyc7601-6of8-nodes-memoryless.txt"},
};

static const struct expected own[] = {
	{"mail-numactl-wrapped.txt", 16, 3, 16, 2, 2, 1, 1, 24182, 0, 8, 28},
	{"numactl-no-distances.txt", 4, 2, 4, 2, 2, 1, 0, 2048, 1, 0, 20},
	{"report-lscpu-and-numactl.txt", 16, 2, 8, 4, 2, 1, 0, 31900, 0, 1, 32},
	{"lscpu-german.txt", 8, 2, 4, 2, 2, 0, 0, 0, 0, 1, 20},
	{"lscpu-chinese.txt", 4, 2, 4, 2, 2, 0, 0, 0, 0, 1, 20},
	{"lscpu-e.txt", 7, 2, 4, 2, 2, 0, 0, 0, 0, 1, 20},
	{"lscpu-J-nested.json", 4, 2, 4, 1, 1, 1, 1, 0, 0, 1, 20},
	{"lscpu-J-e.json", 4, 2, 2, 2, 2, 0, 0, 0, 0, 1, 20},
	{"numactl-of-lstopo.txt", 8, 2, 8, 2, 2, 1, 0, 8192, 0, 1, 21},
	{"lstopo-lost-memoryless.xml", 8, 2, 4, 2, 2, 1, 0, 8192, 0, 1, 21,
	 OWN "numactl-of-lstopo.txt"},
	{"numactl-old.txt", 4, 2, 2, 2, 1, 0, 0, 8192, 0, 1, 20,
	 OWN "lscpu-two-nodes.txt"},
};

static void check(const char *folder, const struct expected *e)
{
	g_autofree char *path = g_build_filename(folder, e->file, NULL);
	struct imported in = import(path, e->second);
	const struct topology *t;
	int memoryless = 0, cpuless = 0;
	int64_t mb = 0;

	g_assert_cmpstr(in.error, ==, NULL);
	t = in.m->topology;
	for (int i = 0; i < t->nr_node_ids; i++) {
		if (!t->nodes[i].online)
			continue;
		memoryless += !t->nodes[i].memory_bytes;
		cpuless += !t->nodes[i].nr_cpus;
		mb += t->nodes[i].memory_bytes >> 20;
	}
	g_assert_cmpint(t->nr_cpus, ==, e->cpus);
	g_assert_cmpint(t->nr_nodes, ==, e->nodes);
	g_assert_cmpint(t->nr_cores, ==, e->cores);
	g_assert_cmpint(t->nr_l3, ==, e->l3s);
	if (e->sockets)
		g_assert_cmpint(t->nr_sockets, ==, e->sockets);
	g_assert_cmpint(memoryless, ==, e->memoryless);
	g_assert_cmpint(cpuless, ==, e->cpuless);
	if (e->memory_mb)
		g_assert_cmpint(mb, ==, e->memory_mb);
	g_assert_cmpint(topology_distance(t, e->from, e->to), ==, e->distance);
	assert_loads(&in);
	imported_clear(&in);
}

static void test_own(gconstpointer data)
{
	check(OWN, data);
}

static void test_posted(gconstpointer data)
{
	const struct expected *e = data;
	g_autofree char *path =
		g_strconcat(SOURCE_ROOT "/" POSTED, e->file, NULL);

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_test_skip("no ../shared/inputs");
		return;
	}
	check(POSTED, e);
}

/* Those that don't make a machine say what is missing. */
static void test_refused(void)
{
	static const struct {
		const char *file, *says;
	} files[] = {
		{POSTED "hwloc-16amd64-8n2c-cpusets.xml",
		 "CPUs 0-1,12-15 are in no NUMA node"},
		{POSTED "numactl-snc3-6nodes-ASYMMETRIC-distances-only.txt",
		 "names no CPU"},
		{OWN "lstopo-lost-memoryless.xml",
		 "CPUs 2-3,6-7 are in no NUMA node"},
		{OWN "numactl-old.txt", "names no CPU"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path = source_path(files[i].file);
		struct imported in;

		if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
			g_test_message("no %s", path);
			continue;
		}
		in = import(files[i].file, NULL);
		g_assert_nonnull(in.error);
		g_assert_nonnull(strstr(in.error, files[i].says));
		g_assert_nonnull(strstr(in.error, "second input"));
		imported_clear(&in);
	}
}

/* The posted matrix alone with CPUs by option; real distances are asymmetric.
 */
static void test_asymmetric(void)
{
	g_autofree char *path = source_path(
		POSTED "numactl-snc3-6nodes-ASYMMETRIC-distances-only.txt");
	struct resolve_options how = {.cpus_per_node = 4};
	g_autoptr(GPtrArray) facts = facts_array_new();
	g_autoptr(GError) error = NULL;
	struct imported_machine *m;

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		g_test_skip("no ../shared/inputs");
		return;
	}
	g_assert_true(facts_from_path(path, facts, &error));
	m = facts_resolve(facts_merge_all(facts), "snc3", &how, &error);
	g_assert_no_error(error);
	g_assert_cmpint(m->topology->nr_cpus, ==, 24);
	g_assert_cmpint(m->topology->nr_sockets, ==, 2);
	g_assert_cmpint(topology_distance(m->topology, 0, 4), ==, 28);
	g_assert_cmpint(topology_distance(m->topology, 4, 0), ==, 23);
	g_assert_nonnull(strstr(m->notes->pdata[m->notes->len - 2], "socket")
				 ?: strstr(m->notes->pdata[0], "asymmetric"));
	imported_machine_free(m);
}

/* Found by fuzzing: --cpus-per-node where the number of CPUs is known too. */
static void test_cpus_per_node(void)
{
	static const char text[] = "CPU(s): 3\nNUMA node(s): 2\n"
				   "NUMA node0 CPU(s):\nNUMA node1 CPU(s):\n";
	struct import_text *t = import_text_new("text", text, strlen(text));
	struct resolve_options how = {.cpus_per_node = 2};
	g_autoptr(GPtrArray) facts = facts_array_new();
	g_autoptr(GError) error = NULL;

	g_assert_true(facts_from_text(t, facts, NULL));
	g_assert_null(facts_resolve(facts_merge_all(facts), "x", &how, &error));
	g_assert_nonnull(strstr(error->message, "are in no NUMA node"));
	import_text_free(t);
}

/* ---- errors: file, line, expectation ---- */

static void test_errors(void)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"node 0 cpus: 0 1 x\n", "text:1: \"node 0 cpus: 0 1 x\", "
					 "expected CPU numbers"},
		{"node 0 cpus: 0 1\nnode 1 cpus: 1 2\n",
		 "text:2: CPU 1 is on node 0 and on node 1"},
		{"node 0 cpus: 0 5000\n", "text:1: "},
		{"node 2000 cpus: 0\n", "expected node numbers below 1024"},
		{"node 0 cpus: 0\nnode 0 size: x MB\n", "text:2: "},
		{"node 0 cpus: 0\nnode 0 size: 10 GB\n", "expected MB"},
		{"node 0 cpus: 0\nnode 0 size: 5 MB\nnode distances:\n"
		 "node 0\n 0: 12\n",
		 "distance to itself is 12, expected 10"},
		{"node 0 cpus: 0\nnode 0 size: 5 MB\nnode distances:\n"
		 "node 0\n 0: 10 20 30\n",
		 "text:5: 3 distances for 1 nodes"},
		{"node 0 cpus: 0\nnode 0 size: 0 MB\n", "no node has memory"},
		{"CPU(s): 4\nNUMA node0 CPU(s): 18-3\n",
		 "text:2: NUMA node0 CPU(s): \"18-3\", expected a range"},
		{"CPU(s): 0\n", "expected a number from 1 to 4096"},
		{"CPU(s): 99999\n", "expected a number from 1 to 4096"},
		{"CPU(s): 4\nNUMA node(s): 3\n", "not which CPUs"},
		{"# CPU,Core,Socket,Node\n0,0,0,0\n1,zero,0,0\n",
		 "text:3: \"zero\", expected an id"},
		{"# CPU,Core,Socket,Node\n0,0,0,0\n0,0,0,0\n",
		 "text:3: \"0,0,0,0\", expected a CPU only once"},
		{"{ \"lscpu\": [ ", "text:"},
		{"{ \"lscpu\": 3 }", "expected what lscpu -J prints"},
		{"<topology version=\"2.0\"><object></topology>", "text:1: "},
		{"<topology version=\"2.0\">\n<object type=\"Machine\" "
		 "os_index=\"99999999\"/></topology>",
		 "text:2: os_index=\"99999999\", expected 0 to"},
		{"<topology version=\"9.0\"></topology>", "can't load it"},
		{"hello\n", "not recognised, expected"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
		struct imported in = import_string(bad[i].text);

		g_test_message("%s -> %s", bad[i].text, in.error);
		g_assert_nonnull(in.error);
		g_assert_nonnull(strstr(in.error, bad[i].error));
		g_assert_null(strchr(in.error, '\n'));
		imported_clear(&in);
	}
}

/* Found by fuzzing: libhwloc crashes on it, in its own process. */
static void test_hwloc_crash(void)
{
	struct imported in = import(OWN "fuzz/hwloc/crashes-libhwloc", NULL);

	g_assert_nonnull(in.error);
	g_assert_nonnull(strstr(in.error, "libhwloc"));
	imported_clear(&in);
}

/* JSON nested without end must not end in a stack overflow. */
static void test_deep_json(void)
{
	GString *s = g_string_new("{ \"lscpu\": ");
	struct imported in;

	for (int i = 0; i < 2000000; i++)
		g_string_append_c(s, '[');
	in = import_string(s->str);
	g_assert_nonnull(strstr(in.error, "nested more than"));
	imported_clear(&in);
	g_string_free(s, TRUE);
}

/* A decimal point is one in any locale. */
static void test_locale(void)
{
	struct imported in;

	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		g_test_message("no German locale here");
	in = import_string("CPU(s): 2\nL2 cache: 2.5 MiB (2 instances)\n");
	g_assert_nonnull(in.conf);
	g_assert_nonnull(strstr(in.conf, "\nl2_kib=1280\n"));
	imported_clear(&in);
	setlocale(LC_NUMERIC, "C");
}

static void test_provenance(void)
{
	struct imported in = import(OWN "report-lscpu-and-numactl.txt", NULL);

	g_assert_nonnull(strstr(in.conf, "report-lscpu-and-numactl.txt:19\n"
					 "cpus=0-3,8-11\n"));
	g_assert_nonnull(strstr(in.conf, "report-lscpu-and-numactl.txt:20\n"
					 "memory_mb=31900\n"));
	g_assert_nonnull(strstr(in.conf, "report-lscpu-and-numactl.txt:13\n"
					 "l3_kib=16384\n"));
	g_assert_nonnull(strstr(in.conf, "report-lscpu-and-numactl.txt:5 (2 "
					 "threads per core)"));
	imported_clear(&in);
}

/* ---- sysfs trees ---- */

static const struct {
	const char *path, *content;
} tree[] = {
	{"cpu/online", "0-2"},
	{"cpu/cpu0/topology/thread_siblings_list", "0,2"},
	{"cpu/cpu0/topology/physical_package_id", "0"},
	{"cpu/cpu0/cache/index0/level", "1"},
	{"cpu/cpu0/cache/index0/type", "Data"},
	{"cpu/cpu0/cache/index0/size", "48K"},
	{"cpu/cpu0/cache/index0/ways_of_associativity", "12"},
	{"cpu/cpu0/cache/index0/shared_cpu_list", "0,2"},
	{"cpu/cpu0/cache/index1/level", "3"},
	{"cpu/cpu0/cache/index1/type", "Unified"},
	{"cpu/cpu0/cache/index1/size", "30720K"},
	{"cpu/cpu0/cache/index1/shared_cpu_map", "00000000,00000005"},
	{"cpu/cpu1/topology/thread_siblings", "00000002"},
	{"cpu/cpu1/topology/physical_package_id", "1"},
	{"cpu/cpu1/cache/index0/level", "3"},
	{"cpu/cpu1/cache/index0/shared_cpu_list", "1"},
	{"cpu/cpu2/topology/thread_siblings_list", "0,2"},
	{"cpu/cpu2/topology/physical_package_id", "0"},
	{"cpu/cpu2/cache/index0/level", "3"},
	{"cpu/cpu2/cache/index0/shared_cpu_list", "0,2"},
	{"cpu/cpu3/online", "0"},
	{"node/online", "0-1,5"},
	{"node/node0/cpulist", "0,2"},
	{"node/node0/meminfo", "Node 0 MemTotal:       2097152 kB"},
	{"node/node0/distance", "10 21 17"},
	{"node/node1/cpumap", "00000002"},
	{"node/node1/meminfo", "Node 1 MemTotal:       0 kB"},
	{"node/node1/distance", "21 10 28"},
	{"node/node5/cpulist", ""},
	{"node/node5/meminfo", "Node 5 MemTotal:  1048576 kB"},
	{"node/node5/distance", "17 28 10"},
};

static void check_tree(struct machine_facts *f)
{
	struct imported in = {.facts = facts_array_new()};
	g_autoptr(GError) error = NULL;
	const struct topology *t;

	g_ptr_array_add(in.facts, f);
	resolve(&in, &error);
	g_assert_no_error(error);
	t = in.m->topology;
	g_assert_cmpint(t->nr_cpus, ==, 3);
	g_assert_cmpint(t->nr_nodes, ==, 3);
	g_assert_cmpint(t->nr_cores, ==, 2);
	g_assert_cmpint(t->nr_l3, ==, 2);
	g_assert_cmpint(t->nr_sockets, ==, 2);
	g_assert_cmpint(t->cpus[0].core, ==, t->cpus[2].core);
	g_assert_false(t->cpus[3].online);
	g_assert_cmpuint(t->nodes[0].memory_bytes, ==, UINT64_C(2) << 30);
	g_assert_cmpuint(t->nodes[1].memory_bytes, ==, 0);
	g_assert_cmpint(t->nodes[5].nr_cpus, ==, 0);
	g_assert_cmpint(t->nodes[5].socket, ==, 0);
	g_assert_cmpint(topology_distance(t, 1, 5), ==, 28);
	g_assert_nonnull(strstr(in.conf, "\nl1_kib=48\n"));
	g_assert_nonnull(strstr(in.conf, "\nl1_ways=12\n"));
	g_assert_nonnull(strstr(in.conf, "\nl3_kib=30720\n"));
	assert_loads(&in);
	imported_clear(&in);
}

static void test_folder(void)
{
	g_autofree char *root = g_dir_make_tmp("slubsim-XXXXXX", NULL);
	g_autofree char *command = NULL;
	g_autoptr(GError) error = NULL;
	struct import_tree *t;

	for (guint i = 0; i < G_N_ELEMENTS(tree); i++) {
		g_autofree char *path = g_build_filename(
			root, "host", "sys/devices/system", tree[i].path, NULL);
		g_autofree char *dir = g_path_get_dirname(path);

		g_assert_cmpint(g_mkdir_with_parents(dir, 0700), ==, 0);
		g_assert_true(
			g_file_set_contents(path, tree[i].content, -1, NULL));
	}
	t = import_tree_open_folder(root, &error);
	g_assert_no_error(error);
	check_tree(facts_from_tree(t, &error));
	import_tree_free(t);
	command = g_strdup_printf("rm -r %s", root);
	g_assert_true(
		g_spawn_command_line_sync(command, NULL, NULL, NULL, NULL));
}

static void test_tar(gconstpointer compress)
{
	size_t size = 1 << 20, used = 0;
	g_autofree char *buffer = g_malloc(size);
	struct archive *a = archive_write_new();
	struct import_text *text;
	struct import_tree *t;
	g_autoptr(GError) error = NULL;

	archive_write_set_format_ustar(a);
	if (compress)
		g_assert_cmpint(archive_write_add_filter_by_name(a, compress),
				==, ARCHIVE_OK);
	archive_write_open_memory(a, buffer, size, &used);
	for (guint i = 0; i < G_N_ELEMENTS(tree); i++) {
		struct archive_entry *e = archive_entry_new();
		g_autofree char *path = g_strconcat("host/sys/devices/system/",
						    tree[i].path, NULL);

		archive_entry_set_pathname(e, path);
		archive_entry_set_filetype(e, AE_IFREG);
		archive_entry_set_perm(e, 0444);
		archive_entry_set_size(e, strlen(tree[i].content));
		archive_write_header(a, e);
		archive_write_data(a, tree[i].content, strlen(tree[i].content));
		archive_entry_free(e);
	}
	archive_write_close(a);
	archive_write_free(a);
	text = import_text_new("tree.tar", buffer, used);
	g_assert_cmpuint(import_recognise(text), ==, KIND_TAR);
	t = import_tree_open_tar(text, &error);
	g_assert_no_error(error);
	check_tree(facts_from_tree(t, &error));
	import_tree_free(t);
	import_text_free(text);
	/* cut in the middle */
	text = import_text_new("tree.tar", buffer, used / 2);
	t = import_tree_open_tar(text, &error);
	g_assert_true(t || error);
	import_tree_free(t);
	import_text_free(text);
}

static void add(const char *folder, const struct expected *e,
		GTestDataFunc test)
{
	g_autofree char *name =
		g_strdup_printf("/import/topology/%s/%s%s", folder, e->file,
				e->second ? "+" : "");

	g_test_add_data_func(name, e, test);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (guint i = 0; i < G_N_ELEMENTS(posted); i++)
		add("posted", &posted[i], test_posted);
	for (guint i = 0; i < G_N_ELEMENTS(own); i++)
		add("own", &own[i], test_own);
	g_test_add_func("/import/topology/refused", test_refused);
	g_test_add_func("/import/topology/asymmetric", test_asymmetric);
	g_test_add_func("/import/topology/cpus-per-node", test_cpus_per_node);
	g_test_add_func("/import/topology/errors", test_errors);
	g_test_add_func("/import/topology/hwloc-crash", test_hwloc_crash);
	g_test_add_func("/import/topology/deep-json", test_deep_json);
	g_test_add_func("/import/topology/locale", test_locale);
	g_test_add_func("/import/topology/provenance", test_provenance);
	g_test_add_func("/import/topology/folder", test_folder);
	g_test_add_data_func("/import/topology/tar", NULL, test_tar);
	g_test_add_data_func("/import/topology/tar-gzip", "gzip", test_tar);
	g_test_add_data_func("/import/topology/tar-xz", "xz", test_tar);
	return g_test_run();
}
