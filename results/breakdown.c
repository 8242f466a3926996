/* SPDX-License-Identifier: GPL-2.0-or-later */
/* breakdown.txt and breakdown.tsv: where the cycles of each variant went. */
#include <string.h>

#include "results/costs.h"
#include "results/views.h"

/* Accounts of all variants in one case; holes where a variant has no point. */
static GPtrArray *accounts_of(const struct result *r, const char *where)
{
	GPtrArray *v = g_ptr_array_new_with_free_func(
		(GDestroyNotify)costs_free);

	for (int i = 0; r->variants[i]; i++) {
		struct costs *a = costs_of(r, r->variants[i], where);

		if (a)
			g_ptr_array_add(v, a);
	}
	return v;
}

static int width_of(const GPtrArray *accounts)
{
	int width = 12;

	for (guint i = 0; i < accounts->len; i++)
		width = MAX(width, (int)strlen(((struct costs *)
						accounts->pdata[i])->variant));
	return width;
}

static void header(GString *s, const GPtrArray *accounts, const char *title,
		   int width)
{
	g_string_append_printf(s, "%-34s", title);
	for (guint i = 0; i < accounts->len; i++)
		g_string_append_printf(
			s, "  %*s        ", width,
			((struct costs *)accounts->pdata[i])->variant);
	g_string_append_c(s, '\n');
}

static void cell(GString *s, double cycles, double total, int width)
{
	if (cycles)
		g_string_append_printf(s, "  %*.2f %6.2f%%", width, cycles,
				       total ? 100 * cycles / total : 0);
	else
		g_string_append_printf(s, "  %*s %7s", width, ".", "");
}

/* Shares are of busy time; idle time stands below the line. */
static void totals(GString *s, const GPtrArray *accounts, int width)
{
	g_string_append_printf(s, "  %-32s", "total");
	for (guint i = 0; i < accounts->len; i++) {
		const struct costs *a = accounts->pdata[i];

		cell(s, a->busy, a->busy, width);
	}
	g_string_append_printf(s, "\n  %-30s", "idle, beside that");
	for (guint i = 0; i < accounts->len; i++) {
		const struct costs *a = accounts->pdata[i];

		cell(s, a->cycles[CAUSE_IDLE], a->busy, width);
	}
	g_string_append(s, "\n\n");
}

static void by_cause(GString *s, const GPtrArray *accounts, int width)
{
	header(s, accounts, "cycles by cause", width);
	for (int k = 0; k < NR_CAUSES; k++) {
		bool any = false;

		for (guint i = 0; i < accounts->len; i++)
			any |= ((struct costs *)accounts->pdata[i])
				       ->cycles[k] > 0;
		if (!any)
			continue;
		if (k == CAUSE_IDLE)
			continue;
		g_string_append_printf(s, "  %-32s", cause_title(k));
		for (guint i = 0; i < accounts->len; i++) {
			const struct costs *a = accounts->pdata[i];

			cell(s, a->cycles[k], a->busy, width);
		}
		g_string_append_c(s, '\n');
	}
	totals(s, accounts, width);
}

/* Functions of all variants: by the baseline's cost, then who comes later. */
static void by_function(GString *s, const GPtrArray *accounts, int width,
			bool callees)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	header(s, accounts,
	       callees ? "cycles by function (with callees)" :
			 "cycles by function (self)",
	       width);
	for (guint i = 0; i < accounts->len; i++) {
		const GPtrArray *lines =
			((struct costs *)accounts->pdata[i])->functions;

		for (guint k = 0; k < lines->len; k++) {
			const struct cost_line *l = lines->pdata[k];

			if (!strcmp(l->name, IDLE_FUNCTION) ||
			    (callees && *l->name == '(') ||
			    !g_hash_table_add(seen, l->name))
				continue;
			g_string_append_printf(s, "  %-32s", l->name);
			for (guint j = 0; j < accounts->len; j++) {
				const struct costs *a = accounts->pdata[j];
				const struct cost_line *f = costs_find(
					a->functions, l->name);

				cell(s,
				     callees ? costs_with_callees(a, l->name) :
				     f	     ? f->total :
					       0,
				     a->busy, width);
			}
			g_string_append_c(s, '\n');
		}
	}
	g_string_append_c(s, '\n');
}

static void function_by_cause(GString *s, const struct costs *a)
{
	g_string_append_printf(s, "%-34s %10s", a->variant, "total");
	for (int k = 0; k < NR_CAUSES; k++)
		if (a->cycles[k])
			g_string_append_printf(s, " %12s", cause_names[k]);
	g_string_append_c(s, '\n');
	for (guint i = 0; i < a->functions->len; i++) {
		const struct cost_line *l = a->functions->pdata[i];

		g_string_append_printf(s, "  %-32s %10.2f", l->name, l->total);
		for (int k = 0; k < NR_CAUSES; k++) {
			if (!a->cycles[k])
				continue;
			if (l->cycles[k])
				g_string_append_printf(s, " %12.2f",
						       l->cycles[k]);
			else
				g_string_append_printf(s, " %12s", ".");
		}
		g_string_append_c(s, '\n');
	}
	g_string_append_c(s, '\n');
}

char *breakdown_text(const struct result *r)
{
	g_auto(GStrv) cases = result_cases(r);
	GString *s = g_string_new(NULL);

	for (int c = 0; cases[c]; c++) {
		g_autoptr(GPtrArray) accounts = accounts_of(r, cases[c]);
		int width = width_of(accounts);
		bool per = ((struct costs *)accounts->pdata[0])
				   ->per_operation;

		g_string_append_printf(
			s, "%s%s%s: %s, all CPUs\n\n", r->name,
			*cases[c] ? ", " : "", cases[c],
			per ? "cycles per operation (allocation or free)" :
			      "cycles of the run");
		by_cause(s, accounts, width);
		by_function(s, accounts, width, false);
		by_function(s, accounts, width, true);
		for (guint i = 0; i < accounts->len; i++)
			function_by_cause(s, accounts->pdata[i]);
	}
	return g_string_free(s, FALSE);
}

char *breakdown_tsv(const struct result *r)
{
	g_auto(GStrv) cases = result_cases(r);
	GString *s = g_string_new("variant\tparameters\tpath\tfunction\tcause\t"
				  "cycles_per_op\tshare_pct\n");

	for (int c = 0; cases[c]; c++) {
		g_autoptr(GPtrArray) accounts = accounts_of(r, cases[c]);

		for (guint i = 0; i < accounts->len; i++) {
			const struct costs *a = accounts->pdata[i];

			for (guint k = 0; k < a->paths->len; k++) {
				const struct cost_line *l =
					a->paths->pdata[k];

				for (int j = 0; j < NR_CAUSES; j++)
					if (l->cycles[j])
						g_string_append_printf(
							s,
							"%s\t%s\t%s\t%s\t%s\t"
							"%.6g\t%.4f\n",
							a->variant, a->where,
							l->name,
							path_function(l->name),
							cause_names[j],
							l->cycles[j],
							100 * l->cycles[j] /
								a->total);
			}
		}
	}
	return g_string_free(s, FALSE);
}
