/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator on a machine with time: random programs on every CPU, siblings
 * and those of a memoryless node too, give the same to the last cycle, cause
 * and counter with all shortcuts, without any, and while they are looked at.
 */
#include "model/cache.h"
#include "model/test_eras.h"
#include "sim/test_sim.h"
#include "sim/trace.h"

#define NODES 3
#define MEMORYLESS 2
#define CPUS 12 /* two cores a node; CPU i and i + 6 are siblings */
#define HELD 600
#define STEPS 160
#define MOST 60 /* objects a step */

struct setup {
	enum era era;
	bool slub_stats, have_memoryless_nodes;
	unsigned size, capacity;
	unsigned flags; /* enum machine_flags */
};

struct outcome {
	uint64_t events, turns, lock_wait, stat[NR_SLUB_STATS];
	int told; /* CPUs that were told of private steps */
	uint64_t steps; /* done at once */
	char text[1 << 19];
};

/* Objects on their way from one CPU to another, and those that a CPU has. */
struct heap {
	int nr;
	sim_addr obj[HELD];
};

struct party {
	struct machine *m;
	struct kmem_cache *s;
	sim_addr own[CPUS]; /* some lines each */
	struct heap mail, held[CPUS];
	int caller[2];
};

static void put(struct heap *h, sim_addr obj)
{
	g_assert_cmpint(h->nr, <, HELD);
	if (obj)
		h->obj[h->nr++] = obj;
}

static sim_addr take(struct heap *h, uint64_t r)
{
	int i = r % 4 ? h->nr - 1 : (int)((r >> 2) % h->nr);
	sim_addr obj = h->obj[i];

	h->obj[i] = h->obj[--h->nr];
	return obj;
}

static void alloc_some(struct party *x, struct cpu *c, int n, uint64_t r)
{
	struct heap *h = &x->held[c->id];
	unsigned gfp = r & 1 ? GFP_FOR_KERNEL : GFP_FOR_NOWAIT;
	int node = (r >> 8) % NODES;

	for (int i = 0; i < n; i++) {
		switch (r >> 1 & 7) {
		case 0:
			put(h, kmem_cache_alloc_node(c, x->s, gfp, node));
			break;
		case 1:
			put(h, kmem_cache_alloc_node(c, x->s,
						     gfp | GFP_ONLY_NODE,
						     node));
			break;
		case 2:
			put(h, kmem_cache_alloc(c, x->s, gfp | GFP_ZEROED));
			break;
		case 3: /* all kinds in turns */
			put(h, kmem_cache_alloc_node(
				       c, x->s,
				       gfp | (i & 1 ? GFP_ZEROED : 0),
				       i & 2 ? node : NO_NODE));
			break;
		default:
			put(h, kmem_cache_alloc(c, x->s, gfp));
		}
		if (r >> 16 & 1 && h->nr)
			cpu_write(c, h->obj[h->nr - 1]);
	}
}

static void alloc_bulk(struct party *x, struct cpu *c, int n)
{
	struct heap *h = &x->held[c->id];

	h->nr += kmem_cache_alloc_bulk(c, x->s, GFP_FOR_KERNEL, n,
				       h->obj + h->nr);
}

static void free_some(struct party *x, struct cpu *c, struct heap *h, int n)
{
	for (int i = 0; i < n && h->nr; i++)
		kmem_cache_free(c, x->s, take(h, cpu_random(c)));
}

static void free_bulk(struct party *x, struct cpu *c, int n)
{
	struct heap *h = &x->held[c->id];
	sim_addr objs[MOST];

	n = MIN(n, h->nr);
	for (int i = 0; i < n; i++)
		objs[i] = take(h, cpu_random(c));
	if (n)
		kmem_cache_free_bulk(c, x->s, n, objs);
}

/* What stays on the CPU. */
static void pairs(struct party *x, struct cpu *c, int n)
{
	for (int i = 0; i < n; i++) {
		sim_addr obj = kmem_cache_alloc(c, x->s, GFP_FOR_KERNEL);

		if (i % 7 == 3) /* a miss is under way in the free */
			cpu_prefetch(c, x->own[c->id] +
						cpu_random_below(c, 4096) /
							64 * 64);
		cpu_write(c, obj);
		kmem_cache_free(c, x->s, obj);
	}
}

/* What others get, and what they sent. */
static void post(struct party *x, struct cpu *c, int n)
{
	struct heap *h = &x->held[c->id], got = { 0 };

	cpu_meet(c, machine_everyone(x->m));
	for (int i = 0; i < n && h->nr && x->mail.nr < HELD; i++)
		put(&x->mail, take(h, cpu_random(c)));
	for (int i = 0; i < n && x->mail.nr; i++)
		put(&got, take(&x->mail, cpu_random(c)));
	free_some(x, c, &got, n);
}

static void one_step(struct party *x, struct cpu *c, bool grows)
{
	uint64_t r = cpu_random(c);
	int n = 1 + (r >> 32) % (r >> 8 & 1 ? MOST : 5);
	struct heap *h = &x->held[c->id];

	switch (r & 15) {
	case 0:
		post(x, c, n);
		break;
	case 1:
	case 2:
	case 3:
		pairs(x, c, n);
		break;
	case 4:
		cpu_outside(c, (r >> 40) % 2000 / 4.0);
		break;
	case 5: /* rather many of L1's lines */
		for (int i = 0; i < n; i++)
			cpu_write(c, x->own[c->id] +
					     cpu_random_below(c, 64) * 64);
		break;
	default:
		if (grows && h->nr + MOST <= HELD) {
			if ((r & 15) < 8)
				alloc_bulk(x, c, n);
			else
				alloc_some(x, c, n, r >> 40);
		} else if ((r & 15) < 8) {
			free_bulk(x, c, n);
		} else {
			free_some(x, c, h, n);
		}
	}
}

static void party_program(struct cpu *c, void *arg)
{
	struct party *x = arg;
	int caller = 0;

	for (int i = 0; i < STEPS; i++) {
		if (!cpu_random_below(c, 4))
			caller = cpu_random_below(c, 3);
		if (caller < 2)
			cpu_enter(c, x->caller[caller]);
		one_step(x, c, i / 8 % 2 == 0);
		if (caller < 2)
			cpu_leave(c);
	}
}

/* ---- what came of it ---- */

static void tell_counters(const struct kmem_cache *s, GString *to)
{
	for (int k = 0; k < NR_SLUB_STATS; k++)
		for (int i = 0; i < CPUS; i++)
			g_string_append_printf(to, "cpu %d: %s %"
					       G_GUINT64_FORMAT "\n", i,
					       slub_stat_names[k],
					       kmem_cache_stat(s, k, i));
}

static void add_wait(const struct lock_stat *s, void *arg)
{
	*(uint64_t *)arg += s->wait_total;
}

static void tell(struct party *x, struct outcome *out)
{
	g_autoptr(GString) text = g_string_new(NULL);

	tell_machine(x->m, text);
	tell_counters(x->s, text);
	g_assert_cmpuint(text->len, <, sizeof(out->text));
	memcpy(out->text, text->str, text->len + 1);
	out->events = machine_stats(x->m).engine_events;
	out->turns = machine_stats(x->m).turns;
	out->steps = machine_stats(x->m).steps;
	machine_lock_stats(x->m, add_wait, &out->lock_wait);
	for (int k = 0; k < NR_SLUB_STATS; k++)
		out->stat[k] = kmem_cache_stat(x->s, k, -1);
	for (int i = 0; i < CPUS; i++)
		out->told += x->s->cpu[i]->alloc.step.path &&
			     x->s->cpu[i]->free.step.path;
}

static void assert_sound(struct party *x)
{
	g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(sim_addr));
	g_autofree char *wrong = NULL, *caches = machine_check(x->m);

	g_assert_cmpstr(caches, ==, NULL);
	g_array_append_vals(held, x->mail.obj, x->mail.nr);
	for (int i = 0; i < CPUS; i++)
		g_array_append_vals(held, x->held[i].obj, x->held[i].nr);
	wrong = kmem_cache_verify(x->s, (sim_addr *)held->data, held->len);
	g_assert_cmpstr(wrong, ==, NULL);
}

static struct topology *party_topology(void)
{
	struct topology *t = test_topology(NODES, 1, 2, 2);

	t->nodes[MEMORYLESS].memory_bytes = 0;
	topology_finish(t);
	g_assert_cmpint(t->nr_cpus, ==, CPUS);
	return t;
}

/* Any figures: the members differ, so that one for another shows. */
static struct insn_costs some_costs(void)
{
	struct insn_costs costs;
	int64_t *cost = (int64_t *)&costs;

	for (size_t i = 0; i < sizeof(costs) / sizeof(*cost); i++)
		cost[i] = 11 + 7 * (int64_t)i;
	return costs;
}

static void run_party(void *result, void *arg)
{
	const struct setup *u = arg;
	struct topology *t = party_topology();
	struct machine_params p = test_params();
	struct insn_costs costs = some_costs();
	struct features f = era_features(u->era);
	struct kmem_cache_args args = { .name = "test", .object_size = u->size,
					.sheaf_capacity = u->capacity };
	struct party *x = g_new0(struct party, 1);
	struct slub *sl;

	f.slub_stats = u->slub_stats;
	f.have_memoryless_nodes = u->have_memoryless_nodes;
	p.ipc = 2.3; /* fractions of cycles */
	p.l1_kib = 8;
	x->m = machine_new(t, &p, u->flags, 42);
	sl = slub_new(x->m, &f, &costs);
	x->s = kmem_cache_create(sl, machine_cpu(x->m, 0), &args);
	x->caller[0] = machine_frame(x->m, "one");
	x->caller[1] = machine_frame(x->m, "other");
	for (int i = 0; i < CPUS; i++)
		x->own[i] = machine_reserve(x->m, machine_cpu(x->m, i)->node,
					    4096, 4096);
	run_first(x->m, CPUS, party_program, x);
	assert_sound(x);
	tell(x, result);
	slub_free(sl);
	machine_free(x->m);
	topology_free(t);
	g_free(x);
}

static struct outcome *outcome(struct setup u, unsigned flags)
{
	struct outcome *out = g_new(struct outcome, 1);

	u.flags = flags;
	in_child(run_party, out, sizeof(*out), &u);
	return out;
}

/* It is no quiet party. */
static void assert_busy(const struct setup *u, const struct outcome *o)
{
	bool sheaves = u->era >= ERA_7_0 || u->capacity;

	g_assert_cmpuint(o->turns, >, 1000);
	g_assert_cmpuint(o->lock_wait, >, 0);
	g_assert_cmpuint(o->stat[stat_free_slowpath], >, 0);
	g_assert_cmpuint(o->stat[stat_alloc_slab], >, 0);
	g_assert_cmpuint(o->stat[stat_alloc_slowpath], >, 0);
	g_assert_cmpint(o->stat[stat_barn_get] > 0, ==, sheaves);
	g_assert_cmpint(o->stat[stat_barn_put] > 0, ==, sheaves);
	g_assert_cmpint(o->stat[stat_cpu_partial_free] > 0, ==,
			u->era < ERA_7_0);
	/* a memoryless node's may have no private frees */
	g_assert_cmpint(o->told, >=, sheaves ? CPUS / NODES * (NODES - 1) : 0);
	g_assert_cmpint(o->told, <=, sheaves ? CPUS : 0);
	g_assert_cmpint(o->steps > 1000, ==, sheaves);
}

static const struct setup setups[] = {
	{ ERA_6_12, true, false, 256, 0 },
	{ ERA_6_19, true, false, 256, 16 },
	{ ERA_6_19, false, true, 96, 32 },
	{ ERA_7_0, true, false, 256, 0 },
	{ ERA_7_1, true, false, 256, 16 },
	{ ERA_7_1, false, false, 96, 0 },
	{ ERA_7_1, false, true, 512, 4 },
	{ ERA_7_2, true, false, 256, 0 },
	{ ERA_7_2, false, false, 1024, 8 },
};

static void test_exact(gconstpointer data)
{
	const struct setup *u = data;
	g_autofree struct outcome *fast = outcome(*u, 0);
	g_autofree struct outcome *slow = outcome(*u, MACHINE_EXACT_SLOW);
	g_autofree struct outcome *lines = outcome(*u, MACHINE_LINE_STATS);

	assert_busy(u, fast);
	g_assert_cmpuint(fast->events, <, 10);
	g_assert_cmpuint(slow->events, >=, fast->turns);
	g_assert_cmpint(slow->told, ==, 0);
	g_assert_cmpint(lines->told, ==, 0);
	g_assert_cmpuint(slow->steps, ==, 0);
	g_assert_cmpuint(lines->steps, ==, 0);
	assert_same_text(fast->text, slow->text);
	assert_same_text(fast->text, lines->text);
}

static void test_traced(void)
{
	g_autofree struct outcome *fast = outcome(setups[4], 0);
	g_autofree struct outcome *traced = outcome(setups[4], MACHINE_TRACE);

	assert_same_text(fast->text, traced->text);
}

/* Counting costs, so what is compared would show a counter that is missing. */
static void test_can_differ(void)
{
	struct setup u = setups[4];
	g_autofree struct outcome *counts = outcome(u, 0), *plain = NULL;

	u.slub_stats = false;
	plain = outcome(u, 0);
	g_assert_cmpstr(counts->text, !=, plain->text);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (guint i = 0; i < G_N_ELEMENTS(setups); i++) {
		const struct setup *u = &setups[i];
		g_autofree char *name = g_strdup_printf(
			"/timed/exact/%u-%s%s", i, era_names[u->era],
			u->slub_stats ? "" : "-without-stats");

		g_test_add_data_func(name, u, test_exact);
	}
	g_test_add_func("/timed/traced", test_traced);
	g_test_add_func("/timed/can-differ", test_can_differ);
	return g_test_run();
}
