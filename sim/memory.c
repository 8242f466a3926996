/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What accesses cost. cache.c knows who holds what; here is the time.
 *
 * Rules (all in whole cycles, so that a program's time is a sum one can
 * write down):
 *  - A hit in L1 costs nothing beyond its instruction: load-to-use of L1 is
 *    part of the machine's IPC, which is that of code that misses nothing.
 *  - A load that misses L1 costs the whole latency of where it finds the line.
 *  - A prefetch takes a miss buffer for that time and the CPU goes on; a load
 *    of the same line waits for the rest. All buffers busy: the CPU waits for
 *    the first to become free, then its miss starts.
 *  - A store enters the store buffer and drains in order (x86's TSO); reads
 *    for ownership start at once, as far as miss buffers are free. The CPU
 *    stalls only when the store buffer is full. Loads are forwarded from it.
 *  - An atomic costs the transfer, then waits until the stores before it have
 *    drained (the percpu cmpxchg16b without lock prefix does not), then its
 *    own cycles.
 *  - Buffers are a CPU's own: a core's fill buffers count for each sibling.
 *  - A controller serves a line in line size / bandwidth. It keeps count of
 *    the lines asked for in windows of WINDOW_LINES such times: the k-th line
 *    of a window isn't served before k services after the window's start, and
 *    a full window passes requests on to the next. Requests may come out of
 *    order (clocks run ahead between meetings); each counts where it belongs.
 */
#include "sim/cache.h"
#include "sim/internal.h"

#include <string.h>

#define WINDOW_LINES 256
#define NR_WINDOWS 1024

struct window {
	uint64_t number;
	uint32_t lines;
};

struct memory {
	struct machine *machine;
	struct caches *caches;
	uint64_t l2, l3;
	uint64_t c2c[5]; /* by enum distance */
	uint64_t service_frac;	/* of a line at a controller, CYCLE_FRAC_BITS */
	uint64_t bulk_line_frac;  /* copying a line that is in L1 */
	uint64_t clear_line_frac; /* clearing one that is in no cache */
	uint32_t *dram;		/* [cpu * nr_node_ids + node] */
	struct window *windows; /* [node * NR_WINDOWS + k] */
	uint64_t *traffic;	/* [cpu_node * nr_node_ids + mem_node], bytes */
	GHashTable *stats;	/* line -> struct line_stat, or NULL */
	/* with stats only: 8 bytes -> what they belong to, its beginning */
	GHashTable *kinds, *bases;
	uint64_t date; /* of the access under way, for write-backs */
};

/* How far a line's new place is from its old one. */
enum distance { SAME_CORE, SAME_L3, CROSS_L3, HOME_REMOTE, CROSS_SOCKET };

static const enum cause distance_cause[] = {
	[SAME_CORE] = CAUSE_C2C_SMT,
	[SAME_L3] = CAUSE_C2C_L3,
	[CROSS_L3] = CAUSE_C2C_CROSS_L3,
	[HOME_REMOTE] = CAUSE_C2C_CROSS_L3,
	[CROSS_SOCKET] = CAUSE_C2C_SOCKET,
};

/* ---- controllers ---- */

/* How long a line asked for at @date waits for its node's controller. */
static uint64_t controller_wait(struct memory *mm, int node, uint64_t date)
{
	uint64_t width = mm->service_frac * WINDOW_LINES; /* fractions */
	uint64_t number = ((unsigned __int128)date << CYCLE_FRAC_BITS) / width;
	uint64_t served;
	struct window *w;

	for (;; number++) {
		w = &mm->windows[node * NR_WINDOWS + number % NR_WINDOWS];
		if (w->number < number)
			*w = (struct window){ number, 0 };
		else if (w->number > number)
			return 0; /* long ago: its window is forgotten */
		if (w->lines < WINDOW_LINES)
			break;
	}
	served = (((unsigned __int128)number * width) +
		  w->lines++ * mm->service_frac) >>
		 CYCLE_FRAC_BITS;
	return served > date ? served - date : 0;
}

static uint64_t *traffic(struct memory *mm, int cpu_node, int mem_node)
{
	return &mm->traffic[(size_t)cpu_node *
				    mm->machine->topology->nr_node_ids +
			    mem_node];
}

/* A dirty line falls out of @l3: its controller is busy, nobody waits. */
static void write_back(void *arg, uint64_t line, int l3)
{
	struct memory *mm = arg;
	int home = sim_addr_node(line * SIM_LINE);

	controller_wait(mm, home, mm->date);
	*traffic(mm, mm->caches->l3s[l3].node, home) += SIM_LINE;
}

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

/* ---- line statistics ---- */

enum access { LOAD, STORE, RMW };

static __attribute__((noinline)) struct line_stat *
find_stat(struct memory *mm, uint64_t line)
{
	struct line_stat *s;

	s = g_hash_table_lookup(mm->stats, &line);
	if (s)
		return s;
	s = g_new0(struct line_stat, 1);
	s->line = line;
	for (int i = 0; i < 8; i++)
		s->last_cpus[i] = -1;
	g_hash_table_insert(mm->stats, &s->line, s);
	return s;
}

static inline struct line_stat *line_stat(struct memory *mm, uint64_t line)
{
	return unlikely(mm->stats != NULL) ? find_stat(mm, line) : NULL;
}

static void count_access(struct cpu_private *p, sim_addr a, enum access kind)
{
	struct line_stat *s = line_stat(p->cpu.machine->memory, a / SIM_LINE);

	if (!s)
		return;
	if (kind == LOAD)
		s->loads++;
	else if (kind == STORE)
		s->stores++;
	else
		s->rmws++;
	s->offsets |= (uint64_t)1 << a % SIM_LINE / 8;
}

/* The line moved to @p from where it was dirty. Keeps the CPUs that took it
 * most: a new one takes the place of the rarest. */
static void count_hitm(struct cpu_private *p, uint64_t line, bool remote)
{
	struct line_stat *s = line_stat(p->cpu.machine->memory, line);
	int i = 0;

	if (!s)
		return;
	if (remote)
		s->hitm_remote++;
	else
		s->hitm_local++;
	while (i < 7 && s->last_cpus[i] >= 0 && s->last_cpus[i] != p->cpu.id)
		i++;
	if (s->last_cpus[i] != p->cpu.id) {
		s->last_cpus[i] = p->cpu.id;
		s->last_counts[i] = 0;
	}
	s->last_counts[i]++;
	for (; i > 0 && s->last_counts[i] > s->last_counts[i - 1]; i--) {
		int cpu = s->last_cpus[i];
		uint64_t count = s->last_counts[i];

		s->last_cpus[i] = s->last_cpus[i - 1];
		s->last_counts[i] = s->last_counts[i - 1];
		s->last_cpus[i - 1] = cpu;
		s->last_counts[i - 1] = count;
	}
}

static void count_dram(struct cpu_private *p, uint64_t line, bool local)
{
	struct line_stat *s = line_stat(p->cpu.machine->memory, line);

	if (!s)
		return;
	if (local)
		s->dram_local++;
	else
		s->dram_remote++;
}

/* ---- where a line comes from ---- */

struct access_price {
	uint64_t cycles;
	enum cause cause;
};

static struct access_price from_memory(struct cpu_private *p, uint64_t line,
				       int home)
{
	struct memory *mm = p->cpu.machine->memory;
	bool local = home == p->cpu.node;

	count_dram(p, line, local);
	*traffic(mm, p->cpu.node, home) += SIM_LINE;
	return (struct access_price){
		p->dram[home] + controller_wait(mm, home, mm->date),
		local ? CAUSE_DRAM_LOCAL : CAUSE_DRAM_REMOTE,
	};
}

static struct access_price from_distance(const struct memory *mm,
					 enum distance d)
{
	return (struct access_price){ mm->c2c[d], distance_cause[d] };
}

/* A reader takes a copy of what core @owner has alone. */
static void demote_owner(struct memory *mm, struct line *e, uint32_t handle,
			 uint64_t line)
{
	struct core *owner = &mm->caches->cores[e->owner];
	struct l1_way *way = l1_find(mm->caches, owner, line);
	bool dirty = e->dirty;

	if (way)
		way->tag &= ~L1_WRITABLE;
	e->owner = NO_CORE;
	e->dirty = false;
	sharer_add(mm->caches, e, owner->id);
	if (dirty) {
		struct l3 *l = &mm->caches->l3s[owner->l3];

		l3_insert(mm->caches, l, handle, line);
		e->dirty_l3 = l->id;
	}
}

/* Brings a line that @k's caches don't hold to @k; it becomes a sharer, or the
 * owner if nobody else has it. */
static struct access_price bring(struct cpu_private *p, struct line *e,
				 uint32_t handle, uint64_t line)
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
		demote_owner(mm, e, handle, line);
	} else if (l3_touch(x, l3, handle, line)) {
		price = (struct access_price){ mm->l3, CAUSE_L3 };
		if (!x->inclusive && !e->nr) {
			/* a victim cache gives the line away */
			dirty = e->dirty_l3 == l3->id;
			l3_remove(x, l3, handle, line);
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
		l3_insert(x, l3, handle, line);
	if (e->nr || e->dirty_l3 != NO_L3 ||
	    (e->l3s & ~((uint64_t)1 << k->l3 % 64))) {
		sharer_add(x, e, k->id);
	} else {
		e->owner = k->id;
		e->dirty = dirty;
	}
	l2_insert(x, k, handle, line);
	return price;
}

/* Takes all copies but @k's away; the price is the farthest's transfer. */
static struct access_price own(struct cpu_private *p, struct line *e,
			       uint32_t handle, uint64_t line)
{
	struct memory *mm = p->cpu.machine->memory;
	struct caches *x = mm->caches;
	struct core *k = p->core;
	int home = sim_addr_node(line * SIM_LINE);
	/* no other core has it, but the L3 must be told */
	struct access_price worst = { mm->l3, CAUSE_L3 };
	int nr = sharer_list(x, e);
	uint64_t bits = e->l3s;

	for (int i = 0; i < nr; i++) {
		struct core *s = &x->cores[x->scratch[i]];
		struct access_price price;

		if (s == k)
			continue;
		price = from_distance(mm, core_distance(mm->machine, s, k,
							home));
		if (price.cycles > worst.cycles)
			worst = price;
		core_drop(x, s, handle, line);
	}
	for (; bits; bits &= bits - 1) {
		for (int i = __builtin_ctzll(bits); i < x->nr_l3; i += 64) {
			struct l3 *l = &x->l3s[i];

			if (!l->tags || (x->inclusive && i == k->l3))
				continue;
			if (i != k->l3 && e->dirty_l3 == i) {
				struct access_price price = from_distance(
					mm, l3_distance(mm->machine, i,
							l->socket, k, home));

				if (price.cycles > worst.cycles)
					worst = price;
			}
			l3_remove(x, l, handle, line);
		}
	}
	e->l3s = x->inclusive ? (uint64_t)1 << k->l3 % 64 : 0;
	e->dirty_l3 = NO_L3;
	sharer_clear(x, e);
	e->owner = k->id;
	return worst;
}

static uint64_t tag_of(const struct cpu_private *p, uint64_t line)
{
	return line << L1_SHIFT | p->cpu.l1_thread;
}

/* Makes @line present in @p's L1, writable if @write; @way is where it is
 * there now, or NULL. Not for L1 hits that are good enough. */
static struct access_price fetch(struct cpu_private *p, struct l1_way *way,
				 uint64_t line, bool write)
{
	struct memory *mm = p->cpu.machine->memory;
	struct caches *x = mm->caches;
	struct access_price price = { 0, CAUSE_L1 };
	uint64_t tag = tag_of(p, line);
	uint32_t handle;
	struct line *e = cache_line(x, line, &handle);

	mm->date = p->cpu.now;
	if (way) {
		tag |= way->tag & L1_WRITABLE;
		/* last written by a sibling thread */
		if ((way->tag & L1_WRITABLE) && way->tag != tag) {
			price = from_distance(mm, SAME_CORE);
			count_hitm(p, line, false);
		}
	} else if (l2_touch(x, p->core, handle, line)) {
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
		core_drop(x, owner, handle, line);
		e->owner = NO_CORE;
		e->dirty = false;
		if (x->inclusive && owner->l3 != p->core->l3)
			l3_remove(x, &x->l3s[owner->l3], handle, line);
		if (x->inclusive)
			l3_insert(x, &x->l3s[p->core->l3], handle, line);
		e->owner = p->core->id;
		e->dirty = dirty;
		l2_insert(x, p->core, handle, line);
	} else {
		price = bring(p, e, handle, line);
	}
	if (write && e->owner != p->core->id) {
		struct access_price more = own(p, e, handle, line);

		if (more.cycles > price.cycles)
			price = more;
	}
	if (write) {
		e->dirty = true;
		tag |= L1_WRITABLE;
	}
	if (way) {
		way->tag = tag;
		l1_use(x, p->core, way);
	} else {
		l1_put(x, p->core, tag);
	}
	return price;
}

/* ---- miss buffers ---- */

/* Forgets the misses that are done. */
static void tidy_misses(struct cpu_private *p)
{
	for (int i = 0; i < p->nr_misses;) {
		if (p->misses[i].done <= p->cpu.now)
			p->misses[i] = p->misses[--p->nr_misses];
		else
			i++;
	}
}

/* The buffer that is free first: NULL = one is free now. */
static struct miss *first_free(struct cpu_private *p)
{
	struct miss *best = p->misses;

	tidy_misses(p);
	if (p->nr_misses < p->max_misses)
		return NULL;
	for (int i = 1; i < p->nr_misses; i++)
		if (p->misses[i].done < best->done)
			best = &p->misses[i];
	return best;
}

/* A miss that will be done at @done, in the buffer that is free first. */
static void add_miss(struct cpu_private *p, struct miss miss)
{
	struct miss *b = first_free(p);

	*(b ? b : &p->misses[p->nr_misses++]) = miss;
	p->cpu.slow_until = MAX(p->cpu.slow_until, miss.done);
	if (miss.load)
		p->cpu.slow_load_until =
			MAX(p->cpu.slow_load_until, miss.done);
}

/* Stalls until a buffer is free. */
static void wait_for_buffer(struct cpu_private *p)
{
	struct miss *b = p->nr_misses ? first_free(p) : NULL;

	if (b)
		charge(p, b->cause, b->done - p->cpu.now);
}

/* Stalls if @line is on its way for an earlier prefetch, or (@stores) for an
 * earlier store. */
static void wait_for_line(struct cpu_private *p, uint64_t line, bool stores)
{
	for (int i = 0; i < p->nr_misses; i++) {
		struct miss *b = &p->misses[i];

		if (b->line == line && (b->load || stores) &&
		    b->done > p->cpu.now)
			charge(p, b->cause, b->done - p->cpu.now);
	}
}

/* When what is under way for @line will be done; 0 if nothing is. */
static uint64_t line_due(const struct cpu_private *p, uint64_t line)
{
	uint64_t due = 0;

	for (int i = 0; i < p->nr_misses; i++)
		if (p->misses[i].line == line)
			due = MAX(due, p->misses[i].done);
	return due;
}

/* ---- accesses ---- */

static struct l1_way *find_way(const struct cpu_private *p, uint64_t line)
{
	return l1_find(p->cpu.machine->memory->caches, p->core, line);
}

/* A hit that is good enough. */
static bool l1_hit(struct cpu_private *p, struct l1_way *way, uint64_t line,
		   bool write)
{
	uint64_t want = tag_of(p, line) | L1_WRITABLE;

	if (!way || (way->tag | (write ? 0 : L1_WRITABLE)) != want)
		return false;
	l1_use(p->cpu.machine->memory->caches, p->core, way);
	return true;
}

/* An access that costs nothing on a uniform machine. */
static bool is_uniform(struct cpu_private *p)
{
	if (!p->cpu.machine->uniform)
		return false;
	p->core->tick++;
	return true;
}

void __cpu_read(struct cpu *c, sim_addr a)
{
	struct cpu_private *p = priv(c);
	uint64_t line = a / SIM_LINE;
	struct access_price price;
	struct l1_way *way;

	if (is_uniform(p))
		return;
	count_access(p, a, LOAD);
	wait_for_line(p, line, false);
	way = find_way(p, line);
	if (l1_hit(p, way, line, false))
		return;
	wait_for_buffer(p);
	price = fetch(p, way, line, false);
	charge(p, price.cause, price.cycles);
}

void __cpu_prefetch(struct cpu *c, sim_addr a)
{
	struct cpu_private *p = priv(c);
	uint64_t line = a / SIM_LINE;
	struct access_price price;
	struct l1_way *way;

	if (cpu_l1_hit(c, a, false) || is_uniform(p))
		return;
	count_access(p, a, LOAD);
	way = find_way(p, line);
	if (l1_hit(p, way, line, false))
		return;
	wait_for_buffer(p);
	price = fetch(p, way, line, false);
	add_miss(p, (struct miss){ line, c->now + price.cycles, price.cause,
				   true });
}

/* Stalls until the store buffer has an entry; the oldest's. */
static uint64_t *wait_for_entry(struct cpu_private *p)
{
	uint64_t *entry = &p->stores[p->next_store];

	if (++p->next_store == p->max_stores)
		p->next_store = 0;
	if (*entry > p->cpu.now)
		charge(p, CAUSE_STORE, *entry - p->cpu.now);
	return entry;
}

/* The store's line is here at @done; it drains after those before it. */
static void drain(struct cpu_private *p, uint64_t *entry, uint64_t done)
{
	p->store_last = MAX(p->store_last, done);
	*entry = p->store_last;
}

void __cpu_write(struct cpu *c, sim_addr a)
{
	struct cpu_private *p = priv(c);
	uint64_t line = a / SIM_LINE, start, *entry;
	struct access_price price;
	struct l1_way *way;
	struct miss *b;

	if (is_uniform(p))
		return;
	count_access(p, a, STORE);
	entry = wait_for_entry(p);
	way = find_way(p, line);
	if (l1_hit(p, way, line, true)) {
		drain(p, entry, c->now);
		return;
	}
	price = fetch(p, way, line, true);
	start = MAX(line_due(p, line), c->now);
	if (!price.cycles) { /* ours alone, only not written to yet */
		drain(p, entry, start);
		return;
	}
	b = first_free(p);
	if (b)
		start = MAX(start, b->done);
	add_miss(p, (struct miss){ line, start + price.cycles, price.cause,
				   false });
	drain(p, entry, start + price.cycles);
}

void memory_take(struct cpu_private *p, sim_addr a)
{
	uint64_t line = a / SIM_LINE;
	struct l1_way *way;

	if (p->cpu.machine->uniform)
		return;
	count_access(p, a, RMW);
	way = find_way(p, line);
	if (!l1_hit(p, way, line, true))
		fetch(p, way, line, true);
}

static __attribute__((noinline)) void rmw_slowly(struct cpu_private *p,
						 sim_addr a, enum rmw op)
{
	uint64_t line = a / SIM_LINE;
	struct access_price price;
	struct l1_way *way;

	if (is_uniform(p))
		return;
	count_access(p, a, RMW);
	wait_for_line(p, line, true);
	way = find_way(p, line);
	if (!l1_hit(p, way, line, true)) {
		wait_for_buffer(p);
		price = fetch(p, way, line, true);
		charge(p, price.cause, price.cycles);
	}
	if (op != RMW_CMPXCHG16B && p->store_last > p->cpu.now)
		charge(p, CAUSE_STORE, p->store_last - p->cpu.now);
}

void __cpu_rmw(struct cpu *c, sim_addr a, enum rmw op)
{
	struct cpu_private *p = priv(c);

	if (!cpu_l1_hit(c, a, true))
		rmw_slowly(p, a, op);
	charge_frac(p, CAUSE_ATOMIC, c->machine->rmw_frac[op]);
}

/* Streams: loads overlap as far as the miss buffers go, stores write whole
 * lines, which fetch nothing but the right to. */
void cpu_copy(struct cpu *c, sim_addr to, sim_addr from, size_t bytes)
{
	struct cpu_private *p = priv(c);
	struct memory *mm = c->machine->memory;
	struct l1_way *way;
	uint64_t first, last;

	if (!c->timed || !bytes)
		return;
	first = from / SIM_LINE;
	last = (from + bytes - 1) / SIM_LINE;
	for (uint64_t line = first; from && line <= last; line++) {
		way = find_way(p, line);
		if (is_uniform(p) || l1_hit(p, way, line, false))
			continue;
		charge_frac(p, CAUSE_BULK,
			    (fetch(p, way, line, false).cycles
			     << CYCLE_FRAC_BITS) /
				    c->machine->params->miss_buffers);
	}
	first = to / SIM_LINE;
	last = (to + bytes - 1) / SIM_LINE;
	for (uint64_t line = first; to && line <= last; line++) {
		way = find_way(p, line);
		if (is_uniform(p) || l1_hit(p, way, line, true))
			continue;
		if (fetch(p, way, line, true).cycles > mm->l2)
			charge_frac(p, CAUSE_BULK, mm->clear_line_frac);
	}
	charge_frac(p, CAUSE_BULK,
		    mm->bulk_line_frac * ((bytes + SIM_LINE - 1) / SIM_LINE));
}

/* ---- building ---- */

static void attach_cpu(struct memory *mm, struct cpu_private *p)
{
	const struct machine *m = mm->machine;
	const struct caches *x = mm->caches;
	uint64_t thread = 0;

	p->core = &mm->caches->cores[p->cpu.core];
	p->cpu.l1 = p->core->l1;
	p->cpu.l1_hints = p->core->hints;
	p->cpu.l1_hint_mask = x->hint_mask;
	p->cpu.l1_tick = &p->core->tick;
	for (int i = 0; i < p->cpu.id; i++)
		if (m->cpus[i] && m->cpus[i]->cpu.core == p->cpu.core)
			thread++;
	g_assert(thread < L1_MAX_THREADS);
	p->cpu.l1_thread = thread << L1_THREAD_SHIFT;
	p->max_misses = (int)m->params->miss_buffers;
	p->misses = g_new0(struct miss, p->max_misses);
	p->max_stores = (int)m->params->store_buffer;
	p->stores = g_new0(uint64_t, p->max_stores);
	p->dram = mm->dram + (size_t)p->cpu.id * m->topology->nr_node_ids;
	if (m->slow || m->uniform || mm->stats)
		p->cpu.slow_until = p->cpu.slow_load_until = UINT64_MAX;
}

struct memory *memory_new(struct machine *m)
{
	struct memory *mm = g_new0(struct memory, 1);
	const struct machine_params *p = m->params;
	const struct topology *t = m->topology;
	size_t nr = t->nr_node_ids;

	m->memory = mm;
	mm->machine = m;
	mm->caches = caches_new(t, p);
	mm->caches->write_back = write_back;
	mm->caches->arg = mm;
	mm->l2 = (uint64_t)(p->l2_cycles + 0.5);
	mm->l3 = (uint64_t)(p->l3_cycles + 0.5);
	if (!m->uniform) {
		mm->c2c[SAME_CORE] = machine_whole(m, p->c2c_smt_ns);
		mm->c2c[SAME_L3] = machine_whole(m, p->c2c_l3_ns);
		mm->c2c[CROSS_L3] = machine_whole(m, p->c2c_cross_l3_ns);
		mm->c2c[HOME_REMOTE] = machine_whole(m, p->c2c_home_remote_ns);
		mm->c2c[CROSS_SOCKET] = machine_whole(m, p->c2c_socket_ns);
	}
	mm->service_frac = MAX(1, (uint64_t)(SIM_LINE / p->mem_bw_gbs *
					     p->freq_ghz * (double)FRAC_ONE));
	mm->bulk_line_frac = (uint64_t)(SIM_LINE / p->copy_bytes_per_cycle *
					(double)FRAC_ONE);
	mm->clear_line_frac = (uint64_t)(p->clear_page_ns * p->freq_ghz *
					 SIM_LINE / 4096 * (double)FRAC_ONE);
	mm->windows = g_new0(struct window, nr * NR_WINDOWS);
	mm->traffic = g_new0(uint64_t, nr * nr);
	mm->dram = g_new0(uint32_t, (size_t)t->nr_cpu_ids * nr);
	if (m->flags & MACHINE_LINE_STATS)
		mm->stats = g_hash_table_new_full(g_int64_hash, g_int64_equal,
						  NULL, g_free);
	if (mm->stats) {
		mm->bases = g_hash_table_new(NULL, NULL);
		mm->kinds = g_hash_table_new(NULL, NULL);
	}
	platform_load(m, mm->dram);
	for (int i = 0; i < t->nr_cpu_ids; i++)
		if (m->cpus[i])
			attach_cpu(mm, m->cpus[i]);
	return mm;
}

void memory_free(struct memory *mm)
{
	for (int i = 0; i < mm->machine->topology->nr_cpu_ids; i++) {
		struct cpu_private *p = mm->machine->cpus[i];

		if (!p)
			continue;
		g_free(p->misses);
		g_free(p->stores);
	}
	if (mm->stats)
		g_hash_table_destroy(mm->stats);
	if (mm->kinds) {
		g_hash_table_destroy(mm->bases);
		g_hash_table_destroy(mm->kinds);
	}
	caches_free(mm->caches);
	g_free(mm->windows);
	g_free(mm->traffic);
	g_free(mm->dram);
	g_free(mm);
}

char *machine_check(struct machine *m)
{
	return caches_check(m->memory->caches);
}

/* ---- what the user of memory.h asks ---- */

uint64_t memory_accesses(const struct memory *mm)
{
	uint64_t n = 0;

	for (int i = 0; i < mm->caches->nr_cores; i++)
		n += mm->caches->cores[i].tick;
	return n;
}

void memory_reset(struct memory *mm)
{
	size_t nr = mm->machine->topology->nr_node_ids;

	if (mm->stats)
		g_hash_table_remove_all(mm->stats);
	memset(mm->traffic, 0, nr * nr * sizeof(*mm->traffic));
}

void machine_name_region(struct machine *m, sim_addr a, size_t bytes,
			 const char *kind)
{
	if (!m->timed || !m->memory->kinds)
		return;
	/* memory is named anew when it is reused: the last name counts */
	for (uint64_t word = a / 8; word * 8 < a + bytes; word++) {
		void *key = GSIZE_TO_POINTER(word);

		g_hash_table_insert(m->memory->kinds, key, (void *)kind);
		g_hash_table_insert(m->memory->bases, key, GSIZE_TO_POINTER(a));
	}
}

const char *machine_region(struct machine *m, sim_addr a, sim_addr *base)
{
	const void *key = GSIZE_TO_POINTER(a / 8);

	if (!m->timed || !m->memory->kinds)
		return NULL;
	*base = GPOINTER_TO_SIZE(g_hash_table_lookup(m->memory->bases, key));
	return g_hash_table_lookup(m->memory->kinds, key);
}

static int most_hitm(const void *a, const void *b)
{
	const struct line_stat *x = *(struct line_stat *const *)a;
	const struct line_stat *y = *(struct line_stat *const *)b;
	uint64_t nx = x->hitm_local + x->hitm_remote;
	uint64_t ny = y->hitm_local + y->hitm_remote;

	if (nx != ny)
		return nx < ny ? 1 : -1;
	return x->line < y->line ? -1 : x->line > y->line;
}

void machine_line_stats(struct machine *m, line_stat_fn fn, void *arg)
{
	struct memory *mm = m->timed ? m->memory : NULL;
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();
	GHashTableIter iter;
	void *value;

	if (!mm || !mm->stats)
		return;
	g_hash_table_iter_init(&iter, mm->stats);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct line_stat *s = value;

		if (s->hitm_local + s->hitm_remote)
			g_ptr_array_add(sorted, s);
	}
	if (sorted->len)
		qsort(sorted->pdata, sorted->len, sizeof(void *), most_hitm);
	for (guint i = 0; i < sorted->len; i++) {
		struct line_stat s = *(struct line_stat *)sorted->pdata[i];

		sim_addr base;

		s.line *= SIM_LINE;
		s.kind = NULL;
		for (int k = 0; k < 8 && !s.kind; k++)
			if (s.offsets >> k & 1)
				s.kind = machine_region(m, s.line + 8 * k,
							&base);
		fn(&s, arg);
	}
}

void machine_traffic(struct machine *m, uint64_t *bytes)
{
	size_t nr = m->topology->nr_node_ids;

	memset(bytes, 0, nr * nr * sizeof(*bytes));
	if (m->timed)
		memcpy(bytes, m->memory->traffic,
		       nr * nr * sizeof(*bytes));
}
