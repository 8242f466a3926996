/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/run.h"

#include <errno.h>
#include <stdio.h>
#include <inttypes.h>
#include <string.h>

#include "results/out.h"
#include "results/pool.h"
#include "results/views.h"

#define MAX_POINTS 100000

/* A case of the sweep: the experiment with that case's overrides. */
struct run_case {
	struct experiment *e;
	GPtrArray *coords; /* struct coord * */
};

struct planned {
	const struct run_case *c;
	const struct variant *v;
	int index, iteration;
	uint64_t seed;
	char *file; /* relative to the folder */
};

struct plan {
	GPtrArray *cases; /* struct run_case * */
	GArray *points;	  /* struct planned */
	struct outdir *out;
	const struct run_options *options;
	uint64_t seed;
	int iterations;
};

static void case_free(void *data)
{
	struct run_case *c = data;

	experiment_free(c->e);
	g_ptr_array_unref(c->coords);
	g_free(c);
}

static void planned_clear(void *data)
{
	g_free(((struct planned *)data)->file);
}

static void plan_clear(struct plan *p)
{
	if (p->cases)
		g_ptr_array_unref(p->cases);
	if (p->points)
		g_array_unref(p->points);
	outdir_close(p->out);
}
typedef struct plan plan; /* g_auto() wants one word */
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(plan, plan_clear)

/* "workload.groups" is the coordinate "groups". */
static const char *axis_name(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? dot + 1 : key;
}

static size_t sweep_size(const struct experiment *e)
{
	size_t n = 1;

	for (guint i = 0; e->sweep && i < e->sweep->len; i++) {
		const struct sweep_axis *a = e->sweep->pdata[i];

		n *= g_strv_length(a->values);
		if (n > MAX_POINTS)
			break;
	}
	return n;
}

/* The @k-th combination of the sweep, the last axis changing fastest. */
static struct run_case *load_case(const char *config, char **overrides,
				  const struct experiment *base, size_t k,
				  GError **error)
{
	g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
	struct run_case *c = g_new0(struct run_case, 1);
	size_t combinations = sweep_size(base);

	c->coords = g_ptr_array_new_with_free_func((GDestroyNotify)coord_free);
	for (int i = 0; overrides && overrides[i]; i++)
		g_ptr_array_add(sets, g_strdup(overrides[i]));
	for (guint i = 0; base->sweep && i < base->sweep->len; i++) {
		const struct sweep_axis *a = base->sweep->pdata[i];
		const char *value;

		combinations /= g_strv_length(a->values);
		value = a->values[k / combinations];
		k %= combinations;
		g_ptr_array_add(sets, g_strdup_printf("%s=%s", a->key, value));
		g_ptr_array_add(c->coords, coord_new(axis_name(a->key), value));
	}
	g_ptr_array_add(sets, NULL);
	c->e = config_load_experiment(config, (char **)sets->pdata, error);
	if (!c->e) {
		g_autofree char *where = coords_text(c->coords);

		if (*where)
			g_prefix_error(error, "%s: [sweep] %s: ", base->file,
				       where);
		g_ptr_array_unref(c->coords);
		g_free(c);
		return NULL;
	}
	return c;
}

/* The files that its workload reads. */
static bool check_inputs(const struct run_case *c, GError **error)
{
	const struct workload *w = c->e->workload;
	g_autofree char *wrong = w->inputs ? w->inputs(c->e->options) : NULL;
	const struct param_desc *p;
	const char *what;

	if (!wrong)
		return true;
	p = param_blamed(w->options, wrong, &what);
	g_set_error(error, CONFIG_ERROR, 0, "%s: [workload]%s%s: %s",
		    c->e->file, p ? " " : "", p ? p->key : "", what);
	return false;
}

static bool parse_seed(const char *text, uint64_t *seed, GError **error)
{
	g_autoptr(GError) e = NULL;

	if (!text)
		return true;
	/* JSON's whole numbers end there */
	if (g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT64 / 2, seed, &e))
		return true;
	g_set_error(error, CONFIG_ERROR, 0,
		    "--seed %s: expected a whole number from 0 on", text);
	return false;
}

static char *point_file(const struct planned *q)
{
	g_autofree char *where = coords_text(q->c->coords);
	g_autofree char *name =
		g_strdup_printf("%s%s%s.%d.json", q->v->name, *where ? "," : "",
				g_strdelimit(where, " ", ','), q->iteration);
	g_autofree char *safe = safe_name(name);

	return g_build_filename("points", safe, NULL);
}

static void add_point(struct plan *p, const struct run_case *c, int variant,
		      int iteration, int index)
{
	struct planned q = {
		.c = c,
		.v = c->e->variants->pdata[variant],
		.index = index,
		.iteration = iteration,
		.seed = p->seed + iteration,
	};

	q.file = point_file(&q);
	g_array_append_val(p->points, q);
}

/* Loads the @k-th case of @base, checked, into the plan. */
static struct run_case *add_case(struct plan *p, const char *config,
				 const struct experiment *base, size_t k,
				 GError **error)
{
	struct run_case *c =
		load_case(config, p->options->overrides, base, k, error);

	if (!c)
		return NULL;
	g_ptr_array_add(p->cases, c);
	c->e->seed = p->seed;
	c->e->iterations = p->iterations;
	return check_inputs(c, error) ? c : NULL;
}

static bool add_all(struct plan *p, const char *config,
		    const struct experiment *base, GError **error)
{
	size_t n = sweep_size(base);

	for (size_t k = 0; k < n; k++)
		if (!add_case(p, config, base, k, error))
			return false;
	for (guint v = 0; v < base->variants->len; v++)
		for (size_t k = 0; k < n; k++)
			for (int i = 0; i < p->iterations; i++)
				add_point(p, p->cases->pdata[k], v, i,
					  p->points->len);
	return true;
}

/* Point @index of those that add_all() would add, and its case, alone: a case
 * costs milliseconds, and each point of a sweep is a process. */
static bool add_only(struct plan *p, const char *config,
		     const struct experiment *base, size_t index,
		     GError **error)
{
	size_t n = sweep_size(base);
	struct run_case *c = add_case(p, config, base,
				      index / p->iterations % n, error);

	if (c)
		add_point(p, c, index / p->iterations / n,
			  index % p->iterations, index);
	return c != NULL;
}

#define ALL_POINTS -1

static bool make_plan(struct plan *p, const char *config, int only,
		      GError **error)
{
	struct experiment *base =
		config_load_experiment(config, p->options->overrides, error);
	size_t n, total;
	bool ok = base != NULL;

	if (!ok)
		return false;
	p->cases = g_ptr_array_new_with_free_func(case_free);
	p->points = g_array_new(FALSE, TRUE, sizeof(struct planned));
	g_array_set_clear_func(p->points, planned_clear);
	p->seed = base->seed;
	p->iterations = p->options->iterations ? p->options->iterations
					       : base->iterations;
	n = sweep_size(base);
	total = n * base->variants->len * p->iterations;
	if (n > MAX_POINTS || total > MAX_POINTS) {
		g_set_error(error, CONFIG_ERROR, 0,
			    "%s: [sweep] %zu points, expected at most %d",
			    base->file, total, MAX_POINTS);
		ok = false;
	}
	ok = ok && parse_seed(p->options->seed, &p->seed, error);
	if (ok && only >= 0 && (size_t)only >= total) {
		g_set_error(error, CONFIG_ERROR, 0,
			    "%s: point %d, expected 0 to %zu", config, only,
			    total - 1);
		ok = false;
	}
	if (ok)
		ok = only == ALL_POINTS ?
			     add_all(p, config, base, error) :
			     add_only(p, config, base, only, error);
	experiment_free(base);
	return ok;
}

/* The point's JSON, and its trace, if one is wanted, in *@trace. */
static char *make_point(const struct plan *p, const struct planned *q,
			char **trace, GError **error)
{
	struct point_options options = p->options->point;
	struct point *point;
	char *json;

	if (q->iteration)
		options.machine_flags &= ~MACHINE_TRACE;
	point = point_run(q->c->e, q->v, q->seed, &options, trace, error);

	if (!point)
		return NULL;
	for (guint i = 0; i < q->c->coords->len; i++) {
		const struct coord *c = q->c->coords->pdata[i];

		point_add_coord(point, c->name, c->value);
	}
	point->index = q->index;
	point->iteration = q->iteration;
	json = point_to_json(point);
	point_free(point);
	return json;
}

static char *trace_file(const struct planned *q)
{
	g_autofree char *folder = place_folder(q->v->name, q->c->coords);

	return g_build_filename(folder, "trace.json", NULL);
}

static bool run_point(void *arg, int job, GError **error)
{
	struct plan *p = arg;
	struct planned *q = &g_array_index(p->points, struct planned, job);
	g_autofree char *path =
		g_build_filename(outdir_path(p->out), q->file, NULL);
	g_autofree char *trace = NULL;
	g_autofree char *json = make_point(p, q, &trace, error);

	if (trace) {
		g_autofree char *name = trace_file(q);
		g_autofree char *to = g_build_filename(outdir_path(p->out),
						       name, NULL);

		if (!write_aside(to, trace, error))
			return false;
	}
	return json && write_aside(path, json, error);
}

/* Is that point below @dir the one that would be made, to the byte? */
static bool is_finished(const struct planned *q, const char *dir,
			const char *build, const struct point_options *options)
{
	g_autofree char *path = g_build_filename(dir, q->file, NULL);
	struct point *old = point_from_json(path, NULL);
	g_autofree char *config = NULL, *flags = point_flags(options);
	bool same;

	if (!old)
		return false;
	config = config_effective(q->c->e, q->v);
	same = old->index == q->index && old->seed == q->seed &&
	       !g_strcmp0(old->build, build) &&
	       !g_strcmp0(old->config, config) &&
	       !g_strcmp0(old->flags, flags) &&
	       /* its trace is not in the point */
	       !(options->trace_window && !q->iteration);
	point_free(old);
	return same;
}

static bool *find_finished(struct plan *p, const char *dir)
{
	bool *skip = g_new0(bool, MAX(p->points->len, 1));
	g_autofree char *build = build_digest();

	for (guint i = 0; i < p->points->len; i++)
		skip[i] = is_finished(
			&g_array_index(p->points, struct planned, i), dir,
			build, &p->options->point);
	return skip;
}

/* What repeats it: -o, --jobs and --resume change no byte of it. */
static char **command_of(const char *config, const struct run_options *options)
{
	GPtrArray *command = g_ptr_array_new();

	g_ptr_array_add(command, g_strdup("slubsim"));
	g_ptr_array_add(command, g_strdup("run"));
	g_ptr_array_add(command, g_strdup(config));
	for (char **s = options->overrides; s && *s; s++) {
		g_ptr_array_add(command, g_strdup("--set"));
		g_ptr_array_add(command, g_strdup(*s));
	}
	if (options->seed)
		g_ptr_array_add(command,
				g_strdup_printf("--seed=%s", options->seed));
	if (options->iterations)
		g_ptr_array_add(command,
				g_strdup_printf("--iterations=%d",
						options->iterations));
	if (options->point.machine_flags & MACHINE_EXACT_SLOW)
		g_ptr_array_add(command, g_strdup("--exact-slow"));
	if (options->point.machine_flags & MACHINE_LINE_STATS)
		g_ptr_array_add(command, g_strdup("--c2c"));
	if (options->point.verify)
		g_ptr_array_add(command, g_strdup("--verify"));
	if (options->point.trace_window)
		g_ptr_array_add(command,
				g_strdup_printf("--trace-window=%s",
						options->point.trace_window));
	g_ptr_array_add(command, NULL);
	return (char **)g_ptr_array_free(command, FALSE);
}

static struct result *describe(const struct plan *p, char **command)
{
	const struct experiment *e = ((struct run_case *)p->cases->pdata[0])->e;
	struct result *r = result_new();
	GPtrArray *names = g_ptr_array_new();
	g_autoptr(GList) keys = NULL;
	guint shown = p->options->shown ? (guint)p->options->shown :
					  e->variants->len;

	r->version = g_strdup(SLUBSIM_VERSION);
	r->name = g_strdup(e->name);
	r->description = g_strdup(e->description);
	r->topology = g_strdup(e->topology->name);
	r->workload = g_strdup(e->workload->name);
	r->published = g_strdup(e->published);
	r->seed = p->seed;
	r->iterations = p->iterations;
	for (guint i = 0; i < shown; i++)
		g_ptr_array_add(
			names,
			g_strdup(((struct variant *)e->variants->pdata[i])
					 ->name));
	g_ptr_array_add(names, NULL);
	r->variants = (char **)g_ptr_array_free(names, FALSE);
	if (e->fitted)
		keys = g_list_sort(g_hash_table_get_keys(e->fitted),
				   (GCompareFunc)strcmp);
	for (GList *l = keys; l; l = l->next) {
		struct fit *f = g_new0(struct fit, 1);

		f->key = g_strdup(l->data);
		f->why = g_strdup(g_hash_table_lookup(e->fitted, l->data));
		g_ptr_array_add(r->fitted, f);
	}
	r->command = g_strdupv(command);
	return r;
}

static void tell_failures(const struct plan *p, const struct pool_outcome *o)
{
	const char *last = NULL;

	for (guint i = 0; i < p->points->len; i++) {
		const struct planned *q =
			&g_array_index(p->points, struct planned, i);

		if (!o->messages[i] || !g_strcmp0(last, o->messages[i]))
			continue;
		last = o->messages[i];
		fprintf(stderr,
			"slubsim: %s: %s, iteration %d, seed %" PRIu64 ": %s\n",
			q->c->e->name, q->v->name, q->iteration, q->seed, last);
	}
}

static bool read_points(struct plan *p, const struct pool_outcome *o,
			const bool *skip, struct result *r, GError **error)
{
	g_autoptr(GHashTable) missing = g_hash_table_new(g_str_hash,
							 g_str_equal);

	for (guint i = 0; i < p->points->len; i++) {
		const struct planned *q =
			&g_array_index(p->points, struct planned, i);
		g_autofree char *path =
			g_build_filename(outdir_path(p->out), q->file, NULL);
		struct point *point;

		if (!o->done[i] && !skip[i]) {
			g_hash_table_add(missing, q->file);
			continue;
		}
		point = point_from_json(path, error);
		if (!point)
			return false;
		g_ptr_array_add(r->points, point);
	}
	outdir_drop_partial(p->out, missing);
	r->complete = !g_hash_table_size(missing);
	return true;
}

/* The folder as given, or results/NAME. */
static char *folder_of(const struct plan *p, const char *dir)
{
	const struct run_case *first = p->cases->pdata[0];
	g_autofree char *name = safe_name(first->e->name);

	return dir ? g_strdup(dir) : g_build_filename("results", name, NULL);
}

static bool open_folder(struct plan *p, const char *dir, GError **error)
{
	g_autofree char *path = folder_of(p, dir);
	g_autoptr(GHashTable) keep = NULL;

	if (p->options->resume) {
		keep = g_hash_table_new(g_str_hash, g_str_equal);
		for (guint i = 0; i < p->points->len; i++)
			g_hash_table_add(keep, g_array_index(p->points,
							     struct planned, i)
						       .file);
	}
	p->out = outdir_open(path, error);
	if (!p->out || !outdir_clear(p->out, keep, error))
		return false;
	for (guint i = 0; i < p->points->len; i++) {
		const struct planned *q =
			&g_array_index(p->points, struct planned, i);
		g_autofree char *trace = trace_file(q);

		if (!outdir_expect(p->out, q->file, error) ||
		    (!q->iteration && p->options->point.trace_window &&
		     !outdir_expect(p->out, trace, error)))
			return false;
	}
	return true;
}

static struct result *finish(struct plan *p, char **command,
			     const struct pool_outcome *o, const bool *skip,
			     int jobs, GError **error)
{
	struct result *r = describe(p, command);
	g_autofree char *json = NULL, *warning = NULL;
	bool ok = read_points(p, o, skip, r, error);

	if (ok && r->points->len)
		ok = views_write(p->out, r, jobs, &warning, error);
	if (warning)
		fprintf(stderr, "slubsim: %s\n", warning);
	if (ok) {
		json = result_to_json(r);
		/* last: where it is, the rest is too */
		if (outdir_write(p->out, "result.json", json, error)) {
			r->dir = g_strdup(outdir_path(p->out));
			return r;
		}
	}
	result_free(r);
	return NULL;
}

/* Runs what is planned. */
static struct result *run_plan(struct plan *p, char **command, const char *dir,
			       int *failed, int *signal, GError **error)
{
	const struct run_options *options = p->options;
	int jobs = options->jobs ? options->jobs : (int)g_get_num_processors();
	g_autofree bool *skip = NULL;
	struct pool_outcome *o;
	struct result *r;

	if (!open_folder(p, dir, error))
		return NULL;
	skip = options->resume ? find_finished(p, outdir_path(p->out))
			       : g_new0(bool, MAX(p->points->len, 1));
	o = pool_run(((struct run_case *)p->cases->pdata[0])->e->name,
		     p->points->len, skip, p->iterations, jobs, run_point, p);
	tell_failures(p, o);
	*failed = o->nr_failed;
	*signal = o->signal;
	r = finish(p, command, o, skip, jobs, error);
	pool_outcome_free(o);
	return r;
}

struct result *run_experiment(const char *config, const char *dir,
			      const struct run_options *options, int *failed,
			      int *signal, GError **error)
{
	g_auto(plan) p = {.options = options};
	g_auto(GStrv) command = command_of(config, options);

	if (!make_plan(&p, config, ALL_POINTS, error))
		return NULL;
	return run_plan(&p, command, dir, failed, signal, error);
}

struct result *run_loaded(struct experiment *e, char **command, const char *dir,
			  const struct run_options *options, int *failed,
			  int *signal, GError **error)
{
	g_auto(plan) p = {.options = options};
	struct run_case *c = g_new0(struct run_case, 1);

	c->e = e;
	c->coords = g_ptr_array_new_with_free_func((GDestroyNotify)coord_free);
	p.cases = g_ptr_array_new_with_free_func(case_free);
	g_ptr_array_add(p.cases, c);
	p.seed = e->seed;
	p.iterations = e->iterations;
	if (!parse_seed(options->seed, &p.seed, error))
		return NULL;
	if (options->iterations)
		p.iterations = options->iterations;
	e->seed = p.seed;
	e->iterations = p.iterations;
	if (!check_inputs(c, error))
		return NULL;
	p.points = g_array_new(FALSE, TRUE, sizeof(struct planned));
	g_array_set_clear_func(p.points, planned_clear);
	for (guint v = 0; v < e->variants->len; v++)
		for (int i = 0; i < p.iterations; i++)
			add_point(&p, c, v, i, p.points->len);
	return run_plan(&p, command, dir, failed, signal, error);
}

bool run_list(const char *config, const char *dir,
	      const struct run_options *options, GString *out, GError **error)
{
	g_auto(plan) p = {.options = options};
	g_autofree char *path = NULL;
	g_autofree bool *done = NULL;

	if (!make_plan(&p, config, ALL_POINTS, error))
		return false;
	path = folder_of(&p, dir);
	done = find_finished(&p, path);
	for (guint i = 0; i < p.points->len; i++) {
		const struct planned *q =
			&g_array_index(p.points, struct planned, i);
		g_autofree char *where = coords_text(q->c->coords);

		g_string_append_printf(out, "%u\t%s\t%s\t%s\t%" PRIu64 "\t%s\n",
				       i, done[i] ? "done" : "todo", q->file,
				       q->v->name, q->seed, where);
	}
	return true;
}

bool run_only(const char *config, const char *dir,
	      const struct run_options *options, int index, char **json,
	      GError **error)
{
	g_auto(plan) p = {.options = options};
	g_autofree char *path = NULL, *folder = NULL, *file = NULL;
	g_autofree char *build = NULL;
	const struct planned *q;

	*json = NULL;
	g_return_val_if_fail(index >= 0, false);
	if (!make_plan(&p, config, index, error))
		return false;
	q = &g_array_index(p.points, struct planned, 0);
	if (dir && !strcmp(dir, "-")) {
		*json = make_point(&p, q, NULL, error);
		return *json != NULL;
	}
	path = folder_of(&p, dir);
	build = build_digest();
	if (is_finished(q, path, build, &options->point))
		return true;
	file = g_build_filename(path, q->file, NULL);
	folder = g_path_get_dirname(file);
	if (g_mkdir_with_parents(folder, 0777)) {
		g_set_error(error, RESULT_ERROR, RESULT_ERROR_IO, "%s: %s",
			    folder, g_strerror(errno));
		return false;
	}
	*json = make_point(&p, q, NULL, error);
	return *json && write_aside(file, *json, error);
}
