/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A circular doubly linked list with its links inside the elements, so that
 * an element can be unlinked without being searched for, and the order of a
 * node's partial list is exactly the order of insertions at head and tail.
 */
#ifndef MODEL_LIST_H
#define MODEL_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_head {
	struct list_head *next, *prev;
};

#define list_entry(ptr, type, member)                                          \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define list_for_each(pos, head)                                               \
	for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_each_safe(pos, n, head)                                       \
	for (pos = (head)->next, n = pos->next; pos != (head);                 \
	     pos = n, n = pos->next)

static inline void list_init(struct list_head *h)
{
	h->next = h->prev = h;
}
static inline bool list_empty(const struct list_head *h)
{
	return h->next == h;
}
static inline void list_insert(struct list_head *e, struct list_head *prev,
			       struct list_head *next)
{
	e->prev = prev;
	e->next = next;
	prev->next = e;
	next->prev = e;
}
static inline void list_add(struct list_head *e, struct list_head *h)
{
	list_insert(e, h, h->next);
}
static inline void list_add_tail(struct list_head *e, struct list_head *h)
{
	list_insert(e, h->prev, h);
}
static inline void list_del(struct list_head *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
	list_init(e);
}
/* Moves all of @from to the head of @to, keeping their order. */
static inline void list_splice_init(struct list_head *from,
				    struct list_head *to)
{
	if (list_empty(from))
		return;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	to->next = from->next;
	from->next->prev = to;
	list_init(from);
}

#endif
