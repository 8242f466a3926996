/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/trace_replay.h"

#include <string.h>

#include "workloads/programs.h"

static struct replay_object *object(struct replay *rp, uint32_t slot)
{
	return &g_array_index(rp->objs, struct replay_object, slot);
}

static struct replay_op *op_at(struct replay *rp, uint32_t i)
{
	return &g_array_index(rp->ops, struct replay_op, i);
}

/* ---- nodes, flags ---- */

static int map_node(struct replay *rp, int node)
{
	const struct topology *t = machine_topology(rp->m);

	if (node < 0)
		return NO_NODE;
	if (node < t->nr_node_ids && t->nodes[node].online)
		return node;
	rp->notes.count[NOTE_NODE_MAPPED]++;
	return NO_NODE;
}

static unsigned map_gfp(unsigned gfp, int node)
{
	unsigned g = 0;

	if (gfp & TRACE_GFP_BLOCK)
		g |= GFP_MAY_BLOCK | GFP_MAY_SPIN;
	if (gfp & TRACE_GFP_RECLAIM)
		g |= GFP_MAY_SPIN;
	if (gfp & TRACE_GFP_ZERO)
		g |= GFP_ZEROED;
	if (gfp & TRACE_GFP_THISNODE && node != NO_NODE)
		g |= GFP_ONLY_NODE;
	return g;
}

/* ---- from events to queues ---- */

/* Puts an empty op behind the queue of CPU @cpu. */
static struct replay_op *enqueue(struct replay *rp, struct cpu *c, int cpu,
				 const struct trace_event *ev)
{
	struct lane *l = &rp->lanes[cpu];
	uint32_t i = rp->unused;
	struct replay_op *op;

	if (i) {
		rp->unused = op_at(rp, i)->next;
	} else {
		i = rp->ops->len;
		g_array_set_size(rp->ops, i + 1);
	}
	op = op_at(rp, i);
	memset(op, 0, sizeof(*op));
	op->time_ns = ev->time_ns;
	op->counts = true;
	if (l->tail)
		op_at(rp, l->tail)->next = i;
	else
		l->head = i;
	l->tail = i;
	rp->queued++;
	if (l->sleeping) {
		l->sleeping = false;
		cpu_wake(c, l->cpu, c->now);
	}
	return op;
}

static void give_alloc(struct replay *rp, struct cpu *c, int cpu,
		       const struct trace_event *ev,
		       const struct trace_step *step)
{
	struct replay_op *op = enqueue(rp, c, cpu, ev);

	if (step->object >= rp->objs->len)
		g_array_set_size(rp->objs, step->object + 1);
	*object(rp, step->object) = (struct replay_object){
		.cache = rp->caches->pdata[step->cache->number],
	};
	op->object = step->object;
	op->alloc = true;
	op->node = map_node(rp, ev->node);
	op->gfp = map_gfp(ev->gfp, op->node);
}

static void give_unseen(struct replay *rp, struct cpu *c, int cpu,
			const struct trace_event *ev,
			const struct trace_step *step)
{
	sim_addr a = scan_take(rp, step->cache, cpu);
	struct replay_op *op;

	if (!a)
		return;
	rp->notes.count[NOTE_UNSEEN_FREE]--;
	rp->notes.count[NOTE_PREALLOCATED]++;
	op = enqueue(rp, c, cpu, ev);
	op->before = a;
	op->before_cache = rp->caches->pdata[step->cache->number];
}

static void wake_all(struct replay *rp, struct cpu *c, uint64_t at)
{
	for (int i = 0; i < rp->nr_order; i++) {
		struct lane *l = &rp->lanes[rp->order[i]];

		if (!l->sleeping)
			continue;
		l->sleeping = false;
		cpu_wake(c, l->cpu, at);
	}
}

static bool next_event(struct replay *rp, struct trace_event *ev)
{
	const GArray *kept = rp->scan.events;
	unsigned i = rp->next_event;

	if (!kept)
		return trace_next(rp->trace, ev, &rp->error);
	if (i == kept->len)
		return false;
	if (i + 2 < kept->len)
		trace_objects_expect(rp->objects,
				     g_array_index(kept, struct trace_event,
						   i + 2).ptr);
	*ev = g_array_index(kept, struct trace_event, i);
	rp->next_event++;
	return true;
}

/* Reads one event on @c and gives it to its CPU. */
static void read_one(struct replay *rp, struct cpu *c)
{
	struct trace_event ev;
	struct trace_step step;
	struct replay_op *op;
	int cpu;

	if (rp->ended)
		return;
	if (!next_event(rp, &ev)) {
		rp->ended = true;
		wake_all(rp, c, c->now);
		return;
	}
	cpu = replay_map_cpu(rp, ev.cpu, &rp->notes);
	trace_objects_step(rp->objects, &ev, &step);
	switch (step.action) {
	case TRACE_NOTHING:
		break;
	case TRACE_FREE_THEN_ALLOC:
		op = enqueue(rp, c, cpu, &ev);
		op->object = step.lost;
		op->counts = false;
		give_alloc(rp, c, cpu, &ev, &step);
		break;
	case TRACE_ALLOC:
		give_alloc(rp, c, cpu, &ev, &step);
		break;
	case TRACE_FREE:
		op = enqueue(rp, c, cpu, &ev);
		op->object = step.object;
		break;
	case TRACE_FREE_UNSEEN:
		give_unseen(rp, c, cpu, &ev, &step);
		break;
	}
}

/* Takes the first of the queue, waiting for one; false when all is done. */
static bool take_op(struct lane *l, struct replay_op *op)
{
	struct replay *rp = l->rp;
	uint32_t i;

	while (!l->head) {
		if (rp->ended)
			return false;
		if (rp->queued < rp->o->window) {
			read_one(rp, l->cpu);
			continue;
		}
		l->sleeping = true;
		cpu_wait(l->cpu);
	}
	i = l->head;
	*op = *op_at(rp, i);
	l->head = op->next;
	if (!l->head)
		l->tail = 0;
	op_at(rp, i)->next = rp->unused;
	rp->unused = i;
	return true;
}

/* ---- execution ---- */

static void allocate(struct replay *rp, struct cpu *c,
		     const struct replay_op *op)
{
	struct replay_cache *rc = object(rp, op->object)->cache;
	uint64_t begin = c->now;
	struct replay_object *obj;
	sim_addr a = 0;

	if (rc->pages)
		a = alloc_pages(c, rp->sl, op->gfp, rc->order, op->node);
	else if (rc->s && op->node == NO_NODE)
		a = kmem_cache_alloc(c, rc->s, op->gfp);
	else if (rc->s)
		a = kmem_cache_alloc_node(c, rc->s, op->gfp, op->node);
	obj = object(rp, op->object); /* the array may have moved */
	obj->addr = a;
	obj->cpu = c->id;
	if (a) {
		unsigned lines = rc->pages ?
					 (4096u << rc->order) / SIM_LINE :
					 (kmem_cache_object_size(rc->s) +
					  SIM_LINE - 1) / SIM_LINE;

		rc->allocs++;
		rc->alloc_cycles += c->now - begin;
		rp->replayed++;
		lines = MIN(lines, rp->o->write_lines);
		for (unsigned i = 0; i < lines; i++)
			cpu_write(c, a + i * SIM_LINE);
	} else {
		obj->failed = true;
		obj->why = rc->s || rc->pages ? NOTE_NO_MEMORY :
						NOTE_SIZE_RANGE;
		rp->notes.count[obj->why]++;
	}
	obj = object(rp, op->object);
	obj->ready_at = c->now;
	if (obj->waiter) {
		struct cpu *w = obj->waiter;

		obj->waiter = NULL;
		cpu_wake(c, w, c->now);
	}
}

static void release(struct replay *rp, struct cpu *c,
		    struct replay_cache *rc, sim_addr a)
{
	uint64_t begin = c->now;

	if (rc->pages)
		free_pages(c, rp->sl, a, rc->order);
	else
		kmem_cache_free(c, rc->s, a);
	rc->frees++;
	rc->free_cycles += c->now - begin;
}

static void release_object(struct replay *rp, struct cpu *c,
			   const struct replay_op *op)
{
	struct replay_object obj;

	while (!object(rp, op->object)->addr &&
	       !object(rp, op->object)->failed) {
		g_assert(rp->timed);
		object(rp, op->object)->waiter = c;
		cpu_wait(c);
	}
	obj = *object(rp, op->object);
	if (obj.failed) {
		if (op->counts)
			rp->notes.count[obj.why]++;
	} else {
		if (rp->timed && obj.ready_at > c->now)
			cpu_idle(c, obj.ready_at - c->now);
		release(rp, c, obj.cache, obj.addr);
		obj.cache->remote_frees += obj.cpu != c->id;
		rp->replayed += op->counts;
	}
	trace_objects_release(rp->objects, op->object);
}

static void execute(struct replay *rp, struct cpu *c,
		    const struct replay_op *op)
{
	cpu_enter(c, rp->frame);
	if (op->before) {
		release(rp, c, op->before_cache, op->before);
		rp->replayed++;
	} else if (op->alloc) {
		allocate(rp, c, op);
	} else {
		release_object(rp, c, op);
	}
	cpu_leave(c);
	rp->queued--;
}

/* Lets time pass up to the op's. */
static void wait_for_time(struct replay *rp, struct cpu *c,
			  const struct replay_op *op)
{
	double ns = (double)(op->time_ns - rp->first_ns) * rp->o->time_scale;
	uint64_t at = rp->start + (uint64_t)machine_cycles(rp->m, ns);

	if (rp->o->time_scale <= 0)
		return;
	if (c->now < at)
		cpu_idle(c, at - c->now);
	else
		rp->late_ns += machine_ns(rp->m, c->now - at);
}

/* Caches first, then the objects from before the trace; then all CPUs begin
 * at one date, with accounts that know nothing of all that. */
static void prepare(struct lane *l)
{
	struct replay *rp = l->rp;
	struct cpu *c = l->cpu;

	if (c->id == rp->order[0]) {
		scan_create_caches(rp, c);
		rp->created = true;
		wake_all(rp, c, c->now);
	}
	while (!rp->created) {
		l->sleeping = true;
		cpu_wait(c);
	}
	scan_preallocate(rp, c);
	rp->start = MAX(rp->start, c->now);
	if (++rp->arrived == rp->nr_order) {
		if (rp->start > c->now)
			cpu_idle(c, rp->start - c->now);
		machine_account_reset(rp->m);
		wake_all(rp, c, c->now);
	}
	while (rp->arrived < rp->nr_order) {
		l->sleeping = true;
		cpu_wait(c);
	}
}

static void lane_main(struct cpu *c, void *arg)
{
	struct lane *l = arg;
	struct replay_op op;

	prepare(l);
	while (take_op(l, &op)) {
		wait_for_time(l->rp, c, &op);
		execute(l->rp, c, &op);
		/* keeps the others supplied, so that none sleeps for long */
		if (l->rp->queued < l->rp->o->window)
			read_one(l->rp, c);
	}
}

static void run_timed(struct replay *rp)
{
	const struct topology *t = machine_topology(rp->m);
	struct programs *p = programs_new(rp->m);

	for (int i = 0; i < t->nr_cpu_ids; i++)
		if (rp->lanes[i].cpu)
			programs_set(p, i, lane_main, &rp->lanes[i]);
	programs_run(p);
}

/* All events in the order of their stamps, each at once. */
static void run_timeless(struct replay *rp)
{
	const struct topology *t = machine_topology(rp->m);
	struct replay_op op;

	scan_create_caches(rp, rp->lanes[rp->order[0]].cpu);
	for (int i = 0; i < rp->nr_order; i++)
		scan_preallocate(rp, rp->lanes[rp->order[i]].cpu);
	while (!rp->ended) {
		read_one(rp, rp->lanes[rp->order[0]].cpu);
		/* one event gives ops to one CPU only */
		for (int i = 0; rp->queued && i < t->nr_cpu_ids; i++)
			while (rp->lanes[i].head && take_op(&rp->lanes[i], &op))
				execute(rp, rp->lanes[i].cpu, &op);
	}
}

/* ---- beginning and end ---- */

struct replay *replay_new(struct slub *sl, const struct trace_options *o,
			  unsigned keep, GError **error)
{
	struct replay *rp = g_new0(struct replay, 1);
	const struct topology *t;

	rp->o = o;
	rp->sl = sl;
	rp->m = slub_machine(sl);
	t = machine_topology(rp->m);
	rp->frame = machine_frame(rp->m, "trace");
	rp->objs = g_array_new(FALSE, TRUE, sizeof(struct replay_object));
	rp->ops = g_array_new(FALSE, TRUE, sizeof(struct replay_op));
	g_array_set_size(rp->ops, 1);
	rp->caches = g_ptr_array_new();
	rp->lanes = g_new0(struct lane, t->nr_cpu_ids);
	for (int i = 0; i < t->nr_cpu_ids; i++) {
		rp->lanes[i].rp = rp;
		rp->lanes[i].cpu = machine_cpu(rp->m, i);
		if (rp->lanes[i].cpu)
			rp->timed = rp->lanes[i].cpu->timed;
	}
	rp->order = trace_cpu_order(t, o->cpu_map);
	rp->nr_order = t->nr_cpus;
	rp->mapped = g_new(int, TRACE_MAX_CPU + 1);
	memset(rp->mapped, -1, (TRACE_MAX_CPU + 1) * sizeof(*rp->mapped));
	rp->scan.keep = keep;
	if (!scan_run(rp, error)) {
		replay_free(rp);
		return NULL;
	}
	rp->objects = trace_objects_new(rp->trace, &rp->notes);
	return rp;
}

uint64_t replay_count(const struct replay *rp, enum trace_note n)
{
	return rp->notes.count[n] + trace_notes(rp->trace)->count[n];
}

bool replay_run(struct replay *rp, GError **error)
{
	if (rp->timed)
		run_timed(rp);
	else
		run_timeless(rp);
	if (!rp->error)
		return true;
	g_propagate_error(error, g_steal_pointer(&rp->error));
	return false;
}

void replay_free(struct replay *rp)
{
	if (!rp)
		return;
	for (unsigned i = 0; i < rp->caches->len; i++) {
		struct replay_cache *rc = rp->caches->pdata[i];

		if (rc)
			g_free(rc->name);
		g_free(rc);
	}
	scan_clear(&rp->scan);
	trace_objects_free(rp->objects);
	trace_close(rp->trace);
	g_clear_error(&rp->error);
	g_array_free(rp->objs, TRUE);
	g_array_free(rp->ops, TRUE);
	g_ptr_array_free(rp->caches, TRUE);
	g_free(rp->lanes);
	g_free(rp->order);
	g_free(rp->mapped);
	g_free(rp);
}
