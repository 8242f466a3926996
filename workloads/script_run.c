/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "workloads/script.h"

struct run {
	const struct script *script;
	struct slub *sl;
	struct machine *m;
	struct kmem_cache *cache;
	sim_addr *slot; /* by number, 0 = empty */
	int nr_slots;
	unsigned fail, busy, empty;
	unsigned overwritten; /* objects whose slot a bulk allocation took */
	bool verify;
	GString *out;
};

/* ---- output ---- */

/* What never changes is only shown at the end. */
static bool is_fixed(const char *attr)
{
	static const char *const fixed[] = {"align",
					    "order",
					    "objs_per_slab",
					    "slab_size",
					    "object_size",
					    "sheaf_capacity",
					    "aliases",
					    "ctor",
					    "destroy_by_rcu",
					    "hwcache_align",
					    "poison",
					    "reclaim_account",
					    "red_zone",
					    "sanity_checks",
					    "store_user",
					    "trace",
					    NULL};

	return g_strv_contains(fixed, attr);
}

static void dump(struct run *r, const char *label, bool all)
{
	const char *const *attr = kmem_cache_attrs(r->cache);

	g_string_append_printf(r->out,
			       "== dump %s\ndriver:fail %u busy %u empty %u\n",
			       label, r->fail, r->busy, r->empty);
	for (; *attr; attr++) {
		g_autofree char *v = kmem_cache_attr_show(r->cache, *attr);

		if (!all &&
		    (is_fixed(*attr) || !strcmp(v, "0") || !strcmp(v, "0(0)")))
			continue;
		g_string_append_printf(r->out, "%s:%s\n", *attr, v);
	}
}

static void where(struct run *r, const struct script_op *op)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	g_string_append_printf(r->out, "== where %d %d:", op->slot, op->n);
	for (int i = 0; i < op->n; i++) {
		sim_addr obj =
			op->slot + i < r->nr_slots ? r->slot[op->slot + i] : 0;
		struct object_place at;
		gpointer nr;

		if (!obj) {
			g_string_append(r->out, " -");
			continue;
		}
		at = kmem_cache_place(r->cache, obj);
		if (!g_hash_table_lookup_extended(seen, at.slab, NULL, &nr)) {
			nr = GUINT_TO_POINTER(g_hash_table_size(seen));
			g_hash_table_insert(seen, (gpointer)at.slab, nr);
		}
		g_string_append_printf(r->out, " %u.%u@%d",
				       GPOINTER_TO_UINT(nr), at.index, at.node);
	}
	g_string_append_c(r->out, '\n');
}

/* ---- operations ---- */

static sim_addr *slot_at(struct run *r, int i)
{
	if (i >= r->nr_slots) {
		int n = MAX(i + 1, MIN(2 * r->nr_slots, SCRIPT_MAX_SLOTS));

		r->slot = g_renew(sim_addr, r->slot, n);
		memset(r->slot + r->nr_slots, 0,
		       (n - r->nr_slots) * sizeof(*r->slot));
		r->nr_slots = n;
	}
	return &r->slot[i];
}

static void alloc_one(struct run *r, struct cpu *c, int i, unsigned gfp,
		      int node)
{
	sim_addr *slot = slot_at(r, i);

	if (*slot) {
		r->busy++;
		return;
	}
	*slot = kmem_cache_alloc_node(c, r->cache, gfp, node);
	r->fail += !*slot;
}

static void free_one(struct run *r, struct cpu *c, int i, bool rcu)
{
	sim_addr *slot = slot_at(r, i);

	if (!*slot) {
		r->empty++;
		return;
	}
	if (rcu)
		kfree_rcu(c, r->cache, *slot);
	else
		kmem_cache_free(c, r->cache, *slot);
	*slot = 0;
}

static void alloc_bulk(struct run *r, struct cpu *c, const struct script_op *op)
{
	g_autofree sim_addr *objs = g_new0(sim_addr, MAX(op->n, 1));

	if (!op->n)
		return;
	if (!kmem_cache_alloc_bulk(c, r->cache, op->gfp, op->n, objs)) {
		r->fail++;
		return;
	}
	for (int i = 0; i < op->n; i++) {
		sim_addr *slot = slot_at(r, op->slot + i);

		r->busy += *slot != 0;
		r->overwritten += *slot != 0;
		*slot = objs[i];
	}
}

static void free_bulk(struct run *r, struct cpu *c, const struct script_op *op)
{
	g_autofree sim_addr *objs = g_new0(sim_addr, MAX(op->n, 1));

	for (int i = 0; i < op->n; i++) {
		objs[i] = *slot_at(r, op->slot + i);
		if (!objs[i]) {
			r->empty++;
			return;
		}
	}
	kmem_cache_free_bulk(c, r->cache, op->n, objs);
	for (int i = 0; i < op->n; i++)
		*slot_at(r, op->slot + i) = 0;
}

/* Producers fill rings in bursts, consumers free what falls out of them. */
static void stream(struct run *r, const struct script_op *op)
{
	int t = op->total, w = op->window;

	for (int64_t i = 0; i < t; i += op->burst) {
		int64_t e = MIN(i + op->burst, t);

		for (int j = 0; j < op->pairs; j++) {
			struct cpu *p = machine_cpu(r->m, op->cpus[2 * j]);
			struct cpu *c = machine_cpu(r->m, op->cpus[2 * j + 1]);
			int base = op->slot + j * w;

			for (int64_t x = MAX(i, w); x < e; x++)
				free_one(r, c, base + x % w, false);
			for (int64_t x = i; x < e; x++)
				alloc_one(r, p, base + x % w, op->gfp, NO_NODE);
		}
	}
	for (int64_t i = MAX(t - w, 0); i < t; i += op->burst) {
		int64_t e = MIN(i + op->burst, t);

		for (int j = 0; j < op->pairs; j++) {
			struct cpu *c = machine_cpu(r->m, op->cpus[2 * j + 1]);

			for (int64_t x = i; x < e; x++)
				free_one(r, c, op->slot + j * w + x % w, false);
		}
	}
}

static void set_attr(struct run *r, const struct script_op *op)
{
	int error = kmem_cache_attr_store(machine_cpu(r->m, 0), r->cache,
					  op->attr, op->text);

	if (error)
		g_string_append_printf(r->out, "set %s %s: error %d\n",
				       op->attr, op->text, error);
}

static bool check(struct run *r, const struct script_op *op, GError **error)
{
	g_autoptr(GArray) held = NULL;
	g_autofree char *wrong = NULL;

	if (!r->verify)
		return true;
	held = g_array_new(FALSE, FALSE, sizeof(sim_addr));
	for (int i = 0; i < r->nr_slots; i++)
		if (r->slot[i])
			g_array_append_val(held, r->slot[i]);
	/* what was overwritten is still held, but nobody knows where it is */
	wrong = kmem_cache_verify(
		r->cache, r->overwritten ? NULL : (sim_addr *)held->data,
		held->len + r->overwritten);
	if (wrong)
		g_set_error(error, SCRIPT_ERROR, 0,
			    "%s:%d: after this operation %s", r->script->file,
			    op->line, wrong);
	return !wrong;
}

static void run_one(struct run *r, const struct script_op *op)
{
	struct cpu *c = machine_cpu(r->m, op->cpu);

	switch (op->kind) {
	case OP_ALLOC:
	case OP_ALLOC_NODE:
		for (int i = 0; i < op->n; i++)
			alloc_one(r, c, op->slot + i * op->step, op->gfp,
				  op->kind == OP_ALLOC ? NO_NODE : op->node);
		break;
	case OP_FREE:
	case OP_KFREE_RCU:
		for (int i = 0; i < op->n; i++)
			free_one(r, c, op->slot + i * op->step,
				 op->kind == OP_KFREE_RCU);
		break;
	case OP_ALLOC_BULK:
		alloc_bulk(r, c, op);
		break;
	case OP_FREE_BULK:
		free_bulk(r, c, op);
		break;
	case OP_PAIR:
		for (int i = 0; i < op->n; i++) {
			sim_addr obj = kmem_cache_alloc(c, r->cache, op->gfp);

			if (obj)
				kmem_cache_free(c, r->cache, obj);
			else
				r->fail++;
		}
		break;
	case OP_RCU_BARRIER:
		kfree_rcu_barrier(machine_cpu(r->m, 0), r->sl);
		break;
	case OP_SHRINK:
		kmem_cache_shrink(machine_cpu(r->m, 0), r->cache);
		break;
	case OP_SET:
		set_attr(r, op);
		break;
	case OP_CYCLES:
		slub_set_cycles(r->sl, op->value);
		break;
	case OP_DUMP:
		dump(r, op->text, false);
		break;
	case OP_WHERE:
		where(r, op);
		break;
	case OP_STREAM:
		stream(r, op);
		break;
	default: /* cache, rep and end are the caller's */
		break;
	}
}

bool script_run(const struct script *s, struct slub *sl, bool verify,
		GString *out, GError **error)
{
	struct run r = {.script = s,
			.sl = sl,
			.m = slub_machine(sl),
			.verify = verify,
			.out = out};
	g_autofree int64_t *left = g_new0(int64_t, s->ops->len);
	bool ok = true;

	r.nr_slots = 64;
	r.slot = g_new0(sim_addr, r.nr_slots);
	r.cache = kmem_cache_create(sl, machine_cpu(r.m, 0), &s->cache);
	for (guint i = 0; ok && i < s->ops->len; i++) {
		const struct script_op *op =
			&g_array_index(s->ops, struct script_op, i);

		if (op->kind == OP_REPEAT) {
			left[i] = op->value;
			if (!left[i])
				i = op->target;
		} else if (op->kind == OP_END) {
			if (--left[op->target] > 0)
				i = op->target;
		} else {
			run_one(&r, op);
			ok = check(&r, op, error);
		}
	}
	if (ok)
		dump(&r, "end", true);
	g_free(r.slot);
	return ok;
}
