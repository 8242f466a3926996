/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FIFO locks.
 *
 * A critical section is usually simulated in one go, before anybody who comes
 * during it: its end is then known (free_at) and who comes earlier than that
 * is the next to get it, at free_at + a hand-over. Only when the holder parks
 * inside (it meets others, or was itself handed the lock for a later date) do
 * arrivals find it held; they queue and are blocked, and the unlock hands over
 * to the first. Arrivals come in order of their dates as each has met the
 * others before it looks, so both ways together are one FIFO.
 *
 * Price of a hand-over: the lock word moves to the waiter; if other waiters
 * were there before it (it queued behind the one that spins on the word
 * itself), its own queue word moves first. Price of a free lock: the atomic.
 * The lock is free when the stores made under it have drained.
 */
#include "sim/internal.h"

#include <string.h>

struct lock_waiter {
	struct cpu_private *cpu;
	bool writer;	  /* of a sim_rwlock */
	bool queued;	  /* behind another waiter: spins on its own word */
	uint64_t arrived; /* when its atomic on the lock word was done */
	struct lock_waiter *next;
};

static guint stat_hash(gconstpointer key)
{
	const struct lock_stat *s = key;

	return g_str_hash(s->class) * 31 + s->node;
}

static gboolean stat_equal(gconstpointer a, gconstpointer b)
{
	const struct lock_stat *x = a, *y = b;

	return x->node == y->node && !strcmp(x->class, y->class);
}

void lock_init(struct machine *m, struct sim_lock *l, const char *class,
	       sim_addr line, struct domain *domain)
{
	struct lock_stat key = { .class = class, .node = sim_addr_node(line) };
	struct lock_stat *s;

	if (!m->lock_stats)
		m->lock_stats = g_hash_table_new_full(stat_hash, stat_equal,
						      NULL, g_free);
	s = g_hash_table_lookup(m->lock_stats, &key);
	if (!s) {
		s = g_memdup2(&key, sizeof(key));
		g_hash_table_add(m->lock_stats, s);
	}
	*l = (struct sim_lock){
		.line = line,
		.domain = domain ? domain : m->everyone,
		.class = class,
		.node = key.node,
		.owner = -1,
		.stat = s,
	};
}

void lock_destroy(struct machine *m, struct sim_lock *l)
{
	g_assert(!l->held && !l->head);
}

void lock_stats_reset(struct machine *m)
{
	GHashTableIter iter;
	void *value;

	if (!m->lock_stats)
		return;
	g_hash_table_iter_init(&iter, m->lock_stats);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct lock_stat *s = value;

		*s = (struct lock_stat){ .class = s->class, .node = s->node };
	}
}

static int stat_order(const void *a, const void *b)
{
	const struct lock_stat *x = *(struct lock_stat *const *)a;
	const struct lock_stat *y = *(struct lock_stat *const *)b;
	int order = strcmp(x->class, y->class);

	return order ? order : x->node - y->node;
}

void machine_lock_stats(struct machine *m, lock_stat_fn fn, void *arg)
{
	g_autofree void **sorted = NULL;
	guint nr = 0;

	if (!m->lock_stats)
		return;
	sorted = g_hash_table_get_keys_as_array(m->lock_stats, &nr);
	if (nr)
		qsort(sorted, nr, sizeof(*sorted), stat_order);
	for (guint i = 0; i < nr; i++)
		fn(sorted[i], arg);
}

/* ---- statistics ---- */

static void count_acquisition(struct sim_lock *l, struct cpu_private *p)
{
	l->stat->acquisitions++;
	if (l->owner >= 0 && l->owner != p->cpu.id)
		l->stat->acq_bounces++;
}

static void count_contention(struct sim_lock *l, struct cpu_private *p,
			     uint64_t wait)
{
	struct lock_stat *s = l->stat;

	if (l->owner >= 0 && l->owner != p->cpu.id)
		s->con_bounces++;
	s->wait_min = s->contentions++ ? MIN(s->wait_min, wait) : wait;
	s->wait_max = MAX(s->wait_max, wait);
	s->wait_total += wait;
	if (p->trace)
		trace_span(p, TRACE_LOCK_WAIT, l->class, l->line, p->cpu.now,
			   p->cpu.now + wait);
}

static void count_hold(struct sim_lock *l, struct cpu_private *p)
{
	struct lock_stat *s = l->stat;
	uint64_t hold = l->free_at - l->acquired_at;

	if (p->trace)
		trace_span(p, TRACE_LOCK_HOLD, l->class, l->line,
			   l->acquired_at, l->free_at);
	s->hold_min = s->releases++ ? MIN(s->hold_min, hold) : hold;
	s->hold_max = MAX(s->hold_max, hold);
	s->hold_total += hold;
}

/* ---- queue ---- */

static bool lock_is_free(const struct cpu_private *p)
{
	return p->cpu.machine->flags & MACHINE_LOCK_ZERO;
}

static void enqueue(struct sim_lock *l, struct lock_waiter *w)
{
	/* somebody waits already: in the queue, or the lock is on its way */
	w->queued = l->head || l->granted_at > w->cpu->cpu.now;
	if (l->tail)
		l->tail->next = w;
	else
		l->head = w;
	l->tail = w;
}

static struct lock_waiter *dequeue(struct sim_lock *l)
{
	struct lock_waiter *w = l->head;

	l->head = w->next;
	if (!l->head)
		l->tail = NULL;
	return w;
}

/* What the atomic of one who comes late takes, the operation included. The
 * holder is left the lock word: its release costs the same, whether it was
 * simulated before or after this arrival. */
static uint64_t arrival(struct cpu_private *p, const struct sim_lock *l)
{
	const struct machine *m = p->cpu.machine;

	if (lock_is_free(p))
		return 0;
	return memory_transfer(m, l->owner, p->cpu.id, l->node) +
	       (m->rmw_frac[RMW_LOCK] >> CYCLE_FRAC_BITS);
}

static uint64_t hand_over(const struct cpu_private *to,
			  const struct sim_lock *l, bool queued)
{
	const struct machine *m = to->cpu.machine;
	uint64_t cycles;

	if (lock_is_free(to) || l->owner < 0 || l->owner == to->cpu.id)
		return 0;
	cycles = memory_transfer(m, l->owner, to->cpu.id, l->node);
	if (queued) /* its word is in its own node's memory */
		cycles += memory_transfer(m, l->owner, to->cpu.id,
					  to->cpu.mem_node);
	return cycles;
}

/* When @p, whose atomic was done at @arrived, has a lock let go at @free. */
static uint64_t granted(const struct cpu_private *p, const struct sim_lock *l,
			bool queued, uint64_t arrived, uint64_t free)
{
	return MAX(arrived, free + hand_over(p, l, queued));
}

static void take(struct cpu_private *p, struct sim_lock *l, uint64_t at)
{
	count_acquisition(l, p);
	if (!lock_is_free(p) && l->owner != p->cpu.id)
		memory_take(p, l->line);
	l->owner = p->cpu.id;
	l->acquired_at = l->granted_at = at;
}

/* Blocks until the lock was handed to us. */
static void wait_in_queue(struct cpu_private *p, struct sim_lock *l,
			  bool writer)
{
	struct lock_waiter w = {
		.cpu = p,
		.writer = writer,
		.arrived = p->cpu.now + arrival(p, l),
	};

	enqueue(l, &w);
	engine_block(p, l->class, CAUSE_LOCK_WAIT);
}

/* Waits for a lock whose release at @free_at is already known. */
static void wait_until_free(struct cpu_private *p, struct sim_lock *l,
			    uint64_t free_at)
{
	uint64_t at = granted(p, l, false, p->cpu.now + arrival(p, l), free_at);

	count_contention(l, p, at - p->cpu.now);
	take(p, l, at);
	charge(p, CAUSE_LOCK_WAIT, at - p->cpu.now);
	/* what happens before that date happens before the section */
	engine_pass(p);
}

/* ---- spinlocks ---- */

static void acquire_free(struct cpu_private *p, struct sim_lock *l)
{
	count_acquisition(l, p);
	if (!lock_is_free(p))
		__cpu_rmw(&p->cpu, l->line, RMW_LOCK);
	l->held = true;
	l->owner = p->cpu.id;
	l->acquired_at = p->cpu.now;
}

void __cpu_lock(struct cpu *c, struct sim_lock *l)
{
	struct cpu_private *p = priv(c);

	__cpu_meet(c, l->domain);
	if (l->held) {
		g_assert(l->owner != c->id);
		wait_in_queue(p, l, true);
	} else if (c->now < l->free_at && l->owner != c->id &&
		   !lock_is_free(p)) {
		l->held = true;
		wait_until_free(p, l, l->free_at);
	} else {
		acquire_free(p, l);
	}
}

bool __cpu_trylock(struct cpu *c, struct sim_lock *l)
{
	struct cpu_private *p = priv(c);

	__cpu_meet(c, l->domain);
	if (l->held || (c->now < l->free_at && l->owner != c->id &&
			!lock_is_free(p))) {
		if (!lock_is_free(p))
			__cpu_read(c, l->line);
		return false;
	}
	acquire_free(p, l);
	return true;
}

/* The date at which what @p did under the lock can be seen. */
static uint64_t release_date(struct cpu_private *p, struct sim_lock *l)
{
	if (lock_is_free(p))
		return p->cpu.now;
	__cpu_write(&p->cpu, l->line);
	return MAX(p->cpu.now, p->store_last);
}

static uint64_t grant_first(struct sim_lock *l, uint64_t free_at)
{
	struct lock_waiter *w = dequeue(l);
	uint64_t at = granted(w->cpu, l, w->queued, w->arrived, free_at);

	count_contention(l, w->cpu, at - w->cpu->cpu.now);
	take(w->cpu, l, at);
	engine_wake(w->cpu, at);
	return at;
}

void __cpu_unlock(struct cpu *c, struct sim_lock *l)
{
	struct cpu_private *p = priv(c);

	g_assert(l->held && l->owner == c->id);
	l->free_at = release_date(p, l);
	count_hold(l, p);
	if (l->head)
		grant_first(l, l->free_at);
	else
		l->held = false;
}

/* ---- reader-writer locks ---- */

void rwlock_init(struct machine *m, struct sim_rwlock *l, const char *class,
		 sim_addr line, struct domain *domain)
{
	lock_init(m, &l->wait, class, line, domain);
	l->readers = 0;
	l->readers_gone_at = 0;
}

/* Hands the lock to those at the head of the queue that can have it: one
 * writer, or all readers up to the next writer, one after the other. */
static void grant_queue(struct sim_rwlock *l, uint64_t free_at)
{
	struct sim_lock *q = &l->wait;

	while (q->head && !q->held && (!q->head->writer || !l->readers)) {
		if (q->head->writer) {
			q->held = true;
			free_at = MAX(free_at, l->readers_gone_at);
		} else {
			l->readers++;
		}
		free_at = grant_first(q, free_at);
	}
}

void cpu_read_lock(struct cpu *c, struct sim_rwlock *l)
{
	struct cpu_private *p = priv(c);
	struct sim_lock *q = &l->wait;

	if (!c->timed)
		return;
	__cpu_meet(c, q->domain);
	if (q->held || q->head) {
		wait_in_queue(p, q, false);
		return;
	}
	l->readers++;
	if (c->now < q->free_at && !lock_is_free(p)) {
		wait_until_free(p, q, q->free_at);
		return;
	}
	count_acquisition(q, p);
	if (!lock_is_free(p))
		__cpu_rmw(c, q->line, RMW_LOCK);
	q->owner = c->id;
	q->acquired_at = c->now;
}

void cpu_read_unlock(struct cpu *c, struct sim_rwlock *l)
{
	struct cpu_private *p = priv(c);

	if (!c->timed)
		return;
	g_assert(l->readers > 0);
	if (!lock_is_free(p))
		__cpu_rmw(c, l->wait.line, RMW_LOCK);
	l->readers_gone_at = MAX(l->readers_gone_at, c->now);
	if (!--l->readers)
		grant_queue(l, l->readers_gone_at);
}

void cpu_write_lock(struct cpu *c, struct sim_rwlock *l)
{
	struct cpu_private *p = priv(c);
	struct sim_lock *q = &l->wait;
	uint64_t free_at;

	if (!c->timed)
		return;
	__cpu_meet(c, q->domain);
	if (q->held || q->head || l->readers) {
		wait_in_queue(p, q, true);
		return;
	}
	free_at = MAX(q->free_at, l->readers_gone_at);
	if (c->now < free_at && !lock_is_free(p)) {
		q->held = true;
		wait_until_free(p, q, free_at);
	} else {
		acquire_free(p, q);
	}
}

void cpu_write_unlock(struct cpu *c, struct sim_rwlock *l)
{
	struct cpu_private *p = priv(c);
	struct sim_lock *q = &l->wait;

	if (!c->timed)
		return;
	g_assert(q->held && q->owner == c->id);
	q->free_at = release_date(p, q);
	count_hold(q, p);
	q->held = false;
	grant_queue(l, q->free_at);
}
