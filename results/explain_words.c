/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sentence on top of an explanation: what a person would write who has
 * read the tables below it. It names the largest parts, with the function they
 * happen in and the one it was reached through, and the counter that tells
 * which way the allocator went.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/explain.h"
#include "results/stats.h"

enum { MAX_REASONS = 3 };

static double difference(const struct part *p)
{
	return p->b - p->a;
}

/*
 * The path whose share of @cause changed most, in the direction @sign: its
 * innermost function and the one above, where that says more than the
 * interface's name.
 */
static char *place_of(const struct explanation *e, enum cause cause,
		      double sign)
{
	g_autofree char *suffix = g_strdup_printf("[%s]", cause_names[cause]);
	const struct part *best = NULL;
	g_auto(GStrv) frames = NULL;
	guint n;

	for (guint i = 0; i < e->paths->len; i++) {
		const struct part *p = e->paths->pdata[i];

		if (g_str_has_suffix(p->name, suffix) &&
		    (!best || sign * difference(p) > sign * difference(best)))
			best = p;
	}
	if (!best)
		return NULL;
	frames = g_strsplit(best->name, ";", -1);
	n = g_strv_length(frames) - 1; /* without the cause */
	if (n == 0)
		return g_strdup("the workload");
	if (n >= 3)
		return g_strdup_printf("%s reached through %s", frames[n - 1],
				       frames[n - 2]);
	return g_strdup(frames[n - 1]);
}

/* "1", "1 and 5", "0, 2 and 3". */
static char *node_list(const GArray *nodes)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < nodes->len; i++)
		g_string_append_printf(s, "%s%d",
				       !i		      ? "" :
				       i + 1 == nodes->len ? " and " :
								", ",
				       g_array_index(nodes, int, i));
	return g_string_free(s, FALSE);
}

static int int_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* "&n->list_lock of nodes 1 and 5", the sum of its parts, and which parts. */
static char *lock_name(const struct explanation *e, const struct part *first,
		       double *sum, GPtrArray *used)
{
	static const char prefix[] = "lock wait: ", infix[] = ", node ";
	const char *comma = strstr(first->name, infix);
	g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(int));
	g_autofree char *list = NULL, *class = NULL;
	size_t n;

	if (!comma) {
		*sum = difference(first);
		g_ptr_array_add(used, (void *)first);
		return g_strdup("locks");
	}
	n = comma - first->name;
	*sum = 0;
	for (guint i = 0; i < e->causes->len; i++) {
		struct part *p = e->causes->pdata[i];
		int node;

		if (strncmp(p->name, first->name, n + strlen(infix)) ||
		    difference(p) * difference(first) <= 0)
			continue;
		*sum += difference(p);
		g_ptr_array_add(used, p);
		node = atoi(p->name + n + strlen(infix));
		if (fabs(difference(p)) >= 0.1 * fabs(difference(first)))
			g_array_append_val(nodes, node);
	}
	g_array_sort(nodes, int_compare);
	list = node_list(nodes);
	class = g_strndup(first->name + strlen(prefix), n - strlen(prefix));
	return g_strdup_printf("%s of node%s %s", class,
			       nodes->len > 1 ? "s" : "", list);
}

static int cause_of(const char *title)
{
	for (int k = 0; k < NR_CAUSES; k++)
		if (!strcmp(cause_title(k), title))
			return k;
	return CAUSE_LOCK_WAIT; /* the only one split further */
}

static char *what_it_is(enum cause cause)
{
	switch (cause) {
	case CAUSE_INSN:
		return g_strdup("instructions");
	case CAUSE_IDLE:
		return g_strdup("other CPUs waiting idle for that");
	case CAUSE_OUTSIDE:
		return g_strdup("work outside the allocator");
	case CAUSE_C2C_SMT:
		return g_strdup("lines fetched from the sibling thread");
	case CAUSE_C2C_L3:
		return g_strdup("lines moved between cores of an L3");
	case CAUSE_C2C_CROSS_L3:
		return g_strdup("lines moved between L3s");
	case CAUSE_C2C_SOCKET:
		return g_strdup("lines moved between sockets");
	default:
		return g_strdup(cause_title(cause));
	}
}

static void add_reason(GString *s, const struct explanation *e,
		       const struct part *p, GPtrArray *used, double whole,
		       int nth)
{
	enum cause cause = cause_of(p->name);
	double d = difference(p);
	g_autofree char *what = NULL, *place = NULL;

	if (cause == CAUSE_LOCK_WAIT) {
		g_autofree char *lock = lock_name(e, p, &d, used);

		what = g_strdup_printf("waiting for %s", lock);
	} else {
		what = what_it_is(cause);
		g_ptr_array_add(used, (void *)p);
	}
	/* a part that goes the other way is said to */
	g_string_append_printf(s, "%s%.0f (%.0f %%) %s %s", nth ? "; " : "",
			       fabs(d), fabs(100 * d / whole),
			       d * whole < 0 ? "the other way are" : "are",
			       what);
	if (cause == CAUSE_IDLE || cause == CAUSE_OUTSIDE)
		return;
	place = place_of(e, cause, d);
	if (place)
		g_string_append_printf(s, "%s in %s",
				       cause == CAUSE_LOCK_WAIT ? "" : ", most",
				       place);
}

/* The counter that both have and that changed most, at least by half. */
static void add_counter(GString *s, const struct explanation *e)
{
	const struct part *best = NULL;

	for (guint i = 0; i < e->counters->len; i++) {
		const struct part *p = e->counters->pdata[i];

		if (!p->in_a || !p->in_b || fmax(p->a, p->b) < 1 ||
		    fmin(p->a, p->b) > 0.5 * fmax(p->a, p->b))
			continue;
		if (!best || fabs(difference(p)) > fabs(difference(best)))
			best = p;
	}
	if (best)
		g_string_append_printf(
			s, " Per 1000 operations, %s goes from %.3g to %.3g.",
			best->name, best->a, best->b);
}

char *amount_text(double v, const char *unit)
{
	bool rate = unit_higher_is_better(unit);
	double by = rate && v >= 1e6 ? 1e6 : rate && v >= 1e4 ? 1e3 : 1;

	if (!strcmp(unit, "1/s"))
		unit = "/s";
	return g_strdup_printf("%.3g %s%s", v / by,
			       by == 1e6   ? "M" :
			       by == 1e3 ? "k" :
					     "",
			       unit);
}

static void add_metric(GString *s, const struct explanation *e)
{
	double change = stats_change_pct(e->metric_a, e->metric_b,
					 e->higher_is_better);
	g_autofree char *a = NULL, *b = NULL;

	if (isnan(change)) {
		g_string_append_printf(s, "%s against %s", e->b->variant,
				       e->a->variant);
		return;
	}
	a = amount_text(e->metric_a, e->unit);
	b = amount_text(e->metric_b, e->unit);
	g_string_append_printf(s, "%s is %.1f %% %s than %s (%s: %s, not %s)",
			       e->b->variant, fabs(change),
			       change >= 0 ? "better" : "worse", e->a->variant,
			       e->metric, b, a);
}

/* Reasons by size; that CPUs idle comes last: it follows from the others. */
static int add_reasons(GString *s, const struct explanation *e, double whole)
{
	g_autoptr(GPtrArray) used = g_ptr_array_new();
	const struct part *idle = NULL;
	int n = 0;

	for (guint i = 0; i < e->causes->len; i++) {
		const struct part *p = e->causes->pdata[i];

		if (g_ptr_array_find(used, p, NULL) ||
		    (n && fabs(difference(p)) < 0.03 * fabs(whole)))
			continue;
		if (!strcmp(p->name, cause_title(CAUSE_IDLE)))
			idle = p;
		else if (n < MAX_REASONS)
			add_reason(s, e, p, used, whole, n++);
	}
	if (idle)
		add_reason(s, e, idle, used, whole, n++);
	return n;
}

char *explain_words(const struct explanation *e)
{
	GString *s = g_string_new(NULL);
	double whole = e->b->total - e->a->total;

	add_metric(s, e);
	g_string_append_printf(
		s, ": %s takes %.0f cycles instead of %.0f.",
		e->a->per_operation ? "an allocation or free" : "the run",
		e->b->total, e->a->total);
	if (fabs(whole) < 0.5) {
		g_string_append(s, " The two spend the same.");
		return g_string_free(s, FALSE);
	}
	g_string_append_printf(s, " Of the %.0f cycles %s, ", fabs(whole),
			       whole > 0 ? "more" : "less");
	add_reasons(s, e, whole);
	g_string_append_c(s, '.');
	add_counter(s, e);
	return g_string_free(s, FALSE);
}
