/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Before time begins: the first pass over a trace, its caches, and the objects
 * that it frees but did not see allocated. Which CPU allocated those is not
 * known: here it is the one that frees them, so they are local.
 */
#include <string.h>

#include "workloads/trace_replay.h"

/* ---- CPUs ---- */

int replay_map_cpu(struct replay *rp, int cpu, struct trace_notes *n)
{
	int *m = &rp->mapped[cpu];

	if (*m < 0) {
		if (rp->o->cpu_map != TRACE_MAP_SAME)
			*m = rp->order[rp->next_order++ % rp->nr_order];
		else if (cpu < machine_topology(rp->m)->nr_cpu_ids &&
			 machine_cpu(rp->m, cpu))
			*m = cpu;
		else
			*m = rp->order[cpu % rp->nr_order];
	}
	if (rp->o->cpu_map == TRACE_MAP_SAME && *m != cpu)
		n->count[NOTE_CPU_MAPPED]++;
	return *m;
}

/* ---- caches ---- */

static bool name_is_taken(struct slub *sl, const char *name)
{
	for (struct kmem_cache *s = slub_next_cache(sl, NULL); s;
	     s = slub_next_cache(sl, s))
		if (!strcmp(kmem_cache_name(s), name))
			return true;
	return false;
}

/* The allocator's own caches have names that a trace's must not take twice;
 * between themselves the trace's are different. */
static char *free_name(struct replay *rp, const struct trace_cache *tc)
{
	bool own = tc->kind == TRACE_CACHE_NAMED &&
		   (g_str_has_prefix(tc->name, "kmalloc-") ||
		    g_str_has_prefix(tc->name, "kmem_cache")) &&
		   name_is_taken(rp->sl, tc->name);

	return g_strconcat(tc->name, own ? "-trace" : NULL, NULL);
}

static struct replay_cache *new_cache(struct replay *rp, struct cpu *c,
				      const struct trace_cache *tc)
{
	struct replay_cache *rc = g_new0(struct replay_cache, 1);
	struct kmem_cache_args args = { 0 };
	g_autofree char *why = NULL;
	g_autofree char *name = NULL;

	if (!tc->object_size) { /* only frees of it were seen */
		rc->name = g_strdup(tc->name);
		return rc;
	}
	if (tc->kind == TRACE_CACHE_PAGES) {
		rc->pages = true;
		rc->order = tc->order;
		rc->name = g_strdup(tc->name);
		return rc;
	}
	if (tc->kind == TRACE_CACHE_KMALLOC) {
		rc->s = kmalloc_cache(rp->sl, c, tc->object_size);
		rc->name = g_strdup(kmem_cache_name(rc->s));
		return rc;
	}
	name = free_name(rp, tc);
	args.name = name;
	args.object_size = tc->object_size;
	args.align = tc->align;
	if (tc->accounted)
		args.flags |= SLAB_ACCOUNTED;
	if (tc->pointer_outside)
		args.flags |= SLAB_CTOR;
	why = kmem_cache_args_check(&args);
	if (!why)
		rc->s = kmem_cache_create(rp->sl, c, &args);
	rc->name = g_steal_pointer(&name);
	if (rc->s && tc->size != kmem_cache_object_size(rc->s))
		rp->other_size++;
	return rc;
}

void scan_create_caches(struct replay *rp, struct cpu *c)
{
	unsigned n = trace_objects_caches(rp->scan.objects);

	for (unsigned i = 0; i < n; i++)
		g_ptr_array_add(rp->caches,
				new_cache(rp, c,
					  trace_objects_cache(
						  rp->scan.objects, i)));
}

/* ---- objects from before the trace ---- */

struct stack { /* of a cache and a CPU */
	uint32_t number;
	int cpu;
	uint32_t wanted;
	GArray *objs; /* sim_addr */
};

static void stack_free(gpointer p)
{
	struct stack *s = p;

	g_array_free(s->objs, TRUE);
	g_free(s);
}

static struct stack *find_stack(struct scan *scan, uint32_t number, int cpu)
{
	gint64 key = (gint64)number << 32 | cpu;

	return g_hash_table_lookup(scan->stacks, &key);
}

static void want(struct scan *scan, uint32_t number, int cpu)
{
	struct stack *s = find_stack(scan, number, cpu);

	if (!s) {
		gint64 key = (gint64)number << 32 | cpu;

		s = g_new0(struct stack, 1);
		s->number = number;
		s->cpu = cpu;
		s->objs = g_array_new(FALSE, FALSE, sizeof(sim_addr));
		g_hash_table_insert(scan->stacks, g_memdup2(&key, sizeof(key)),
				    s);
		g_ptr_array_add(scan->stacks_in_order, s);
	}
	s->wanted++;
}

void scan_preallocate(struct replay *rp, struct cpu *c)
{
	for (unsigned i = 0; i < rp->scan.stacks_in_order->len; i++) {
		struct stack *s = rp->scan.stacks_in_order->pdata[i];
		struct replay_cache *rc = rp->caches->pdata[s->number];

		if (s->cpu != c->id)
			continue;
		for (uint32_t k = 0; rc->s && k < s->wanted; k++) {
			sim_addr a = kmem_cache_alloc(c, rc->s, GFP_FOR_KERNEL);

			if (a)
				g_array_append_val(s->objs, a);
		}
	}
}

sim_addr scan_take(struct replay *rp, const struct trace_cache *tc, int cpu)
{
	struct stack *s = tc ? find_stack(&rp->scan, tc->number, cpu) : NULL;
	sim_addr a;

	if (!s || !s->objs->len)
		return 0;
	a = g_array_index(s->objs, sim_addr, s->objs->len - 1);
	g_array_set_size(s->objs, s->objs->len - 1);
	return a;
}

/* ---- the first pass ---- */

static void scan_event(struct replay *rp, const struct trace_event *ev)
{
	struct scan *s = &rp->scan;
	int cpu = replay_map_cpu(rp, ev->cpu, &s->objects_notes);
	struct trace_step step;

	trace_objects_step(s->objects, ev, &step);
	if (step.action == TRACE_FREE)
		trace_objects_release(s->objects, step.object);
	else if (step.action == TRACE_FREE_THEN_ALLOC)
		trace_objects_release(s->objects, step.lost);
	else if (step.action == TRACE_FREE_UNSEEN && step.cache &&
		 rp->o->preallocate)
		want(s, step.cache->number, cpu);
	if (!s->events)
		return;
	if (s->events->len < s->keep) {
		g_array_append_val(s->events, *ev);
	} else {
		g_array_free(s->events, TRUE);
		s->events = NULL;
	}
}

/* A trace of @span_ns takes so long as it takes, but not for ever: half of what
 * the machine's clock can show, the rest for events that are late. */
static bool check_span(const struct replay *rp, uint64_t span_ns,
		       GError **error)
{
	double cycles = machine_cycles(rp->m, span_ns * rp->o->time_scale);

	if (cycles < (double)(MACHINE_MAX_DATE / 2))
		return true;
	g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
		    "[workload] time_scale: %g makes the trace last %.3g days, "
		    "expected at most %.3g",
		    rp->o->time_scale, span_ns * rp->o->time_scale / 86400e9,
		    machine_ns(rp->m, MACHINE_MAX_DATE / 2) / 86400e9);
	return false;
}

bool scan_run(struct replay *rp, GError **error)
{
	g_autofree char *path = trace_path(rp->o);
	struct scan *s = &rp->scan;
	struct trace_event ev = { 0 }, next;
	GError *err = NULL;
	bool more;

	s->stacks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					  stack_free);
	s->stacks_in_order = g_ptr_array_new();
	s->events = g_array_new(FALSE, FALSE, sizeof(struct trace_event));
	rp->trace = trace_open(path, error);
	if (!rp->trace)
		return false;
	s->objects = trace_objects_new(rp->trace, &s->objects_notes);
	more = trace_next(rp->trace, &next, &err);
	if (more)
		rp->first_ns = next.time_ns;
	else if (!err)
		g_set_error(&err, TRACE_ERROR, TRACE_ERROR_FORMAT,
			    "%s: no kmem event, expected a trace of kmalloc, "
			    "kfree, kmem_cache_alloc, kmem_cache_free "
			    "(slubsim import trace tells what is in it)",
			    path);
	while (more) {
		ev = next;
		more = trace_next(rp->trace, &next, &err);
		if (more)
			trace_objects_expect(s->objects, next.ptr);
		scan_event(rp, &ev);
	}
	if (err) {
		g_propagate_error(error, err);
		return false;
	}
	if (!check_span(rp, ev.time_ns - rp->first_ns, error))
		return false;
	if (!s->events) {
		trace_close(rp->trace);
		rp->trace = trace_open(path, error);
	}
	return rp->trace;
}

void scan_clear(struct scan *s)
{
	if (s->events)
		g_array_free(s->events, TRUE);
	trace_objects_free(s->objects);
	if (s->stacks_in_order)
		g_ptr_array_free(s->stacks_in_order, TRUE);
	if (s->stacks)
		g_hash_table_destroy(s->stacks);
}
