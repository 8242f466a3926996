/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step done at once is the same as its accesses one by one: times, causes by
 * call path, and which lines L1 gives up later.
 */
#include "sim/step.h"
#include "sim/test_sim.h"

#define NR 4
#define STEPS 3000
#define KINDS 3
#define CALLERS 3

/*
 * Lines of a CPU: more than L1 holds of a set, and as many that are seen in
 * the same place of the table of hints.
 */
#define COLUMNS 16 /* L1's sets */
#define ROWS 6	   /* its ways are 4 */
#define ROW_BYTES ((uint64_t)L1_HINTS * SIM_LINE)

struct digest {
	unsigned at_once[NR], at_once_full;
	unsigned underway, elsewhere;
	uint64_t steps; /* as the machine counts them */
	uint64_t charged[NR]; /* since accounts were reset */
	char text[1 << 14];
};

struct crowd {
	struct machine *m;
	sim_addr lines, shared;
	unsigned flags;
	int frame[KINDS], caller[CALLERS];
	uint64_t reset_at[NR]; /* clocks */
	struct digest *d;
};

/* What is done again and again. */
static const struct kind {
	const char *name;
	int nr;
	unsigned writes, insns; /* bit i: access i is a write */
} kinds[KINDS] = {
	{ "four", 4, 0x0a, 37 },
	{ "eight", STEP_ACCESSES, 0xb2, 101 },
	{ "one", 1, 0, 1 },
};
static const char *const callers[CALLERS] = { NULL, "near", "far" };

struct doer {
	struct cpu_step st;
	sim_addr at[STEP_ACCESSES]; /* its lines now */
};

static sim_addr some_line(struct crowd *x, struct cpu *c)
{
	uint64_t r = cpu_random(c);

	return x->lines + (uint64_t)c->id * ROWS * ROW_BYTES +
	       r % ROWS * ROW_BYTES + (r >> 8) % COLUMNS * SIM_LINE +
	       (r >> 16) % 8 * 8;
}

static void one_by_one(struct cpu *c, struct crowd *x, int k,
		       const sim_addr *at)
{
	cpu_enter(c, x->frame[k]);
	cpu_exec(c, kinds[k].insns);
	for (int i = 0; i < kinds[k].nr; i++) {
		if (kinds[k].writes >> i & 1)
			cpu_write(c, at[i]);
		else
			cpu_read(c, at[i]);
	}
	cpu_leave(c);
}

static void tell_step(struct cpu *c, struct crowd *x, int k, struct doer *d)
{
	step_call(c, &d->st, x->frame[k], kinds[k].insns);
	for (int i = 0; i < kinds[k].nr; i++) {
		if (kinds[k].writes >> i & 1)
			step_write(c, &d->st, d->at[i]);
		else
			step_read(c, &d->st, d->at[i]);
	}
}

/* Some of its lines are others from now on. */
static void move_some(struct cpu *c, struct crowd *x, int k, struct doer *d)
{
	uint64_t r = cpu_random(c);

	for (int i = 0; i < kinds[k].nr; i++, r >>= 6) {
		if (d->at[i] && r & 31)
			continue;
		d->at[i] = r >> 5 & 1 && !(kinds[k].writes >> i & 1) ?
				   x->shared :
				   some_line(x, c);
		if (step_is_told(&d->st))
			step_move(c, &d->st, i, d->at[i]);
	}
}

static void do_kind(struct cpu *c, struct crowd *x, int k, struct doer *d)
{
	bool at_once;

	move_some(c, x, k, d);
	if (!cpu_may_step(c)) {
		one_by_one(c, x, k, d->at);
		return;
	}
	x->d->elsewhere += d->st.path && d->st.path->parent != c->path;
	if (!step_is_told(&d->st))
		tell_step(c, x, k, d);
	at_once = cpu_is_quiet(c) && !d->st.missing &&
		  d->st.changes == c->l1->changes;
	x->d->at_once[c->id] += at_once;
	x->d->at_once_full += at_once && d->st.nr == STEP_ACCESSES;
	x->d->underway += !cpu_is_quiet(c) && !d->st.missing;
	step_do(c, &d->st);
}

/* Others' lines are taken, own ones pushed out, misses are under way. */
static void disturb(struct cpu *c, struct crowd *x, const sim_addr *at)
{
	uint64_t r = cpu_random(c);

	if (!(r & 15))
		cpu_read(c, some_line(x, c));
	if (!(r >> 4 & 31))
		cpu_write(c, some_line(x, c));
	if (!(r >> 9 & 31))
		cpu_prefetch(c, some_line(x, c));
	if (!(r >> 14 & 63)) /* one that is used right away */
		cpu_prefetch(c, at[0]);
	if (!(r >> 20 & 127))
		cpu_rmw(c, some_line(x, c), RMW_LOCK);
	if (!(r >> 27 & 127)) {
		cpu_meet(c, machine_everyone(x->m));
		cpu_write(c, x->shared);
	}
	if (!(r >> 34 & 255))
		cpu_copy(c, some_line(x, c), 0, 64);
}

static void crowd_program(struct cpu *c, void *arg)
{
	struct crowd *x = arg;
	struct doer doer[KINDS] = { 0 };
	int caller = 0;

	for (int i = 0; i < STEPS; i++) {
		uint64_t r = cpu_random(c);
		int what = r % KINDS;

		if (!(r >> 8 & 63))
			caller = (r >> 16) % CALLERS;
		if (caller)
			cpu_enter(c, x->caller[caller]);
		do_kind(c, x, what, &doer[what]);
		if (caller)
			cpu_leave(c);
		disturb(c, x, doer[what].at);
		if (i == STEPS / 2 && c->id == 0) {
			cpu_meet(c, machine_everyone(x->m));
			machine_account_reset(x->m);
			for (int k = 0; k < NR; k++)
				x->reset_at[k] = machine_cpu(x->m, k)->now;
		}
	}
}

static void add_charge(int cpu, const char *path, enum cause cause,
		       uint64_t cycles, void *arg)
{
	((struct digest *)arg)->charged[cpu] += cycles;
}

static void run_crowd(void *result, void *arg)
{
	struct topology *t = test_topology(1, 2, 1, 2); /* siblings: 0, 2 */
	struct machine_params p = test_params();
	struct crowd *x = arg;
	g_autofree char *wrong = NULL;
	g_autoptr(GString) text = g_string_new(NULL);

	x->d = result;
	p.ipc = 2.3; /* fractions of cycles */
	p.l2_kib = 64, p.l2_ways = 16; /* so that L1 gives up lines itself */
	x->m = machine_new(t, &p, x->flags, 7);
	x->lines = machine_reserve(x->m, 0, NR * ROWS * ROW_BYTES, ROW_BYTES);
	x->shared = machine_reserve(x->m, 0, SIM_LINE, SIM_LINE);
	for (int i = 0; i < KINDS; i++)
		x->frame[i] = machine_frame(x->m, kinds[i].name);
	for (int i = 1; i < CALLERS; i++)
		x->caller[i] = machine_frame(x->m, callers[i]);
	run_first(x->m, NR, crowd_program, x);
	machine_account(x->m, add_charge, x->d);
	for (int i = 0; i < NR; i++)
		g_assert_cmpuint(x->d->charged[i], ==,
				 machine_cpu(x->m, i)->now - x->reset_at[i]);
	x->d->steps = machine_stats(x->m).steps;
	tell_machine(x->m, text);
	g_assert_cmpuint(text->len, <, sizeof(x->d->text));
	memcpy(x->d->text, text->str, text->len + 1);
	wrong = machine_check(x->m);
	g_assert_cmpstr(wrong, ==, NULL);
	machine_free(x->m);
	topology_free(t);
}

static struct digest crowd(unsigned flags)
{
	struct crowd x = { .flags = flags };
	struct digest d;

	in_child(run_crowd, &d, sizeof(d), &x);
	return d;
}

static void test_same(void)
{
	struct digest fast = crowd(0), slow = crowd(MACHINE_EXACT_SLOW);
	uint64_t seen = 0;

	for (int i = 0; i < NR; i++) {
		seen += fast.at_once[i];
		g_assert_cmpuint(fast.at_once[i], >, STEPS / 8);
		g_assert_cmpuint(fast.at_once[i], <, STEPS);
		g_assert_cmpuint(slow.at_once[i], ==, 0);
	}
	/* some it finds itself, when it looks again */
	g_assert_cmpuint(fast.steps, >=, seen);
	g_assert_cmpuint(fast.steps, <=, NR * STEPS);
	g_assert_cmpuint(slow.steps, ==, 0);
	g_assert_cmpuint(fast.at_once_full, >, STEPS / 16);
	g_assert_cmpuint(fast.underway, >, 100);
	g_assert_cmpuint(fast.elsewhere, >, 100);
	g_assert_nonnull(strstr(fast.text, ": four: insn "));
	g_assert_nonnull(strstr(fast.text, ": near;eight: insn "));
	g_assert_nonnull(strstr(fast.text, ": far;one: insn "));
	assert_same_text(fast.text, slow.text);
}

/* Who looks closely sees every access. */
static void test_never(void)
{
	static const unsigned flags[] = { MACHINE_LINE_STATS, MACHINE_TRACE,
					  MACHINE_UNIFORM };

	for (gsize k = 0; k < G_N_ELEMENTS(flags); k++) {
		struct digest d = crowd(flags[k]);

		g_assert_cmpuint(d.steps, ==, 0);
	}
}

/* ... and the same times. */
static void test_looked_at(void)
{
	struct digest fast = crowd(0);
	struct digest lines = crowd(MACHINE_LINE_STATS);
	struct digest traced = crowd(MACHINE_TRACE);

	assert_same_text(fast.text, lines.text);
	assert_same_text(fast.text, traced.text);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/step/same", test_same);
	g_test_add_func("/step/never", test_never);
	g_test_add_func("/step/looked-at", test_looked_at);
	return g_test_run();
}
