/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node's barn: full and empty sheaves that its CPUs exchange.
 *
 * Lock, counts and list heads share one line; the pre-checks without the lock
 * read that same line. Both lists are LIFO. Putting a sheaf on a list, or
 * taking it off, also writes the header of its neighbour.
 */
#include "model/cache.h"

struct node_barn *barn_create(struct cpu *c, struct kmem_cache *s, int node)
{
	struct node_barn *b = g_new0(struct node_barn, 1);
	struct machine *m = s->slub->machine;

	b->node = node;
	b->cost = s->cost;
	b->line = kmem_alloc(s->slub, node, 48);
	b->domain = machine_domain_of_node(m, node);
	machine_name_region(m, b->line, SIM_LINE, "node_barn");
	lock_init(m, &b->lock, "&barn->lock", b->line, b->domain);
	list_init(&b->full);
	list_init(&b->empty);
	return b;
}

struct node_barn *get_barn(struct cpu *c, struct kmem_cache *s)
{
	/* the pointer is in a read-only line, but up to 7.0 it sits behind
	 * the node's struct kmem_cache_node */
	int node = s->f->barns_on_memoryless ? c->node : numa_mem_id(s, c);

	cpu_read(c, s->line + CACHE_NODES + CACHE_NODE_BYTES * node);
	if (!s->f->barns_on_memoryless && s->node[node])
		cpu_read(c, s->node[node]->line + SIM_LINE);
	return s->barn[node];
}

static void link_sheaf(struct cpu *c, struct slab_sheaf *sheaf,
		       struct list_head *list)
{
	if (!list_empty(list))
		cpu_write(
			c,
			list_entry(list->next, struct slab_sheaf, list)->addr);
	list_add(&sheaf->list, list);
	cpu_write(c, sheaf->addr);
}

static struct slab_sheaf *unlink_first(struct cpu *c, struct list_head *list)
{
	struct slab_sheaf *sheaf =
		list_entry(list->next, struct slab_sheaf, list);

	cpu_read(c, sheaf->addr);
	list_del(&sheaf->list);
	if (!list_empty(list))
		cpu_write(
			c,
			list_entry(list->next, struct slab_sheaf, list)->addr);
	return sheaf;
}

/* Reads the counts without the lock, as they are when the line has come. */
static void peek(struct cpu *c, struct node_barn *b)
{
	cpu_exec(c, b->cost->barn_exchange);
	cpu_read(c, b->line);
	cpu_meet(c, b->domain);
}

struct slab_sheaf *barn_get_empty_sheaf(struct cpu *c, struct node_barn *b)
{
	struct slab_sheaf *sheaf = NULL;

	peek(c, b);
	if (!b->nr_empty)
		return NULL;
	cpu_lock(c, &b->lock);
	if (b->nr_empty) {
		sheaf = unlink_first(c, &b->empty);
		b->nr_empty--;
		cpu_write(c, b->line + BARN_EMPTY);
	}
	cpu_unlock(c, &b->lock);
	return sheaf;
}

void barn_put_empty_sheaf(struct cpu *c, struct node_barn *b,
			  struct slab_sheaf *sheaf)
{
	cpu_exec(c, b->cost->barn_exchange);
	cpu_lock(c, &b->lock);
	cpu_write(c, b->line + BARN_FULL);
	link_sheaf(c, sheaf, &b->empty);
	b->nr_empty++;
	cpu_unlock(c, &b->lock);
}

void barn_put_full_sheaf(struct cpu *c, struct node_barn *b,
			 struct slab_sheaf *sheaf)
{
	cpu_exec(c, b->cost->barn_exchange);
	cpu_lock(c, &b->lock);
	cpu_write(c, b->line + BARN_FULL);
	link_sheaf(c, sheaf, &b->full);
	b->nr_full++;
	cpu_unlock(c, &b->lock);
}

struct slab_sheaf *barn_get_full_or_empty_sheaf(struct cpu *c,
						struct node_barn *b)
{
	struct slab_sheaf *sheaf = NULL;

	peek(c, b);
	if (!b->nr_full && !b->nr_empty)
		return NULL;
	cpu_lock(c, &b->lock);
	if (b->nr_full) {
		sheaf = unlink_first(c, &b->full);
		b->nr_full--;
	} else if (b->nr_empty) {
		sheaf = unlink_first(c, &b->empty);
		b->nr_empty--;
	}
	cpu_write(c, b->line + BARN_COUNTS);
	cpu_unlock(c, &b->lock);
	return sheaf;
}

struct slab_sheaf *barn_replace_empty_sheaf(struct cpu *c, struct node_barn *b,
					    struct slab_sheaf *empty)
{
	struct slab_sheaf *full = NULL;

	peek(c, b);
	if (!b->nr_full)
		return NULL;
	cpu_lock(c, &b->lock);
	cpu_write(c, b->line + BARN_FULL);
	if (b->nr_full) {
		full = unlink_first(c, &b->full);
		b->nr_full--;
		link_sheaf(c, empty, &b->empty);
		b->nr_empty++;
	}
	cpu_unlock(c, &b->lock);
	return full;
}

enum barn_replace barn_replace_full_sheaf(struct cpu *c, struct node_barn *b,
					  struct slab_sheaf *full,
					  struct slab_sheaf **empty)
{
	enum barn_replace ret = BARN_NO_EMPTY;

	peek(c, b);
	if (b->nr_full >= MAX_FULL_SHEAVES)
		return BARN_TOO_FULL;
	if (!b->nr_empty)
		return BARN_NO_EMPTY;
	cpu_lock(c, &b->lock);
	cpu_write(c, b->line + BARN_FULL);
	if (b->nr_empty) {
		*empty = unlink_first(c, &b->empty);
		b->nr_empty--;
		link_sheaf(c, full, &b->full);
		b->nr_full++;
		ret = BARN_REPLACED;
	}
	cpu_unlock(c, &b->lock);
	return ret;
}

void barn_shrink(struct cpu *c, struct kmem_cache *s, struct node_barn *b)
{
	struct list_head full, empty;

	list_init(&full);
	list_init(&empty);
	cpu_lock(c, &b->lock);
	list_splice_init(&b->full, &full);
	list_splice_init(&b->empty, &empty);
	b->nr_full = b->nr_empty = 0;
	cpu_write(c, b->line);
	cpu_unlock(c, &b->lock);
	while (!list_empty(&full)) {
		struct slab_sheaf *sheaf = unlink_first(c, &full);

		sheaf_flush_unused(c, s, sheaf);
		free_empty_sheaf(c, s, sheaf);
	}
	while (!list_empty(&empty))
		free_empty_sheaf(c, s, unlink_first(c, &empty));
}
