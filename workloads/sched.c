/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/sched.h"

#include <math.h>

#include "workloads/programs.h"

/*
 * The kernel's own constants: CONFIG_HZ = 250 as distributions build it; twice
 * sysctl_sched_migration_cost bounds avg_idle; load averages halve in 32 ms.
 * Balancing intervals are as many ms as a domain has CPUs: each tick for
 * siblings, 16 ms for an L3 of 16 CPUs, 16 times (busy_factor) that for CPUs
 * that have work.
 */
#define TICK_MS 4
#define MAX_AVG_IDLE_MS 1
#define UTIL_HALF_MS 32
#define BUSY_FACTOR 16
#define IMBALANCE_PCT 1.17

struct runq {
	struct sched *sched;
	struct cpu *cpu;
	struct task_list tasks; /* that wait for the CPU */
	int queued;
	struct task *curr;	/* runs, and takes part in the average */
	uint64_t exec_start;	/* date since which curr's vruntime lags */
	double picked_deadline; /* curr's when it was picked */
	double sum_vruntime;	/* of tasks */
	double last_average;	/* when it had no task */
	bool resched;		/* curr shall give way */
	uint64_t next_tick;	/* date */
	bool idle; /* sleeps in cpu_wait() and nobody has claimed it yet */
	uint64_t idle_since, next_balance; /* dates */
	double avg_idle;		   /* cycles, of its last idle times */
};

struct sched {
	struct machine *machine;
	struct domain *everyone;
	int nr_cpu_ids;
	struct runq *rq;
	struct sched_stats stats;
	uint64_t slice, wakeup, cswitch, ipi; /* cycles */
	uint64_t tick, newidle, max_avg_idle; /* cycles */
	uint64_t next_tick;		      /* date */
	int live;			      /* tasks that have not ended */
	int nr_cpus, nr_idle;
	double util; /* share of the CPUs that are busy, decayed */
	double util_decay; /* per cycle */
	uint64_t util_date;
	int frame_schedule, frame_wake;
	bool open;	   /* the preparation is over */
	int first;	   /* lowest CPU */
	void (*before)(struct cpu *c, void *arg);
	void *before_arg;
};

void task_list_add(struct task_list *l, struct task *t)
{
	t->next = NULL;
	if (l->tail)
		l->tail->next = t;
	else
		l->head = t;
	l->tail = t;
}

struct task *task_list_take(struct task_list *l)
{
	struct task *t = l->head;

	if (t) {
		l->head = t->next;
		if (!l->head)
			l->tail = NULL;
		t->next = NULL;
	}
	return t;
}

struct sched *sched_new(struct machine *m, const struct sched_params *p)
{
	struct sched *s = g_new0(struct sched, 1);
	const struct machine_params *mp = machine_params(m);

	s->machine = m;
	s->everyone = machine_everyone(m);
	s->nr_cpu_ids = machine_topology(m)->nr_cpu_ids;
	s->rq = g_new0(struct runq, s->nr_cpu_ids);
	s->first = -1;
	for (int i = 0; i < s->nr_cpu_ids; i++) {
		s->rq[i].sched = s;
		s->rq[i].cpu = machine_cpu(m, i);
		if (!s->rq[i].cpu)
			continue;
		if (s->first < 0)
			s->first = i;
		s->nr_cpus++;
	}
	s->slice = (uint64_t)machine_cycles(m, p->slice_ms * 1e6);
	s->wakeup = (uint64_t)machine_cycles(m, p->wakeup_us * 1e3);
	s->cswitch = (uint64_t)machine_cycles(m, mp->context_switch_us * 1e3);
	s->ipi = (uint64_t)machine_cycles(m, mp->ipi_us * 1e3);
	s->tick = (uint64_t)machine_cycles(m, TICK_MS * 1e6);
	s->newidle = (uint64_t)machine_cycles(m, p->newidle_us * 1e3);
	s->max_avg_idle = (uint64_t)machine_cycles(m, MAX_AVG_IDLE_MS * 1e6);
	s->util_decay = M_LN2 / machine_cycles(m, UTIL_HALF_MS * 1e6);
	for (int i = 0; i < s->nr_cpu_ids; i++)
		s->rq[i].avg_idle = s->max_avg_idle;
	s->frame_schedule = machine_frame(m, "schedule");
	s->frame_wake = machine_frame(m, "try_to_wake_up");
	return s;
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	g_free(s->rq);
	g_free(s);
}

struct sched_stats sched_stats(const struct sched *s)
{
	return s->stats;
}

/* ---- EEVDF: all weights equal, virtual time in cycles ---- */

static double curr_vruntime(const struct runq *rq, uint64_t now)
{
	return rq->curr->vruntime +
	       (now > rq->exec_start ? now - rq->exec_start : 0);
}

/* Mean virtual time: who is not above it is owed service (eligible). */
static double average(const struct runq *rq, uint64_t now)
{
	double sum = rq->sum_vruntime;
	int n = rq->queued;

	if (rq->curr) {
		sum += curr_vruntime(rq, now);
		n++;
	}
	return n ? sum / n : rq->last_average;
}

/* Back into the queue as it is. */
static void requeue(struct runq *rq, struct task *t)
{
	g_assert(!t->queued);
	t->queued = true;
	t->waits = false;
	task_list_add(&rq->tasks, t);
	rq->sum_vruntime += t->vruntime;
	rq->queued++;
}

/* Into the queue with the lag that @t had where it was before. */
static void enqueue(struct runq *rq, struct task *t, uint64_t now)
{
	double v = average(rq, now), lag = t->lag;
	int n = rq->queued + (rq->curr != NULL);

	/* its own coming moves the average: keep the lag beyond that */
	if (n)
		lag *= (n + 1.0) / n;
	t->vruntime = v - lag;
	t->deadline = t->vruntime + rq->sched->slice;
	requeue(rq, t);
}

/* @t leaves the average @v of its queue. */
static void keep_lag(const struct sched *s, struct task *t, double v)
{
	double limit = 2.0 * s->slice;

	t->lag = CLAMP(v - t->vruntime, -limit, limit);
}

/* The eligible task of the earliest deadline, NULL if none waits. */
static struct task *pick(const struct runq *rq, uint64_t now)
{
	double v = average(rq, now);
	struct task *best = NULL, *least = NULL;

	for (struct task *t = rq->tasks.head; t; t = t->next) {
		if (!least || t->vruntime < least->vruntime)
			least = t;
		if (t->vruntime <= v &&
		    (!best || t->deadline < best->deadline))
			best = t;
	}
	/* only rounding makes all of them ineligible; or curr is owed more */
	return best ? best : least;
}

static void unlink_task(struct runq *rq, struct task *t)
{
	struct task *prev = NULL, *i = rq->tasks.head;

	for (; i != t; i = i->next)
		prev = i;
	if (prev)
		prev->next = t->next;
	else
		rq->tasks.head = t->next;
	if (rq->tasks.tail == t)
		rq->tasks.tail = prev;
	t->next = NULL;
	t->queued = false;
	rq->sum_vruntime -= t->vruntime;
	rq->queued--;
	if (!rq->queued)
		rq->sum_vruntime = 0; /* no rounding is carried on */
}

/* Takes a task off @rq for another CPU; NULL if none waits. */
static struct task *take(struct runq *rq, uint64_t now)
{
	struct task *t = pick(rq, now);
	double v = average(rq, now);

	if (t) {
		unlink_task(rq, t);
		keep_lag(rq->sched, t, v);
		rq->last_average = v;
	}
	return t;
}

/* Its CPU runs the next one of its queue. */
static struct task *pick_next(struct runq *rq)
{
	uint64_t now = rq->cpu->now;
	struct task *t = pick(rq, now);

	if (t) {
		unlink_task(rq, t);
		rq->curr = t;
		rq->exec_start = now;
		rq->picked_deadline = t->deadline;
		rq->resched = false;
	}
	return t;
}

static void update_curr(struct runq *rq)
{
	rq->curr->vruntime = curr_vruntime(rq, rq->cpu->now);
	rq->exec_start = rq->cpu->now;
}

void sched_wait_on(struct task_list *l, struct task *t)
{
	struct runq *rq = &t->sched->rq[t->cpu];

	g_assert(!t->queued && !t->waits);
	if (rq->curr == t) {
		double v;

		update_curr(rq);
		v = average(rq, rq->cpu->now);
		keep_lag(t->sched, t, v);
		rq->last_average = v;
		rq->curr = NULL;
	}
	t->waits = true;
	task_list_add(l, t);
}

/* Whether @t, just woken, is to run instead of curr: curr keeps the CPU until
 * it has had its fair share or its slice (RUN_TO_PARITY). */
static bool preempts(const struct runq *rq, const struct task *t, uint64_t now)
{
	const struct task *curr = rq->curr;
	bool eligible;

	if (!curr || pick(rq, now) != t)
		return false;
	eligible = curr_vruntime(rq, now) <= average(rq, now);
	if (!eligible)
		return true;
	return curr->deadline != rq->picked_deadline &&
	       t->deadline < curr->deadline;
}

void sched_add(struct sched *s, struct task *t)
{
	g_assert(t->cpu >= 0 && t->cpu < s->nr_cpu_ids && s->rq[t->cpu].cpu);
	t->sched = s;
	s->live++;
	enqueue(&s->rq[t->cpu], t, 0);
}

void sched_add_waiting(struct sched *s, struct task_list *l, struct task *t)
{
	t->sched = s;
	s->live++;
	sched_wait_on(l, t);
}

/* Brings the decayed share of busy CPUs up to date. */
static void update_util(struct sched *s, uint64_t now)
{
	double busy = 1 - (double)s->nr_idle / s->nr_cpus;

	if (now <= s->util_date)
		return;
	s->util = busy + (s->util - busy) *
				 exp(-s->util_decay * (now - s->util_date));
	s->util_date = now;
}

static void becomes_idle(struct runq *rq)
{
	struct sched *s = rq->sched;

	update_util(s, rq->cpu->now);
	s->nr_idle++;
	rq->idle = true;
	rq->idle_since = rq->cpu->now;
	rq->next_balance = rq->cpu->now + machine_cycles(s->machine,
							 s->nr_cpus * 1e6);
}

/* @c ends the idleness of @rq's CPU, which looks for a task at @at. */
static void end_idle(struct runq *rq, struct cpu *c, uint64_t at)
{
	struct sched *s = rq->sched;
	double slept = at > rq->idle_since ? at - rq->idle_since : 0;

	update_util(s, c->now);
	s->nr_idle--;
	rq->idle = false;
	rq->avg_idle += (slept - rq->avg_idle) / 8;
	rq->avg_idle = MIN(rq->avg_idle, s->max_avg_idle);
	cpu_wake(c, rq->cpu, at);
}

/*
 * An idle CPU under the L3 of @target, a wholly idle core if there is one. How
 * many CPUs are looked at falls with the square of the load and is none at
 * 85 % (SIS_UTIL).
 */
static struct runq *scan_idle(struct sched *s, int target)
{
	const struct cpu *home = s->rq[target].cpu;
	double load = s->util * IMBALANCE_PCT;
	int nr = (int)(s->nr_cpus * (1 - load * load));
	struct runq *half = NULL;

	for (int k = 1; k < s->nr_cpu_ids && nr > 0; k++) {
		struct runq *rq = &s->rq[(target + k) % s->nr_cpu_ids];
		bool whole = true;

		if (!rq->cpu || rq->cpu->l3 != home->l3)
			continue;
		nr--;
		if (!rq->idle)
			continue;
		for (int i = 0; i < s->nr_cpu_ids && whole; i++)
			whole = !s->rq[i].cpu ||
				s->rq[i].cpu->core != rq->cpu->core ||
				s->rq[i].idle;
		if (whole)
			return rq;
		if (!half)
			half = rq;
	}
	return half;
}

/* Where @c puts the woken @t. */
static struct runq *select_runq(struct sched *s, struct cpu *c, struct task *t)
{
	struct runq *prev = &s->rq[t->cpu], *here = &s->rq[c->id];
	struct runq *target = prev, *idle;

	if (prev->idle)
		return prev;
	/* a synchronous wake-up by the only task of a CPU, or a shorter queue:
	 * the waker's CPU, unless an idle one is near */
	if (here->cpu->l3 == prev->cpu->l3 &&
	    (!here->queued || here->queued < prev->queued))
		target = here;
	idle = scan_idle(s, target->cpu->id);
	return idle ? idle : target;
}

void sched_wake(struct cpu *c, struct task *t)
{
	struct sched *s = t->sched;
	struct runq *rq;

	g_assert(t->waits && !t->queued);
	update_util(s, c->now);
	rq = select_runq(s, c, t);
	enqueue(rq, t, c->now);
	if (preempts(rq, t, c->now))
		rq->resched = true;
	s->stats.wakeups++;
	if (rq->idle) {
		s->stats.idle_wakeups++;
		end_idle(rq, c, c->now + s->wakeup + s->ipi);
	}
	cpu_enter(c, s->frame_wake);
	cpu_outside(c, s->wakeup);
	cpu_leave(c);
}

/* A task for a CPU that has none: from the longest queue, nearest first. */
static struct task *pull(struct sched *s, struct cpu *c)
{
	struct runq *best = NULL;
	int best_distance = 0;

	for (int k = 1; k < s->nr_cpu_ids; k++) {
		struct runq *rq = &s->rq[(c->id + k) % s->nr_cpu_ids];
		int distance;

		if (!rq->cpu || !rq->queued)
			continue;
		distance = rq->cpu->l3 == c->l3 ? 0 :
			   rq->cpu->socket == c->socket ? 1 : 2;
		if (!best || distance < best_distance ||
		    (distance == best_distance && rq->queued > best->queued)) {
			best = rq;
			best_distance = distance;
		}
	}
	if (!best)
		return NULL;
	s->stats.pulls++;
	return take(best, c->now);
}

/* Lets every idle CPU look for work, or see that there is none left. */
static void wake_idle(struct sched *s, struct cpu *c)
{
	for (int i = 0; i < s->nr_cpu_ids; i++) {
		struct runq *rq = &s->rq[i];

		if (rq->cpu && rq->idle)
			end_idle(rq, c, c->now);
	}
}

/* The longest queue under the same L3, or of @c's core only; NULL if none has
 * more than @more tasks waiting. */
static struct runq *longest(struct sched *s, const struct cpu *c, bool core,
			    int more)
{
	struct runq *best = NULL;

	for (int i = 0; i < s->nr_cpu_ids; i++) {
		struct runq *rq = &s->rq[i];

		if (rq->cpu && rq->cpu != c && rq->queued > more &&
		    rq->cpu->l3 == c->l3 &&
		    (!core || rq->cpu->core == c->core) &&
		    (!best || rq->queued > best->queued))
			best = rq;
	}
	return best;
}

/*
 * A busy CPU's tick: balances for those that sleep (nohz), and now and then
 * for itself.
 */
static void balance(struct sched *s, struct runq *own)
{
	struct cpu *c = own->cpu;

	for (int i = 0; i < s->nr_cpu_ids; i++) {
		struct runq *rq = &s->rq[i], *from;

		if (!rq->cpu || !rq->idle)
			continue;
		from = longest(s, rq->cpu, c->now < rq->next_balance, 0);
		if (!from)
			continue;
		s->stats.pulls++;
		enqueue(rq, take(from, c->now), c->now);
		end_idle(rq, c, c->now + s->ipi);
	}
	if (c->now >= own->next_balance) {
		struct runq *from = longest(s, c, false, own->queued + 1);

		for (int n = from ? (from->queued - own->queued) / 2 : 0; n;
		     n--) {
			s->stats.pulls++;
			enqueue(own, take(from, c->now), c->now);
		}
		own->next_balance = c->now + machine_cycles(
			s->machine, BUSY_FACTOR * s->nr_cpus * 1e6);
	}
}

/* Runs @t until it waits, ends or has to give way. */
static void run_task(struct sched *s, struct runq *rq, struct task *t)
{
	struct cpu *c = rq->cpu;
	enum step_result r;

	s->stats.switches++;
	t->runs++;
	t->cpu = c->id;
	cpu_enter(c, s->frame_schedule);
	cpu_outside(c, s->cswitch);
	cpu_leave(c);
	for (;;) {
		r = t->step(c, t);
		if (r != STEP_AGAIN)
			break;
		if (c->now >= rq->next_tick) {
			cpu_meet(c, s->everyone);
			rq->next_tick = (c->now / s->tick + 1) * s->tick;
			update_curr(rq);
			if (t->vruntime >= t->deadline) {
				t->deadline = t->vruntime + s->slice;
				rq->resched = true;
			}
			if (c->now >= s->next_tick) {
				s->next_tick = c->now + s->tick;
				balance(s, rq);
			}
		}
		if (!rq->resched)
			continue;
		cpu_meet(c, s->everyone);
		rq->resched = false;
		if (rq->queued) {
			update_curr(rq);
			rq->curr = NULL;
			requeue(rq, t);
			return;
		}
	}
	if (r == STEP_ENDS) {
		cpu_meet(c, s->everyone);
		rq->last_average = average(rq, c->now);
		rq->curr = NULL;
		if (!--s->live)
			wake_idle(s, c);
	}
}

static void cpu_main(struct cpu *c, void *arg)
{
	struct runq *rq = arg;
	struct sched *s = rq->sched;

	if (c->id == s->first) {
		if (s->before)
			s->before(c, s->before_arg);
		cpu_meet(c, s->everyone);
		s->open = true;
		wake_idle(s, c);
	} else if (!s->open) {
		becomes_idle(rq);
		cpu_wait(c);
	}
	for (;;) {
		struct task *t;

		cpu_meet(c, s->everyone);
		if (!rq->queued && rq->avg_idle >= s->newidle &&
		    (t = pull(s, c)))
			enqueue(rq, t, c->now);
		t = pick_next(rq);
		if (t) {
			run_task(s, rq, t);
			continue;
		}
		if (!s->live)
			return;
		becomes_idle(rq);
		cpu_wait(c);
	}
}

void sched_run(struct sched *s, void (*before)(struct cpu *c, void *arg),
	       void *arg)
{
	struct programs *p = programs_new(s->machine);

	s->before = before;
	s->before_arg = arg;
	for (int i = 0; i < s->nr_cpu_ids; i++)
		if (s->rq[i].cpu)
			programs_set(p, i, cpu_main, &s->rq[i]);
	programs_run(p);
	g_assert(s->live == 0);
}
