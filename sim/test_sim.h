/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of sim/ share: a small machine with round numbers, and a way
 * to run one timed machine per child process (SimGrid keeps one engine).
 */
#ifndef SIM_TEST_SIM_H
#define SIM_TEST_SIM_H

#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/lock.h"
#include "sim/machine.h"
#include "sim/memory.h"

/* 1 GHz, so that a ns is a cycle; all latencies differ and are whole. */
static inline struct machine_params test_params(void)
{
	return (struct machine_params){
		.freq_ghz = 1,
		.ipc = 2,
		.l1_kib = 4, .l1_ways = 4, /* 16 sets */
		.l2_kib = 16, .l2_ways = 4, /* 64 sets */
		.l3_kib = 256, .l3_ways = 16,
		.l2_cycles = 14, .l3_cycles = 50,
		.dram_local_ns = 400, .dram_remote_ns = 800,
		.remote_distance = 20,
		.mem_bw_gbs = 64, /* a line a cycle */
		.miss_buffers = 4, .store_buffer = 8,
		.c2c_smt_ns = 20, .c2c_l3_ns = 70, .c2c_cross_l3_ns = 300,
		.c2c_home_remote_ns = 600, .c2c_socket_ns = 700,
		.lock_rmw_cycles = 10, .cmpxchg16b_cycles = 15,
		.lock_cmpxchg16b_cycles = 18,
		.irq_save_restore_cycles = 26, .irq_disable_enable_cycles = 7,
		.copy_bytes_per_cycle = 32, .clear_page_ns = 256,
	};
}

/*
 * @sockets x @l3s x @cores x @threads CPUs, numbered so that siblings are
 * nr_cores apart; a node with memory per socket.
 */
static inline struct topology *test_topology(int sockets, int l3s, int cores,
					     int threads)
{
	int nr_cores = sockets * l3s * cores;
	struct topology *t =
		topology_new("test", nr_cores * threads, sockets);

	for (int i = 0; i < nr_cores * threads; i++) {
		int core = i % nr_cores;
		int socket = core / (l3s * cores);

		t->cpus[i] = (struct topology_cpu){
			.online = true, .core = core, .node = socket,
			.l3 = core / cores, .socket = socket };
	}
	for (int n = 0; n < sockets; n++)
		t->nodes[n] = (struct topology_node){
			.online = true, .memory_bytes = (uint64_t)1 << 30,
			.socket = n };
	topology_finish(t);
	return t;
}

/* Runs @fn in a child of its own; what it writes to @result comes back. */
static inline void in_child(void (*fn)(void *result, void *arg), void *result,
			    size_t bytes, void *arg)
{
	void *shared = mmap(NULL, MAX(bytes, 1), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid = fork();

	if (!pid) {
		fn(shared, arg);
		fflush(NULL);
		_exit(0);
	}
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	g_assert_true(WIFEXITED(status));
	g_assert_cmpint(WEXITSTATUS(status), ==, 0);
	if (bytes)
		memcpy(result, shared, bytes);
	munmap(shared, MAX(bytes, 1));
}

/* Runs @fn(CPU 0) alone on @m. */
static inline void run_one(struct machine *m, int cpu, cpu_program fn,
			   void *arg)
{
	int nr = machine_topology(m)->nr_cpu_ids;
	g_autofree cpu_program *programs = g_new0(cpu_program, nr);
	g_autofree void **args = g_new0(void *, nr);

	programs[cpu] = fn;
	args[cpu] = arg;
	machine_run(m, programs, args);
}

/* Runs @fn on CPUs 0..@n-1, each with @arg. */
static inline void run_first(struct machine *m, int n, cpu_program fn,
			     void *arg)
{
	int nr = machine_topology(m)->nr_cpu_ids;
	g_autofree cpu_program *programs = g_new0(cpu_program, nr);
	g_autofree void **args = g_new0(void *, nr);

	for (int i = 0; i < n; i++) {
		programs[i] = fn;
		args[i] = arg;
	}
	machine_run(m, programs, args);
}

/* ---- all that a run came to, as lines of text ---- */

static inline void tell_charge(int cpu, const char *path, enum cause cause,
			       uint64_t cycles, void *to)
{
	g_string_append_printf(to, "cpu %d: %s: %s %" G_GUINT64_FORMAT "\n",
			       cpu, path, cause_names[cause], cycles);
}

static inline void tell_lock(const struct lock_stat *s, void *to)
{
	g_string_append_printf(to, "lock %s %d: %" G_GUINT64_FORMAT
			       " times, wait %" G_GUINT64_FORMAT
			       ", hold %" G_GUINT64_FORMAT "\n", s->class,
			       s->node, s->acquisitions, s->wait_total,
			       s->hold_total);
}

/* Engine events and turns left out: those may differ. */
static inline void tell_machine(struct machine *m, GString *to)
{
	const struct topology *t = machine_topology(m);
	int nr = t->nr_node_ids * t->nr_node_ids;
	g_autofree uint64_t *traffic = g_new0(uint64_t, nr);
	struct machine_stats s = machine_stats(m);

	for (int i = 0; i < t->nr_cpu_ids; i++)
		g_string_append_printf(to, "cpu %d: %" G_GUINT64_FORMAT
				       " cycles\n", i, machine_cpu(m, i)->now);
	g_string_append_printf(to, "accesses %" G_GUINT64_FORMAT
			       ", instructions %" G_GUINT64_FORMAT
			       ", meets %" G_GUINT64_FORMAT "\n", s.accesses,
			       s.instructions, s.meets);
	machine_traffic(m, traffic);
	for (int i = 0; i < nr; i++)
		g_string_append_printf(to, "traffic %d: %" G_GUINT64_FORMAT
				       "\n", i, traffic[i]);
	machine_account(m, tell_charge, to);
	machine_lock_stats(m, tell_lock, to);
}

/* Says in which line two differ first. */
static inline void assert_same_text(const char *a, const char *b)
{
	g_auto(GStrv) x = g_strsplit(a, "\n", -1);
	g_auto(GStrv) y = g_strsplit(b, "\n", -1);

	for (int i = 0; x[i] || y[i]; i++)
		g_assert_cmpstr(x[i], ==, y[i]);
}

#endif
