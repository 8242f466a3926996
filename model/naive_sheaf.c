/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test only, see naive.h: sheaves and barns, and what is below them where
 * there are no cpu slabs. */
#include "model/naive_internal.h"

static bool opt_in(struct naive *n)
{
	return n->f->sheaves == SHEAVES_OPT_IN;
}

/* ---- sheaves ---- */

static struct naive_sheaf *new_sheaf(struct naive *n, struct nv_cpu *c)
{
	struct naive_sheaf *h = g_new0(struct naive_sheaf, 1);

	h->objs = g_ptr_array_new();
	h->capacity = n->capacity;
	nv_count(n, c, stat_sheaf_alloc, 1);
	return h;
}

static void drop_sheaf(struct naive *n, struct nv_cpu *c, struct naive_sheaf *h)
{
	g_assert(!h->objs->len);
	g_ptr_array_unref(h->objs);
	g_free(h);
	nv_count(n, c, stat_sheaf_free, 1);
}

static bool is_full(const struct naive_sheaf *h)
{
	return h->objs->len >= h->capacity;
}

/* The last @count objects of @h go to their slabs. */
static void flush_some(struct naive *n, struct nv_cpu *c, struct naive_sheaf *h,
		       unsigned count)
{
	unsigned left = h->objs->len - count;
	g_autofree struct naive_obj **p = g_new(struct naive_obj *, count + 1);

	for (unsigned i = 0; i < count; i++)
		p[i] = h->objs->pdata[left + i];
	g_ptr_array_set_size(h->objs, left);
	nv_free_detached(n, c, count, p, false);
	nv_count(n, c, stat_sheaf_flush, count);
}

static void flush_sheaf(struct naive *n, struct nv_cpu *c,
			struct naive_sheaf *h)
{
	flush_some(n, c, h, h->objs->len);
}

static void flush_main(struct naive *n, struct nv_cpu *c)
{
	while (c->main->objs->len)
		flush_some(n, c, c->main, MIN(c->main->objs->len, NV_BATCH));
}

void nv_sheaves_init(struct naive *n)
{
	if (!n->capacity)
		return;
	for (int i = 0; i < n->nr_cpus; i++)
		n->cpu[i].main = new_sheaf(n, &n->cpu[0]);
}

static int barn_id(struct naive *n, struct nv_cpu *c)
{
	return n->f->barns_on_memoryless ? c->node : c->mem_node;
}

static struct nv_node *barn_of(struct naive *n, struct nv_cpu *c)
{
	struct nv_node *b = &n->node[barn_id(n, c)];

	return b->barn ? b : NULL;
}

static void swap_main(struct nv_cpu *c)
{
	struct naive_sheaf *h = c->main;

	c->main = c->spare;
	c->spare = h;
}

/* ---- below: node lists, one object or many ---- */

static struct naive_obj *pop_from_node(struct naive *n, int node)
{
	struct nv_slab *s = g_queue_peek_head(&n->node[node].partial);
	struct naive_obj *o;

	if (!s)
		return NULL;
	o = g_queue_pop_head(&s->free);
	if (++s->inuse == s->objects)
		nv_list_del(n, s);
	return o;
}

static struct naive_obj *pop_partial(struct naive *n, struct nv_cpu *c,
				     unsigned gfp, int node)
{
	struct naive_obj *o;
	int at;

	o = pop_from_node(n, node == NO_NODE ? c->mem_node : node);
	if (o || (node != NO_NODE && (gfp & GFP_ONLY_NODE)) ||
	    !nv_look_elsewhere(n))
		return o;
	for (int k = 0; (at = nv_nth_node(n, c->mem_node, gfp, k)) >= 0; k++) {
		if (n->node[at].partial.length <= n->min_partial)
			continue;
		o = pop_from_node(n, at);
		if (o)
			return o;
	}
	return NULL;
}

/* Takes up to @count objects of a new slab, the rest to the list's head. */
static unsigned take_new(struct naive *n, struct nv_slab *s, unsigned count,
			 struct naive_obj **p)
{
	unsigned got = 0;

	while (got < count && s->free.length)
		p[got++] = g_queue_pop_head(&s->free);
	s->inuse = got;
	if (s->free.length)
		nv_list_add(n, s, false);
	return got;
}

struct naive_obj *nv_slow_alloc(struct naive *n, struct nv_cpu *c, unsigned gfp,
				int node)
{
	bool first = n->f->node_two_pass && node != NO_NODE &&
		     !(gfp & GFP_ONLY_NODE);
	struct naive_obj *o = NULL;
	struct nv_slab *s;

	nv_count(n, c, stat_alloc_slowpath, 1);
	for (; !o; first = false) {
		unsigned flags = first ? GFP_FOR_NOWAIT | GFP_ONLY_NODE : gfp;

		o = pop_partial(n, c, flags, node);
		if (o)
			break;
		s = nv_new_slab(n, c, flags, node);
		if (s)
			take_new(n, s, 1, &o);
		else if (!first)
			return NULL;
	}
	return o;
}

static unsigned refill_from_node(struct naive *n, struct nv_cpu *c, int node,
				 unsigned want, struct naive_obj **p)
{
	GQueue *list = &n->node[node].partial, mine = G_QUEUE_INIT;
	unsigned found = 0, got = 0;
	bool back = n->f->refill_returns_leftovers;
	struct nv_slab *s;

	while (found < want && (s = g_queue_peek_head(list))) {
		nv_list_del(n, s);
		found += s->objects - s->inuse;
		if (back)
			g_queue_push_tail(&mine, s);
		else
			g_queue_push_head(&mine, s);
	}
	while (got < want && (s = g_queue_pop_head(&mine))) {
		GQueue rest = s->free;

		g_queue_init(&s->free);
		s->inuse = s->objects;
		while (got < want && rest.length)
			p[got++] = g_queue_pop_head(&rest);
		if (!rest.length)
			continue;
		if (back) {
			s->inuse -= rest.length;
			s->free = rest;
			g_queue_push_head(&mine, s);
		} else {
			nv_slab_free(n, c, s, &rest);
		}
	}
	while ((s = g_queue_pop_head(&mine))) {
		if (!back && !s->inuse && list->length >= n->min_partial)
			nv_discard(n, s);
		else
			nv_list_add(n, s, back);
	}
	return got;
}

unsigned nv_refill(struct naive *n, struct nv_cpu *c, unsigned gfp,
		   unsigned want, struct naive_obj **p)
{
	unsigned got = 0;
	int at;

	if (n->node[c->mem_node].memory)
		got = refill_from_node(n, c, c->mem_node, want, p);
	if (got < want && nv_look_elsewhere(n)) {
		for (int k = 0; got < want; k++) {
			at = nv_nth_node(n, c->mem_node, gfp, k);
			if (at < 0)
				break;
			if (n->node[at].partial.length > n->min_partial)
				got += refill_from_node(n, c, at, want - got,
							p + got);
		}
	}
	while (got < want) {
		struct nv_slab *s = nv_new_slab(n, c, gfp, c->mem_node);

		if (!s)
			break;
		got += take_new(n, s, want - got, p + got);
	}
	return got;
}

/* ---- allocation ---- */

/* Fills @h up; false if that failed (what it had stays in it). */
static bool refill_sheaf(struct naive *n, struct nv_cpu *c, unsigned gfp,
			 struct naive_sheaf *h)
{
	unsigned want = h->capacity - h->objs->len, got;
	g_autofree struct naive_obj **p = g_new(struct naive_obj *, want + 1);

	if (!want)
		return true;
	got = n->f->cpu_slabs ? nv_cpu_alloc_bulk(n, c, gfp, want, p) :
				nv_refill(n, c, gfp, want, p);
	for (unsigned i = 0; i < got; i++)
		g_ptr_array_add(h->objs, p[i]);
	nv_count(n, c, stat_sheaf_refill, got);
	return got == want;
}

/* Makes main non-empty. */
static bool replace_empty(struct naive *n, struct nv_cpu *c, unsigned gfp)
{
	struct nv_node *b;
	struct naive_sheaf *h;

	if (c->spare && c->spare->objs->len) {
		swap_main(c);
		return true;
	}
	b = barn_of(n, c);
	if (!b)
		return false;
	if (b->full.length) {
		h = g_queue_pop_head(&b->full);
		g_queue_push_head(&b->empty, c->main);
		c->main = h;
		nv_count(n, c, stat_barn_get, 1);
		return true;
	}
	nv_count(n, c, stat_barn_get_fail, 1);
	if (!(gfp & GFP_MAY_BLOCK) &&
	    !(n->f->refill_without_blocking && (gfp & GFP_MAY_SPIN)))
		return false;
	h = c->spare;
	c->spare = NULL;
	if (!h)
		h = g_queue_pop_head(&b->empty);
	if (!h)
		h = new_sheaf(n, c);
	if (!refill_sheaf(n, c, gfp, h)) {
		flush_sheaf(n, c, h);
		drop_sheaf(n, c, h);
		return false;
	}
	if (!opt_in(n) && !c->spare)
		c->spare = c->main;
	else
		g_queue_push_head(&b->empty, c->main);
	c->main = h;
	return true;
}

bool nv_pcs_alloc(struct naive *n, struct nv_cpu *c, unsigned gfp, int node,
		  struct naive_obj **o)
{
	int mismatch = opt_in(n) ? 0 : 1;
	GPtrArray *main;

	if (node != NO_NODE && node != c->mem_node) {
		nv_count(n, c, stat_alloc_node_mismatch, mismatch);
		return false;
	}
	if (!c->main->objs->len && !replace_empty(n, c, gfp))
		return false;
	main = c->main->objs;
	*o = main->pdata[main->len - 1];
	if (node != NO_NODE && (*o)->slab->node != node) {
		nv_count(n, c, stat_alloc_node_mismatch, mismatch);
		return false;
	}
	g_ptr_array_set_size(main, main->len - 1);
	nv_count(n, c, opt_in(n) ? stat_alloc_cpu_sheaf : stat_alloc_fastpath,
		 1);
	return true;
}

unsigned nv_pcs_alloc_bulk(struct naive *n, struct nv_cpu *c, unsigned gfp,
			   unsigned count, struct naive_obj **p)
{
	unsigned got = 0, batch;

	while (got < count) {
		struct nv_node *b = barn_of(n, c);

		if (!c->main->objs->len) {
			if (c->spare && c->spare->objs->len) {
				swap_main(c);
			} else if (!b) {
				break;
			} else if (b->full.length) {
				struct naive_sheaf *h =
					g_queue_pop_head(&b->full);

				g_queue_push_head(&b->empty, c->main);
				c->main = h;
				nv_count(n, c, stat_barn_get, 1);
			} else {
				nv_count(n, c, stat_barn_get_fail, 1);
				break;
			}
		}
		batch = MIN(count - got, c->main->objs->len);
		g_ptr_array_set_size(c->main->objs, c->main->objs->len - batch);
		for (unsigned i = 0; i < batch; i++)
			p[got++] = c->main->objs->pdata[c->main->objs->len + i];
		nv_count(n, c, opt_in(n) ? stat_alloc_cpu_sheaf :
					   stat_alloc_fastpath, batch);
	}
	return got;
}

/* ---- freeing ---- */

static bool may_keep(struct naive *n, struct nv_cpu *c, struct naive_obj *o)
{
	if (n->f->remote_free_to_sheaf && !n->f->have_memoryless_nodes)
		return o->slab->node == c->node || !n->node[c->node].memory;
	return o->slab->node == c->mem_node;
}

/* Makes room in main. */
static bool replace_full(struct naive *n, struct nv_cpu *c)
{
	struct nv_node *b = barn_of(n, c);
	struct naive_sheaf *h;

	if (!b)
		return false;
	if (!c->spare) {
		h = g_queue_pop_head(&b->empty);
		h = h ? h : new_sheaf(n, c);
		c->spare = c->main;
		c->main = h;
		return true;
	}
	if (!is_full(c->spare)) {
		swap_main(c);
		return true;
	}
	if (b->full.length >= NV_MAX_SHEAVES) {
		nv_count(n, c, stat_barn_put_fail, 1);
		h = c->spare;
		c->spare = NULL;
		flush_sheaf(n, c, h);
		c->spare = c->main;
		c->main = h;
		return true;
	}
	h = g_queue_pop_head(&b->empty);
	h = h ? h : new_sheaf(n, c);
	g_queue_push_head(&b->full, c->main);
	c->main = h;
	nv_count(n, c, stat_barn_put, 1);
	return true;
}

bool nv_pcs_free(struct naive *n, struct nv_cpu *c, struct naive_obj *o)
{
	if (!may_keep(n, c, o) || (is_full(c->main) && !replace_full(n, c)))
		return false;
	g_ptr_array_add(c->main->objs, o);
	nv_count(n, c, opt_in(n) ? stat_free_cpu_sheaf : stat_free_fastpath, 1);
	return true;
}

static void free_to_slabs(struct naive *n, struct nv_cpu *c, unsigned count,
			  struct naive_obj **p)
{
	nv_free_detached(n, c, count, p, false);
	if (!n->f->cpu_slabs)
		nv_count(n, c, stat_free_slowpath, count);
}

/* Bulk frees make room by exchange alone: no new sheaf, no flush. */
static bool bulk_room(struct naive *n, struct nv_cpu *c)
{
	struct nv_node *b = barn_of(n, c);

	if (!is_full(c->main))
		return true;
	if (!b)
		return false;
	if (!c->spare) {
		if (!b->empty.length)
			return false;
		c->spare = c->main;
		c->main = g_queue_pop_head(&b->empty);
	} else if (!is_full(c->spare)) {
		swap_main(c);
	} else if (b->full.length >= NV_MAX_SHEAVES || !b->empty.length) {
		nv_count(n, c, stat_barn_put_fail, 1);
		return false;
	} else {
		g_queue_push_head(&b->full, c->main);
		c->main = g_queue_pop_head(&b->empty);
		nv_count(n, c, stat_barn_put, 1);
	}
	return true;
}

static void bulk_local(struct naive *n, struct nv_cpu *c, unsigned count,
		       struct naive_obj **p)
{
	while (count) {
		unsigned batch;

		if (!bulk_room(n, c)) {
			free_to_slabs(n, c, count, p);
			return;
		}
		batch = MIN(count, c->main->capacity - c->main->objs->len);
		for (unsigned i = 0; i < batch; i++)
			g_ptr_array_add(c->main->objs, p[i]);
		nv_count(n, c, opt_in(n) ? stat_free_cpu_sheaf :
					   stat_free_fastpath, batch);
		p += batch;
		count -= batch;
	}
}

void nv_pcs_free_bulk(struct naive *n, struct nv_cpu *c, unsigned count,
		      struct naive_obj **p)
{
	struct naive_obj *remote[NV_BATCH];
	unsigned i = 0, nr = 0;

	while (i < count) {
		if (may_keep(n, c, p[i])) {
			i++;
			continue;
		}
		remote[nr++] = p[i];
		p[i] = p[--count];
		if (nr < NV_BATCH)
			continue;
		free_to_slabs(n, c, nr, remote);
		nr = 0;
		/* the fault: nothing left to scan, so it forgets the rest */
		if (i == count && n->f->bulk_free_loses_objects)
			return;
	}
	bulk_local(n, c, count, p);
	if (nr)
		free_to_slabs(n, c, nr, remote);
}

/* ---- kfree_rcu ---- */

bool nv_pcs_kfree_rcu(struct naive *n, struct nv_cpu *c, struct naive_obj *o)
{
	if (!n->f->rcu_sheaves || o->slab->node != c->mem_node)
		return false;
	if (!c->rcu) {
		struct nv_node *b = barn_of(n, c);

		if (c->spare && !c->spare->objs->len) {
			c->rcu = c->spare;
			c->spare = NULL;
		} else if (!b) {
			nv_count(n, c, stat_free_rcu_sheaf_fail, 1);
			return false;
		} else {
			c->rcu = g_queue_pop_head(&b->empty);
			if (!c->rcu)
				c->rcu = new_sheaf(n, c);
		}
	}
	g_ptr_array_add(c->rcu->objs, o);
	nv_count(n, c, stat_free_rcu_sheaf, 1);
	if (is_full(c->rcu)) {
		c->rcu->node = barn_id(n, c);
		c->rcu->no_barn = false;
		c->rcu->cpu = c->id;
		g_queue_push_tail(&n->callbacks, c->rcu);
		c->rcu = NULL;
	}
	return true;
}

void nv_retire_rcu(struct naive *n, struct nv_cpu *c)
{
	if (!c->rcu)
		return;
	c->rcu->no_barn = true;
	c->rcu->cpu = c->id;
	g_queue_push_tail(&n->callbacks, c->rcu);
	c->rcu = NULL;
}

void nv_run_callbacks(struct naive *n)
{
	struct naive_sheaf *h;

	while ((h = g_queue_pop_head(&n->callbacks))) {
		struct nv_cpu *c = &n->cpu[h->cpu];
		struct nv_node *b = h->no_barn ? NULL : &n->node[h->node];

		if (b && b->full.length < NV_MAX_SHEAVES) {
			nv_count(n, c, stat_barn_put, 1);
			g_queue_push_head(&b->full, h);
			continue;
		}
		if (b)
			nv_count(n, c, stat_barn_put_fail, 1);
		flush_sheaf(n, c, h);
		if (b && b->empty.length < NV_MAX_SHEAVES)
			g_queue_push_head(&b->empty, h);
		else
			drop_sheaf(n, c, h);
	}
}

/* ---- flushing ---- */

void nv_pcs_flush(struct naive *n, struct nv_cpu *c)
{
	if (c->spare) {
		flush_sheaf(n, c, c->spare);
		drop_sheaf(n, c, c->spare);
		c->spare = NULL;
	}
	nv_retire_rcu(n, c);
	flush_main(n, c);
}

void nv_barn_shrink(struct naive *n, struct nv_cpu *c, int node)
{
	GQueue full = n->node[node].full, empty = n->node[node].empty;
	struct naive_sheaf *h;

	g_queue_init(&n->node[node].full);
	g_queue_init(&n->node[node].empty);
	while ((h = g_queue_pop_head(&full))) {
		flush_sheaf(n, c, h);
		drop_sheaf(n, c, h);
	}
	while ((h = g_queue_pop_head(&empty)))
		drop_sheaf(n, c, h);
}

/* ---- prefilled sheaves ---- */

struct naive_sheaf *naive_prefill(struct naive *n, int cpu, unsigned gfp,
				  unsigned size)
{
	struct nv_cpu *c = &n->cpu[cpu];
	struct nv_node *b = barn_of(n, c);
	struct naive_sheaf *h;

	if (size > n->capacity) {
		g_autofree struct naive_obj **p =
			g_new(struct naive_obj *, size);
		unsigned got;

		nv_count(n, c, stat_sheaf_prefill_oversize, 1);
		got = n->f->cpu_slabs ? nv_cpu_alloc_bulk(n, c, gfp, size, p) :
					nv_refill(n, c, gfp, size, p);
		if (got == size && !n->f->cpu_slabs)
			nv_count(n, c, stat_alloc_slowpath, size);
		if (got < size) {
			nv_free_detached(n, c, got, p, false);
			return NULL;
		}
		h = g_new0(struct naive_sheaf, 1);
		h->objs = g_ptr_array_new();
		h->capacity = size;
		for (unsigned i = 0; i < size; i++)
			g_ptr_array_add(h->objs, p[i]);
		return h;
	}
	h = c->spare;
	c->spare = NULL;
	if (h) {
		nv_count(n, c, stat_sheaf_prefill_fast, 1);
	} else {
		nv_count(n, c, stat_sheaf_prefill_slow, 1);
		if (b && b->full.length)
			h = g_queue_pop_head(&b->full);
		else if (b)
			h = g_queue_pop_head(&b->empty);
		if (h && h->objs->len)
			nv_count(n, c, stat_barn_get, 1);
		else
			nv_count(n, c, stat_barn_get_fail, 1);
		h = h ? h : new_sheaf(n, c);
	}
	if (h->objs->len < size && !refill_sheaf(n, c, gfp, h)) {
		flush_sheaf(n, c, h);
		drop_sheaf(n, c, h);
		return NULL;
	}
	return h;
}

struct naive_obj *naive_from_sheaf(struct naive_sheaf *h)
{
	struct naive_obj *o;

	if (!h->objs->len)
		return NULL;
	o = h->objs->pdata[h->objs->len - 1];
	g_ptr_array_set_size(h->objs, h->objs->len - 1);
	return o;
}

void naive_return(struct naive *n, int cpu, unsigned gfp,
		  struct naive_sheaf *h)
{
	struct nv_cpu *c = &n->cpu[cpu];
	struct nv_node *b = barn_of(n, c);

	if (h->capacity != n->capacity) {
		g_autofree struct naive_obj **p =
			g_new(struct naive_obj *, h->objs->len + 1);
		unsigned count = h->objs->len;

		for (unsigned i = 0; i < count; i++)
			p[i] = h->objs->pdata[i];
		nv_free_detached(n, c, count, p, false);
		nv_count(n, c, stat_sheaf_flush, count);
		g_ptr_array_unref(h->objs);
		g_free(h);
		return;
	}
	if (!c->spare) {
		c->spare = h;
		nv_count(n, c, stat_sheaf_return_fast, 1);
		return;
	}
	nv_count(n, c, stat_sheaf_return_slow, 1);
	if (b && b->full.length < NV_MAX_SHEAVES &&
	    refill_sheaf(n, c, gfp, h)) {
		g_queue_push_head(&b->full, h);
		nv_count(n, c, stat_barn_put, 1);
		return;
	}
	flush_sheaf(n, c, h);
	drop_sheaf(n, c, h);
}
