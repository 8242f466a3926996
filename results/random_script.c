/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/naive_script.h"

struct gen {
	GRand *rand;
	GString *s;
	const struct features *f;
	int cpus, nodes, slots;
	int depth; /* of rep */
	int label;
};

static int upto(struct gen *g, int n)
{
	return g_rand_int_range(g->rand, 0, n);
}

/* Small numbers often, large ones sometimes. */
static int skewed(struct gen *g, int max)
{
	int n = 1 << upto(g, 9);

	return 1 + upto(g, MIN(n, max));
}

static int pick(struct gen *g, const int *v, int n)
{
	return v[upto(g, n)];
}

static bool chance(struct gen *g, int percent)
{
	return upto(g, 100) < percent;
}

/* CPUs and memory on some nodes, sometimes an id without a node or CPU. */
static void machine(struct gen *g)
{
	static const int cpus[] = { 1, 2, 4, 8, 16, 20 };
	static const int nodes[] = { 1, 1, 2, 2, 4, 8 };
	int n = pick(g, cpus, 6), k = pick(g, nodes, 6);
	g_autofree int *start = g_new0(int, k + 1);
	int with_memory = upto(g, k);

	for (int i = 1; i < k; i++)
		start[i] = (i * n + upto(g, 2)) / k;
	start[k] = n;
	g->cpus = n;
	g->nodes = k;
	g_string_append_printf(g->s, "# guest: cpus online: 0-%d\n", n - 1);
	for (int i = 0; i < k; i++) {
		/* large enough never to be short of memory */
		bool memory = i == with_memory || chance(g, 60);

		if (start[i] == start[i + 1])
			memory = true;
		g_string_append_printf(g->s, "# guest: node %d cpus:", i);
		if (start[i] == start[i + 1])
			g_string_append(g->s, " ");
		else
			g_string_append_printf(g->s, " %d-%d", start[i],
					       start[i + 1] - 1);
		g_string_append_printf(g->s, " size: %d kB distances:",
				       memory ? 4194304 : 0);
		for (int j = 0; j < k; j++)
			g_string_append_printf(g->s, " %d",
					       i == j ? 10 :
					       i / 2 == j / 2 ? 12 : 32);
		g_string_append_c(g->s, '\n');
	}
}

static void cache(struct gen *g)
{
	static const int size[] = { 8, 16, 24, 32, 64, 72, 96, 128, 192, 200,
				    256, 300, 512, 520, 700, 1024, 1100, 2048,
				    3000, 4096, 5000, 8192 };
	static const int align[] = { 0, 0, 0, 8, 16, 64, 128 };
	static const char *const flags[] = { "-", "-", "-", "H", "R", "HR",
					     "C", "A" };
	static const int capacity[] = { 0, 0, 4, 8, 32, 60, 100 };

	g_string_append_printf(g->s, "cache %d %d %s %d\ncyc %d\n",
			       pick(g, size, G_N_ELEMENTS(size)),
			       pick(g, align, G_N_ELEMENTS(align)),
			       flags[upto(g, G_N_ELEMENTS(flags))],
			       pick(g, capacity, G_N_ELEMENTS(capacity)),
			       chance(g, 80) ? 0 : upto(g, 2048));
}

static const char *gfp(struct gen *g)
{
	static const char *const letters[] = { "", "", "", "", "", " K", " N",
					       " A", " t", " Nt", " z" };

	return letters[upto(g, G_N_ELEMENTS(letters))];
}

static void settings(struct gen *g)
{
	static const int partial[] = { 0, 1, 2, 5, 10, 20 };
	static const int cpu_partial[] = { 0, 1, 2, 6, 13, 30, 120, 500 };
	static const int ratio[] = { 0, 1, 49, 50, 100, 100, 100, 101 };
	static const char *const stats[] = { "alloc_fastpath", "free_slab",
					     "alloc_slab" };

	switch (upto(g, 5)) {
	case 0:
		g_string_append_printf(g->s, "set min_partial %d\n",
				       pick(g, partial, 6));
		break;
	case 1:
		g_string_append_printf(g->s, "set cpu_partial %d\n",
				       pick(g, cpu_partial, 8));
		break;
	case 2:
		g_string_append_printf(g->s, "set remote_node_defrag_ratio "
				       "%d\n", pick(g, ratio, 8));
		break;
	case 3:
		g_string_append_printf(g->s, "set %s %d\n", stats[upto(g, 3)],
				       upto(g, 4) / 3);
		break;
	default:
		g_string_append_printf(g->s, "set shrink %d\n",
				       upto(g, 4) > 0);
	}
}

static void some_slots(struct gen *g, const char *word, bool node, bool flags)
{
	int n = skewed(g, 400), step = chance(g, 70) ? 1 : 1 + upto(g, 5);
	int from;

	n = MIN(n, (g->slots - 1) / step);
	from = upto(g, g->slots - n * step);
	if (chance(g, 20)) { /* backwards */
		from += (n - 1) * step;
		step = -step;
	}
	g_string_append_printf(g->s, "%s %d %d %d %d", word, upto(g, g->cpus),
			       from, n, step);
	if (node)
		g_string_append_printf(g->s, " %d", upto(g, g->nodes));
	g_string_append_printf(g->s, "%s\n", flags ? gfp(g) : "");
}

static void stream(struct gen *g)
{
	int pairs = 1 + upto(g, 3), window = 1 + upto(g, 200);

	g_string_append_printf(g->s, "mstream %d", pairs);
	for (int i = 0; i < 2 * pairs; i++)
		g_string_append_printf(g->s, " %d", upto(g, g->cpus));
	/* rings of their own, beyond all slots */
	g_string_append_printf(g->s, " %d %d %d %d%s\n", g->slots,
			       upto(g, 600), window, 1 + upto(g, 40), gfp(g));
}

static void statement(struct gen *g)
{
	int cpu = upto(g, g->cpus), slot = upto(g, g->slots);
	int n = skewed(g, 300), what = upto(g, 100);

	if (what < 8) {
		g_string_append_printf(g->s, "a %d %d%s\n", cpu, slot, gfp(g));
	} else if (what < 16) {
		g_string_append_printf(g->s, "f %d %d\n", cpu, slot);
	} else if (what < 19) {
		g_string_append_printf(g->s, "n %d %d %d%s\n", cpu, slot,
				       upto(g, g->nodes), gfp(g));
	} else if (what < 36) {
		some_slots(g, "ra", false, true);
	} else if (what < 56) {
		some_slots(g, "rf", false, false);
	} else if (what < 61) {
		some_slots(g, "rn", true, true);
	} else if (what < 70) {
		/* all of it freed first, or objects would be lost */
		int from = upto(g, g->slots - n);

		g_string_append_printf(g->s, "rf %d %d %d 1\n", cpu, from, n);
		g_string_append_printf(g->s, "A %d %d %d%s\n",
				       upto(g, g->cpus), from, n, gfp(g));
		if (chance(g, 50))
			g_string_append_printf(g->s, "F %d %d %d\n",
					       upto(g, g->cpus), from, n);
	} else if (what < 78) {
		/* fill what is empty, so that all can be freed at once */
		int from = upto(g, g->slots - n);

		g_string_append_printf(g->s, "ra %d %d %d 1\n",
				       upto(g, g->cpus), from, n);
		g_string_append_printf(g->s, "F %d %d %d\n", cpu, from, n);
	} else if (what < 81) {
		g_string_append_printf(g->s, "pair %d %d%s\n", cpu, n, gfp(g));
	} else if (what < 84) {
		g_string_append_printf(g->s, "k %d %d\n", cpu, slot);
	} else if (what < 88) {
		some_slots(g, "rk", false, false);
	} else if (what < 90) {
		g_string_append(g->s, "kb\n");
	} else if (what < 91) {
		g_string_append(g->s, "s\n");
	} else if (what < 94) {
		settings(g);
	} else if (what < 95) {
		g_string_append_printf(g->s, "cyc %d\n", upto(g, 2048));
	} else if (what < 97) {
		g_string_append_printf(g->s, "where %d %d\n",
				       upto(g, g->slots - n), n);
	} else if (what < 98) {
		g_string_append_printf(g->s, "dump d%d\n", g->label++);
	} else if (what < 99) {
		stream(g);
	} else if (g->depth < 2) {
		g->depth++;
		g_string_append_printf(g->s, "rep %d\n", upto(g, 5));
		for (int i = upto(g, 6); i >= 0; i--)
			statement(g);
		g_string_append(g->s, "end\n");
		g->depth--;
	}
}

char *random_script(uint64_t seed, int length, const struct features *f)
{
	guint32 words[] = { seed, seed >> 32 };
	struct gen g = { .rand = g_rand_new_with_seed_array(words, 2),
			 .s = g_string_new(NULL), .f = f };

	g_string_append_printf(g.s, "# note: random script, seed %"
			       G_GUINT64_FORMAT "\n", seed);
	machine(&g);
	cache(&g);
	g.slots = 512 << upto(&g, 4);
	for (int i = 0; i < length; i++)
		statement(&g);
	g_string_append_printf(g.s, "where 0 %d\n", g.slots);
	g_rand_free(g.rand);
	return g_string_free(g.s, FALSE);
}
