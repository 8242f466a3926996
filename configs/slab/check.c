/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/slab/check.h"

#include <string.h>

#include "model/stats.h"

/* Beyond this a product of two of them could overflow. */
#define SANE (INT64_C(1) << 31)

static const char *const attributes[] = {
	"aliases",
	"align",
	"alloc_calls",
	"cache_dma",
	"cpu_partial",
	"cpu_slabs",
	"ctor",
	"destroy_by_rcu",
	"failslab",
	"free_calls",
	"hwcache_align",
	"min_partial",
	"object_size",
	"objects",
	"objects_partial",
	"objs_per_slab",
	"order",
	"partial",
	"poison",
	"reclaim_account",
	"red_zone",
	"remote_node_defrag_ratio",
	"reserved",
	"sanity_checks",
	"sheaf_capacity",
	"shrink",
	"skip_kfence",
	"slab_size",
	"slabs",
	"slabs_cpu_partial",
	"store_user",
	"total_objects",
	"trace",
	"usersize",
	"validate",
	/* what slabinfo -r prints and sysfs has not */
	"deactivate_to_partial",
	"memory_bytes",
	"reported_allocs",
	"reported_frees",
	"slab_bytes",
	"used_bytes",
};

bool slab_is_attribute(const char *name)
{
	for (guint i = 0; i < G_N_ELEMENTS(attributes); i++)
		if (!strcmp(attributes[i], name))
			return true;
	return false;
}

bool slab_is_counter(const char *name)
{
	return slub_stat_find(name) >= 0;
}

GPtrArray *slab_private_counters(const struct slab_report *r)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < r->values->len; i++) {
		const struct slab_value *v = r->values->pdata[i];

		if (!slab_is_attribute(v->name) && !slab_is_counter(v->name))
			g_ptr_array_add(names, g_strdup(v->name));
	}
	return names;
}

enum slab_generation slab_generation_of(const struct slab_report *r)
{
	bool sheaves = false, cpu_slabs = false, cpu_partial = false;
	bool any = false;

	for (int i = 0; i < NR_SLUB_STATS; i++) {
		const char *name = slub_stat_names[i];

		if (!slab_report_find(r, name))
			continue;
		any = true;
		sheaves |= !slub_stat_in_set(i, STATS_CPU_SLAB);
		cpu_slabs |= !slub_stat_in_set(i, STATS_SHEAVES);
		cpu_partial |= g_str_has_prefix(name, "cpu_partial_");
	}
	/* cpu_partial the limit was there before its counters are posted */
	cpu_partial |= slab_report_find(r, "slabs_cpu_partial") != NULL;
	if (!any)
		return SLAB_NO_COUNTERS;
	if (sheaves)
		return cpu_slabs ? SLAB_OPT_IN_SHEAVES : SLAB_ALL_SHEAVES;
	return cpu_partial || !cpu_slabs ? SLAB_CPU_PARTIAL
					 : SLAB_BEFORE_CPU_PARTIAL;
}

const char *slab_generation_text(enum slab_generation g)
{
	switch (g) {
	case SLAB_NO_COUNTERS:
		return "none: the kernel lacks SLUB_STATS, or they weren't "
		       "posted";
	case SLAB_BEFORE_CPU_PARTIAL:
		return "cpu slabs without partial lists of CPUs, as in 2.6.23 "
		       "to 3.1";
	case SLAB_CPU_PARTIAL:
		return "cpu slabs with partial lists of CPUs, as in 3.2 to "
		       "6.17";
	case SLAB_OPT_IN_SHEAVES:
		return "cpu slabs and sheaves, as in 6.18 and 6.19";
	case SLAB_ALL_SHEAVES:
		return "sheaves instead of cpu slabs, as in 7.0 and later";
	}
	g_assert_not_reached();
}

const char *slab_variant_of(const struct slab_report *r)
{
	switch (slab_generation_of(r)) {
	case SLAB_BEFORE_CPU_PARTIAL:
		return "2015-fallback";
	case SLAB_CPU_PARTIAL:
		return "v6.12";
	case SLAB_OPT_IN_SHEAVES:
		return "v6.19";
	case SLAB_ALL_SHEAVES:
		return "v7.1";
	default:
		/* without counters the attributes tell as much */
		if (!slab_report_find(r, "sheaf_capacity"))
			return "v6.12";
		return slab_report_get(r, "cpu_partial") > 0 ||
				       slab_report_get(r, "sheaf_capacity") == 0
			       ? "v6.19"
			       : "v7.1";
	}
}

int slab_cpus_seen(const struct slab_report *r)
{
	int cpus = 0;

	for (guint i = 0; i < r->values->len; i++) {
		const struct slab_value *v = r->values->pdata[i];

		if (v->part_kind == 'C' && v->parts->len)
			cpus = MAX(cpus,
				   g_array_index(v->parts, struct slab_part,
						 v->parts->len - 1)
						   .id +
					   1);
	}
	return cpus;
}

/* ---- the checks ---- */

static void check_free(gpointer p)
{
	struct slab_check *c = p;

	g_free(c->text);
	g_free(c);
}

static void add(GPtrArray *checks, enum slab_verdict verdict,
		const char *format, ...) G_GNUC_PRINTF(3, 4);
static void add(GPtrArray *checks, enum slab_verdict verdict,
		const char *format, ...)
{
	struct slab_check *c = g_new0(struct slab_check, 1);
	va_list args;

	va_start(args, format);
	c->text = g_strdup_vprintf(format, args);
	va_end(args);
	c->verdict = verdict;
	g_ptr_array_add(checks, c);
}

#define D "%" G_GINT64_FORMAT

static enum slab_verdict compare(int64_t a, int64_t b)
{
	int64_t off = a > b ? a - b : b - a;

	if (!off)
		return SLAB_HOLDS;
	return off <= MAX(a, b) / 1000 ? SLAB_NEAR : SLAB_FAILS;
}

/* What the parts of each value add up to. */
static void check_sums(const struct slab_report *r, GPtrArray *checks)
{
	int with_parts = 0, wrong = 0;

	for (guint i = 0; i < r->values->len; i++) {
		const struct slab_value *v = r->values->pdata[i];
		uint64_t sum = 0, slabs = 0;

		if (!v->number || !v->parts->len)
			continue;
		with_parts++;
		for (guint k = 0; k < v->parts->len; k++) {
			const struct slab_part *p =
				&g_array_index(v->parts, struct slab_part, k);

			sum += p->value;
			slabs += p->slabs;
		}
		if (sum == v->total && slabs == v->slabs)
			continue;
		/* objects there are guessed from slabs, each rounded down */
		if (v->slabs && slabs == v->slabs && sum <= v->total &&
		    v->total - sum <= v->parts->len)
			continue;
		wrong++;
		/* kernels count in 32 bits and add them up in as many */
		if (sum != v->total && (uint32_t)sum == (uint32_t)v->total)
			add(checks, SLAB_FAILS,
			    "%s: its parts add up to %" G_GUINT64_FORMAT
			    " but the total says %" G_GUINT64_FORMAT
			    ": the sum wrapped at 32 bits",
			    v->name, sum, v->total);
		else
			add(checks, SLAB_FAILS,
			    "%s: its parts add up to %" G_GUINT64_FORMAT
			    " but the total says %" G_GUINT64_FORMAT,
			    v->name, sum, v->total);
	}
	if (with_parts && !wrong)
		add(checks, SLAB_HOLDS,
		    "the parts per CPU and node add up to "
		    "the total: all %d of them",
		    with_parts);
}

static bool get(const struct slab_report *r, const char *name, int64_t *value)
{
	*value = slab_report_get(r, name);
	return *value >= 0;
}

static bool get_sane(const struct slab_report *r, const char *name,
		     int64_t *value)
{
	return get(r, name, value) && *value < SANE;
}

static void check_products(const struct slab_report *r, GPtrArray *checks)
{
	int64_t objs, slabs, total, partial, used, objects;
	const struct slab_value *t = slab_report_find(r, "total_objects");
	const struct slab_value *s = slab_report_find(r, "slabs");
	int wrong = 0, nodes = 0;

	if (!get_sane(r, "objs_per_slab", &objs) ||
	    !get_sane(r, "slabs", &slabs) ||
	    !get_sane(r, "total_objects", &total))
		return;
	if (r->source != SLAB_SLABINFO) /* there it was computed so */
		add(checks, total == slabs * objs ? SLAB_HOLDS : SLAB_FAILS,
		    "total_objects = slabs x objs_per_slab: " D " %s " D " x " D
		    "%s",
		    total, total == slabs * objs ? "=" : "!=", slabs, objs,
		    total < slabs * objs ? " (slabs of a smaller order "
					   "are among them)"
					 : "");
	for (guint i = 0; i < t->parts->len; i++) {
		const struct slab_part *p =
			&g_array_index(t->parts, struct slab_part, i);
		uint64_t n = slab_value_part(s, p->id);

		nodes++;
		wrong += n < (uint64_t)SANE && p->value != n * objs;
	}
	if (nodes)
		add(checks, wrong ? SLAB_FAILS : SLAB_HOLDS,
		    "the same per "
		    "node: %d of %d",
		    nodes - wrong, nodes);
	if (!get_sane(r, "objects", &objects))
		return;
	if (objects > total)
		add(checks, SLAB_FAILS, "objects <= total_objects: " D " > " D,
		    objects, total);
	if (!get_sane(r, "partial", &partial) ||
	    !get_sane(r, "objects_partial", &used))
		return;
	total -= partial * objs - used;
	add(checks, compare(objects, total),
	    "objects = total_objects - what "
	    "is free on partial lists: " D " %s " D,
	    objects, objects == total ? "=" : "!=", total);
}

/* sheaf_refill counts objects, barn_get_fail what led to a refill. */
static void check_refills(const struct slab_report *r, GPtrArray *checks)
{
	const struct slab_value *refill = slab_report_find(r, "sheaf_refill");
	const struct slab_value *fail = slab_report_find(r, "barn_get_fail");
	int64_t capacity, objects, fails;
	int wrong = 0, cpus = 0;

	if (!refill || !get_sane(r, "sheaf_capacity", &capacity) || !capacity ||
	    !get(r, "sheaf_refill", &objects))
		return;
	add(checks, objects % capacity ? SLAB_FAILS : SLAB_HOLDS,
	    "sheaf_refill = sheaf_capacity x refills: " D " = " D " x " D "%s",
	    objects, capacity, objects / capacity,
	    objects % capacity ? " and a rest: a refill fell short" : "");
	if (!get_sane(r, "barn_get_fail", &fails))
		return;
	add(checks, compare(objects / capacity, fails),
	    "refills = barn_get_fail: " D " %s " D, objects / capacity,
	    objects / capacity == fails ? "=" : "!=", fails);
	for (guint i = 0; i < fail->parts->len; i++) {
		const struct slab_part *p =
			&g_array_index(fail->parts, struct slab_part, i);

		cpus++;
		wrong += p->value < (uint64_t)SANE &&
			 slab_value_part(refill, p->id) != p->value * capacity;
	}
	if (cpus)
		add(checks, wrong ? SLAB_FAILS : SLAB_HOLDS,
		    "the same per CPU: %d of %d", cpus - wrong, cpus);
}

/* Slabs made and freed against slabs there are; objects likewise. */
static void check_flows(const struct slab_report *r, GPtrArray *checks)
{
	int64_t made, freed, slabs, af, as, ff, fs, objects, fast, slow;

	if (get(r, "alloc_slab", &made) && get(r, "free_slab", &freed) &&
	    get(r, "slabs", &slabs))
		add(checks, compare(made - freed, slabs),
		    "alloc_slab - "
		    "free_slab = slabs: " D " - " D " %s " D "%s",
		    made, freed, made - freed == slabs ? "=" : "!=", slabs,
		    made - freed == slabs ? ""
					  : " (counters were cleared or "
					    "wrapped, or caches merged)");
	if (!get(r, "alloc_fastpath", &af) || !get(r, "alloc_slowpath", &as) ||
	    !get(r, "free_fastpath", &ff) || !get(r, "free_slowpath", &fs))
		return;
	if (get(r, "alloc_cpu_sheaf", &fast))
		af += fast;
	if (get(r, "free_cpu_sheaf", &fast))
		ff += fast;
	if (get(r, "reported_allocs", &fast) && get(r, "reported_frees", &slow))
		add(checks,
		    af + as == fast && ff + fs == slow ? SLAB_HOLDS
						       : SLAB_FAILS,
		    "Fastpath + Slowpath = Total: " D " and " D, af + as,
		    ff + fs);
	if (!get(r, "objects", &objects))
		return;
	af += as;
	ff += fs;
	/* those counted as used but not with a user are in front of slabs */
	if (af < ff)
		add(checks, SLAB_FAILS, "allocations >= frees: " D " < " D, af,
		    ff);
	else if (af - ff > objects && get(r, "cpu_partial_alloc", &fast) &&
		 af - ff >= fast && af - ff - fast <= objects)
		add(checks, SLAB_HOLDS,
		    "allocations - frees <= objects, if "
		    "one from a cpu partial list counts as slow twice: " D
		    " - " D " - " D " = " D " with users",
		    af, fast, ff, af - ff - fast);
	else if (af - ff > objects)
		add(checks, SLAB_FAILS,
		    "allocations - frees <= objects: " D " - " D " = " D " > " D
		    " (more than there are: frees or "
		    "retried allocations are counted otherwise here)",
		    af, ff, af - ff, objects);
	else
		add(checks, SLAB_HOLDS,
		    "allocations - frees <= objects: " D " - " D " = " D
		    " with users, " D " cached in front of "
		    "the slabs",
		    af, ff, af - ff, objects - (af - ff));
}

/* Where the slow path got its slab, before sheaves. */
static void check_slow_path(const struct slab_report *r, GPtrArray *checks)
{
	int64_t slow, refill, partial, slab, cpu = 0, sum;

	if (!get(r, "alloc_slowpath", &slow) ||
	    !get(r, "alloc_refill", &refill) ||
	    !get(r, "alloc_from_partial", &partial) ||
	    !get(r, "alloc_slab", &slab))
		return;
	sum = refill + partial + slab;
	if (get(r, "cpu_partial_alloc", &cpu) &&
	    compare(slow, sum) == SLAB_FAILS &&
	    compare(slow, sum + cpu) != SLAB_FAILS) {
		add(checks, compare(slow, sum + cpu),
		    "alloc_slowpath = "
		    "alloc_refill + alloc_from_partial + alloc_slab + "
		    "cpu_partial_alloc: " D " and " D " (so the last is "
		    "counted as slow twice)",
		    slow, sum + cpu);
		return;
	}
	add(checks, compare(slow, sum),
	    "alloc_slowpath = alloc_refill + "
	    "alloc_from_partial + alloc_slab: " D " and " D,
	    slow, sum);
}

GPtrArray *slab_check_all(const struct slab_report *r)
{
	GPtrArray *checks = g_ptr_array_new_with_free_func(check_free);

	check_sums(r, checks);
	check_products(r, checks);
	check_refills(r, checks);
	check_flows(r, checks);
	check_slow_path(r, checks);
	return checks;
}
