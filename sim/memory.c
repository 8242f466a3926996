/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What accesses cost; coherence.c tells where a line that isn't in L1 comes
 * from.
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
 */
#include "sim/memory_internal.h"

#include <string.h>

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

/* Asks the directory only where the hint doesn't help: what this core doesn't
 * hold, its L1 need not be searched for. */
static struct place find(const struct cpu_private *p, uint64_t line)
{
	struct caches *x = p->cpu.machine->memory->caches;
	struct place at = { .way = l1_hinted(p->core, line) };

	if (at.way)
		return at;
	at.entry = cache_line(x, p->core, line);
	if (core_holds(x, at.entry, p->core))
		at.way = l1_search(x, p->core, line);
	return at;
}

static void count_access(struct cpu_private *p, sim_addr a, enum access kind)
{
	struct line_stats *stats = p->cpu.machine->memory->stats;

	if (unlikely(stats != NULL))
		line_count_access(stats, a, kind);
}

/* A hit that is good enough. */
static bool l1_hit(struct cpu_private *p, struct l1_way *way, uint64_t line,
		   bool write)
{
	uint64_t want = line * SIM_LINE | p->cpu.l1_thread;

	if (!way || (way->tag | (write ? 0 : L1_WRITABLE)) != want)
		return false;
	l1_use(p->core, way);
	return true;
}

/* An access that costs nothing on a uniform machine. */
static bool is_uniform(struct cpu_private *p)
{
	if (!p->cpu.machine->uniform)
		return false;
	p->core->l1->tick++;
	return true;
}

void __cpu_read(struct cpu *c, sim_addr a)
{
	struct cpu_private *p = priv(c);
	uint64_t line = a / SIM_LINE;
	struct access_price price;
	struct place at;

	if (is_uniform(p))
		return;
	count_access(p, a, LOAD);
	wait_for_line(p, line, false);
	at = find(p, line);
	if (l1_hit(p, at.way, line, false))
		return;
	wait_for_buffer(p);
	price = fetch(p, at, line, false);
	charge(p, price.cause, price.cycles);
}

void __cpu_prefetch(struct cpu *c, sim_addr a)
{
	struct cpu_private *p = priv(c);
	uint64_t line = a / SIM_LINE;
	struct access_price price;
	struct place at;

	if (cpu_l1_hit(c, a, false) || is_uniform(p))
		return;
	count_access(p, a, LOAD);
	at = find(p, line);
	if (l1_hit(p, at.way, line, false))
		return;
	wait_for_buffer(p);
	price = fetch(p, at, line, false);
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

static void write_slowly(struct cpu_private *p, sim_addr a)
{
	uint64_t line = a / SIM_LINE, start, *entry;
	struct access_price price;
	struct place at;
	struct miss *b;

	if (is_uniform(p))
		return;
	count_access(p, a, STORE);
	entry = wait_for_entry(p);
	at = find(p, line);
	if (l1_hit(p, at.way, line, true)) {
		drain(p, entry, p->cpu.now);
		return;
	}
	price = fetch(p, at, line, true);
	start = MAX(line_due(p, line), p->cpu.now);
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

void __cpu_write(struct cpu *c, sim_addr a)
{
	struct cpu_private *p = priv(c);
	struct l1_way *way = cpu_l1_look(c, a, true);

	/* a hit behind another store's miss, which it must wait for */
	if (way && c->slow_until != NO_SHORT_WAYS) {
		way->stamp = ++c->l1->tick;
		drain(p, wait_for_entry(p), c->now);
	} else {
		write_slowly(p, a);
	}
}

void memory_take(struct cpu_private *p, sim_addr a)
{
	uint64_t line = a / SIM_LINE;
	struct place at;

	if (p->cpu.machine->uniform)
		return;
	count_access(p, a, RMW);
	at = find(p, line);
	if (!l1_hit(p, at.way, line, true))
		fetch(p, at, line, true);
}

static __attribute__((noinline)) void rmw_slowly(struct cpu_private *p,
						 sim_addr a, enum rmw op)
{
	uint64_t line = a / SIM_LINE;
	struct access_price price;
	struct place at;

	if (is_uniform(p))
		return;
	count_access(p, a, RMW);
	wait_for_line(p, line, true);
	at = find(p, line);
	if (!l1_hit(p, at.way, line, true)) {
		wait_for_buffer(p);
		price = fetch(p, at, line, true);
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
	struct place at;
	uint64_t first, last;

	if (!c->timed || !bytes)
		return;
	first = from / SIM_LINE;
	last = (from + bytes - 1) / SIM_LINE;
	for (uint64_t line = first; from && line <= last; line++) {
		at = find(p, line);
		if (is_uniform(p) || l1_hit(p, at.way, line, false))
			continue;
		charge_frac(p, CAUSE_BULK,
			    (fetch(p, at, line, false).cycles
			     << CYCLE_FRAC_BITS) /
				    c->machine->params->miss_buffers);
	}
	first = to / SIM_LINE;
	last = (to + bytes - 1) / SIM_LINE;
	for (uint64_t line = first; to && line <= last; line++) {
		at = find(p, line);
		if (is_uniform(p) || l1_hit(p, at.way, line, true))
			continue;
		if (fetch(p, at, line, true).cycles > mm->l2)
			charge_frac(p, CAUSE_BULK, mm->clear_line_frac);
	}
	charge_frac(p, CAUSE_BULK,
		    mm->bulk_line_frac * ((bytes + SIM_LINE - 1) / SIM_LINE));
}

/* ---- building ---- */

static void attach_cpu(struct memory *mm, struct cpu_private *p)
{
	const struct machine *m = mm->machine;
	uint64_t thread = 0;

	p->core = &mm->caches->cores[p->cpu.core];
	p->cpu.l1 = p->core->l1;
	for (int i = 0; i < p->cpu.id; i++)
		if (m->cpus[i] && m->cpus[i]->cpu.core == p->cpu.core)
			thread++;
	g_assert(thread < TOPOLOGY_MAX_THREADS);
	p->cpu.l1_thread = thread << L1_THREAD_SHIFT | L1_WRITABLE;
	p->max_misses = (int)m->params->miss_buffers;
	p->misses = g_new0(struct miss, p->max_misses);
	p->max_stores = (int)m->params->store_buffer;
	p->stores = g_new0(uint64_t, p->max_stores);
	p->dram = mm->dram + (size_t)p->cpu.id * m->topology->nr_node_ids;
	if (m->slow || m->uniform || mm->stats || p->trace)
		p->cpu.slow_until = p->cpu.slow_load_until = NO_SHORT_WAYS;
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
	mm->caches->write_back = memory_write_back;
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
	mm->bulk_line_frac = (uint64_t)(SIM_LINE / p->copy_bytes_per_cycle *
					(double)FRAC_ONE);
	mm->clear_line_frac = (uint64_t)(p->clear_page_ns * p->freq_ghz *
					 SIM_LINE / 4096 * (double)FRAC_ONE);
	mm->controllers = controllers_new(
		nr, MAX(1, (uint64_t)(SIM_LINE / p->mem_bw_gbs * p->freq_ghz *
				      (double)FRAC_ONE)));
	mm->dram = g_new0(uint32_t, (size_t)t->nr_cpu_ids * nr);
	if (m->flags & MACHINE_LINE_STATS)
		mm->stats = line_stats_new();
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
	line_stats_free(mm->stats);
	controllers_free(mm->controllers);
	caches_free(mm->caches);
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
		if (mm->caches->cores[i].l1)
			n += mm->caches->cores[i].l1->tick;
	return n;
}

void memory_reset(struct memory *mm)
{
	if (mm->stats)
		line_stats_reset(mm->stats);
	controllers_reset_traffic(mm->controllers);
}

void machine_traffic(struct machine *m, uint64_t *bytes)
{
	size_t nr = m->topology->nr_node_ids;

	if (m->timed)
		controllers_traffic(m->memory->controllers, bytes);
	else
		memset(bytes, 0, nr * nr * sizeof(*bytes));
}
