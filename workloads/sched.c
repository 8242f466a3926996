/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/sched.h"

struct runq {
	struct sched *sched;
	struct cpu *cpu;
	struct task_list tasks;
	int queued;
	bool idle; /* sleeps in cpu_wait() and nobody has claimed it yet */
};

struct sched {
	struct machine *machine;
	struct domain *everyone;
	int nr_cpu_ids;
	struct runq *rq;
	struct sched_stats stats;
	uint64_t slice, wakeup, cswitch, ipi; /* cycles */
	int live;			      /* tasks that have not ended */
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

void sched_wait_on(struct task_list *l, struct task *t)
{
	g_assert(!t->queued && !t->waits);
	t->waits = true;
	task_list_add(l, t);
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
		if (s->rq[i].cpu && s->first < 0)
			s->first = i;
	}
	s->slice = (uint64_t)machine_cycles(m, p->slice_ms * 1e6);
	s->wakeup = (uint64_t)machine_cycles(m, p->wakeup_us * 1e3);
	s->cswitch = (uint64_t)machine_cycles(m, mp->context_switch_us * 1e3);
	s->ipi = (uint64_t)machine_cycles(m, mp->ipi_us * 1e3);
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

static void enqueue(struct runq *rq, struct task *t)
{
	g_assert(!t->queued);
	t->queued = true;
	t->waits = false;
	task_list_add(&rq->tasks, t);
	rq->queued++;
}

static struct task *dequeue(struct runq *rq)
{
	struct task *t = task_list_take(&rq->tasks);

	if (t) {
		t->queued = false;
		rq->queued--;
	}
	return t;
}

void sched_add(struct sched *s, struct task *t)
{
	g_assert(t->cpu >= 0 && t->cpu < s->nr_cpu_ids && s->rq[t->cpu].cpu);
	t->sched = s;
	s->live++;
	enqueue(&s->rq[t->cpu], t);
}

void sched_add_waiting(struct sched *s, struct task_list *l, struct task *t)
{
	t->sched = s;
	s->live++;
	sched_wait_on(l, t);
}

/* The idle CPU for a woken task: its last one, else one under the same L3
 * whose core is wholly idle, else any one there. */
static struct runq *idle_runq(struct sched *s, int last)
{
	const struct cpu *home = s->rq[last].cpu;
	struct runq *half = NULL;

	if (s->rq[last].idle)
		return &s->rq[last];
	for (int k = 1; k < s->nr_cpu_ids; k++) {
		struct runq *rq = &s->rq[(last + k) % s->nr_cpu_ids];
		bool whole = true;

		if (!rq->cpu || !rq->idle || rq->cpu->l3 != home->l3)
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

void sched_wake(struct cpu *c, struct task *t)
{
	struct sched *s = t->sched;
	struct runq *rq;
	bool idle;

	g_assert(t->waits && !t->queued);
	rq = idle_runq(s, t->cpu);
	idle = rq != NULL;
	if (!rq) {
		rq = &s->rq[t->cpu];
		if (s->rq[c->id].queued < rq->queued)
			rq = &s->rq[c->id];
	}
	enqueue(rq, t);
	s->stats.wakeups++;
	if (idle) {
		s->stats.idle_wakeups++;
		rq->idle = false;
		cpu_wake(c, rq->cpu, c->now + s->wakeup + s->ipi);
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
	return dequeue(best);
}

/* Lets every idle CPU look for work, or see that there is none left. */
static void wake_idle(struct sched *s, struct cpu *c)
{
	for (int i = 0; i < s->nr_cpu_ids; i++) {
		struct runq *rq = &s->rq[i];

		if (rq->cpu && rq->idle) {
			rq->idle = false;
			cpu_wake(c, rq->cpu, c->now);
		}
	}
}

/* Runs @t until it waits, ends or has to give way. */
static void run_task(struct sched *s, struct runq *rq, struct task *t)
{
	struct cpu *c = rq->cpu;
	uint64_t slice_end;
	enum step_result r;

	s->stats.switches++;
	t->runs++;
	t->cpu = c->id;
	cpu_enter(c, s->frame_schedule);
	cpu_outside(c, s->cswitch);
	cpu_leave(c);
	slice_end = c->now + s->slice;
	for (;;) {
		r = t->step(c, t);
		if (r != STEP_AGAIN)
			break;
		if (c->now < slice_end)
			continue;
		cpu_meet(c, s->everyone);
		if (rq->queued) {
			enqueue(rq, t);
			return;
		}
		slice_end = c->now + s->slice;
	}
	if (r == STEP_ENDS) {
		cpu_meet(c, s->everyone);
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
		rq->idle = true;
		cpu_wait(c);
	}
	for (;;) {
		struct task *t;

		cpu_meet(c, s->everyone);
		t = dequeue(rq);
		if (!t)
			t = pull(s, c);
		if (t) {
			run_task(s, rq, t);
			continue;
		}
		if (!s->live)
			return;
		rq->idle = true;
		cpu_wait(c);
	}
}

void sched_run(struct sched *s, void (*before)(struct cpu *c, void *arg),
	       void *arg)
{
	cpu_program *program = g_new0(cpu_program, s->nr_cpu_ids);
	void **args = g_new0(void *, s->nr_cpu_ids);

	s->before = before;
	s->before_arg = arg;
	for (int i = 0; i < s->nr_cpu_ids; i++) {
		if (!s->rq[i].cpu)
			continue;
		program[i] = cpu_main;
		args[i] = &s->rq[i];
	}
	machine_run(s->machine, program, args);
	g_assert(s->live == 0);
	g_free(program);
	g_free(args);
}
