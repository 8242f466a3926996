/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/bisect.h"

#include <string.h>

static void change_free(void *data)
{
	struct change *c = data;

	g_free(c->key);
	g_free(c->before);
	g_free(c->after);
	g_free(c);
}

static void step_free(void *data)
{
	struct step *s = data;

	g_free(s->name);
	g_free(s->in_place);
	g_free(s->alone);
	g_free(s->without);
	g_free(s->why_not_alone);
	g_free(s->why_not_without);
	g_array_unref(s->changes);
	g_free(s);
}

void bisection_free(struct bisection *b)
{
	if (!b)
		return;
	g_free(b->from);
	g_free(b->to);
	g_ptr_array_unref(b->changes);
	g_ptr_array_unref(b->steps);
	g_ptr_array_unref(b->notes);
	g_free(b);
}

/* A bisection at work. */
struct work {
	struct bisection *b;
	const struct variant *from, *to;
	bool *on; /* per change: switched to @to's value */
};

/* Instruction counts come with a kernel's code and are switched as one. */
#define COUNTS "instruction counts"

static void compare_tables(struct work *w, const char *group,
			   const struct param_desc *table, const void *x,
			   const void *y)
{
	for (; table->key; table++) {
		g_autofree char *a = param_get(table, x);
		g_autofree char *b = param_get(table, y);
		struct change *c;

		if (!g_strcmp0(a, b))
			continue;
		c = g_new0(struct change, 1);
		c->key = g_strdup_printf("%s.%s", group, table->key);
		c->before = g_steal_pointer(&a);
		c->after = g_steal_pointer(&b);
		c->since = table->since;
		g_ptr_array_add(w->b->changes, c);
	}
}

static void find_changes(struct work *w)
{
	compare_tables(w, "features", feature_table, &w->from->features,
		       &w->to->features);
	if (w->from->zs && w->to->zs)
		compare_tables(w, "zsmalloc", zs_feature_table,
			       &w->from->zs->features, &w->to->zs->features);
	if (memcmp(&w->from->costs, &w->to->costs, sizeof(w->to->costs))) {
		struct change *c = g_new0(struct change, 1);

		c->key = g_strdup(COUNTS);
		c->before = g_strdup(w->from->costs_name);
		c->after = g_strdup(w->to->costs_name);
		g_ptr_array_add(w->b->changes, c);
	}
	w->on = g_new0(bool, w->b->changes->len + 1);
}

static void add_table(GPtrArray *sets, const char *group,
		      const struct param_desc *table, const void *base)
{
	for (; table->key; table++) {
		g_autofree char *value = param_get(table, base);

		if (value)
			g_ptr_array_add(sets, g_strdup_printf("%s.%s=%s", group,
							      table->key,
							      value));
	}
}

/* The first variant with the changes that are on; NULL and the reason if there
 * can be no such kernel. */
static struct variant *build(const struct work *w, const bool *on,
			     GError **error)
{
	g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
	struct variant *v;
	bool counts = false;

	add_table(sets, "features", feature_table, &w->from->features);
	if (w->from->zs)
		add_table(sets, "zsmalloc", zs_feature_table,
			  &w->from->zs->features);
	for (guint i = 0; i < w->b->changes->len; i++) {
		const struct change *c = w->b->changes->pdata[i];

		if (!on[i])
			continue;
		if (!strcmp(c->key, COUNTS))
			counts = true;
		else
			g_ptr_array_add(sets, g_strdup_printf("%s=%s", c->key,
							      c->after));
	}
	g_ptr_array_add(sets, NULL);
	v = config_load_variant(w->from->name, (char **)sets->pdata, error);
	if (v) {
		const struct variant *like = counts ? w->to : w->from;

		v->costs = like->costs;
		g_free(v->costs_name);
		v->costs_name = g_strdup(like->costs_name);
	}
	return v;
}

static const char *change_key(const struct change *c)
{
	const char *dot = strchr(c->key, '.');

	return dot ? dot + 1 : c->key;
}

static char *step_name(const struct work *w, const GArray *changes)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < changes->len; i++) {
		const struct change *c =
			w->b->changes->pdata[g_array_index(changes, guint, i)];
		const char *key = change_key(c);

		if (!g_strcmp0(c->after, "true"))
			g_string_append_printf(s, "+%s", key);
		else if (!g_strcmp0(c->after, "false"))
			g_string_append_printf(s, "-%s", key);
		else
			g_string_append_printf(s, "+%s=%s", key, c->after);
	}
	return g_string_free(s, FALSE);
}

static struct step *step_new(const struct work *w, const guint *which, guint n)
{
	struct step *s = g_new0(struct step, 1);

	s->changes = g_array_new(FALSE, FALSE, sizeof(guint));
	g_array_append_vals(s->changes, which, n);
	s->name = step_name(w, s->changes);
	return s;
}

/* What @error says, without file, group and key in front of it and the name of
 * the variant behind: neither is one that the user wrote. */
static char *reason(const GError *error)
{
	const char *group = strstr(error->message, "] ");
	const char *colon = group ? strstr(group, ": ") : NULL;
	char *why = g_strdup(colon ? colon + 2 : error->message);
	char *variant = strstr(why, " (in variant ");

	if (variant)
		*variant = '\0';
	return why;
}

static void add_variant(struct experiment *e, struct variant *v,
			const char *name)
{
	g_free(v->name);
	v->name = g_strdup(name);
	g_ptr_array_add(e->variants, v);
}

/* Switches @which on if that gives a kernel, as the next step. */
static bool take_step(struct work *w, struct experiment *e, const guint *which,
		      guint n, char **why)
{
	g_autoptr(GError) error = NULL;
	struct variant *v;
	struct step *s;

	for (guint i = 0; i < n; i++)
		w->on[which[i]] = true;
	v = build(w, w->on, &error);
	if (!v) {
		for (guint i = 0; i < n; i++)
			w->on[which[i]] = false;
		if (why)
			*why = reason(error);
		return false;
	}
	s = step_new(w, which, n);
	s->in_place = g_strdup(s->name);
	g_ptr_array_add(w->b->steps, s);
	add_variant(e, v, s->name);
	return true;
}

static void note_waiting(struct work *w, guint i, char *why)
{
	const struct change *c = w->b->changes->pdata[i];

	g_ptr_array_add(w->b->notes,
			g_strdup_printf("%s=%s had to wait: %s", change_key(c),
					c->after, why));
	g_free(why);
}

/* The earliest change, pair of changes, or all that are left together. */
static void next_step(struct work *w, struct experiment *e, bool *noted)
{
	guint n = w->b->changes->len, left = 0;
	g_autofree guint *rest = g_new0(guint, n);

	for (guint i = 0; i < n; i++) {
		char *why = NULL;

		if (w->on[i])
			continue;
		if (take_step(w, e, &i, 1, &why))
			return;
		if (noted[i])
			g_free(why);
		else
			note_waiting(w, i, why);
		noted[i] = true;
		rest[left++] = i;
	}
	for (guint i = 0; i < left; i++)
		for (guint k = i + 1; k < left; k++) {
			guint pair[] = {rest[i], rest[k]};

			if (take_step(w, e, pair, 2, NULL))
				return;
		}
	/* all together is the second variant, which exists */
	if (!take_step(w, e, rest, left, NULL))
		g_assert_not_reached();
}

static bool all_on(const struct work *w)
{
	for (guint i = 0; i < w->b->changes->len; i++)
		if (!w->on[i])
			return false;
	return true;
}

/* The step alone on the first variant, or left out of the second. */
static void add_probe(struct work *w, struct experiment *e, struct step *s,
		      bool alone)
{
	g_autofree bool *on = g_new0(bool, w->b->changes->len + 1);
	g_autoptr(GError) error = NULL;
	struct variant *v;
	char **name = alone ? &s->alone : &s->without;

	for (guint i = 0; i < w->b->changes->len; i++)
		on[i] = !alone;
	for (guint i = 0; i < s->changes->len; i++)
		on[g_array_index(s->changes, guint, i)] = alone;
	v = build(w, on, &error);
	if (!v) {
		*(alone ? &s->why_not_alone : &s->why_not_without) =
			reason(error);
		return;
	}
	*name = g_strdup_printf(alone ? "only %s" : "all but %s", s->name);
	add_variant(e, v, *name);
}

static void add_probes(struct work *w, struct experiment *e, int max_runs)
{
	GPtrArray *steps = w->b->steps;

	for (guint i = 0; i < steps->len; i++) {
		struct step *s = steps->pdata[i];

		/* the first step in its place is alone, the last one's
		 * absence is the variant before it */
		if (i == 0)
			s->alone = g_strdup(s->in_place);
		else if ((int)e->variants->len < max_runs)
			add_probe(w, e, s, true);
		if (i + 1 == steps->len)
			s->without = g_strdup(
				i ? ((struct step *)steps->pdata[i - 1])
					    ->in_place :
				    w->b->from);
		else if ((int)e->variants->len < max_runs)
			add_probe(w, e, s, false);
	}
}

struct bisection *bisection_plan(struct experiment *e, int max_runs,
				 GError **error)
{
	struct bisection *b = g_new0(struct bisection, 1);
	struct work w = {.b = b};
	g_autofree bool *noted = NULL;
	struct variant *to;

	g_assert(e->variants->len == 2);
	b->changes = g_ptr_array_new_with_free_func(change_free);
	b->steps = g_ptr_array_new_with_free_func(step_free);
	b->notes = g_ptr_array_new_with_free_func(g_free);
	w.from = e->variants->pdata[0];
	w.to = to = e->variants->pdata[1];
	b->from = g_strdup(w.from->name);
	b->to = g_strdup(w.to->name);
	find_changes(&w);
	if (!b->changes->len) {
		g_set_error(error, CONFIG_ERROR, 0,
			    "%s and %s do not differ in any feature", b->from,
			    b->to);
		g_free(w.on);
		bisection_free(b);
		return NULL;
	}
	/* the second variant comes back as the last step */
	g_ptr_array_steal_index(e->variants, 1);
	noted = g_new0(bool, b->changes->len);
	while (!all_on(&w))
		next_step(&w, e, noted);
	add_probes(&w, e, max_runs);
	variant_free(to);
	g_free(w.on);
	return b;
}
