/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine costs the host, in ns of wall time: not installed, run by
 * scripts/bench and by hand. One line per figure: name, value, unit.
 *
 *	bench_sim [CPUS [NAME]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/test_sim.h"

enum kind {
	BENCH_L1,      /* reads that hit the most recent way */
	BENCH_L1_MIX,  /* 24 lines over 16 sets, read and written */
	BENCH_L2,
	BENCH_DRAM,    /* misses of everything */
	BENCH_C2C,     /* a line that bounces between two CPUs at each meeting */
	BENCH_MEET_ALONE, /* nobody is behind: no hand-over */
	BENCH_MEET,	  /* everybody meets in turn: a hand-over each */
	BENCH_TURNS,	  /* the same at random distances */
	BENCH_PAIRS,	  /* meetings of two at a time, the other idle */
	BENCH_PATH,	  /* 16 operations of 8 accesses, then a meeting */
	BENCH_LOCK,	  /* everybody wants one lock */
	NR_BENCHES
};

static const struct {
	const char *name;
	int ops; /* per CPU and round */
	bool everyone;
} benches[NR_BENCHES] = {
	[BENCH_L1] = { "l1_hit", 1, false },
	[BENCH_L1_MIX] = { "l1_mix", 1, false },
	[BENCH_L2] = { "l2_hit", 1, false },
	[BENCH_DRAM] = { "dram_miss", 1, false },
	[BENCH_C2C] = { "c2c_and_meet", 1, true },
	[BENCH_MEET_ALONE] = { "meet_alone", 1, false },
	[BENCH_MEET] = { "meet_hand_over", 1, true },
	[BENCH_TURNS] = { "meet_random", 1, true },
	[BENCH_PAIRS] = { "meet_pairs", 1, true },
	[BENCH_PATH] = { "path_operation", 16, true },
	[BENCH_LOCK] = { "lock_contended", 1, true },
};

struct bench {
	enum kind kind;
	int cpus;
	long rounds; /* per CPU */
	struct sim_lock lock;
	struct domain *all;
	sim_addr shared, *own;
	double ns, events, sleep_ns;
};

/* Of this process: others on the host must not count. */
static double cpu_time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void path(struct cpu *c, sim_addr a, int frame)
{
	for (int i = 0; i < 16; i++) {
		sim_addr o = a + (i % 8) * 256;

		cpu_enter(c, frame);
		cpu_exec(c, 30);
		cpu_read(c, a + 8192);
		cpu_read(c, a + 8256);
		cpu_write(c, a + 8256);
		cpu_read(c, o);
		cpu_write(c, o);
		cpu_read(c, a + 8320);
		cpu_write(c, a + 8192);
		cpu_rmw(c, a + 8320, RMW_CMPXCHG16B);
		cpu_leave(c);
	}
	cpu_outside(c, 100 + cpu_random(c) % 64);
}

static void bench_program(struct cpu *c, void *arg)
{
	struct bench *b = arg;
	sim_addr a = b->own[c->id];
	int frame = machine_frame(c->machine, "operation");

	for (long i = 0; i < b->rounds; i++) {
		switch (b->kind) {
		case BENCH_L1:
			cpu_read(c, a);
			break;
		case BENCH_L1_MIX:
			if (i & 1)
				cpu_write(c, a + i % 24 * 64);
			else
				cpu_read(c, a + i % 24 * 64);
			break;
		case BENCH_L2:
			cpu_read(c, a + i % 8 * 1024);
			break;
		case BENCH_DRAM:
			cpu_read(c, a + i % 100000 * 64);
			break;
		case BENCH_C2C:
			cpu_idle(c, 100);
			cpu_meet(c, b->all);
			cpu_rmw(c, b->shared, RMW_LOCK);
			break;
		case BENCH_MEET_ALONE:
			cpu_exec(c, 2);
			cpu_meet(c, b->all);
			break;
		case BENCH_MEET:
			cpu_idle(c, 100);
			cpu_meet(c, b->all);
			break;
		case BENCH_TURNS:
			cpu_idle(c, 100 + cpu_random(c) % 100);
			cpu_meet(c, b->all);
			break;
		case BENCH_PAIRS:
			cpu_idle(c, i % 64 ? 100 : 100 + 6400 * 16);
			cpu_meet(c, b->all);
			break;
		case BENCH_PATH:
			path(c, a, frame);
			cpu_meet(c, b->all);
			break;
		case BENCH_LOCK:
			cpu_lock(c, &b->lock);
			cpu_exec(c, 100);
			cpu_unlock(c, &b->lock);
			break;
		default:
			g_assert_not_reached();
		}
	}
}

static void run_bench(void *result, void *arg)
{
	struct bench *b = arg, *out = result;
	struct topology *t = test_topology(2, b->cpus / 8, 4, 1);
	struct machine_params p = test_params();
	int n = benches[b->kind].everyone ? b->cpus : 2;
	struct machine *m;
	double start;

	m = machine_new(t, &p, 0, 1);
	b->own = g_new(sim_addr, b->cpus);
	for (int i = 0; i < b->cpus; i++)
		b->own[i] = machine_reserve(m, i * 2 / b->cpus,
					    b->kind == BENCH_DRAM ? 6400000 :
								    16384,
					    4096);
	b->shared = machine_reserve(m, 0, 64, 64);
	b->all = machine_everyone(m);
	lock_init(m, &b->lock, "lock", machine_reserve(m, 0, 64, 64), NULL);
	if (!benches[b->kind].everyone)
		n = 1;
	/* a second program, so that the domain has somebody to meet */
	start = cpu_time_ns();
	if (b->kind == BENCH_MEET_ALONE)
		b->all = machine_domain(m, (int[]){ 0, 1 }, 2);
	run_first(m, n, bench_program, b);
	out->ns = (cpu_time_ns() - start) /
		  ((double)b->rounds * n * benches[b->kind].ops);
	out->sleep_ns = machine_measure_sleep(m);
	out->events = (double)machine_stats(m).engine_events /
		      ((double)b->rounds * n * benches[b->kind].ops);
	machine_free(m);
	topology_free(t);
}

int main(int argc, char **argv)
{
	int cpus = argc > 1 ? atoi(argv[1]) : 32;

	g_assert(cpus >= 8 && cpus % 8 == 0);
	for (int k = 0; k < NR_BENCHES; k++) {
		struct bench b = { .kind = k, .cpus = cpus }, out;

		if (argc > 2 && strcmp(argv[2], benches[k].name))
			continue;
		b.rounds = benches[k].everyone ? 640000 / cpus : 20000000;
		if (k == BENCH_PATH)
			b.rounds /= 4;
		if (k == BENCH_DRAM)
			b.rounds = 2000000;
		in_child(run_bench, &out, sizeof(out), &b);
		printf("%-16s %8.2f ns %8.3f events, a sleep %8.2f ns\n",
		       benches[k].name, out.ns, out.events, out.sleep_ns);
		fflush(stdout);
	}
	return 0;
}
