/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/zs.h"

void zs_line_init(struct zs_line *l, int expected)
{
	*l = (struct zs_line){ .waiting = g_new0(struct cpu *, expected),
			       .expected = expected };
}

void zs_line_clear(struct zs_line *l)
{
	g_free(l->waiting);
}

bool zs_line_wait(struct cpu *c, struct zs_line *l)
{
	cpu_meet(c, machine_everyone(c->machine));
	if (l->nr + 1 < l->expected) {
		l->waiting[l->nr++] = c;
		cpu_wait(c);
		return false;
	}
	l->opened = c->now;
	for (int i = 0; i < l->nr; i++)
		cpu_wake(c, l->waiting[i], c->now);
	l->nr = 0;
	return true;
}

void zs_first_cpus(const struct topology *t, int64_t n, int *ids)
{
	int64_t found = 0;

	for (int i = 0; i < t->nr_cpu_ids && found < n; i++)
		if (t->cpus[i].online)
			ids[found++] = i;
	g_assert(found == n);
}

const struct zs_build *zs_build_of(const struct slub *sl, GError **error)
{
	const struct zs_build *b = slub_zs_build(sl);

	if (!b)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "the variant has no [zsmalloc], expected one such "
			    "as zsmalloc-7.1");
	return b;
}

void zs_report_classes(struct report *r, const struct zs_pool *pool,
		       const char *name)
{
	g_autofree char *folder = g_strconcat("sys/kernel/debug/zsmalloc/",
					      name, NULL);
	g_autofree char *text = zs_classes_show(pool);

	report_file(r, folder, "classes", text);
}
