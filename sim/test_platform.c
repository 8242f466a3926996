/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Latencies that come back from the platform's routes, and large machines. */
#include <stdio.h>

#include "sim/test_sim.h"

struct wants {
	struct topology *t;
	struct machine *m;
	int cpu;
	sim_addr at[8];
	uint64_t cycles[8];
};

static void measure(struct cpu *c, void *arg)
{
	struct wants *w = arg;

	for (int n = 0; n < w->t->nr_node_ids; n++) {
		uint64_t before = c->now;

		cpu_read(c, w->at[n]);
		w->cycles[n] = c->now - before;
	}
}

/* Cycles from @cpu to the memory of each node (its nearest, if it has none). */
static void run_measure(void *result, void *arg)
{
	struct wants *w = arg;
	struct machine_params p = test_params();

	w->m = machine_new(w->t, &p, 0, 1);
	for (int n = 0; n < w->t->nr_node_ids; n++)
		w->at[n] = machine_reserve(w->m, n, 64, 64);
	run_one(w->m, w->cpu, measure, w);
	machine_free(w->m);
	memcpy(result, w, sizeof(*w));
}

static void expect(struct topology *t, int cpu, const uint64_t *cycles)
{
	struct wants w = { .t = t, .cpu = cpu }, out;

	in_child(run_measure, &out, sizeof(out), &w);
	for (int n = 0; n < t->nr_node_ids; n++)
		g_assert_cmpuint(out.cycles[n], ==, cycles[n]);
}

/* 400 local, 800 at distance 20, linear in between and beyond. */
static void test_distances(void)
{
	/* two sockets, two nodes each; node 1 is memoryless, near node 0;
	 * node 3 is farther from socket 0 than node 2 is */
	static const int slit[4][4] = {
		{ 10, 11, 20, 30 },
		{ 11, 10, 20, 30 },
		{ 20, 20, 10, 12 },
		{ 30, 30, 12, 10 },
	};
	struct topology *t = topology_new("four", 8, 4);

	for (int i = 0; i < 8; i++)
		t->cpus[i] = (struct topology_cpu){
			.online = i != 5, .core = i, .l3 = i / 2,
			.node = i / 2, .socket = i / 4 };
	for (int i = 0; i < 4; i++) {
		t->nodes[i] = (struct topology_node){
			.online = true, .socket = i / 2,
			.memory_bytes = i == 1 ? 0 : 1 << 30 };
		for (int j = 0; j < 4; j++)
			t->distances[i * 4 + j] = slit[i][j];
	}
	topology_finish(t);
	expect(t, 0, (uint64_t[]){ 400, 400, 800, 1200 });
	expect(t, 2, (uint64_t[]){ 440, 440, 800, 1200 });
	expect(t, 4, (uint64_t[]){ 800, 800, 400, 480 });
	expect(t, 7, (uint64_t[]){ 1200, 1200, 480, 400 });
	topology_free(t);
}

/* One L3 over two nodes, a node without CPUs, a socket without memory. */
static void test_odd(void)
{
	struct topology *t = topology_new("odd", 4, 4);

	for (int i = 0; i < 4; i++)
		t->cpus[i] = (struct topology_cpu){
			.online = true, .core = i, .l3 = i / 3,
			.node = i == 0 ? 0 : i < 3 ? 1 : 2,
			.socket = i / 3 };
	for (int i = 0; i < 4; i++)
		t->nodes[i] = (struct topology_node){
			.online = true, .socket = i == 2,
			.memory_bytes = i == 2 ? 0 : 1 << 30 };
	t->distances[0 * 4 + 1] = t->distances[1 * 4 + 0] = 12;
	t->distances[0 * 4 + 3] = 40;
	topology_finish(t);
	/* node 2 takes its memory from node 0: same distance, lower id... and
	 * with CPUs, which node 3 has none of */
	expect(t, 0, (uint64_t[]){ 400, 480, 1600, 1600 });
	expect(t, 1, (uint64_t[]){ 480, 400, 800, 800 });
	expect(t, 3, (uint64_t[]){ 800, 800, 800, 800 });
	topology_free(t);
}

/* ---- size ---- */

static uint64_t resident_kib(void)
{
	g_autofree char *text = NULL;
	const char *line;

	g_assert_true(g_file_get_contents("/proc/self/status", &text, NULL,
					  NULL));
	line = strstr(text, "VmRSS:");
	return g_ascii_strtoull(line + 6, NULL, 10);
}

static void busy(struct cpu *c, void *arg)
{
	sim_addr *at = arg;

	for (int i = 0; i < 50; i++) {
		for (int k = 0; k < 16; k++)
			cpu_write(c, at[c->id] +
					     cpu_random(c) % 1024 * SIM_LINE);
		cpu_exec(c, 1000);
		cpu_meet(c, machine_everyone(c->machine));
	}
}

static void run_large(void *result, void *arg)
{
	struct topology *t = topology_new("large", 1024, 128);
	struct machine_params p = test_params();
	struct machine *m;
	sim_addr at[1024];

	p.l1_kib = 32, p.l1_ways = 8, p.l2_kib = 1024, p.l2_ways = 8;
	p.l3_kib = 32768;
	for (int i = 0; i < 1024; i++)
		t->cpus[i] = (struct topology_cpu){
			.online = true, .core = i % 512, .l3 = i % 512 / 4,
			.node = i % 512 / 4, .socket = i % 512 / 128 };
	for (int i = 0; i < 128; i++)
		t->nodes[i] = (struct topology_node){
			.online = true, .socket = i / 32,
			.memory_bytes = (uint64_t)64 << 30 };
	topology_finish(t);
	m = machine_new(t, &p, 0, 1);
	for (int i = 0; i < 1024; i++)
		at[i] = machine_reserve(m, t->cpus[i].node, 65536, 64);
	run_first(m, 1024, busy, at);
	*(uint64_t *)result = resident_kib();
	machine_free(m);
	topology_free(t);
}

static void test_large(void)
{
	uint64_t kib;

	in_child(run_large, &kib, sizeof(kib), NULL);
	g_test_message("%" G_GUINT64_FORMAT " KiB resident", kib);
	g_assert_cmpuint(kib, <, 64 * 1024 + 256 * 1024);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/platform/distances", test_distances);
	g_test_add_func("/platform/odd", test_odd);
	g_test_add_func("/platform/large", test_large);
	return g_test_run();
}
