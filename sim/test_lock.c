/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks: hand-overs against their formula, FIFO order, statistics. */
#include "sim/test_sim.h"

#define NR 8 /* CPUs, cores of one L3 */
#define HOLD 1000

struct scene {
	struct machine *m;
	struct sim_lock lock;
	struct sim_rwlock rwlock;
	bool park; /* the holder meets others inside the section */
	unsigned flags;
	int order[64], nr;
	uint64_t from[64], to[64];
	struct lock_stat stat;
};

static void get_stat(const struct lock_stat *s, void *arg)
{
	*(struct lock_stat *)arg = *s;
}

static struct machine *new_scene(struct scene *s, struct topology *t,
				 struct machine_params *p)
{
	s->m = machine_new(t, p, s->flags, 1);
	lock_init(s->m, &s->lock, "lock", machine_reserve(s->m, 0, 64, 64),
		  NULL);
	rwlock_init(s->m, &s->rwlock, "rwlock",
		    machine_reserve(s->m, 0, 64, 64), NULL);
	return s->m;
}

static void section(struct cpu *c, struct scene *s)
{
	int k = s->nr++;

	s->order[k] = c->id;
	s->from[k] = c->now;
	cpu_idle(c, s->park ? HOLD / 2 : HOLD);
	if (s->park) {
		cpu_meet(c, machine_everyone(s->m));
		cpu_idle(c, HOLD / 2);
	}
	s->to[k] = c->now;
}

/* Arrivals 10 cycles apart, the last CPU first. */
static void contend(struct cpu *c, void *arg)
{
	struct scene *s = arg;

	cpu_idle(c, 1000 + 10 * (NR - 1 - c->id));
	cpu_lock(c, &s->lock);
	section(c, s);
	cpu_unlock(c, &s->lock);
}

static void run_contend(void *result, void *arg)
{
	struct scene *s = arg;
	struct topology *t = test_topology(1, 1, NR, 1);
	struct machine_params p = test_params();

	new_scene(s, t, &p);
	run_first(s->m, NR, contend, s);
	machine_lock_stats(s->m, get_stat, &s->stat); /* "rwlock" is last */
	lock_destroy(s->m, &s->lock);
	machine_free(s->m);
	topology_free(t);
	memcpy(result, s, sizeof(*s));
}

/* k waiters cost k hand-overs, whether they come during a section that was
 * simulated in one go or find the lock held. */
static void test_handover(void)
{
	for (int park = 0; park < 2; park++) {
		struct scene s = { .park = park }, out;
		uint64_t at = 1000 + 400 + 10; /* memory, then the atomic */

		in_child(run_contend, &out, sizeof(out), &s);
		g_assert_cmpint(out.nr, ==, NR);
		for (int k = 0; k < NR; k++) {
			g_assert_cmpint(out.order[k], ==, NR - 1 - k);
			g_assert_cmpuint(out.from[k], ==, at);
			g_assert_cmpuint(out.to[k], ==, at + HOLD);
			/* the first waiter spins on the lock word, those
			 * behind it on their own words first */
			at += HOLD + (k ? 140 : 70);
		}
	}
}

static void test_zero(void)
{
	struct scene s = { .flags = MACHINE_LOCK_ZERO }, out;

	in_child(run_contend, &out, sizeof(out), &s);
	for (int k = 0; k < NR; k++) {
		g_assert_cmpint(out.order[k], ==, NR - 1 - k);
		g_assert_cmpuint(out.from[k], ==, 1000 + 10 * k);
	}
}

static void free_lock(struct cpu *c, void *arg)
{
	struct scene *s = arg;
	uint64_t before;

	/* alone: the line is here after the first time */
	for (int k = 0; k < 4; k++) {
		before = c->now;
		cpu_lock(c, &s->lock);
		g_assert_cmpuint(c->now - before, ==, k ? 10 : 410);
		cpu_exec(c, 200);
		cpu_unlock(c, &s->lock);
		g_assert_cmpuint(c->now - before, ==, k ? 110 : 510);
	}
	/* it is held, by ourselves */
	cpu_lock(c, &s->lock);
	g_assert_false(cpu_trylock(c, &s->lock));
	cpu_unlock(c, &s->lock);
	g_assert_true(cpu_trylock(c, &s->lock));
	cpu_unlock(c, &s->lock);
}

static void run_free_lock(void *result, void *arg)
{
	struct scene s = { 0 };
	struct topology *t = test_topology(1, 1, 2, 1);
	struct machine_params p = test_params();
	struct lock_stat st[2];
	struct lock_stat *last = st;

	new_scene(&s, t, &p);
	run_one(s.m, 0, free_lock, &s);
	machine_lock_stats(s.m, get_stat, last);
	machine_free(s.m);
	topology_free(t);
}

static void test_free(void)
{
	in_child(run_free_lock, NULL, 0, NULL);
}

/* CPU 0 writes for HOLD; 1 and 2 read, 3 writes, 4 reads: in that order. */
static void read_write(struct cpu *c, void *arg)
{
	struct scene *s = arg;
	bool writer = c->id == 0 || c->id == 3;

	cpu_idle(c, 1000 + 10 * c->id);
	if (writer)
		cpu_write_lock(c, &s->rwlock);
	else
		cpu_read_lock(c, &s->rwlock);
	section(c, s);
	if (writer)
		cpu_write_unlock(c, &s->rwlock);
	else
		cpu_read_unlock(c, &s->rwlock);
}

static void run_read_write(void *result, void *arg)
{
	struct scene *s = arg;
	struct topology *t = test_topology(1, 1, NR, 1);
	struct machine_params p = test_params();

	new_scene(s, t, &p);
	run_first(s->m, 5, read_write, s);
	machine_lock_stats(s->m, get_stat, &s->stat);
	machine_free(s->m);
	topology_free(t);
	memcpy(result, s, sizeof(*s));
}

static void test_rwlock(void)
{
	for (int park = 0; park < 2; park++) {
		struct scene s = { .park = park }, out;

		in_child(run_read_write, &out, sizeof(out), &s);
		g_assert_cmpint(out.nr, ==, 5);
		for (int k = 0; k < 5; k++)
			g_assert_cmpint(out.order[k], ==, k);
		g_assert_cmpuint(out.from[1], >, out.to[0]);
		/* both readers are in at once */
		g_assert_cmpuint(out.from[2], <, out.to[1]);
		g_assert_cmpuint(out.from[3], >, out.to[1]);
		g_assert_cmpuint(out.from[3], >, out.to[2]);
		g_assert_cmpuint(out.from[4], >, out.to[3]);
		g_assert_cmpstr(out.stat.class, ==, "rwlock");
		g_assert_cmpuint(out.stat.acquisitions, ==, 5);
		g_assert_cmpuint(out.stat.contentions, ==, 4);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/lock/free", test_free);
	g_test_add_func("/lock/handover", test_handover);
	g_test_add_func("/lock/zero", test_zero);
	g_test_add_func("/lock/rwlock", test_rwlock);
	return g_test_run();
}
