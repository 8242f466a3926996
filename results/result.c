/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/workload.h"

/* clang-format off */
G_DEFINE_QUARK(result-error-quark, result_error)
/* clang-format on */

static void metric_free(void *data)
{
	struct metric *m = data;

	g_free(m->name);
	g_free(m->unit);
	g_free(m);
}

static void sample_free(void *data)
{
	struct sample *s = data;

	g_free(s->name);
	g_free(s->unit);
	g_free(s->axis);
	g_free(s);
}

static void account_row_free(void *data)
{
	struct account_row *a = data;

	g_free(a->path);
	g_free(a);
}

static void cache_attr_free(void *data)
{
	struct cache_attr *a = data;

	g_free(a->name);
	g_free(a->text);
	g_free(a);
}

void cache_dump_free(struct cache_dump *d)
{
	g_free(d->name);
	g_ptr_array_unref(d->attrs);
	g_free(d);
}

struct cache_dump *cache_dump_new(const char *name)
{
	struct cache_dump *d = g_new0(struct cache_dump, 1);

	d->name = g_strdup(name);
	d->attrs = g_ptr_array_new_with_free_func(cache_attr_free);
	return d;
}

void cache_dump_add(struct cache_dump *d, const char *name, const char *text)
{
	struct cache_attr *a = g_new0(struct cache_attr, 1);

	a->name = g_strdup(name);
	a->text = g_strdup(text);
	g_ptr_array_add(d->attrs, a);
}

static void lock_row_free(void *data)
{
	struct lock_row *l = data;

	g_free(l->class);
	g_free(l);
}

void line_row_free(void *data)
{
	struct line_row *l = data;

	for (int k = 0; k < 8; k++)
		g_free(l->fields[k]);
	g_free(l->kind);
	g_free(l);
}

static void coord_free_func(void *data)
{
	coord_free(data);
}

struct coord *coord_new(const char *name, const char *value)
{
	struct coord *c = g_new0(struct coord, 1);

	c->name = g_strdup(name);
	c->value = g_strdup(value);
	return c;
}

void coord_free(struct coord *c)
{
	g_free(c->name);
	g_free(c->value);
	g_free(c);
}

char *coords_text(const GPtrArray *coords)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < coords->len; i++) {
		const struct coord *c = coords->pdata[i];

		g_string_append_printf(s, "%s%s=%s", i ? " " : "", c->name,
				       c->value);
	}
	return g_string_free(s, FALSE);
}

char *value_text(double v)
{
	static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
	char buf[G_ASCII_DTOSTR_BUF_SIZE];

	/* whole numbers as such: 256, not 2.56e+02 */
	if (v == rint(v) && fabs(v) < 1e15)
		return g_strdup(g_ascii_formatd(buf, sizeof(buf), "%.0f", v));
	/* a number of up to 15 digits has no more of them in 15 */
	for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_ascii_formatd(buf, sizeof(buf), formats[i], v);
		if (g_ascii_strtod(buf, NULL) == v)
			break;
	}
	return g_strdup(buf);
}

struct point *point_new(void)
{
	struct point *p = g_new0(struct point, 1);

	p->coords = g_ptr_array_new_with_free_func(coord_free_func);
	p->metrics = g_ptr_array_new_with_free_func(metric_free);
	p->series = g_ptr_array_new_with_free_func(sample_free);
	p->account = g_ptr_array_new_with_free_func(account_row_free);
	p->cpus = g_ptr_array_new_with_free_func(g_free);
	p->caches = g_ptr_array_new_with_free_func(
		(GDestroyNotify)cache_dump_free);
	p->files = g_ptr_array_new_with_free_func(
		(GDestroyNotify)cache_dump_free);
	p->locks = g_ptr_array_new_with_free_func(lock_row_free);
	p->traffic = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	return p;
}

void point_free(struct point *p)
{
	if (!p)
		return;
	g_free(p->variant);
	g_free(p->kernel);
	g_free(p->description);
	g_free(p->version);
	g_free(p->build);
	g_free(p->config);
	g_free(p->flags);
	g_free(p->topology);
	g_free(p->workload);
	g_ptr_array_unref(p->coords);
	g_ptr_array_unref(p->metrics);
	g_ptr_array_unref(p->series);
	g_ptr_array_unref(p->account);
	g_ptr_array_unref(p->cpus);
	g_ptr_array_unref(p->caches);
	g_ptr_array_unref(p->files);
	g_ptr_array_unref(p->locks);
	if (p->lines)
		g_ptr_array_unref(p->lines);
	g_array_unref(p->traffic);
	g_free(p);
}

void point_add_coord(struct point *p, const char *name, const char *value)
{
	g_ptr_array_add(p->coords, coord_new(name, value));
}

void point_add_account(struct point *p, const char *path, enum cause cause,
		       uint64_t cycles)
{
	struct account_row *a = g_new0(struct account_row, 1);

	a->path = g_strdup(path);
	a->cause = cause;
	a->cycles = cycles;
	g_ptr_array_add(p->account, a);
}

static void fit_free(void *data)
{
	struct fit *f = data;

	g_free(f->key);
	g_free(f->why);
	g_free(f);
}

static void point_free_func(void *data)
{
	point_free(data);
}

char *result_changes(const struct result *r)
{
	GString *s = g_string_new(NULL);

	for (char **a = r->command; a && *a; a++)
		if (!strcmp(*a, "--set") && a[1])
			g_string_append_printf(s, "%s%s", s->len ? "; " : "",
					       *++a);
	return g_string_free(s, FALSE);
}

struct result *result_new(void)
{
	struct result *r = g_new0(struct result, 1);

	r->fitted = g_ptr_array_new_with_free_func(fit_free);
	r->points = g_ptr_array_new_with_free_func(point_free_func);
	return r;
}

void result_free(struct result *r)
{
	if (!r)
		return;
	g_free(r->version);
	g_strfreev(r->command);
	g_free(r->name);
	g_free(r->description);
	g_free(r->topology);
	g_free(r->workload);
	g_free(r->published);
	g_strfreev(r->variants);
	g_free(r->dir);
	g_ptr_array_unref(r->fitted);
	g_ptr_array_unref(r->points);
	g_free(r);
}

bool unit_higher_is_better(const char *unit)
{
	return unit && (g_str_has_suffix(unit, "/s") ||
			!g_ascii_strcasecmp(unit, "iops"));
}

void report_metric(struct report *r, const char *name, const char *unit,
		   bool higher_is_better, double value)
{
	struct metric *m = g_new0(struct metric, 1);

	m->name = g_strdup(name);
	m->unit = g_strdup(unit ? unit : "");
	m->higher_is_better = higher_is_better;
	m->value = value;
	g_ptr_array_add(r->point->metrics, m);
}

void report_series(struct report *r, const char *name, const char *unit,
		   const char *axis, double x, double value)
{
	struct sample *s = g_new0(struct sample, 1);

	s->name = g_strdup(name);
	s->unit = g_strdup(unit ? unit : "");
	s->axis = g_strdup(axis ? axis : "x");
	s->higher_is_better = unit_higher_is_better(unit);
	for (guint i = 0; i < r->point->metrics->len; i++) {
		const struct metric *m = r->point->metrics->pdata[i];

		if (!strcmp(m->name, name) || !strcmp(m->unit, s->unit)) {
			s->higher_is_better = m->higher_is_better;
			break;
		}
	}
	s->x = x;
	s->value = value;
	g_ptr_array_add(r->point->series, s);
}

void report_file(struct report *r, const char *folder, const char *name,
		 const char *text)
{
	struct cache_dump *d = cache_dump_new(folder);

	cache_dump_add(d, name, text);
	g_ptr_array_add(r->point->files, d);
}

void report_operations(struct report *r, uint64_t ops)
{
	r->point->operations += ops;
}
