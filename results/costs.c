/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/costs.h"

#include <string.h>

static void cost_line_free(void *data)
{
	struct cost_line *l = data;

	g_free(l->name);
	g_free(l);
}

static GPtrArray *lines_new(void)
{
	return g_ptr_array_new_with_free_func(cost_line_free);
}

static struct cost_line *line_of(GPtrArray *lines, GHashTable *index,
				    const char *name)
{
	struct cost_line *l = g_hash_table_lookup(index, name);

	if (!l) {
		l = g_new0(struct cost_line, 1);
		l->name = g_strdup(name);
		g_ptr_array_add(lines, l);
		g_hash_table_insert(index, l->name, l);
	}
	return l;
}

const char *path_function(const char *path)
{
	const char *semicolon = strrchr(path, ';');

	if (!*path)
		return "(workload)";
	return semicolon ? semicolon + 1 : path;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct cost_line *const *)a)->name,
		      (*(struct cost_line *const *)b)->name);
}

static int by_total(const void *a, const void *b)
{
	const struct cost_line *x = *(struct cost_line *const *)a;
	const struct cost_line *y = *(struct cost_line *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void scale(struct cost_line *l, double by)
{
	l->total = 0;
	for (int k = 0; k < NR_CAUSES; k++) {
		l->cycles[k] *= by;
		l->total += l->cycles[k];
	}
}

struct costs *costs_of(const struct result *r, const char *variant,
			   const char *where)
{
	struct costs *a = g_new0(struct costs, 1);
	GHashTable *paths = g_hash_table_new(g_str_hash, g_str_equal);
	GHashTable *functions = g_hash_table_new(g_str_hash, g_str_equal);
	uint64_t operations = 0;
	int points = 0;

	a->variant = g_strdup(variant);
	a->where = g_strdup(where);
	a->paths = lines_new();
	a->functions = lines_new();
	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];
		g_autofree char *w = coords_text(p->coords);

		if (strcmp(p->variant, variant) || strcmp(w, where))
			continue;
		points++;
		operations += p->operations;
		for (guint k = 0; k < p->account->len; k++) {
			const struct account_row *row = p->account->pdata[k];

			line_of(a->paths, paths, row->path)
				->cycles[row->cause] += row->cycles;
			line_of(a->functions, functions,
				row->cause == CAUSE_IDLE ?
					IDLE_FUNCTION :
					path_function(row->path))
				->cycles[row->cause] += row->cycles;
		}
	}
	a->per_operation = operations > 0;
	a->operations = operations ? (double)operations : points;
	for (guint i = 0; i < a->paths->len; i++) {
		struct cost_line *l = a->paths->pdata[i];

		scale(l, 1 / a->operations);
		a->total += l->total;
		for (int k = 0; k < NR_CAUSES; k++)
			a->cycles[k] += l->cycles[k];
	}
	a->busy = a->total - a->cycles[CAUSE_IDLE];
	for (guint i = 0; i < a->functions->len; i++)
		scale(a->functions->pdata[i], 1 / a->operations);
	g_ptr_array_sort(a->paths, by_name);
	g_ptr_array_sort(a->functions, by_total);
	g_hash_table_unref(paths);
	g_hash_table_unref(functions);
	if (!points) {
		costs_free(a);
		return NULL;
	}
	return a;
}

void costs_free(struct costs *a)
{
	if (!a)
		return;
	g_free(a->variant);
	g_free(a->where);
	g_ptr_array_unref(a->paths);
	g_ptr_array_unref(a->functions);
	g_free(a);
}

const struct cost_line *costs_find(const GPtrArray *lines,
					const char *name)
{
	for (guint i = 0; i < lines->len; i++) {
		const struct cost_line *l = lines->pdata[i];

		if (!strcmp(l->name, name))
			return l;
	}
	return NULL;
}

static bool path_has(const char *path, const char *function)
{
	size_t n = strlen(function);

	for (const char *p = path; p; p = strchr(p, ';')) {
		p += *p == ';';
		if (!strncmp(p, function, n) && (!p[n] || p[n] == ';'))
			return true;
	}
	return false;
}

double costs_with_callees(const struct costs *a, const char *function)
{
	double sum = 0;

	for (guint i = 0; i < a->paths->len; i++) {
		const struct cost_line *l = a->paths->pdata[i];

		if (path_has(l->name, function))
			sum += l->total;
	}
	return sum;
}

char **result_cases(const struct result *r)
{
	GPtrArray *v = g_ptr_array_new();

	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];
		char *where = coords_text(p->coords);

		if (g_ptr_array_find_with_equal_func(v, where, g_str_equal,
						     NULL))
			g_free(where);
		else
			g_ptr_array_add(v, where);
	}
	g_ptr_array_add(v, NULL);
	return (char **)g_ptr_array_free(v, FALSE);
}

const char *cause_title(enum cause c)
{
	static const char *const titles[NR_CAUSES] = {
		[CAUSE_INSN] = "instructions",
		[CAUSE_L1] = "L1 hits",
		[CAUSE_L2] = "L2 hits",
		[CAUSE_L3] = "L3 hits",
		[CAUSE_DRAM_LOCAL] = "local DRAM",
		[CAUSE_DRAM_REMOTE] = "remote DRAM",
		[CAUSE_C2C_SMT] = "line from SMT sibling",
		[CAUSE_C2C_L3] = "line within L3",
		[CAUSE_C2C_CROSS_L3] = "line across L3s",
		[CAUSE_C2C_SOCKET] = "line across sockets",
		[CAUSE_ATOMIC] = "atomics",
		[CAUSE_IRQ] = "interrupt masking",
		[CAUSE_LOCK_WAIT] = "lock wait",
		[CAUSE_STORE] = "store buffer full",
		[CAUSE_BULK] = "copy and clear",
		[CAUSE_OUTSIDE] = "outside the allocator",
		[CAUSE_IDLE] = "idle",
	};

	return titles[c];
}
