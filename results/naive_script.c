/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/naive_script.h"

#include <string.h>

#include "model/naive.h"

struct run {
	const struct script *s;
	struct naive *n;
	GHashTable *slot; /* number -> struct naive_obj */
	unsigned fail, busy, empty;
	GString *out;
};

static struct naive_obj *get(struct run *r, int slot)
{
	return g_hash_table_lookup(r->slot, GINT_TO_POINTER(slot));
}

static void put(struct run *r, int slot, struct naive_obj *o)
{
	if (o)
		g_hash_table_insert(r->slot, GINT_TO_POINTER(slot), o);
	else
		g_hash_table_remove(r->slot, GINT_TO_POINTER(slot));
}

static void alloc(struct run *r, int cpu, int slot, unsigned gfp, int node)
{
	struct naive_obj *o;

	if (get(r, slot)) {
		r->busy++;
		return;
	}
	o = naive_alloc(r->n, cpu, gfp, node);
	r->fail += !o;
	put(r, slot, o);
}

static void release(struct run *r, int cpu, int slot, bool rcu)
{
	struct naive_obj *o = get(r, slot);

	if (!o)
		r->empty++;
	else if (rcu)
		naive_kfree_rcu(r->n, cpu, o);
	else
		naive_release(r->n, cpu, o);
	put(r, slot, NULL);
}

static void bulk(struct run *r, const struct script_op *op)
{
	g_autofree struct naive_obj **p =
		g_new0(struct naive_obj *, op->n + 1);

	if (op->kind == OP_ALLOC_BULK) {
		if (!op->n)
			return;
		if (!naive_alloc_bulk(r->n, op->cpu, op->gfp, op->n, p)) {
			r->fail++;
			return;
		}
		for (int i = 0; i < op->n; i++) {
			r->busy += get(r, op->slot + i) != NULL;
			put(r, op->slot + i, p[i]);
		}
		return;
	}
	for (int i = 0; i < op->n; i++) {
		p[i] = get(r, op->slot + i);
		if (!p[i]) {
			r->empty++;
			return;
		}
	}
	for (int i = 0; i < op->n; i++)
		put(r, op->slot + i, NULL);
	naive_free_bulk(r->n, op->cpu, op->n, p);
}

static void stream(struct run *r, const struct script_op *op)
{
	int from = MAX(op->total - op->window, 0);

	for (int i = 0; i < op->total; i += op->burst)
		for (int j = 0; j < op->pairs; j++) {
			int base = op->slot + j * op->window, w = op->window;
			int e = MIN(i + op->burst, op->total);

			for (int x = i; x < e; x++)
				if (x >= w)
					release(r, op->cpus[2 * j + 1],
						base + x % w, false);
			for (int x = i; x < e; x++)
				alloc(r, op->cpus[2 * j], base + x % w,
				      op->gfp, NO_NODE);
		}
	for (int i = from; i < op->total; i += op->burst)
		for (int j = 0; j < op->pairs; j++)
			for (int x = i; x < MIN(i + op->burst, op->total); x++)
				release(r, op->cpus[2 * j + 1],
					op->slot + j * op->window +
						x % op->window, false);
}

static void where(struct run *r, const struct script_op *op)
{
	g_autoptr(GPtrArray) seen = g_ptr_array_new();

	g_string_append_printf(r->out, "== where %d %d:", op->slot, op->n);
	for (int i = 0; i < op->n; i++) {
		struct naive_obj *o = get(r, op->slot + i);
		struct object_place at;
		guint nr;

		if (!o) {
			g_string_append(r->out, " -");
			continue;
		}
		at = naive_place(o);
		if (!g_ptr_array_find(seen, at.slab, &nr)) {
			nr = seen->len;
			g_ptr_array_add(seen, (gpointer)at.slab);
		}
		g_string_append_printf(r->out, " %u.%u@%d", nr, at.index,
				       at.node);
	}
	g_string_append_c(r->out, '\n');
}

static void dump(struct run *r, const char *label)
{
	g_string_append_printf(r->out, "== dump %s\ndriver:fail %u busy %u "
			       "empty %u\n", label, r->fail, r->busy, r->empty);
	naive_show(r->n, r->out);
}

static void pairs(struct run *r, const struct script_op *op)
{
	for (int i = 0; i < op->n; i++) {
		struct naive_obj *o = naive_alloc(r->n, op->cpu, op->gfp,
						  NO_NODE);

		if (o)
			naive_release(r->n, op->cpu, o);
		else
			r->fail++;
	}
}

static void run_op(struct run *r, const struct script_op *op)
{
	int error;

	switch (op->kind) {
	case OP_ALLOC:
	case OP_ALLOC_NODE:
		for (int i = 0; i < op->n; i++)
			alloc(r, op->cpu, op->slot + i * op->step, op->gfp,
			      op->kind == OP_ALLOC ? NO_NODE : op->node);
		break;
	case OP_FREE:
	case OP_KFREE_RCU:
		for (int i = 0; i < op->n; i++)
			release(r, op->cpu, op->slot + i * op->step,
				op->kind == OP_KFREE_RCU);
		break;
	case OP_ALLOC_BULK:
	case OP_FREE_BULK:
		bulk(r, op);
		break;
	case OP_PAIR:
		pairs(r, op);
		break;
	case OP_RCU_BARRIER:
		naive_barrier(r->n);
		break;
	case OP_SHRINK:
		naive_shrink(r->n);
		break;
	case OP_SET:
		error = naive_store(r->n, op->attr, op->text);
		if (error)
			g_string_append_printf(r->out,
					       "set %s %s: error %d\n",
					       op->attr, op->text, error);
		break;
	case OP_CYCLES:
		naive_set_cycles(r->n, op->value);
		break;
	case OP_DUMP:
		dump(r, op->text);
		break;
	case OP_WHERE:
		where(r, op);
		break;
	case OP_STREAM:
		stream(r, op);
		break;
	default:
		break;
	}
}

/* Runs statements from @i on until the end that closes them. */
static guint run_block(struct run *r, guint i)
{
	for (; i < r->s->ops->len; i++) {
		const struct script_op *op =
			&g_array_index(r->s->ops, struct script_op, i);

		if (op->kind == OP_END)
			return i;
		if (op->kind == OP_REPEAT) {
			for (int64_t k = 0; k < op->value; k++)
				run_block(r, i + 1);
			i = op->target;
		} else {
			run_op(r, op);
		}
	}
	return i;
}

char *naive_script_run(const struct script *s, const struct topology *t,
		       const struct features *f)
{
	struct run r = { .s = s, .n = naive_new(t, f, &s->cache) };

	r.slot = g_hash_table_new(NULL, NULL);
	r.out = g_string_new(NULL);
	run_block(&r, 0);
	dump(&r, "end");
	naive_free(r.n);
	g_hash_table_unref(r.slot);
	return g_string_free(r.out, FALSE);
}

/* "dump label<TAB>attr" -> content, other lines in the order of their kind. */
static GHashTable *by_key(const char *text)
{
	GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal,
						 g_free, g_free);
	g_auto(GStrv) line = g_strsplit(text, "\n", -1);
	g_autofree char *section = g_strdup("start");
	int nr = 0, dumps = 0;

	for (int i = 0; line[i]; i++) {
		const char *colon = strchr(line[i], ':');
		char *key;

		/* inside rep a label comes several times */
		if (g_str_has_prefix(line[i], "== dump")) {
			g_free(section);
			section = g_strdup_printf("%s (%d)", line[i], ++dumps);
		}
		if (!g_str_has_prefix(line[i], "==") && colon &&
		    !g_str_has_prefix(line[i], "set "))
			key = g_strdup_printf("%s\t%.*s", section,
					      (int)(colon - line[i]), line[i]);
		else
			key = g_strdup_printf("line %d", nr++);
		g_hash_table_insert(keys, key, g_strdup(line[i]));
	}
	return keys;
}

static bool may_be_left_out(const char *line)
{
	static const char *const fixed[] = { "align:", "order:",
					     "objs_per_slab:", "slab_size:",
					     "object_size:",
					     "sheaf_capacity:" };

	for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
		if (g_str_has_prefix(line, fixed[i]))
			return true;
	return g_str_has_suffix(line, ":0") || g_str_has_suffix(line, ":0(0)");
}

int naive_compare(const char *naive, const char *model, GString *report)
{
	g_autoptr(GHashTable) a = by_key(naive), b = by_key(model);
	g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(a),
					    (GCompareFunc)strcmp);
	int differ = 0;

	for (GList *l = keys; l; l = l->next) {
		const char *x = g_hash_table_lookup(a, l->data);
		const char *y = g_hash_table_lookup(b, l->data);
		const char *end = strchr(l->data, '\t');

		/* dumps in between leave out what is 0 or never changes */
		if (!y && end && !g_str_has_prefix(l->data, "== dump end") &&
		    may_be_left_out(x))
			continue;
		if (y && !strcmp(x, y))
			continue;
		differ++;
		g_string_append_printf(report, "%.*s: naive '%s', model '%s'\n",
				       end ? (int)(end - (char *)l->data) : 4,
				       (char *)l->data, x, y ? y : "none");
	}
	return differ;
}
