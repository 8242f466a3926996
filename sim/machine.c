/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the parts of a machine and what needs no time: reserved memory,
 * domains, random numbers, the timeless mode.
 */
#include "sim/internal.h"

#include <string.h>

static uint64_t frac(double cycles)
{
	/* signed: the host converts that in one instruction */
	return (uint64_t)(int64_t)(cycles * (double)FRAC_ONE + 0.5);
}

/* Vigna's splitmix64, the seeder he recommends for xoshiro
 * (prng.di.unimi.it). */
static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* xoshiro256** (prng.di.unimi.it). */
uint64_t cpu_random(struct cpu *c)
{
	uint64_t *s = priv(c)->random;
	uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

static void find_nearest(struct machine *m)
{
	const struct topology *t = m->topology;
	int nr = t->nr_node_ids;
	g_autofree int *orders = g_new(int, (size_t)nr * nr);
	g_autofree int *counts = g_new0(int, nr);

	m->nearest = g_new(int, nr);
	topology_zonelists(t, orders, counts);
	for (int n = 0; n < nr; n++)
		m->nearest[n] = counts[n] ? orders[n * nr] : -1;
}

static void new_cpu(struct machine *m, int id, uint64_t seed)
{
	const struct topology_cpu *tc = &m->topology->cpus[id];
	struct cpu_private *p = g_aligned_alloc0(1, sizeof(*p), 64);
	/* each CPU starts somewhere else in splitmix64's one sequence */
	uint64_t state = seed;

	p->cpu = (struct cpu){
		.timed = m->timed,
		.id = id,
		.node = tc->node,
		.mem_node = m->nearest[tc->node],
		.core = tc->core,
		.l3 = tc->l3,
		.socket = tc->socket,
		.machine = m,
	};
	state = splitmix64(&state) + (uint64_t)id;
	state = splitmix64(&state);
	for (int i = 0; i < 4; i++)
		p->random[i] = splitmix64(&state);
	if (!m->timed)
		p->cpu.slow_until = NO_SHORT_WAYS;
	m->cpus[id] = p;
	if (m->timed)
		account_attach(p);
	if (m->timed && (m->flags & MACHINE_TRACE))
		trace_attach(p);
}

static struct domain *new_domain(struct machine *m, int *sorted, int nr)
{
	struct domain *d = g_new0(struct domain, 1);

	d->cpus = sorted;
	d->nr = nr;
	d->only = -1;
	g_ptr_array_add(m->domains, d);
	return d;
}

static void free_domain(void *data)
{
	struct domain *d = data;

	g_free(d->cpus);
	g_free(d);
}

struct machine *machine_new(const struct topology *t,
			    const struct machine_params *p, unsigned flags,
			    uint64_t seed)
{
	struct machine *m = g_new0(struct machine, 1);
	int *all = g_new(int, t->nr_cpus), n = 0;

	m->topology = t;
	m->params = p;
	m->flags = flags;
	m->timed = !(flags & MACHINE_TIMELESS);
	m->slow = flags & MACHINE_EXACT_SLOW;
	m->uniform = flags & MACHINE_UNIFORM;
	m->trace_to = UINT64_MAX;
	g_assert(p || !m->timed);
	m->domains = g_ptr_array_new_with_free_func(free_domain);
	m->reserved = g_new0(uint64_t, t->nr_node_ids);
	m->cpus = g_new0(struct cpu_private *, t->nr_cpu_ids);
	m->account = account_new();
	find_nearest(m);
	for (int i = 0; i < t->nr_cpu_ids; i++) {
		if (!t->cpus[i].online)
			continue;
		new_cpu(m, i, seed);
		all[n++] = i;
	}
	m->everyone = new_domain(m, all, n);
	if (!m->timed)
		return m;
	m->rmw_frac[RMW_LOCK] = frac(p->lock_rmw_cycles);
	m->rmw_frac[RMW_CMPXCHG16B] = frac(p->cmpxchg16b_cycles);
	m->rmw_frac[RMW_LOCK_CMPXCHG16B] = frac(p->lock_cmpxchg16b_cycles);
	m->irq_frac[false] = frac(p->irq_disable_enable_cycles);
	m->irq_frac[true] = frac(p->irq_save_restore_cycles);
	for (int i = 0; i < n; i++)
		m->cpus[m->everyone->cpus[i]]->cpu.insn_frac = frac(1 / p->ipc);
	m->engine = engine_new(m);
	m->memory = memory_new(m);
	return m;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	if (m->timed) {
		memory_free(m->memory);
		engine_free(m->engine);
	}
	for (int i = 0; i < m->topology->nr_cpu_ids; i++) {
		if (!m->cpus[i])
			continue;
		account_detach(m->cpus[i]);
		trace_detach(m->cpus[i]);
		g_aligned_free(m->cpus[i]);
	}
	account_free(m->account);
	if (m->lock_stats)
		g_hash_table_destroy(m->lock_stats);
	g_ptr_array_free(m->domains, TRUE);
	g_free(m->cpus);
	g_free(m->reserved);
	g_free(m->nearest);
	g_free(m);
}

const struct topology *machine_topology(const struct machine *m)
{
	return m->topology;
}

const struct machine_params *machine_params(const struct machine *m)
{
	return m->params;
}

struct cpu *machine_cpu(struct machine *m, int id)
{
	g_assert(id >= 0 && id < m->topology->nr_cpu_ids);
	return m->cpus[id] ? &m->cpus[id]->cpu : NULL;
}

double machine_ns(const struct machine *m, double cycles)
{
	return m->params ? cycles / m->params->freq_ghz : cycles;
}

double machine_cycles(const struct machine *m, double ns)
{
	return m->params ? ns * m->params->freq_ghz : ns;
}

sim_addr machine_reserve(struct machine *m, int node, size_t bytes,
			 size_t align)
{
	uint64_t at;

	g_assert(node >= 0 && node < m->topology->nr_node_ids);
	g_assert(align && !(align & (align - 1)));
	node = m->nearest[node];
	g_assert(node >= 0);
	at = (m->reserved[node] + align - 1) & ~(uint64_t)(align - 1);
	m->reserved[node] = at + bytes;
	g_assert(m->reserved[node] <= SIM_RESERVED_OFFSET);
	return sim_node_base(node) + SIM_RESERVED_OFFSET + at;
}

static int by_id(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void count_programs(struct machine *m, struct domain *d)
{
	int with = 0;

	d->only = -1;
	for (int i = 0; i < d->nr; i++) {
		if (!m->cpus[d->cpus[i]]->program)
			continue;
		d->only = with++ ? -1 : d->cpus[i];
	}
}

struct domain *machine_domain(struct machine *m, const int *cpus, int n)
{
	int *sorted = g_new(int, MAX(n, 1));
	struct domain *d;
	int nr = 0;

	if (n) /* a node without CPUs has no list of them */
		memcpy(sorted, cpus, sizeof(int) * n);
	qsort(sorted, n, sizeof(int), by_id);
	for (int i = 0; i < n; i++) {
		g_assert(machine_cpu(m, sorted[i]));
		if (!nr || sorted[nr - 1] != sorted[i])
			sorted[nr++] = sorted[i];
	}
	for (guint i = 0; i < m->domains->len; i++) {
		d = m->domains->pdata[i];
		if (d->nr == nr && !memcmp(d->cpus, sorted, sizeof(int) * nr)) {
			g_free(sorted);
			return d;
		}
	}
	d = new_domain(m, sorted, nr);
	count_programs(m, d);
	return d;
}

struct domain *machine_domain_of_node(struct machine *m, int node)
{
	const struct topology *t = m->topology;
	g_autofree int *cpus = g_new(int, t->nr_cpu_ids);
	int n = 0;

	for (int i = 0; i < t->nr_cpu_ids; i++)
		if (t->cpus[i].online && t->cpus[i].node == node)
			cpus[n++] = i;
	return machine_domain(m, cpus, n);
}

struct domain *machine_everyone(struct machine *m)
{
	return m->everyone;
}

void machine_run(struct machine *m, cpu_program *program, void **arg)
{
	const struct topology *t = m->topology;

	for (int i = 0; i < t->nr_cpu_ids; i++) {
		if (!m->cpus[i]) {
			g_assert(!program[i]);
			continue;
		}
		m->cpus[i]->program = program[i];
		m->cpus[i]->arg = arg ? arg[i] : NULL;
	}
	for (guint i = 0; i < m->domains->len; i++)
		count_programs(m, m->domains->pdata[i]);
	if (m->timed) {
		engine_run(m);
		return;
	}
	for (int i = 0; i < t->nr_cpu_ids; i++)
		if (program[i])
			program[i](&m->cpus[i]->cpu, m->cpus[i]->arg);
}

uint64_t machine_now(const struct machine *m)
{
	uint64_t now = 0;

	for (int i = 0; i < m->topology->nr_cpu_ids; i++)
		if (m->cpus[i])
			now = MAX(now, m->cpus[i]->cpu.now);
	return now;
}

void __cpu_irq(struct cpu *c, bool save)
{
	charge_frac(priv(c), CAUSE_IRQ, c->machine->irq_frac[save]);
}

void __cpu_stall(struct cpu *c, double cycles)
{
	charge_frac(priv(c), CAUSE_INSN, frac(cycles));
}

void __cpu_outside(struct cpu *c, double cycles)
{
	charge_frac(priv(c), CAUSE_OUTSIDE, frac(cycles));
}

void cpu_idle(struct cpu *c, uint64_t cycles)
{
	if (c->timed)
		charge(priv(c), CAUSE_IDLE, cycles);
}

void machine_account_reset(struct machine *m)
{
	account_reset(m);
	lock_stats_reset(m);
	if (m->timed)
		memory_reset(m->memory);
}

struct machine_stats machine_stats(const struct machine *m)
{
	struct machine_stats s = { 0 };

	for (int i = 0; i < m->topology->nr_cpu_ids; i++) {
		const struct cpu_private *p = m->cpus[i];

		if (!p)
			continue;
		s.meets += p->meets;
		s.instructions += p->cpu.instructions;
		s.steps += p->cpu.steps;
	}
	if (m->timed) {
		s.engine_events = engine_events(m->engine);
		s.turns = engine_turns(m->engine);
		s.accesses = memory_accesses(m->memory);
	}
	return s;
}
