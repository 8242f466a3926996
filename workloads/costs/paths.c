/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/costs/paths.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How many objects the measured runs allocated is not told: many slabs' worth
 * beside what a barn and a cpu partial list hold. */
#define MANY 2000
#define MANY_LARGE 500 /* of 1024 bytes and more */
#define STEADY 200
#define STEADY_ROUNDS 10
#define WARM_ROUNDS 4
#define BULKS 400
#define WARM_BLOCKS 130

struct runner {
	struct machine *m;
	struct cpu *c[8];
	struct slub *sl;
	struct kmem_cache *s;
	const struct insn_costs *cost;
	const char *path;
	unsigned size;
	double result;
	/* the job that another CPU does for CPU 0 */
	void (*job)(struct runner *r, struct cpu *c);
	sim_addr *objs;
	unsigned first, step, n, many;
	/* the whole of a child's work */
	const GPtrArray *rows;
	const struct insn_costs *costs;
	unsigned nr_costs;
	double *results;
	enum cost_machine which;
	bool end;
};

struct server {
	struct runner *r;
	int id;
};

static uint64_t instructions(const struct runner *r)
{
	return machine_stats(r->m).instructions;
}

static void alloc_job(struct runner *r, struct cpu *c)
{
	for (unsigned i = 0; i < r->n; i++) {
		cpu_exec(c, r->cost->caller);
		r->objs[i] = kmem_cache_alloc(c, r->s, GFP_FOR_KERNEL);
		g_assert(r->objs[i]);
	}
}

static void free_job(struct runner *r, struct cpu *c)
{
	for (unsigned i = r->first; i < r->n; i += r->step) {
		cpu_exec(c, r->cost->caller);
		kmem_cache_free(c, r->s, r->objs[i]);
		r->objs[i] = 0;
	}
}

/* Does @job on CPU @id (called on CPU 0) and returns its instructions per
 * object. */
static double on(struct runner *r, int id,
		 void (*job)(struct runner *r, struct cpu *c), unsigned n)
{
	uint64_t before = instructions(r);

	r->first = 0;
	r->step = 1;
	r->n = n;
	r->job = job;
	if (id) {
		cpu_wake(r->c[0], r->c[id], r->c[0]->now);
		cpu_wait(r->c[0]);
	} else {
		job(r, r->c[0]);
	}
	return (double)(instructions(r) - before) / n;
}

static void serve(struct cpu *c, void *arg)
{
	struct server *s = arg;
	struct runner *r = s->r;

	for (;;) {
		cpu_wait(c);
		if (r->end)
			return;
		r->job(r, c);
		cpu_wake(c, r->c[0], c->now);
	}
}

/* ---- the paths ---- */

static void pair_fastpath(struct runner *r)
{
	uint64_t before = 0;

	for (int i = -8; i < 64; i++) {
		if (!i)
			before = instructions(r);
		on(r, 0, alloc_job, 1);
		on(r, 0, free_job, 1);
	}
	r->result = (double)(instructions(r) - before) / 64;
}

static void alloc_fresh_single(struct runner *r)
{
	r->result = on(r, 0, alloc_job, r->many);
}

static void free_in_order_single(struct runner *r)
{
	on(r, 0, alloc_job, r->many);
	r->result = on(r, 0, free_job, r->many);
}

static void steady(struct runner *r, double *alloc, double *free)
{
	double a = 0, f = 0;

	for (int i = -WARM_ROUNDS; i < STEADY_ROUNDS; i++) {
		double x = on(r, 0, alloc_job, STEADY);
		double y = on(r, 0, free_job, STEADY);

		if (i >= 0) {
			a += x;
			f += y;
		}
	}
	*alloc = a / STEADY_ROUNDS;
	*free = f / STEADY_ROUNDS;
}

static void alloc_steady(struct runner *r)
{
	double unused;

	steady(r, &r->result, &unused);
}

static void free_steady(struct runner *r)
{
	double unused;

	steady(r, &unused, &r->result);
}

static void alloc_fresh_bulk(struct runner *r)
{
	unsigned n = kmem_cache_objs_per_slab(r->s);
	uint64_t before = instructions(r);

	for (int i = 0; i < BULKS; i++) {
		unsigned got;

		cpu_exec(r->c[0], r->cost->caller);
		got = kmem_cache_alloc_bulk(r->c[0], r->s, GFP_FOR_KERNEL, n,
					    r->objs);
		g_assert(got == n);
	}
	r->result = (double)(instructions(r) - before) / (BULKS * n);
}

static void free_by_same_node(struct runner *r)
{
	on(r, 0, alloc_job, r->many);
	r->result = on(r, 1, free_job, r->many);
}

static void free_by_remote_node(struct runner *r)
{
	on(r, 0, alloc_job, r->many);
	r->result = on(r, 2, free_job, r->many);
}

static void alloc_on_memoryless(struct runner *r)
{
	r->result = on(r, 2, alloc_job, r->many);
}

static void free_on_memoryless(struct runner *r)
{
	on(r, 2, alloc_job, r->many);
	r->result = on(r, 3, free_job, r->many);
}

/* Every second object of CPU 0's slabs is free. */
static void alloc_from_partial(struct runner *r)
{
	on(r, 0, alloc_job, r->many);
	for (unsigned i = 0; i < r->many; i += 2)
		kmem_cache_free(r->c[0], r->s, r->objs[i]);
	r->result = on(r, 2, alloc_job, r->many / 4);
}

static void free_of_remote_object(struct runner *r)
{
	on(r, 0, alloc_job, r->many);
	r->result = on(r, 2, free_job, r->many);
}

static const struct {
	const char *name;
	enum cost_machine machine;
	void (*run)(struct runner *r);
} paths[] = {
	{ "pair_fastpath", COST_ONE_NODE, pair_fastpath },
	{ "alloc_fresh_single", COST_ONE_NODE, alloc_fresh_single },
	{ "free_in_order_single", COST_ONE_NODE, free_in_order_single },
	{ "alloc_steady_200", COST_ONE_NODE, alloc_steady },
	{ "free_steady_200", COST_ONE_NODE, free_steady },
	{ "alloc_fresh_bulk_of_one_slab", COST_ONE_NODE, alloc_fresh_bulk },
	{ "free_by_other_cpu_same_node", COST_TWO_NODES, free_by_same_node },
	{ "free_by_remote_node", COST_TWO_NODES, free_by_remote_node },
	{ "alloc_on_memoryless_cpu", COST_MEMORYLESS, alloc_on_memoryless },
	{ "free_on_memoryless_cpu", COST_MEMORYLESS, free_on_memoryless },
	{ "alloc_on_memoryless_cpu_from_partial_slabs", COST_MEMORYLESS,
	  alloc_from_partial },
	{ "free_on_memoryless_cpu_of_remote_object", COST_MEMORYLESS,
	  free_of_remote_object },
};

static int find_path(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
		if (!strcmp(paths[i].name, name))
			return (int)i;
	return -1;
}

int cost_path_machine(const char *path)
{
	int i = find_path(path);

	return i < 0 ? -1 : (int)paths[i].machine;
}

/* ---- the machine and the child ---- */

static struct topology *make_topology(enum cost_machine which)
{
	static const int distances[4][4] = { { 10, 12, 32, 32 },
					     { 12, 10, 32, 32 },
					     { 32, 32, 10, 12 },
					     { 32, 32, 12, 10 } };
	int nodes = which == COST_ONE_NODE ? 1 : which == COST_TWO_NODES ? 2 : 4;
	int per_node = which == COST_ONE_NODE ? 4 : 2;
	struct topology *t = topology_new("counted", nodes * per_node, nodes);

	for (int n = 0; n < nodes; n++) {
		t->nodes[n].online = true;
		t->nodes[n].memory_bytes = which == COST_MEMORYLESS && n % 2 ?
						   0 :
						   640ull << 20;
		for (int k = 0; k < per_node; k++) {
			t->cpus[n * per_node + k].online = true;
			t->cpus[n * per_node + k].node = n;
		}
		for (int k = 0; k < nodes && which == COST_MEMORYLESS; k++)
			t->distances[n * nodes + k] = distances[n][k];
	}
	topology_finish(t);
	return t;
}

/*
 * The single paths were counted on a kernel that ran other caches before, so
 * their pages lay on the CPUs' page lists. The bulk path went through more
 * memory than those hold and took its pages from the buddy lists.
 */
static void warm_job(struct runner *r, struct cpu *c)
{
	unsigned order = kmem_cache_order(r->s);

	for (unsigned i = 0; i < r->n; i++)
		r->objs[i] = alloc_pages(c, r->sl, GFP_FOR_KERNEL, order,
					 NO_NODE);
	for (unsigned i = 0; i < r->n; i++)
		free_pages(c, r->sl, r->objs[i], order);
}

static void warm_page_lists(struct runner *r)
{
	for (int id = 0; id < 8 && r->c[id]; id += 2)
		on(r, id, warm_job, WARM_BLOCKS);
}

static void measure_one(struct runner *r, const struct cost_row *row,
			const struct insn_costs *cost)
{
	bool rcu = row->size == 264; /* bio-256 */
	struct kmem_cache_args args = {
		.name = "oracle",
		.object_size = rcu ? 256 : row->size,
		.align = rcu ? 64 : 0,
		.flags = rcu ? SLAB_RCU : 0,
	};

	r->cost = cost;
	r->sl = slub_new(r->m, row->f, cost);
	r->s = kmem_cache_create(r->sl, r->c[0], &args);
	r->objs = g_new0(sim_addr, MANY);
	r->many = row->size < 1024 || rcu ? MANY : MANY_LARGE;
	r->result = 0;
	if (strcmp(row->path, "alloc_fresh_bulk_of_one_slab"))
		warm_page_lists(r);
	paths[find_path(row->path)].run(r);
	g_free(r->objs);
	slub_free(r->sl);
}

static void measure_all(struct cpu *c, void *arg)
{
	struct runner *r = ((struct server *)arg)->r;

	for (unsigned i = 0; i < r->rows->len; i++) {
		const struct cost_row *row = g_ptr_array_index(r->rows, i);

		if (!row->f || cost_path_machine(row->path) != (int)r->which)
			continue;
		for (unsigned k = 0; k < r->nr_costs; k++) {
			measure_one(r, row, &r->costs[k]);
			r->results[i * r->nr_costs + k] = r->result;
		}
	}
	r->end = true;
	for (int i = 1; i < 8 && r->c[i]; i++)
		cpu_wake(c, r->c[i], c->now);
}

static void measure(struct runner *r)
{
	/* No cost but instructions is looked at. */
	struct machine_params p = { .freq_ghz = 1, .ipc = 1, .l1_kib = 32,
				    .l1_ways = 8, .l2_kib = 256, .l2_ways = 8,
				    .l3_kib = 8192, .l3_ways = 16,
				    .l2_cycles = 1,
				    .l3_cycles = 1, .dram_local_ns = 1,
				    .dram_remote_ns = 1, .remote_distance = 20,
				    .mem_bw_gbs = 1000, .miss_buffers = 10,
				    .store_buffer = 56,
				    .copy_bytes_per_cycle = 32 };
	struct topology *t = make_topology(r->which);
	struct server servers[8];
	cpu_program program[8] = { 0 };
	void *args[8];

	r->m = machine_new(t, &p, MACHINE_UNIFORM | MACHINE_LOCK_ZERO, 1);
	for (int i = 0; i < t->nr_cpu_ids; i++) {
		r->c[i] = machine_cpu(r->m, i);
		servers[i] = (struct server){ r, i };
		program[i] = i ? serve : measure_all;
		args[i] = &servers[i];
	}
	machine_run(r->m, program, args);
	machine_free(r->m);
	topology_free(t);
}

static bool transfer(int fd, char *buf, size_t n, bool out)
{
	while (n) {
		ssize_t k = out ? write(fd, buf, n) : read(fd, buf, n);

		if (k <= 0)
			return false;
		buf += k;
		n -= (size_t)k;
	}
	return true;
}

bool cost_measure(const GPtrArray *rows, enum cost_machine which,
		  const struct insn_costs *costs, unsigned nr_costs,
		  double *results)
{
	size_t bytes = sizeof(double) * rows->len * nr_costs;
	int fd[2], status;
	bool ok;
	pid_t pid;

	if (pipe(fd) < 0)
		return false;
	pid = fork();
	if (!pid) {
		struct runner r = { .rows = rows, .costs = costs,
				    .nr_costs = nr_costs, .results = results,
				    .which = which };

		close(fd[0]);
		measure(&r);
		_exit(transfer(fd[1], (char *)results, bytes, true) ? 0 : 1);
	}
	close(fd[1]);
	ok = pid > 0 && transfer(fd[0], (char *)results, bytes, false);
	close(fd[0]);
	return pid > 0 && waitpid(pid, &status, 0) == pid && ok &&
	       WIFEXITED(status) && !WEXITSTATUS(status);
}

/* ---- the measured counts ---- */

static void row_free(void *data)
{
	struct cost_row *row = data;

	g_free(row->kernel);
	g_free(row->path);
	g_free(row);
}

/* A run of 4096-byte objects was so short that hardly one was freed to its
 * slab: the measured figure is less than that of a fast path. */
bool cost_row_usable(const struct cost_row *row)
{
	return row->size != 4096 ||
	       strcmp(row->path, "free_in_order_single") != 0;
}

GPtrArray *cost_rows_read(const char *path)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	GPtrArray *rows;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	rows = g_ptr_array_new_with_free_func(row_free);
	lines = g_strsplit(text, "\n", -1);
	for (char **l = lines; *l; l++) {
		g_auto(GStrv) word = g_strsplit(*l, "\t", -1);
		struct cost_row *row;

		if (**l == '#' || g_strv_length(word) != 4 ||
		    find_path(word[2]) < 0)
			continue;
		row = g_new0(struct cost_row, 1);
		row->kernel = g_strdup(word[0]);
		row->size = (unsigned)g_ascii_strtoull(word[1], NULL, 10);
		row->path = g_strdup(word[2]);
		row->measured = g_ascii_strtod(word[3], NULL);
		g_ptr_array_add(rows, row);
	}
	return rows;
}
