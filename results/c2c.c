/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * c2c.txt: the lines that CPUs took from each other's caches while dirty, as
 * `perf c2c report` lists them, except that a simulator counts every access
 * where perf samples some.
 */
#include <inttypes.h>
#include <string.h>

#include "results/views.h"

enum { MAX_DETAILED = 30 };

struct kind_sum {
	const char *kind;
	uint64_t lines, hitm_local, hitm_remote;
};

static const char *kind_of(const struct line_row *l)
{
	return l->kind ? l->kind : "(objects and data)";
}

static uint64_t hitm(const struct line_row *l)
{
	return l->hitm_local + l->hitm_remote;
}

static uint64_t total_hitm(const struct point *p)
{
	uint64_t sum = p->lines_left_out.hitm_local +
		       p->lines_left_out.hitm_remote;

	for (guint i = 0; i < p->lines->len; i++)
		sum += hitm(p->lines->pdata[i]);
	return sum;
}

static int by_hitm(const void *a, const void *b)
{
	const struct kind_sum *x = a, *y = b;
	uint64_t nx = x->hitm_local + x->hitm_remote;
	uint64_t ny = y->hitm_local + y->hitm_remote;

	if (nx != ny)
		return nx < ny ? 1 : -1;
	return strcmp(x->kind, y->kind);
}

static void append_kind(GString *s, const struct kind_sum *k, uint64_t total)
{
	g_string_append_printf(
		s, "  %-22s %8" PRIu64 " %7.2f%% %12" PRIu64 " %12" PRIu64 "\n",
		k->kind, k->lines,
		100.0 * (k->hitm_local + k->hitm_remote) / MAX(total, 1),
		k->hitm_local, k->hitm_remote);
}

static void append_kinds(GString *s, const struct point *p, uint64_t total)
{
	g_autoptr(GArray) kinds = g_array_new(FALSE, TRUE,
					      sizeof(struct kind_sum));

	for (guint i = 0; i < p->lines->len; i++) {
		const struct line_row *l = p->lines->pdata[i];
		struct kind_sum *k = NULL;

		for (guint j = 0; j < kinds->len && !k; j++) {
			k = &g_array_index(kinds, struct kind_sum, j);
			if (strcmp(k->kind, kind_of(l)))
				k = NULL;
		}
		if (!k) {
			struct kind_sum new = {.kind = kind_of(l)};

			g_array_append_val(kinds, new);
			k = &g_array_index(kinds, struct kind_sum,
					   kinds->len - 1);
		}
		k->lines++;
		k->hitm_local += l->hitm_local;
		k->hitm_remote += l->hitm_remote;
	}
	g_array_sort(kinds, by_hitm);
	g_string_append_printf(s, "%-24s %8s %8s %12s %12s\n", "By structure",
			       "lines", "% HITM", "local HITM", "remote HITM");
	for (guint i = 0; i < kinds->len; i++)
		append_kind(s, &g_array_index(kinds, struct kind_sum, i),
			    total);
	if (p->lines_left_out.lines)
		append_kind(s, &(struct kind_sum){"(lines left out)",
						  p->lines_left_out.lines,
						  p->lines_left_out.hitm_local,
						  p->lines_left_out.hitm_remote},
			    total);
}

static void append_table(GString *s, const struct point *p, uint64_t total)
{
	g_string_append_printf(
		s, "\nShared Data Cache Line Table\n"
		   "%5s %-18s %4s %8s %9s %10s %10s %10s %10s %9s %9s  %s\n",
		"Index", "Address", "Node", "% HITM", "records", "local HITM",
		"rmt HITM", "loads", "stores", "lcl DRAM", "rmt DRAM",
		"Structure");
	for (guint i = 0; i < p->lines->len; i++) {
		const struct line_row *l = p->lines->pdata[i];

		g_string_append_printf(
			s, "%5u %#-18" PRIx64 " %4d %7.2f%% %9" PRIu64
			   " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
			   " %10" PRIu64 " %9" PRIu64 " %9" PRIu64 "  %s\n",
			i, l->line, l->node,
			100.0 * hitm(l) / MAX(total, 1),
			l->loads + l->stores + l->rmws, l->hitm_local,
			l->hitm_remote, l->loads + l->rmws,
			l->stores + l->rmws, l->dram_local, l->dram_remote,
			kind_of(l));
	}
	if (p->lines_left_out.lines)
		g_string_append_printf(s, "  ... and %" PRIu64 " lines more, "
				       "left out: none of them was taken more "
				       "often\n", p->lines_left_out.lines);
}

static int node_of(const struct point *p, int cpu)
{
	for (guint i = 0; i < p->cpus->len; i++) {
		const struct cpu_account *c = p->cpus->pdata[i];

		if (c->cpu == cpu)
			return c->node;
	}
	return -1;
}

/* "0x00 flags, 0x20-0x38 objects[]" */
static void append_fields(GString *s, const struct line_row *l)
{
	const char *separator = " ";

	for (int k = 0, to; k < 8; k = to + 1) {
		to = k;
		if (!(l->offsets >> k & 1))
			continue;
		while (to < 7 && l->offsets >> (to + 1) & 1 &&
		       !g_strcmp0(l->fields[k], l->fields[to + 1]))
			to++;
		g_string_append_printf(s, "%s0x%02x", separator, 8 * k);
		if (to > k)
			g_string_append_printf(s, "-0x%02x", 8 * to);
		if (l->fields[k])
			g_string_append_printf(s, " %s", l->fields[k]);
		separator = ", ";
	}
}

static void append_details(GString *s, const struct point *p)
{
	g_string_append(s, "\nShared Cache Line Distribution\n");
	for (guint i = 0; i < MIN(p->lines->len, MAX_DETAILED); i++) {
		const struct line_row *l = p->lines->pdata[i];

		g_string_append_printf(s, "%5u %#" PRIx64 " %s, node %d\n"
					  "      touched:",
				       i, l->line, kind_of(l), l->node);
		append_fields(s, l);
		g_string_append(s, "\n      taken by:");
		for (int k = 0; k < 8 && l->cpus[k] >= 0; k++)
			g_string_append_printf(
				s, "%s CPU %d (node %d) %" PRIu64,
				k ? "," : "", l->cpus[k],
				node_of(p, l->cpus[k]), l->counts[k]);
		g_string_append(s, "\n");
	}
}

char *c2c_text(const struct point *p)
{
	GString *s = g_string_new(NULL);
	uint64_t total = total_hitm(p);

	g_string_append_printf(
		s, "%s: %" PRIu64 " lines were taken dirty from another core's "
		   "cache, %" PRIu64 " times (every access counted)\n\n",
		p->variant, p->lines->len + p->lines_left_out.lines, total);
	append_kinds(s, p, total);
	append_table(s, p, total);
	append_details(s, p);
	return g_string_free(s, FALSE);
}
