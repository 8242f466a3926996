/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/line_stat.h"

#include <stdlib.h>

#include "sim/internal.h"
#include "sim/memory_internal.h"

struct line_stats {
	GHashTable *lines; /* line number -> struct line_stat */
	/* 8 bytes -> what they belong to, its beginning */
	GHashTable *kinds, *bases;
};

struct line_stats *line_stats_new(void)
{
	struct line_stats *s = g_new0(struct line_stats, 1);

	s->lines = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
					 g_free);
	s->bases = g_hash_table_new(NULL, NULL);
	s->kinds = g_hash_table_new(NULL, NULL);
	return s;
}

void line_stats_free(struct line_stats *s)
{
	if (!s)
		return;
	g_hash_table_destroy(s->lines);
	g_hash_table_destroy(s->bases);
	g_hash_table_destroy(s->kinds);
	g_free(s);
}

void line_stats_reset(struct line_stats *s)
{
	g_hash_table_remove_all(s->lines);
}

/* ---- counting ---- */

static struct line_stat *line_stat(struct line_stats *all, uint64_t line)
{
	struct line_stat *s = g_hash_table_lookup(all->lines, &line);

	if (s)
		return s;
	s = g_new0(struct line_stat, 1);
	s->line = line;
	for (int i = 0; i < 8; i++)
		s->last_cpus[i] = -1;
	g_hash_table_insert(all->lines, &s->line, s);
	return s;
}

void line_count_access(struct line_stats *all, sim_addr a, enum access kind)
{
	struct line_stat *s = line_stat(all, a / SIM_LINE);

	if (kind == LOAD)
		s->loads++;
	else if (kind == STORE)
		s->stores++;
	else
		s->rmws++;
	s->offsets |= (uint64_t)1 << a % SIM_LINE / 8;
}

/* Keeps the CPUs that took it most: a new one takes the rarest's place. */
void line_count_hitm(struct line_stats *all, uint64_t line, int cpu,
		     bool remote)
{
	struct line_stat *s = line_stat(all, line);
	int i = 0;

	if (remote)
		s->hitm_remote++;
	else
		s->hitm_local++;
	while (i < 7 && s->last_cpus[i] >= 0 && s->last_cpus[i] != cpu)
		i++;
	if (s->last_cpus[i] != cpu) {
		s->last_cpus[i] = cpu;
		s->last_counts[i] = 0;
	}
	s->last_counts[i]++;
	for (; i > 0 && s->last_counts[i] > s->last_counts[i - 1]; i--) {
		int other = s->last_cpus[i];
		uint64_t count = s->last_counts[i];

		s->last_cpus[i] = s->last_cpus[i - 1];
		s->last_counts[i] = s->last_counts[i - 1];
		s->last_cpus[i - 1] = other;
		s->last_counts[i - 1] = count;
	}
}

void line_count_dram(struct line_stats *all, uint64_t line, bool local)
{
	struct line_stat *s = line_stat(all, line);

	if (local)
		s->dram_local++;
	else
		s->dram_remote++;
}

/* ---- names ---- */

static struct line_stats *stats_of(const struct machine *m)
{
	return m->timed ? m->memory->stats : NULL;
}

void machine_name_region(struct machine *m, sim_addr a, size_t bytes,
			 const char *kind)
{
	struct line_stats *s = stats_of(m);

	if (!s)
		return;
	/* memory is named anew when it is reused: the last name counts */
	for (uint64_t word = a / 8; word * 8 < a + bytes; word++) {
		void *key = GSIZE_TO_POINTER(word);

		g_hash_table_insert(s->kinds, key, (void *)kind);
		g_hash_table_insert(s->bases, key, GSIZE_TO_POINTER(a));
	}
}

const char *machine_region(struct machine *m, sim_addr a, sim_addr *base)
{
	const void *key = GSIZE_TO_POINTER(a / 8);
	struct line_stats *s = stats_of(m);

	if (!s)
		return NULL;
	*base = GPOINTER_TO_SIZE(g_hash_table_lookup(s->bases, key));
	return g_hash_table_lookup(s->kinds, key);
}

/* ---- what it came to ---- */

static int most_hitm(const void *a, const void *b)
{
	const struct line_stat *x = *(struct line_stat *const *)a;
	const struct line_stat *y = *(struct line_stat *const *)b;
	uint64_t nx = x->hitm_local + x->hitm_remote;
	uint64_t ny = y->hitm_local + y->hitm_remote;

	if (nx != ny)
		return nx < ny ? 1 : -1;
	return x->line < y->line ? -1 : x->line > y->line;
}

void machine_line_stats(struct machine *m, line_stat_fn fn, void *arg)
{
	struct line_stats *all = stats_of(m);
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();
	GHashTableIter iter;
	void *value;

	if (!all)
		return;
	g_hash_table_iter_init(&iter, all->lines);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct line_stat *s = value;

		if (s->hitm_local + s->hitm_remote)
			g_ptr_array_add(sorted, s);
	}
	if (sorted->len)
		qsort(sorted->pdata, sorted->len, sizeof(void *), most_hitm);
	for (guint i = 0; i < sorted->len; i++) {
		struct line_stat s = *(struct line_stat *)sorted->pdata[i];
		sim_addr base;

		s.line *= SIM_LINE;
		s.kind = NULL;
		for (int k = 0; k < 8 && !s.kind; k++)
			if (s.offsets >> k & 1)
				s.kind = machine_region(m, s.line + 8 * k,
							&base);
		fn(&s, arg);
	}
}
