/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test only, see naive.h: slabs, node lists and cpu slabs. */
#include "model/naive_internal.h"

/* ---- slabs ---- */

struct nv_slab *nv_new_slab(struct naive *n, struct nv_cpu *c, unsigned gfp,
			    int node)
{
	int at = nv_nth_node(n, node == NO_NODE ? c->node : node, gfp, 0);
	struct nv_slab *s;

	if (at < 0)
		return NULL;
	s = g_new0(struct nv_slab, 1);
	s->node = at;
	s->objects = n->objects;
	s->obj = g_new0(struct naive_obj, s->objects);
	for (int i = 0; i < s->objects; i++) {
		s->obj[i].slab = s;
		s->obj[i].index = i;
		g_queue_push_tail(&s->free, &s->obj[i]);
	}
	n->node[at].slabs++;
	n->node[at].objects += s->objects;
	g_hash_table_add(n->slabs, s);
	nv_count(n, c, stat_alloc_slab, 1);
	return s;
}

void nv_discard(struct naive *n, struct nv_slab *s)
{
	g_assert(!s->inuse && !s->on_list);
	n->node[s->node].slabs--;
	n->node[s->node].objects -= s->objects;
	g_hash_table_remove(n->slabs, s);
}

void nv_list_add(struct naive *n, struct nv_slab *s, bool tail)
{
	GQueue *q = &n->node[s->node].partial;

	g_assert(!s->on_list);
	s->on_list = true;
	if (tail)
		g_queue_push_tail(q, s);
	else
		g_queue_push_head(q, s);
}

void nv_list_del(struct naive *n, struct nv_slab *s)
{
	g_assert(s->on_list);
	s->on_list = false;
	g_queue_remove(&n->node[s->node].partial, s);
}

static bool enough_partial(struct naive *n, struct nv_slab *s)
{
	return n->node[s->node].partial.length >= n->min_partial;
}

/* Puts @chain in front of @to and empties it. */
static void put_in_front(GQueue *chain, GQueue *to)
{
	while (chain->length)
		g_queue_push_head(to, g_queue_pop_tail(chain));
}

void nv_slab_free(struct naive *n, struct nv_cpu *c, struct nv_slab *s,
		  GQueue *chain)
{
	bool no_free = !s->free.length, was_frozen = s->frozen;
	bool to_cpu = n->f->cpu_slabs && n->f->cpu_partial;

	if (n->f->cpu_slabs)
		nv_count(n, c, stat_free_slowpath, 1);
	s->inuse -= chain->length;
	g_assert(s->inuse >= 0);
	put_in_front(chain, &s->free);
	if (was_frozen) {
		nv_count(n, c, stat_free_frozen, 1);
		return;
	}
	if (no_free && to_cpu) {
		s->frozen = n->f->frozen_partial;
		nv_put_cpu_partial(n, c, s, true);
		nv_count(n, c, stat_cpu_partial_free, 1);
		return;
	}
	if (!no_free && !s->on_list)
		return; /* somebody is at it */
	if (!s->inuse && enough_partial(n, s)) {
		if (!no_free) {
			nv_list_del(n, s);
			nv_count(n, c, stat_free_remove_partial, 1);
		}
		nv_count(n, c, stat_free_slab, 1);
		nv_discard(n, s);
	} else if (no_free) {
		nv_list_add(n, s, true);
		nv_count(n, c, stat_free_add_partial, 1);
	}
}

void nv_do_free(struct naive *n, struct nv_cpu *c, struct nv_slab *s,
		GQueue *chain)
{
	if (!n->f->cpu_slabs || c->slab != s) {
		nv_slab_free(n, c, s, chain);
		return;
	}
	nv_count(n, c, stat_free_fastpath,
		 n->f->bulk_stats ? (int)chain->length : 1);
	put_in_front(chain, &c->freelist);
}

void nv_free_detached(struct naive *n, struct nv_cpu *c, unsigned count,
		      struct naive_obj **p, bool relink)
{
	while (count) {
		unsigned same = --count, at = same;
		struct nv_slab *s = p[same]->slab;
		GQueue chain = G_QUEUE_INIT;
		int misses = 0;

		g_queue_push_head(&chain, p[same]);
		while (at && misses < 3) {
			struct naive_obj *o = p[--at];

			if (o->slab != s) {
				misses++;
				continue;
			}
			g_queue_push_head(&chain, o);
			p[at] = p[--same];
		}
		if (relink)
			g_queue_reverse(&chain);
		nv_do_free(n, c, s, &chain);
		count = same;
	}
}

/* ---- the cpu slab ---- */

static void put_to_nodes(struct naive *n, struct nv_cpu *c, GQueue *chain)
{
	struct nv_slab *s;

	while ((s = g_queue_pop_head(chain))) {
		s->frozen = false;
		if (!s->inuse && enough_partial(n, s)) {
			nv_count(n, c, stat_deactivate_empty, 1);
			nv_count(n, c, stat_free_slab, 1);
			nv_discard(n, s);
		} else {
			nv_list_add(n, s, true);
			nv_count(n, c, stat_free_add_partial, 1);
		}
	}
}

void nv_put_cpu_partial(struct naive *n, struct nv_cpu *c, struct nv_slab *s,
			bool drain)
{
	bool by_objects = n->f->cpu_partial_in_objects;
	struct nv_slab *old = g_queue_peek_head(&c->partial);
	bool over = old && (by_objects ?
				    old->pobjects > (int)n->cpu_partial :
				    old->slabs >= (int)n->cpu_partial_slabs);
	GQueue chain = G_QUEUE_INIT;

	if (drain && over) {
		chain = c->partial;
		g_queue_init(&c->partial);
		old = NULL;
	}
	s->slabs = (old ? old->slabs : 0) + 1;
	s->pobjects = (old ? old->pobjects : 0) + s->objects - s->inuse;
	g_queue_push_head(&c->partial, s);
	if (chain.length) {
		put_to_nodes(n, c, &chain);
		nv_count(n, c, stat_cpu_partial_drain, 1);
	}
	if (by_objects && !n->cpu_partial)
		put_to_nodes(n, c, &c->partial);
}

static void deactivate(struct naive *n, struct nv_cpu *c)
{
	struct nv_slab *s = c->slab;
	bool others = s->free.length > 0;

	if (others)
		nv_count(n, c, stat_deactivate_remote_frees, 1);
	s->inuse -= c->freelist.length;
	/* in 2015 object by object, so that the last one ends up first */
	if (n->f->deactivate_by_object)
		g_queue_reverse(&c->freelist);
	put_in_front(&c->freelist, &s->free);
	s->frozen = false;
	c->slab = NULL;
	if (!s->inuse && enough_partial(n, s)) {
		nv_count(n, c, stat_deactivate_empty, 1);
		nv_count(n, c, stat_free_slab, 1);
		nv_discard(n, s);
	} else if (s->free.length) {
		nv_list_add(n, s, others);
		nv_count(n, c, others ? stat_deactivate_to_tail :
					stat_deactivate_to_head, 1);
	} else {
		nv_count(n, c, stat_deactivate_full, 1);
	}
}

void nv_flush_cpu_slab(struct naive *n, struct nv_cpu *c)
{
	if (c->slab) {
		nv_count(n, c, stat_cpuslab_flush, 1);
		deactivate(n, c);
	}
	put_to_nodes(n, c, &c->partial);
}

/* All free objects of @s become the cpu freelist. */
static void load(struct nv_cpu *c, struct nv_slab *s)
{
	c->slab = s;
	s->frozen = true;
	s->inuse = s->objects;
	put_in_front(&s->free, &c->freelist);
}

static bool extra_enough(struct naive *n, int extra, int objects)
{
	int limit = n->cpu_partial_slabs;

	switch (n->f->partial_break) {
	case PARTIAL_BREAK_OBJECTS:
		return objects > (int)n->cpu_partial / 2;
	case PARTIAL_BREAK_GT:
		return extra > limit / 2;
	case PARTIAL_BREAK_GE:
		return extra >= limit / 2;
	default:
		return !limit || extra > limit / 2;
	}
}

/* get_partial_node() */
static struct nv_slab *take_from_node(struct naive *n, struct nv_cpu *c,
				      int node)
{
	GQueue *list = &n->node[node].partial;
	struct nv_slab *first = NULL, *s;
	int extra = 0, objects = 0;

	while ((s = g_queue_peek_head(list))) {
		nv_list_del(n, s);
		objects += s->objects - s->inuse;
		if (!first) {
			first = s;
			nv_count(n, c, stat_alloc_from_partial, 1);
		} else {
			s->frozen = n->f->frozen_partial;
			nv_put_cpu_partial(n, c, s, false);
			nv_count(n, c, stat_cpu_partial_node, 1);
			extra++;
		}
		if (!n->f->cpu_partial || extra_enough(n, extra, objects))
			break;
	}
	return first;
}

static struct nv_slab *take_partial(struct naive *n, struct nv_cpu *c,
				    unsigned gfp, int node)
{
	bool strict = n->f->node_two_pass ? gfp & GFP_ONLY_NODE : true;
	struct nv_slab *s;
	int at;

	s = take_from_node(n, c, node == NO_NODE ? c->mem_node : node);
	if (s || (node != NO_NODE && strict) || !nv_look_elsewhere(n))
		return s;
	for (int k = 0; (at = nv_nth_node(n, c->mem_node, gfp, k)) >= 0; k++) {
		if (n->node[at].partial.length <= n->min_partial)
			continue;
		s = take_from_node(n, c, at);
		if (s)
			return s;
	}
	return NULL;
}

/* Makes c->freelist non-empty; false if there's no memory. */
static bool refill_cpu_slab(struct naive *n, struct nv_cpu *c, unsigned gfp,
			    int node)
{
	bool later = n->f->frozen_partial; /* popped slabs go through redo */
	struct nv_slab *s;

redo:
	/* a node that never has slabs is not worth insisting on */
	if (node != NO_NODE && !n->node[node].memory &&
	    (!c->slab || c->slab->node != node))
		node = NO_NODE;
	if (c->slab && node != NO_NODE && c->slab->node != node) {
		nv_count(n, c, stat_alloc_node_mismatch, 1);
		deactivate(n, c);
	} else if (c->slab && c->freelist.length) {
		return true;
	} else if (c->slab && c->slab->free.length) {
		load(c, c->slab);
		nv_count(n, c, stat_alloc_refill, 1);
		return true;
	} else if (c->slab) {
		c->slab->frozen = false;
		c->slab = NULL;
		nv_count(n, c, stat_deactivate_bypass, 1);
	}

	while ((s = g_queue_pop_head(&c->partial))) {
		GQueue one = G_QUEUE_INIT;

		if (later) {
			c->slab = s;
			nv_count(n, c, stat_cpu_partial_alloc, 1);
			goto redo;
		}
		if (node == NO_NODE || s->node == node) {
			load(c, s);
			nv_count(n, c, stat_cpu_partial_alloc, 1);
			return true;
		}
		g_queue_push_head(&one, s);
		put_to_nodes(n, c, &one);
	}

	s = NULL;
	if (n->f->node_two_pass && node != NO_NODE && !(gfp & GFP_ONLY_NODE)) {
		unsigned only = GFP_FOR_NOWAIT | GFP_ONLY_NODE;

		s = take_partial(n, c, only, node);
		s = s ? s : nv_new_slab(n, c, only, node);
	}
	s = s ? s : take_partial(n, c, gfp, node);
	s = s ? s : nv_new_slab(n, c, gfp, node);
	if (s)
		load(c, s);
	return s;
}

static struct naive_obj *slow(struct naive *n, struct nv_cpu *c, unsigned gfp,
			      int node)
{
	nv_count(n, c, stat_alloc_slowpath, 1);
	if (!refill_cpu_slab(n, c, gfp, node))
		return NULL;
	return g_queue_pop_head(&c->freelist);
}

struct naive_obj *nv_cpu_alloc(struct naive *n, struct nv_cpu *c, unsigned gfp,
			       int node)
{
	if (!c->slab || !c->freelist.length ||
	    (node != NO_NODE && c->slab->node != node))
		return slow(n, c, gfp, node);
	nv_count(n, c, stat_alloc_fastpath, 1);
	return g_queue_pop_head(&c->freelist);
}

unsigned nv_cpu_alloc_bulk(struct naive *n, struct nv_cpu *c, unsigned gfp,
			   unsigned count, struct naive_obj **p)
{
	bool initial = n->f->bulk_alloc != BULK_ALLOC_SINGLY;
	unsigned i;

	for (i = 0; i < count; i++) {
		if (initial && c->freelist.length) {
			p[i] = g_queue_pop_head(&c->freelist);
			if (n->f->bulk_stats)
				nv_count(n, c, stat_alloc_fastpath, 1);
		} else if (n->f->bulk_alloc == BULK_ALLOC_SLOWPATH) {
			nv_count(n, c, stat_alloc_slowpath,
				 n->f->bulk_slow_stats);
			if (!refill_cpu_slab(n, c, gfp, NO_NODE))
				break;
			p[i] = g_queue_pop_head(&c->freelist);
		} else {
			initial = false;
			p[i] = nv_cpu_alloc(n, c, gfp, NO_NODE);
			if (!p[i])
				break;
		}
	}
	if (i == count)
		return count;
	if (n->f->bulk_free == BULK_FREE_DETACHED) {
		nv_free_detached(n, c, i, p, false);
		return 0;
	}
	for (unsigned k = 0; k < i; k++)
		naive_release(n, c->id, p[k]);
	return 0;
}
