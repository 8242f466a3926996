/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/slab/summary.h"

#include <string.h>

#define D "%" G_GINT64_FORMAT

/* Of the input, so anything may be in it: one printable line. */
static char *plain(const char *s)
{
	char *copy = g_strdup(s);

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return copy;
}

static void append_heading(GString *out, const struct slab_report *r)
{
	g_autofree char *cache = plain(r->cache ? r->cache : "cache not named");
	g_autofree char *title = plain(r->title ? r->title : "");

	g_string_append_printf(out, "%s:%d: %s%s%s%s\n", r->file, r->line,
			       cache, *title ? " (" : "", title,
			       *title ? ")" : "");
}

static void append_sizes(GString *out, const struct slab_report *r)
{
	static const char *const names[] = {
		"object_size", "slab_size",	"align",
		"order",       "objs_per_slab", "sheaf_capacity",
		"cpu_partial", "min_partial",	"slabs",
		"partial",     "cpu_slabs",	"total_objects",
		"objects",
	};
	static const char *const flags[] = {
		"hwcache_align", "destroy_by_rcu", "reclaim_account",
		"cache_dma",	 "sanity_checks",  "red_zone",
		"poison",	 "store_user",
	};

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		const struct slab_value *v = slab_report_find(r, names[i]);

		if (v && v->number)
			g_string_append_printf(out,
					       "  %-15s %12" G_GUINT64_FORMAT
					       "  line %d\n",
					       v->name, v->total, v->line);
	}
	for (guint i = 0; i < G_N_ELEMENTS(flags); i++)
		if (slab_report_get(r, flags[i]) > 0)
			g_string_append_printf(out, "  %s\n", flags[i]);
	if (r->unavailable->len) {
		g_string_append(out, "  not available there:");
		for (guint i = 0; i < r->unavailable->len; i++) {
			g_autofree char *name = plain(r->unavailable->pdata[i]);

			g_string_append_printf(out, " %s", name);
		}
		g_string_append_c(out, '\n');
	}
}

static void append_checks(GString *out, const GPtrArray *checks,
			  const char *prefix)
{
	static const char *const words[] = {"holds", "FAILS", "nearly"};

	for (guint i = 0; i < checks->len; i++) {
		const struct slab_check *c = checks->pdata[i];

		g_string_append_printf(out, "%s%-7s %s\n", prefix,
				       words[c->verdict], c->text);
	}
}

static uint64_t sum_of(const struct slab_report *r, const char *const *names,
		       int cpu)
{
	uint64_t sum = 0;

	for (; *names; names++) {
		const struct slab_value *v = slab_report_find(r, *names);

		if (v && v->number)
			sum += cpu < 0 ? v->total : slab_value_part(v, cpu);
	}
	return sum;
}

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * part / of : 0;
}

struct cpu_row {
	int cpu;
	uint64_t allocs, frees;
};

static int by_work(const void *a, const void *b)
{
	const struct cpu_row *x = a, *y = b;
	uint64_t wx = x->allocs + x->frees, wy = y->allocs + y->frees;

	if (wx != wy)
		return wx < wy ? 1 : -1;
	return x->cpu - y->cpu;
}

static int by_cpu(const void *a, const void *b)
{
	return ((const struct cpu_row *)a)->cpu -
	       ((const struct cpu_row *)b)->cpu;
}

static void append_row(GString *out, const struct slab_report *r,
		       const struct cpu_row *row, const char *label)
{
	static const char *const slow[][2] = {{"alloc_slowpath", NULL},
					      {"free_slowpath", NULL},
					      {"alloc_slab", NULL},
					      {"barn_get_fail", NULL}};
	/* formatd: a point whatever the locale */
	char a[32], b[32], c[32];
	uint64_t all = sum_of(r, slab_alloc_counters, -1);
	uint64_t s[4];

	for (int i = 0; i < 4; i++)
		s[i] = sum_of(r, slow[i], row->cpu);
	g_string_append_printf(out,
			       "  %4s %13" G_GUINT64_FORMAT
			       " %13" G_GUINT64_FORMAT
			       " %7s %7s %7s %10" G_GUINT64_FORMAT
			       " %10" G_GUINT64_FORMAT "\n",
			       label, row->allocs, row->frees,
			       g_ascii_formatd(a, sizeof(a), "%.2f",
					       percent(row->allocs, all)),
			       g_ascii_formatd(b, sizeof(b), "%.2f",
					       percent(s[0], row->allocs)),
			       g_ascii_formatd(c, sizeof(c), "%.2f",
					       percent(s[1], row->frees)),
			       s[2], s[3]);
}

static void append_rates(GString *out, const struct slab_report *r, int max)
{
	int cpus = slab_cpus_seen(r), n = 0;
	g_autofree struct cpu_row *rows = g_new0(struct cpu_row, MAX(cpus, 1));
	struct cpu_row total = {-1, sum_of(r, slab_alloc_counters, -1),
				sum_of(r, slab_free_counters, -1)};

	if (!total.allocs && !total.frees)
		return;
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct cpu_row row = {cpu, sum_of(r, slab_alloc_counters, cpu),
				      sum_of(r, slab_free_counters, cpu)};

		if (row.allocs || row.frees)
			rows[n++] = row;
	}
	g_string_append(out, "   CPU        allocs         frees  % of a  slow "
			     "a%  slow f%      slabs  refills\n");
	append_row(out, r, &total, "all");
	qsort(rows, n, sizeof(*rows), by_work);
	qsort(rows, MIN(n, max), sizeof(*rows), by_cpu);
	for (int i = 0; i < n && i < max; i++) {
		char label[16];

		g_snprintf(label, sizeof(label), "%d", rows[i].cpu);
		append_row(out, r, &rows[i], label);
	}
	if (n > max)
		g_string_append_printf(out,
				       "  ... and %d CPUs with less "
				       "(--cpus N shows more)\n",
				       n - max);
}

void slab_summary(GString *out, const struct slab_report *r,
		  const GPtrArray *checks, const char *variant, int cpus)
{
	g_autoptr(GPtrArray) private = slab_private_counters(r);
	enum slab_generation g = slab_generation_of(r);

	append_heading(out, r);
	append_sizes(out, r);
	if (r->source != SLAB_PROC) {
		g_string_append_printf(out, "  counters: %s\n",
				       slab_generation_text(g));
		g_string_append_printf(out, "  compared with variant %s\n",
				       variant);
	}
	if (private->len) {
		g_string_append(out, "  counters that no kernel known here "
				     "has:");
		for (guint i = 0; i < private->len; i++)
			g_string_append_printf(out, " %s",
					       (char *)private->pdata[i]);
		g_string_append_c(out, '\n');
	}
	append_checks(out, checks, "  ");
	append_rates(out, r, cpus);
}

void slab_table(GString *out, const GPtrArray *reports)
{
	g_string_append(out, "cache                      slab_size order "
			     "objs_per_slab    slabs  objects  total\n");
	for (guint i = 0; i < reports->len; i++) {
		const struct slab_report *r = reports->pdata[i];
		g_autofree char *cache = plain(r->cache ? r->cache : "-");

		g_string_append_printf(
			out,
			"%-26s %9" G_GINT64_FORMAT " %5" G_GINT64_FORMAT
			" %13" G_GINT64_FORMAT " %8" G_GINT64_FORMAT
			" %8" G_GINT64_FORMAT " %6" G_GINT64_FORMAT "\n",
			cache, slab_report_get(r, "slab_size"),
			slab_report_get(r, "order"),
			slab_report_get(r, "objs_per_slab"),
			slab_report_get(r, "slabs"),
			slab_report_get(r, "objects"),
			slab_report_get(r, "total_objects"));
	}
}

bool slab_failures(GString *out, const struct slab_report *r,
		   const GPtrArray *checks)
{
	bool any = false;

	for (guint i = 0; i < checks->len; i++) {
		const struct slab_check *c = checks->pdata[i];
		g_autofree char *cache = plain(r->cache ? r->cache : "-");

		if (c->verdict != SLAB_FAILS)
			continue;
		g_string_append_printf(out, "FAILS   %s: %s\n", cache, c->text);
		any = true;
	}
	return any;
}

/* ---- what is written ---- */

bool slab_has_counts(const struct slab_report *r)
{
	bool allocs = false, frees = false;

	for (int cpu = slab_cpus_seen(r) - 1; cpu >= 0; cpu--) {
		allocs |= sum_of(r, slab_alloc_counters, cpu) > 0;
		frees |= sum_of(r, slab_free_counters, cpu) > 0;
	}
	return allocs && frees;
}

char *slab_counts(const struct slab_report *r)
{
	GString *out = g_string_new(NULL);

	for (guint i = 0; i < r->values->len; i++) {
		const struct slab_value *v = r->values->pdata[i];

		if (!v->number || v->part_kind == 'N' || v->slabs)
			continue;
		g_string_append_printf(out, "%s:%" G_GUINT64_FORMAT, v->name,
				       v->total);
		for (guint k = 0; k < v->parts->len; k++) {
			const struct slab_part *p =
				&g_array_index(v->parts, struct slab_part, k);

			g_string_append_printf(out, " C%d=%" G_GUINT64_FORMAT,
					       p->id, p->value);
		}
		g_string_append_c(out, '\n');
	}
	return g_string_free(out, FALSE);
}

static void append_from(GString *out, const struct slab_report *r,
			const char *name, const char *key)
{
	const struct slab_value *v = slab_report_find(r, name);

	if (v && v->number)
		g_string_append_printf(
			out, "# %s: %s:%d\n%s=%" G_GUINT64_FORMAT "\n", key,
			r->file, v->line, key, v->total);
}

static void append_flag(GString *out, const struct slab_report *r,
			const char *name)
{
	const struct slab_value *v = slab_report_find(r, name);

	if (v && v->number)
		g_string_append_printf(out, "# %s: %s:%d\n%s=%s\n", name,
				       r->file, v->line, name,
				       v->total ? "true" : "false");
}

char *slab_experiment(const struct slab_report *r, const char *name,
		      const GPtrArray *checks, const struct slab_conf *conf)
{
	GString *out = g_string_new(NULL);
	g_autofree char *cache = plain(r->cache ? r->cache : name);
	char scale[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append_printf(out,
			       "# Written by slubsim import cache from "
			       "%s:%d.\n",
			       r->file, r->line);
	append_checks(out, checks, "# ");
	g_string_append_printf(out,
			       "\n[experiment]\nname=%s\ndescription=the "
			       "allocations and frees per CPU that were "
			       "posted of %s\nworkload=percpu\nvariants=%s\n",
			       name, cache, conf->variants);
	if (conf->topology)
		g_string_append_printf(out, "topology=%s\n", conf->topology);
	else
		g_string_append(out, "# topology: name one, as with slubsim "
				     "import topology\n");
	g_string_append_printf(out, "\n[workload]\ncache=%s\n", cache);
	append_from(out, r,
		    slab_report_find(r, "object_size") ? "object_size"
						       : "slab_size",
		    "object_size");
	append_from(out, r, "align", "align");
	append_flag(out, r, "hwcache_align");
	append_flag(out, r, "destroy_by_rcu");
	/* where all have sheaves the capacity is the kernel's choice */
	if (slab_generation_of(r) == SLAB_OPT_IN_SHEAVES)
		append_from(out, r, "sheaf_capacity", "sheaf_capacity");
	g_string_append_printf(
		out,
		"# counts per CPU of %s:%d\ncounts=%s\n"
		"# of the posted counts; all of them take long\n"
		"scale=%s\n",
		r->file, r->line, conf->counts,
		g_ascii_formatd(scale, sizeof(scale), "%.6g", conf->scale));
	return g_string_free(out, FALSE);
}
