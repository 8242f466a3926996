/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A miss: where the line comes from, who loses it, what it costs.
 */
#include "sim/memory_internal.h"

static const enum cause distance_cause[] = {
	[SAME_CORE] = CAUSE_C2C_SMT,
	[SAME_L3] = CAUSE_C2C_L3,
	[CROSS_L3] = CAUSE_C2C_CROSS_L3,
	[HOME_REMOTE] = CAUSE_C2C_CROSS_L3,
	[CROSS_SOCKET] = CAUSE_C2C_SOCKET,
};

/* ---- distances ---- */

static int home_socket(const struct machine *m, int home)
{
	return m->topology->nodes[home].socket;
}

/* From a place below L3 @l3 of @socket to core @to, by way of the home. */
static enum distance l3_distance(const struct machine *m, int l3, int socket,
				 const struct core *to, int home)
{
	if (l3 == to->l3)
		return SAME_L3;
	if (socket != to->socket)
		return CROSS_SOCKET;
	return home_socket(m, home) == socket ? CROSS_L3 : HOME_REMOTE;
}

static enum distance core_distance(const struct machine *m,
				   const struct core *from,
				   const struct core *to, int home)
{
	if (from == to)
		return SAME_CORE;
	return l3_distance(m, from->l3, from->socket, to, home);
}

uint64_t memory_transfer(const struct machine *m, int from, int to, int home)
{
	return m->memory->c2c[core_distance(m, m->cpus[from]->core,
					    m->cpus[to]->core, home)];
}

/* ---- counting ---- */

static void count_hitm(struct cpu_private *p, uint64_t line, bool remote)
{
	struct memory *mm = p->cpu.machine->memory;

	if (unlikely(mm->stats != NULL))
		line_count_hitm(mm->stats, line, p->cpu.id, remote);
}

/* ---- where a line comes from ---- */

static struct access_price from_memory(struct cpu_private *p, uint64_t line,
				       int home)
{
	struct memory *mm = p->cpu.machine->memory;
	bool local = home == p->cpu.node;

	if (unlikely(mm->stats != NULL))
		line_count_dram(mm->stats, line, local);
	return (struct access_price){
		p->dram[home] + controller_wait(mm->controllers, p->cpu.node,
						home, mm->date),
		local ? CAUSE_DRAM_LOCAL : CAUSE_DRAM_REMOTE,
	};
}

static struct access_price from_distance(const struct memory *mm,
					 enum distance d)
{
	return (struct access_price){ mm->c2c[d], distance_cause[d] };
}

/* A reader takes a copy of what core @owner has alone. */
static void demote_owner(struct memory *mm, struct line *e, uint64_t line)
{
	struct core *owner = &mm->caches->cores[e->owner];
	struct l1_way *way = l1_find(mm->caches, owner, line);
	bool dirty = e->dirty;

	if (way)
		l1_set_tag(owner, way, way->tag & ~L1_WRITABLE);
	e->owner = NO_CORE;
	e->dirty = false;
	sharer_add(mm->caches, e, owner->id);
	if (dirty) {
		struct l3 *l = &mm->caches->l3s[owner->l3];

		l3_insert(mm->caches, l, e->handle, line);
		e->dirty_l3 = l->id;
	}
}

/* Brings a line that @k's caches don't hold to @k; it becomes a sharer, or the
 * owner if nobody else has it. */
static struct access_price bring(struct cpu_private *p, struct line *e,
				 uint64_t line)
{
	struct memory *mm = p->cpu.machine->memory;
	struct caches *x = mm->caches;
	struct core *k = p->core;
	struct l3 *l3 = &x->l3s[k->l3];
	int home = sim_addr_node(line * SIM_LINE);
	struct access_price price;
	bool dirty = false;

	if (e->owner != NO_CORE) {
		const struct core *owner = &x->cores[e->owner];
		enum distance d = core_distance(mm->machine, owner, k, home);

		price = from_distance(mm, d);
		if (e->dirty)
			count_hitm(p, line, d == CROSS_SOCKET);
		demote_owner(mm, e, line);
	} else if (l3_touch(x, l3, e->handle, line)) {
		price = (struct access_price){ mm->l3, CAUSE_L3 };
		if (!x->inclusive && !e->nr) {
			/* a victim cache gives the line away */
			dirty = e->dirty_l3 == l3->id;
			l3_remove(x, l3, e->handle, line);
		}
	} else if (sharer_in_l3(x, e, k->l3)) {
		price = (struct access_price){ mm->l3, CAUSE_L3 };
	} else if (e->dirty_l3 != NO_L3) {
		const struct l3 *from = &x->l3s[e->dirty_l3];
		enum distance d = l3_distance(mm->machine, from->id,
					      from->socket, k, home);

		price = from_distance(mm, d);
		count_hitm(p, line, d == CROSS_SOCKET);
	} else {
		price = from_memory(p, line, home);
	}
	if (x->inclusive)
		l3_insert(x, l3, e->handle, line);
	if (e->nr || e->dirty_l3 != NO_L3 ||
	    other_l3_holds(x, e, k->l3, line)) {
		sharer_add(x, e, k->id);
	} else {
		e->owner = k->id;
		e->dirty = dirty;
	}
	l2_insert(x, k, e->handle, line);
	return price;
}

/* @l gives up its copy, from which @p's core gets the line if it is newer than
 * memory and farther than @worst. */
static void leave_l3(struct cpu_private *p, struct l3 *l, struct line *e,
		     uint64_t line, struct access_price *worst)
{
	struct memory *mm = p->cpu.machine->memory;

	if (l->id != p->core->l3 && e->dirty_l3 == l->id) {
		struct access_price price = from_distance(
			mm, l3_distance(mm->machine, l->id, l->socket, p->core,
					sim_addr_node(line * SIM_LINE)));

		if (price.cycles > worst->cycles)
			*worst = price;
	}
	l3_remove(mm->caches, l, e->handle, line);
}

/* Takes all copies but @k's away; the price is the farthest's transfer. */
static struct access_price own(struct cpu_private *p, struct line *e,
			       uint64_t line)
{
	struct memory *mm = p->cpu.machine->memory;
	struct caches *x = mm->caches;
	struct core *k = p->core;
	int home = sim_addr_node(line * SIM_LINE);
	/* no other core has it, but the L3 must be told */
	struct access_price worst = { mm->l3, CAUSE_L3 };
	const uint16_t *sharers;
	int nr = sharer_list(x, e, &sharers);

	for (int i = 0; i < nr; i++) {
		struct core *s = &x->cores[sharers[i]];
		struct access_price price;

		if (s == k)
			continue;
		price = from_distance(mm, core_distance(mm->machine, s, k,
							home));
		if (price.cycles > worst.cycles)
			worst = price;
		core_drop(x, s, e->handle, line);
	}
	for (uint64_t bits = e->l3s; bits; bits &= bits - 1)
		for (int i = __builtin_ctzll(bits); i < x->nr_l3; i += 64)
			if (x->l3s[i].nr_cores && !(x->inclusive && i == k->l3))
				leave_l3(p, &x->l3s[i], e, line, &worst);
	e->dirty_l3 = NO_L3;
	sharer_clear(x, e);
	e->owner = k->id;
	return worst;
}

struct access_price fetch(struct cpu_private *p, struct place at, uint64_t line,
			  bool write)
{
	struct memory *mm = p->cpu.machine->memory;
	struct caches *x = mm->caches;
	struct access_price price = { 0, CAUSE_L1 };
	uint64_t tag = tag_of(p, line);
	struct l1_way *way = at.way;
	struct line *e = at.entry ? at.entry : cache_line(x, p->core, line);

	mm->date = p->cpu.now;
	if (way) {
		tag |= way->tag & L1_WRITABLE;
		/* last written by a sibling thread */
		if ((way->tag & L1_WRITABLE) && way->tag != tag) {
			price = from_distance(mm, SAME_CORE);
			count_hitm(p, line, false);
		}
	} else if (core_holds(x, e, p->core)) {
		l2_touch(x, p->core, e->handle, line);
		price = (struct access_price){ mm->l2, CAUSE_L2 };
	} else if (write && e->owner != NO_CORE) {
		/* read for ownership: the owner's copy goes, it doesn't stay */
		struct core *owner = &x->cores[e->owner];
		bool dirty = e->dirty;
		enum distance d =
			core_distance(mm->machine, owner, p->core,
				      sim_addr_node(line * SIM_LINE));

		price = from_distance(mm, d);
		if (dirty)
			count_hitm(p, line, d == CROSS_SOCKET);
		core_drop(x, owner, e->handle, line);
		e->owner = NO_CORE;
		e->dirty = false;
		if (x->inclusive && owner->l3 != p->core->l3)
			l3_remove(x, &x->l3s[owner->l3], e->handle, line);
		if (x->inclusive)
			l3_insert(x, &x->l3s[p->core->l3], e->handle, line);
		e->owner = p->core->id;
		e->dirty = dirty;
		l2_insert(x, p->core, e->handle, line);
	} else {
		price = bring(p, e, line);
	}
	if (write && e->owner != p->core->id) {
		struct access_price more = own(p, e, line);

		if (more.cycles > price.cycles)
			price = more;
	}
	if (write) {
		e->dirty = true;
		tag |= L1_WRITABLE;
	}
	if (way) {
		l1_set_tag(p->core, way, tag);
		l1_use(p->core, way);
	} else {
		l1_put(x, p->core, tag);
	}
	return price;
}

/* The controller is busy, nobody waits. */
void memory_write_back(void *arg, uint64_t line, int l3)
{
	struct memory *mm = arg;

	controller_wait(mm->controllers, mm->caches->l3s[l3].node,
			sim_addr_node(line * SIM_LINE), mm->date);
}
