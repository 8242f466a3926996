/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/point.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "model/fields.h"
#include "model/slub.h"
#include "sim/lock.h"
#include "sim/memory.h"
#include "sim/trace.h"
#include "results/trace_json.h"

/* Accounts of all CPUs, added up by path while machine_account() walks. */
struct accounts {
	struct point *point;
	GHashTable *paths; /* path -> uint64_t[NR_CAUSES] */
	struct cpu_account **by_cpu;
};

static void add_account(int cpu, const char *path, enum cause cause,
			uint64_t cycles, void *arg)
{
	struct accounts *a = arg;
	uint64_t *sums = g_hash_table_lookup(a->paths, path);

	if (!sums) {
		sums = g_new0(uint64_t, NR_CAUSES);
		g_hash_table_insert(a->paths, g_strdup(path), sums);
	}
	sums[cause] += cycles;
	if (a->by_cpu[cpu])
		a->by_cpu[cpu]->cycles[cause] += cycles;
}

static void collect_accounts(struct point *p, struct machine *m)
{
	const struct topology *t = machine_topology(m);
	struct accounts a = {
		p,
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
		g_new0(struct cpu_account *, t->nr_cpu_ids)};
	GList *paths;

	for (int cpu = 0; cpu < t->nr_cpu_ids; cpu++) {
		if (!t->cpus[cpu].online)
			continue;
		a.by_cpu[cpu] = g_new0(struct cpu_account, 1);
		a.by_cpu[cpu]->cpu = cpu;
		a.by_cpu[cpu]->node = t->cpus[cpu].node;
		g_ptr_array_add(p->cpus, a.by_cpu[cpu]);
	}
	machine_account(m, add_account, &a);
	paths = g_list_sort(g_hash_table_get_keys(a.paths),
			    (GCompareFunc)strcmp);
	for (GList *l = paths; l; l = l->next) {
		const uint64_t *sums = g_hash_table_lookup(a.paths, l->data);

		for (int k = 0; k < NR_CAUSES; k++)
			if (sums[k])
				point_add_account(p, l->data, k, sums[k]);
	}
	g_list_free(paths);
	g_hash_table_unref(a.paths);
	g_free(a.by_cpu);
}

static void add_lock(const struct lock_stat *s, void *arg)
{
	struct point *p = arg;
	struct lock_row *l = g_new0(struct lock_row, 1);

	l->class = g_strdup(s->class);
	l->node = s->node;
	l->acquisitions = s->acquisitions;
	l->contentions = s->contentions;
	l->acq_bounces = s->acq_bounces;
	l->con_bounces = s->con_bounces;
	l->wait_total = s->wait_total;
	l->wait_min = s->wait_min;
	l->wait_max = s->wait_max;
	l->hold_total = s->hold_total;
	l->hold_min = s->hold_min;
	l->hold_max = s->hold_max;
	g_ptr_array_add(p->locks, l);
}

struct line_walk {
	struct point *point;
	struct machine *m;
};

/* The member at @a, with its struct where that is not the line's first one. */
static char *field_at(struct machine *m, sim_addr a, const char *line_kind)
{
	sim_addr base;
	const char *kind = machine_region(m, a, &base);
	const char *field = kind ? slub_field_name(kind, a - base) : NULL;

	if (!field)
		return NULL;
	return kind == line_kind ? g_strdup(field) :
				   g_strdup_printf("%s.%s", kind, field);
}

static void add_line(const struct line_stat *s, void *arg)
{
	struct line_walk *w = arg;
	struct point *p = w->point;
	struct line_row *l;

	if (p->lines->len == MAX_LINE_ROWS) {
		p->lines_left_out.lines++;
		p->lines_left_out.hitm_local += s->hitm_local;
		p->lines_left_out.hitm_remote += s->hitm_remote;
		return;
	}
	l = g_new0(struct line_row, 1);

	l->line = s->line;
	l->kind = g_strdup(s->kind);
	l->node = sim_addr_node(s->line);
	l->loads = s->loads;
	l->stores = s->stores;
	l->rmws = s->rmws;
	l->hitm_local = s->hitm_local;
	l->hitm_remote = s->hitm_remote;
	l->dram_local = s->dram_local;
	l->dram_remote = s->dram_remote;
	l->offsets = s->offsets;
	for (int k = 0; k < 8; k++) {
		if (s->offsets >> k & 1)
			l->fields[k] = field_at(w->m, s->line + 8 * k, s->kind);
		l->cpus[k] = s->last_cpus[k];
		l->counts[k] = s->last_counts[k];
	}
	g_ptr_array_add(p->lines, l);
}

static void collect_caches(struct point *p, struct slub *sl)
{
	for (struct kmem_cache *s = slub_next_cache(sl, NULL); s;
	     s = slub_next_cache(sl, s)) {
		struct cache_dump *d = cache_dump_new(kmem_cache_name(s));
		const char *const *attrs = kmem_cache_attrs(s);

		for (int i = 0; attrs[i]; i++) {
			g_autofree char *text = kmem_cache_attr_show(s,
								     attrs[i]);

			cache_dump_add(d, attrs[i], text ? text : "");
		}
		g_ptr_array_add(p->caches, d);
	}
}

static void collect(struct point *p, struct machine *m, struct slub *sl,
		    unsigned flags)
{
	const struct topology *t = machine_topology(m);
	struct machine_stats s = machine_stats(m);

	p->topology = g_strdup(t->name);
	p->freq_ghz = machine_params(m)->freq_ghz;
	p->nr_cpus = t->nr_cpus;
	p->nr_nodes = t->nr_nodes;
	p->nr_node_ids = t->nr_node_ids;
	p->cycles = machine_now(m);
	p->engine_events = s.engine_events;
	p->meets = s.meets;
	p->accesses = s.accesses;
	p->instructions = s.instructions;
	collect_accounts(p, m);
	machine_lock_stats(m, add_lock, p);
	if (flags & MACHINE_LINE_STATS) {
		p->lines = g_ptr_array_new_with_free_func(line_row_free);
		machine_line_stats(m, add_line, &(struct line_walk){p, m});
	}
	g_array_set_size(p->traffic, t->nr_node_ids * t->nr_node_ids);
	machine_traffic(m, (uint64_t *)p->traffic->data);
	collect_caches(p, sl);
}

char *point_flags(const struct point_options *o)
{
	GString *s = g_string_new(NULL);

	if (o->machine_flags & MACHINE_EXACT_SLOW)
		g_string_append(s, "exact-slow ");
	if (o->machine_flags & MACHINE_LINE_STATS)
		g_string_append(s, "c2c ");
	if (o->verify)
		g_string_append(s, "verify ");
	return g_strchomp(g_string_free(s, FALSE));
}

static bool verify(struct slub *sl, GError **error)
{
	for (struct kmem_cache *s = slub_next_cache(sl, NULL); s;
	     s = slub_next_cache(sl, s)) {
		g_autofree char *wrong = kmem_cache_verify(s, NULL,
							   kmem_cache_live(s));

		if (!wrong)
			continue;
		g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
			    "--verify: cache %s: %s", kmem_cache_name(s), wrong);
		return false;
	}
	return true;
}

static uint64_t trace_cycles(const struct machine *m, double us)
{
	double cycles = machine_cycles(m, us * 1000);

	return cycles < (double)UINT64_MAX ? (uint64_t)cycles : UINT64_MAX;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* @p's start_s holds the process's CPU time when the workload began, and run_s
 * when it ended. */
static void take_price(struct point_price *price, struct machine *m,
		       const struct point *p, double begun)
{
	struct machine_stats s = machine_stats(m);
	struct rusage usage;

	price->run_s -= price->start_s;
	price->start_s -= begun;
	price->operations = p->operations;
	price->engine_events = s.engine_events;
	price->turns = s.turns;
	price->steps = s.steps;
	price->meets = s.meets;
	price->accesses = s.accesses;
	price->cycles = machine_now(m);
	price->nr_cpus = machine_topology(m)->nr_cpus;
	getrusage(RUSAGE_SELF, &usage);
	price->max_rss_kib = usage.ru_maxrss;
	price->sleep_ns = machine_measure_sleep(m);
}

struct point *point_run(const struct experiment *e, const struct variant *v,
			uint64_t seed, const struct point_options *options,
			char **trace, GError **error)
{
	double begun = cpu_seconds();
	struct machine *m = machine_new(e->topology, &e->params,
					options->machine_flags, seed);
	struct slub *sl = slub_new(m, &v->features, &v->costs);
	struct point_price *price = options->price;
	struct point *p = point_new();
	struct report r = {p};
	bool ok;

	if (options->machine_flags & MACHINE_TRACE)
		machine_trace_window(m, trace_cycles(m, options->trace_from_us),
				     trace_cycles(m, options->trace_to_us));
	slub_tune(sl, &e->tuning);
	slub_set_zs_build(sl, v->zs);
	p->variant = g_strdup(v->name);
	p->kernel = g_strdup(v->kernel);
	p->description = g_strdup(v->description);
	p->workload = g_strdup(e->workload->name);
	p->version = g_strdup(SLUBSIM_VERSION);
	p->build = build_digest();
	p->config = config_effective(e, v);
	p->flags = point_flags(options);
	p->seed = seed;
	if (price)
		price->start_s = cpu_seconds();
	ok = e->workload->run(sl, e->options, seed, &r, error);
	if (price)
		price->run_s = cpu_seconds();
	if (ok && (!options->verify || verify(sl, error))) {
		collect(p, m, sl, options->machine_flags);
		if (trace && (options->machine_flags & MACHINE_TRACE))
			*trace = trace_json(m);
		if (price)
			take_price(price, m, p, begun);
	} else {
		point_free(p);
		p = NULL;
	}
	slub_free(sl);
	machine_free(m);
	return p;
}

char *build_digest(void)
{
	g_autoptr(GMappedFile) f = g_mapped_file_new("/proc/self/exe", FALSE,
						     NULL);

	if (!f)
		return g_strdup("");
	return g_compute_checksum_for_data(
		G_CHECKSUM_SHA1, (const guchar *)g_mapped_file_get_contents(f),
		g_mapped_file_get_length(f));
}
