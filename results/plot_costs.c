/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plots of where the cycles and bytes went; plot_locks.c has the locks. */
#include <string.h>

#include "results/costs.h"
#include "results/plot.h"

#define MAX_BARS 30   /* in one stack plot; more can't be told apart */
#define MAX_UPRIGHT 6 /* bars whose labels have room beside each other */

/* From what is cheap and near to what is dear and far. Idle time is no cost
 * and is left out. */
static const char *const cause_colours[NR_CAUSES] = {
	[CAUSE_OUTSIDE] = "#e4e4e4",
	[CAUSE_INSN] = "#1b4f8a",
	[CAUSE_L1] = "#b8d8f0",
	[CAUSE_L2] = "#6fa8d8",
	[CAUSE_L3] = "#3a7fb8",
	[CAUSE_DRAM_LOCAL] = "#b8e0c8",
	[CAUSE_DRAM_REMOTE] = "#2f8f6b",
	[CAUSE_C2C_SMT] = "#f8ecc0",
	[CAUSE_C2C_L3] = "#e8d070",
	[CAUSE_C2C_CROSS_L3] = "#e8a33d",
	[CAUSE_C2C_SOCKET] = "#b8701b",
	[CAUSE_ATOMIC] = "#c9b8e8",
	[CAUSE_IRQ] = "#8a6ab8",
	[CAUSE_STORE] = "#f0c8d0",
	[CAUSE_BULK] = "#999999",
	[CAUSE_LOCK_WAIT] = "#a8324a",
	[CAUSE_IDLE] = "#ffffff",
};

static const enum cause stack_order[] = {
	CAUSE_OUTSIDE,	    CAUSE_INSN,	      CAUSE_L1,
	CAUSE_L2,	    CAUSE_L3,	      CAUSE_DRAM_LOCAL,
	CAUSE_DRAM_REMOTE,  CAUSE_C2C_SMT,    CAUSE_C2C_L3,
	CAUSE_C2C_CROSS_L3, CAUSE_C2C_SOCKET, CAUSE_ATOMIC,
	CAUSE_IRQ,	    CAUSE_STORE,      CAUSE_BULK,
	CAUSE_LOCK_WAIT,
};

/* Cases that have room in one plot, all variants beside each other. */
static guint cases_that_fit(const struct result *r)
{
	return MAX(MAX_BARS / MAX(g_strv_length(r->variants), 1), 2);
}

static bool bars_left_out(const struct result *r)
{
	g_auto(GStrv) cases = result_cases(r);

	return g_strv_length(cases) > cases_that_fit(r);
}

static GPtrArray *all_accounts(const struct result *r)
{
	GPtrArray *v = g_ptr_array_new_with_free_func(
		(GDestroyNotify)costs_free);
	g_auto(GStrv) cases = result_cases(r);
	guint all = g_strv_length(cases);
	guint fit = cases_that_fit(r);

	/* the first, the last and some between them, where not all have room */
	for (guint k = 0; k < MIN(all, fit); k++) {
		guint c = all <= fit ? k : k * (all - 1) / (fit - 1);

		for (int i = 0; r->variants[i]; i++) {
			struct costs *a = costs_of(r, r->variants[i],
						       cases[c]);

			if (a)
				g_ptr_array_add(v, a);
		}
	}
	return v;
}

static bool has_cycles(const GPtrArray *accounts, enum cause k)
{
	for (guint i = 0; i < accounts->len; i++)
		if (((struct costs *)accounts->pdata[i])->cycles[k] > 0)
			return true;
	return false;
}

/* Room below the axis for its labels: slanting, the longest decides. */
static void label_room(struct plot *p, const GPtrArray *accounts)
{
	size_t longest = 0;

	if (accounts->len <= MAX_UPRIGHT) {
		g_string_append(p->gp, "set bmargin at screen 0.12\n");
		return;
	}
	for (guint i = 0; i < accounts->len; i++) {
		const struct costs *a = accounts->pdata[i];

		longest = MAX(longest, strlen(a->variant) + strlen(a->where));
	}
	g_string_append_printf(p->gp,
			       "set bmargin at screen %g\n"
			       "set lmargin at screen %g\n"
			       "set xtics rotate by 40 right font ',9'\n",
			       MIN(0.06 + longest * 0.0085, 0.5),
			       MIN(0.05 + longest * 0.0038, 0.25));
}

static bool stack(struct drawing *d, const struct result *r, GError **error)
{
	g_autoptr(GPtrArray) accounts = all_accounts(r);
	g_autofree char *title = g_strdup_printf(
		"%s: where the cycles go, all CPUs%s", r->name,
		bars_left_out(r) ? " (some of the cases)" : "");
	struct plot *p;
	int columns = 0;

	if (!accounts->len)
		return true;
	p = plot_new("breakdown", title, 1000, 650);
	g_string_append_printf(
		p->gp,
		"set ylabel '%s'\nset yrange [0:*]\n"
		"set style data histograms\nset style histogram rowstacked\n"
		"set style fill solid border linecolor '#222222'\n"
		"set boxwidth 0.7\n"
		"set key default\nset key outside right top vertical Left "
		"reverse invert\n",
		((struct costs *)accounts->pdata[0])->per_operation ?
			"cycles per allocation or free" :
			"cycles of the run");
	label_room(p, accounts);
	g_string_append(p->gp, "plot \\\n");
	g_string_append(p->dat, "variant");
	for (guint k = 0; k < G_N_ELEMENTS(stack_order); k++) {
		enum cause cause = stack_order[k];

		if (!has_cycles(accounts, cause))
			continue;
		columns++;
		g_string_append_printf(p->dat, "\t%s", cause_title(cause));
		g_string_append_printf(
			p->gp,
			"%s  'breakdown.dat' using %d:xtic(1) linecolor rgb '%s' "
			"title '%s'",
			columns > 1 ? ", \\\n" : "", columns + 1,
			cause_colours[cause], cause_title(cause));
	}
	g_string_append(p->dat, "\n");
	for (guint i = 0; i < accounts->len; i++) {
		const struct costs *a = accounts->pdata[i];

		g_string_append_printf(p->dat, "%s%s%s", a->variant,
				       *a->where ? " " : "", a->where);
		for (guint k = 0; k < G_N_ELEMENTS(stack_order); k++)
			if (has_cycles(accounts, stack_order[k]))
				g_string_append_printf(
					p->dat, "\t%.8g",
					a->cycles[stack_order[k]]);
		g_string_append_c(p->dat, '\n');
	}
	g_string_append_c(p->gp, '\n');
	/* the first line of the .dat is its header, not a bar */
	g_string_prepend(p->dat, "# ");
	if (columns)
		return plot_draw(p, d, error);
	plot_free(p);
	return true;
}

static bool traffic(struct drawing *d, const struct point *point,
		    GError **error)
{
	g_autofree char *name = g_strconcat("traffic-", point->variant, NULL);
	g_autofree char *where = coords_text(point->coords);
	g_autofree char *title = NULL;
	int n = point->nr_node_ids;
	uint64_t sum = 0;
	struct plot *p;

	for (guint i = 0; i < point->traffic->len; i++)
		sum += g_array_index(point->traffic, uint64_t, i);
	if (n < 2 || n > 128 || !sum)
		return true;
	title = g_strdup_printf("%s%s%s: lines moved between nodes",
				point->variant, *where ? ", " : "", where);
	p = plot_new(name, title, 700, 600);
	g_string_append_printf(
		p->gp,
		"set xlabel \"memory's node\"\nset ylabel \"CPU's node\"\n"
		"set cblabel 'bytes per allocation or free'\n"
		"set cbrange [0:*]\nset yrange [%g:-0.5]\n"
		"set xrange [-0.5:%g]\nset xtics 1\nset ytics 1\nunset grid\n"
		"set border 15\nunset key\n"
		"set palette defined (0 '#ffffff', 0.5 '#e8a33d', 1 "
		"'#5a1020')\n"
		"plot '%s.dat' using 2:1:3 with image\n",
		n - 0.5, n - 0.5, p->name);
	g_string_append(p->dat, "# CPU's node, memory's node, bytes per "
				"operation\n");
	for (int i = 0; i < n * n; i++)
		g_string_append_printf(
			p->dat, "%d\t%d\t%.8g\n", i / n, i % n,
			(double)g_array_index(point->traffic, uint64_t, i) /
				MAX(point->operations, 1));
	return plot_draw(p, d, error);
}

bool plot_costs(struct drawing *d, const struct result *r, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	bool ok;

	if (!r->points->len)
		return true;
	ok = stack(d, r, error);
	/* traffic of each variant's first point */
	for (guint i = 0; ok && i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];

		if (g_hash_table_add(seen, p->variant))
			ok = traffic(d, p, error);
	}
	return ok;
}
