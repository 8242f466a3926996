/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/hackbench_internal.h"

#include <string.h>

#define TASK_BYTES 65536 /* slab memory of a process, generously */

struct object { /* that a task or channel owns */
	struct kmem_cache *cache;
	sim_addr addr;
};

/* ---- the allocator, with its time taken ---- */

sim_addr hackbench_take(struct cpu *c, struct hackbench *h,
			struct kmem_cache *s)
{
	uint64_t before = c->now;
	sim_addr a = kmem_cache_alloc(c, s, GFP_FOR_KERNEL);

	g_assert(a);
	h->slab[c->id] += c->now - before;
	h->operations++;
	return a;
}

void hackbench_give(struct cpu *c, struct hackbench *h, struct kmem_cache *s,
		    sim_addr a)
{
	uint64_t before = c->now;

	kmem_cache_free(c, s, a);
	h->slab[c->id] += c->now - before;
	h->operations++;
}

static void give_all(struct cpu *c, struct hackbench *h, GArray *objects)
{
	for (unsigned i = 0; i < objects->len; i++) {
		struct object *o = &g_array_index(objects, struct object, i);

		hackbench_give(c, h, o->cache, o->addr);
	}
	g_array_set_size(objects, 0);
}

static struct kmem_cache *cache_of(struct cpu *c, struct hackbench *h,
				   const struct hackbench_object *o)
{
	struct kmem_cache *s = g_hash_table_lookup(h->caches, o->cache);
	struct kmem_cache_args args = {
		.name = o->cache,
		.object_size = o->size,
		.align = o->align,
		.flags = o->flags | SLAB_ACCOUNTED,
	};

	if (!s) {
		s = kmem_cache_create(h->sl, c, &args);
		g_hash_table_insert(h->caches, (void *)o->cache, s);
	}
	return s;
}

void hackbench_work(struct cpu *c, struct hackbench *h, double share)
{
	double j = h->o->jitter;

	if (j > 0)
		j *= (double)(cpu_random(c) >> 11) / (1ull << 52) - 1;
	cpu_outside(c, h->half_work * share * (1 + j));
}

void hackbench_touch(struct cpu *c, sim_addr a, unsigned lines, bool write)
{
	for (unsigned i = 0; i < lines; i++) {
		if (write)
			cpu_write(c, a + i * SIM_LINE);
		else
			cpu_read(c, a + i * SIM_LINE);
	}
}

/* ---- tasks ---- */

/* The last writer's end. */
static void close_channel(struct cpu *c, struct hackbench *h,
			  struct channel *ch)
{
	if (h->kind->close)
		h->kind->close(c, h, ch);
	give_all(c, h, ch->objects[1]);
}

static enum step_result end_task(struct cpu *c, struct actor *a)
{
	struct hackbench *h = a->h;

	cpu_enter(c, h->frame_exit);
	cpu_outside(c, machine_cycles(h->m, h->o->exit_us * 1e3));
	give_all(c, h, a->objects);
	cpu_leave(c);
	cpu_meet(c, h->everyone);
	h->end = MAX(h->end, c->now);
	return STEP_ENDS;
}

static enum step_result sender(struct cpu *c, struct task *t)
{
	struct actor *a = (struct actor *)t;
	struct hackbench *h = a->h;
	struct channel *ch = &a->group->channels[a->next];
	enum step_result r;

	if (!a->left) {
		bool last;

		cpu_meet(c, h->everyone);
		last = !--a->group->senders_left;
		for (int64_t i = 0; last && i < h->o->fan; i++)
			close_channel(c, h, &a->group->channels[i]);
		return end_task(c, a);
	}
	cpu_enter(c, h->frame_send);
	r = h->kind->send(c, a, ch);
	cpu_leave(c);
	if (r == STEP_AGAIN) {
		a->left--;
		a->next = (a->next + 1) % h->o->fan;
	}
	return r;
}

static enum step_result receiver(struct cpu *c, struct task *t)
{
	struct actor *a = (struct actor *)t;
	struct hackbench *h = a->h;
	struct channel *ch = &a->group->channels[a->index];
	enum step_result r;

	if (!a->left) {
		cpu_meet(c, h->everyone);
		h->last_message = MAX(h->last_message, c->now);
		give_all(c, h, ch->objects[0]);
		return end_task(c, a);
	}
	cpu_enter(c, h->frame_receive);
	r = h->kind->receive(c, a, ch);
	cpu_leave(c);
	if (r == STEP_AGAIN)
		a->left--;
	return r;
}

/* The parent's byte: every child that polls for it is woken in turn. */
static enum step_result starter(struct cpu *c, struct task *t)
{
	struct hackbench *h = ((struct actor *)t)->h;
	struct task *child;

	cpu_meet(c, h->everyone);
	child = task_list_take(&h->start);
	if (!child)
		return STEP_ENDS;
	sched_wake(c, child);
	return STEP_AGAIN;
}

/* ---- before the clock ---- */

static void own(struct cpu *c, struct hackbench *h, GArray *to,
		const struct hackbench_object *o, unsigned n)
{
	struct object obj = { .cache = cache_of(c, h, o) };

	for (unsigned i = 0; i < n; i++) {
		obj.addr = hackbench_take(c, h, obj.cache);
		g_array_append_val(to, obj);
	}
}

static void make_channel(struct cpu *c, struct hackbench *h,
			 struct channel *ch)
{
	const struct channel_kind *kind = h->kind;

	for (int side = 0; side < 2; side++)
		ch->objects[side] = g_array_new(FALSE, FALSE,
						sizeof(struct object));
	for (const struct hackbench_object *o = kind->objects; o->cache; o++) {
		unsigned n = o->per_process;
		sim_addr last;

		/* One of each side's own; what both share goes last. */
		own(c, h, ch->objects[1], o, n - n / 2);
		own(c, h, ch->objects[0], o, n / 2);
		last = g_array_index(ch->objects[1], struct object,
				     ch->objects[1]->len - 1).addr;
		if (!g_strcmp0(o->cache, kind->info))
			ch->info = last;
		if (!g_strcmp0(o->cache, kind->bufs))
			ch->bufs = last;
	}
	lock_init(h->m, &ch->lock, kind->lock_class, ch->info, NULL);
	ch->ring = g_new0(struct message, kind->ring);
}

static void make_task(struct cpu *c, struct hackbench *h, struct actor *a)
{
	const struct hackbench_object *o = hackbench_task_objects;
	bool process = h->o->tasks == HACKBENCH_PROCESSES;

	for (; o->cache; o++)
		own(c, h, a->objects, o,
		    process ? o->per_process : o->per_thread);
}

static void set_cpu_partial(struct cpu *c, struct hackbench *h,
			    struct kmem_cache *s)
{
	g_autofree char *value = g_strdup_printf("%" G_GINT64_FORMAT,
						 h->o->cpu_partial);

	if (h->o->cpu_partial >= 0)
		kmem_cache_attr_store(c, s, "cpu_partial", value);
}

/* The parent makes all channels, forks all children and gives the signal. */
static void prepare(struct cpu *c, void *arg)
{
	static const struct hackbench_object skb = { "skbuff_head_cache", 224,
						     0, SLAB_HW_ALIGN };
	static const struct hackbench_object data = { "kmalloc-cg-512", 512,
						      512, 0 };
	struct hackbench *h = arg;
	unsigned fan = h->o->fan, k = 0;

	h->skb = cache_of(c, h, &skb);
	h->data = cache_of(c, h, &data);
	set_cpu_partial(c, h, h->skb);
	set_cpu_partial(c, h, h->data);
	for (int64_t g = 0; g < h->o->groups; g++) {
		for (unsigned i = 0; i < fan; i++)
			make_channel(c, h, &h->groups[g].channels[i]);
		for (unsigned i = 0; i < 2 * fan; i++)
			make_task(c, h, &h->actors[k++]);
	}
	machine_account_reset(h->m);
	memset(h->slab, 0, sizeof(*h->slab) *
			       machine_topology(h->m)->nr_cpu_ids);
	h->operations = 0;
	h->begin = h->end = c->now;
}

static const struct channel_kind *const kinds[] = {
	[HACKBENCH_SOCKETS] = &hackbench_sockets,
	[HACKBENCH_PIPES] = &hackbench_pipes,
};

static int64_t simulated_loops(const struct hackbench_options *o)
{
	int64_t n = o->sample_messages / (o->groups * o->fan * o->fan);

	return o->sample_messages ? CLAMP(n, (o->loops + 3) / 4, o->loops) :
				    o->loops;
}

static struct hackbench *hackbench_new(struct slub *sl,
				       const struct hackbench_options *o,
				       uint64_t seed)
{
	struct hackbench *h = g_new0(struct hackbench, 1);
	struct machine *m = slub_machine(sl);
	const struct topology *t = machine_topology(m);
	struct sched_params sp = { o->slice_ms, o->wakeup_us,
				   o->newidle_us };
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)(seed ^
							       seed >> 32));
	g_autofree int *cpus = g_new(int, t->nr_cpu_ids);
	int nr_cpus = 0;

	for (int i = 0; i < t->nr_cpu_ids; i++)
		if (t->cpus[i].online)
			cpus[nr_cpus++] = i;
	h->o = o;
	h->kind = kinds[o->channel];
	h->sl = sl;
	h->m = m;
	h->sched = sched_new(m, &sp);
	h->everyone = machine_everyone(m);
	h->caches = g_hash_table_new(g_str_hash, g_str_equal);
	h->slab = g_new0(uint64_t, t->nr_cpu_ids);
	h->per_page = PAGE_BYTES / o->datasize;
	h->half_work = machine_cycles(m, o->message_us * 1e3) / 2;
	h->frame_send = machine_frame(m, "hackbench_send");
	h->frame_receive = machine_frame(m, "hackbench_receive");
	h->frame_exit = machine_frame(m, "do_exit");
	h->groups = g_new0(struct group, o->groups);
	h->nr_actors = o->groups * 2 * o->fan;
	h->actors = g_new0(struct actor, h->nr_actors);
	for (unsigned i = 0; i < h->nr_actors; i++) {
		struct actor *a = &h->actors[i];
		unsigned in_group = i % (2 * o->fan);

		a->h = h;
		a->group = &h->groups[i / (2 * o->fan)];
		a->index = in_group % o->fan; /* receivers are forked first */
		a->task.step = in_group < o->fan ? receiver : sender;
		a->left = simulated_loops(o) * o->fan;
		a->task.cpu = cpus[g_rand_int_range(rand, 0, nr_cpus)];
		a->objects = g_array_new(FALSE, FALSE, sizeof(struct object));
		if (!in_group) {
			a->group->channels = g_new0(struct channel, o->fan);
			a->group->senders_left = o->fan;
		}
		sched_add_waiting(h->sched, &h->start, &a->task);
	}
	h->starter.h = h;
	h->starter.task.step = starter;
	h->starter.task.cpu = cpus[0];
	sched_add(h->sched, &h->starter.task);
	return h;
}

static void hackbench_free(struct hackbench *h)
{
	for (unsigned i = 0; i < h->nr_actors; i++)
		g_array_free(h->actors[i].objects, TRUE);
	for (int64_t g = 0; g < h->o->groups; g++) {
		for (int64_t i = 0; i < h->o->fan; i++) {
			struct channel *ch = &h->groups[g].channels[i];

			lock_destroy(h->m, &ch->lock);
			g_free(ch->ring);
			for (int side = 0; side < 2; side++)
				g_array_free(ch->objects[side], TRUE);
		}
		g_free(h->groups[g].channels);
	}
	g_free(h->groups);
	g_free(h->actors);
	g_free(h->slab);
	g_hash_table_destroy(h->caches);
	sched_free(h->sched);
	g_free(h);
}

static bool run(struct slub *sl, const void *options, uint64_t seed,
		struct report *r, GError **error)
{
	const struct hackbench_options *o = options;
	struct hackbench *h = hackbench_new(sl, o, seed);
	const struct topology *t = machine_topology(h->m);
	double sampled = (double)o->groups * o->fan * o->fan *
			 simulated_loops(o);
	double factor = (double)o->loops / simulated_loops(o);
	double all, cycles, slab = 0;
	struct sched_stats st;

	sched_run(h->sched, prepare, h);
	for (int i = 0; i < t->nr_cpu_ids; i++)
		slab += h->slab[i];
	all = (double)(h->end - h->begin) * t->nr_cpus;
	cycles = factor * (h->last_message - h->begin) +
		 (h->end - h->last_message);
	st = sched_stats(h->sched);
	report_metric(r, "time_s", "s", false,
		      machine_ns(h->m, cycles) / 1e9);
	report_metric(r, "message_ns", "ns", false,
		      machine_ns(h->m, cycles) / (sampled * factor));
	report_metric(r, "slab_share_pct", "%", false,
		      all > 0 ? 100 * slab / all : 0);
	report_metric(r, "switches_per_message", "switches", false,
		      st.switches / sampled);
	report_metric(r, "wakeups_per_message", "wakeups", false,
		      st.wakeups / sampled);
	report_operations(r, h->operations);
	hackbench_free(h);
	return true;
}

/* ---- options ---- */

static const char *const channel_names[] = { "sockets", "pipes", NULL };
static const char *const task_names[] = { "processes", "threads", NULL };

#define P(...) PARAM(struct hackbench_options, __VA_ARGS__)
#define C(...) PARAM_CHOICE(struct hackbench_options, __VA_ARGS__)

static const struct param_desc option_table[] = {
	P(groups, PARAM_INT, "groups", 1, 10000,
	  "groups of fan senders and fan receivers"),
	P(loops, PARAM_INT, "messages", 1, 1000000,
	  "messages from each sender to each receiver of its group"),
	P(sample_messages, PARAM_INT, "messages", 0, 1000000000,
	  "about how many are simulated, the time scaled to all; 0 = all"),
	P(fan, PARAM_INT, "tasks", 1, MAX_FAN,
	  "senders, and receivers, of a group"),
	C(channel, channel_names, "what messages go through"),
	C(tasks, task_names, "what a task is"),
	P(datasize, PARAM_INT, "bytes", 1, 128, "size of a message"),
	P(message_us, PARAM_DOUBLE, "us", 0, 1000,
	  "work on a message outside the allocator, both sides together"),
	P(locked_share, PARAM_DOUBLE, "", 0, 1,
	  "share of that work inside the channel's lock (estimate)"),
	P(jitter, PARAM_DOUBLE, "", 0, 1,
	  "the work on each message varies by +- this share"),
	P(exit_us, PARAM_DOUBLE, "us", 0, 100000,
	  "work of an ending task outside the allocator (estimate)"),
	P(slice_ms, PARAM_DOUBLE, "ms", 0.001, 1000,
	  "time slice: base_slice of 3 ms on 8 and more CPUs"),
	P(wakeup_us, PARAM_DOUBLE, "us", 0, 1000,
	  "a wake-up, on the waker (estimate)"),
	P(newidle_us, PARAM_DOUBLE, "us", 0, 1000,
	  "a CPU that used to be idle for less pulls no task (estimate)"),
	P(cpu_partial, PARAM_INT, "objects", -1, 1000,
	  "written to cpu_partial of the message caches; -1 leaves it"),
	{ NULL }
};

static void defaults(void *options)
{
	*(struct hackbench_options *)options = (struct hackbench_options){
		.groups = 1,
		.loops = 100,
		.fan = 20,
		.channel = HACKBENCH_SOCKETS,
		.tasks = HACKBENCH_PROCESSES,
		.datasize = 100,
		.message_us = 8,
		.locked_share = 0.1,
		.jitter = 0.2,
		.exit_us = 80,
		.slice_ms = 3,
		.wakeup_us = 0.7,
		.newidle_us = 20,
		.cpu_partial = -1,
	};
}

static char *check(const void *options, const struct topology *t)
{
	const struct hackbench_options *o = options;
	double need = (double)o->groups * o->fan *
		      (kinds[o->channel]->memory + 2.0 * TASK_BYTES);
	double memory = topology_memory(t);

	if (need > memory)
		return g_strdup_printf("groups = %" G_GINT64_FORMAT
				       " need about %.0f MB, expected at most "
				       "the machine's %.0f MB",
				       o->groups, need / 1e6, memory / 1e6);
	return NULL;
}

const struct workload hackbench_workload = {
	.name = "hackbench",
	.help = "groups of senders and receivers, messages by pipe or socket",
	.options_size = sizeof(struct hackbench_options),
	.options = option_table,
	.defaults = defaults,
	.check = check,
	.run = run,
};
