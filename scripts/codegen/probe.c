/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small stand-in for the hot path of a compressed-object allocator, written
 * to be compiled and counted: see count beside it. It has the data that
 * the model's codegen profiles speak of (a packed location word, a class
 * found through it, a checked page descriptor) and nothing else. Externals
 * (locks, slab, memcpy) are empty functions, the same in all builds.
 */
#include "probe.h"

#ifndef A_MALLOC
#define A_MALLOC
#endif
#ifndef A_FREE
#define A_FREE
#endif
#ifndef A_WRITE
#define A_WRITE
#endif
#ifndef A_NEW
#define A_NEW
#endif
static INLINE ul page_no(struct pagedesc *d) { return d - DESC_BASE; }
static INLINE char *page_mem(struct pagedesc *d)
{
	return MEM_BASE + (page_no(d) << 12);
}
static INLINE struct group *group_of(struct pagedesc *d)
{
	struct group *g = d->group;

	if (RARE(g->magic != 0x58))
		BUG();
	return g;
}
static INLINE struct cls *group_cls(struct pool *p, struct group *g)
{
	return p->cls[g->cls];
}
static INLINE struct pagedesc *next_page(struct pagedesc *d)
{
	struct group *g = group_of(d);

	if (RARE(g->huge))
		return NULL;
	return d->next;
}
static INLINE ul pack(struct pagedesc *d, u32 idx, u32 cls)
{
#ifdef STORE
	return (page_no(d) << (IDX_BITS + CLS_BITS)) | ((ul)cls << IDX_BITS) |
	       (idx & 0xffff);
#else
	return (page_no(d) << 24) | (idx & 0xffffff);
#endif
}
static INLINE void unpack(ul o, struct pagedesc **d, u32 *idx, u32 *cls)
{
#ifdef STORE
	*d = DESC_BASE + (o >> (IDX_BITS + CLS_BITS));
	*cls = (o >> IDX_BITS) & 0xff;
	*idx = o & 0xffff;
#else
	*d = DESC_BASE + (o >> 24);
	*cls = 0;
	*idx = o & 0xffffff;
#endif
}

static void lists_move(struct node *n, struct node *head)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	n->next = head->next;
	n->prev = head;
	head->next->prev = n;
	head->next = n;
}

static u32 fullness(struct cls *c, struct group *g)
{
	u32 pct;

	if (g->used == 0)
		return 0;
	if (g->used == c->per_group)
		return 11;
	pct = 100 * g->used / c->per_group;
	return pct / 10 + 1;
}

static NOINLINE u32 fix_fullness(struct cls *c, struct group *g)
{
	u32 now = fullness(c, g);

	if (now == g->full)
		return now;
	c->stat[g->full]--;
	c->stat[now]++;
	lists_move(&g->list, &c->lists[now]);
	g->full = now;
	return now;
}

static A_MALLOC ul obj_malloc(struct pool *p, struct group *g, ul handle)
{
	struct cls *c = group_cls(p, g);
	u32 idx = g->freeidx;
	ul off = (ul)idx * c->size, hops = off >> 12, o;
	struct pagedesc *d = g->first;
	ul *head;

	off &= PG - 1;
	for (ul i = 0; i < hops; i++)
		d = next_page(d);
	head = (ul *)(page_mem(d) + off);
	g->freeidx = *head >> 1;
	if (!RARE(g->huge))
		*head = handle | 1;
	else
		d->next = (void *)(handle | 1);
	g->used++;
	o = pack(d, idx, g->cls);
	*(ul *)handle = o;
	return o;
}

static A_FREE void obj_free(u32 size, ul o)
{
	struct pagedesc *d;
	struct group *g;
	u32 idx, cls;
	ul *head;

	unpack(o, &d, &idx, &cls);
	g = group_of(d);
	head = (ul *)(page_mem(d) + (((ul)size * idx) & (PG - 1)));
	if (!RARE(g->huge))
		*head = (ul)g->freeidx << 1;
	else
		d->next = NULL;
	g->freeidx = idx;
	g->used--;
}

static A_NEW struct group *new_group(struct pool *p, struct cls *c, u32 gfp,
				    int nid)
{
	struct pagedesc *pages[8], *last = NULL;
	struct group *g = (void *)ext_slab_alloc(p->slab, gfp);
	u32 free = 1;
	ul off = 0;

	if (!g)
		return NULL;
	g->magic = 0x58;
	g->pool = p;
	g->cls = c->index;
	for (u32 i = 0; i < c->pages; i++) {
		struct pagedesc *d = ext_page(gfp, nid);

		if (!d) {
			while (i--)
				ext_slab_free(p->slab, (ul)pages[i]);
			ext_slab_free(p->slab, (ul)g);
			return NULL;
		}
		d->type = 0x10;
		pages[i] = d;
	}
	for (u32 i = 0; i < c->pages; i++) {
		pages[i]->group = g;
		if (last)
			last->next = pages[i];
		else {
			g->first = pages[i];
			pages[i]->flags |= 64;
			if (c->per_group == 1 && c->pages == 1)
				g->huge = 1;
		}
		last = pages[i];
	}
	for (struct pagedesc *d = g->first; d; d = next_page(d)) {
		char *m = page_mem(d);
		d->first = off;
		while ((off += c->size) < PG)
			*(ul *)(m + off) = (ul)free++ << 1;
		off %= PG;
	}
	g->freeidx = 0;
	return g;
}

static INLINE struct group *find_group(struct cls *c)
{
	for (int i = 10; i >= 0; i--)
		if (c->lists[i].next != &c->lists[i])
			return (void *)((char *)c->lists[i].next -
					__builtin_offsetof(struct group, list));
	return NULL;
}

static NOINLINE void free_group(struct pool *p, struct cls *c, struct group *g)
{
	for (struct pagedesc *d = g->first; d; d = d->next)
		ext_slab_free(p, (ul)d);
	ext_slab_free(p->slab, (ul)g);
	c->stat[12] -= c->per_group;
}

static INLINE u32 cls_index(ul size)
{
	u32 i = 0;

	if (size > 32)
		i = (size - 32 + 15) / 16;
	return i < 254 ? i : 254;
}

/* where an object's bytes go; used by both forms of writing */
static INLINE void copy_in(struct cls *c, struct group *g, struct pagedesc *d,
			   u32 idx, const char *from, ul n)
{
	ul off = ((ul)c->size * idx) & (PG - 1), first;

	if (!g->huge)
		off += 8;
	if (off + n <= PG) {
		ext_copy(page_mem(d) + off, from, n);
		return;
	}
	first = PG - off;
	ext_copy(page_mem(d) + off, from, first);
	d = next_page(d);
	ext_copy(page_mem(d), from + first, n - first);
}

#ifdef STORE
static A_WRITE void obj_write(struct pool *p, ul o, const char *from, ul n)
{
	struct pagedesc *d;
	u32 idx, cls;

	unpack(o, &d, &idx, &cls);
	copy_in(p->cls[cls], group_of(d), d, idx, from, n);
}
#endif

#ifdef STORE
ul op_alloc(struct pool *p, const char *from, ul size, u32 gfp, int nid)
#else
ul op_alloc(struct pool *p, ul size, u32 gfp, int nid)
#endif
{
	struct group *g;
	struct cls *c;
	ul handle, o;
	u32 now;

	if (RARE(!size))
		return -22;
	if (RARE(size > PG))
		return -28;
	handle = ext_slab_alloc(p->slab, gfp & ~10u);
	if (COLD(!handle))
		return -12;
#ifdef STORE
	c = p->cls[cls_index(size + 8)];
#else
	size += 8;
	c = p->cls[cls_index(size)];
#endif
	ext_lock(&c->lock);
	g = find_group(c);
	if (!COLD(!g)) {
		o = obj_malloc(p, g, handle);
#ifdef STORE
		obj_write(p, o, from, size);
#endif
		fix_fullness(c, g);
		c->stat[13]++;
		goto out;
	}
	ext_unlock(&c->lock);
	g = new_group(p, c, gfp, nid);
	if (!g) {
		ext_slab_free(p->slab, handle);
		return -12;
	}
	ext_lock(&c->lock);
	o = obj_malloc(p, g, handle);
#ifdef STORE
	obj_write(p, o, from, size);
#endif
	now = fullness(c, g);
	c->stat[now]++;
	g->list.next = c->lists[now].next;
	g->list.prev = &c->lists[now];
	c->lists[now].next->prev = &g->list;
	c->lists[now].next = &g->list;
	g->full = now;
	p->pages_allocated += c->pages;
	c->stat[12] += c->per_group;
	c->stat[13]++;
out:
	ext_unlock(&c->lock);
	(void)o;
	return handle;
}

#ifndef STORE
void op_write(struct pool *p, ul handle, const char *from, ul n)
{
	struct pagedesc *d;
	struct group *g;
	struct cls *c;
	u32 idx, cls;

	ext_read_lock(&p->lock);
	unpack(*(ul *)handle, &d, &idx, &cls);
	g = group_of(d);
	ext_lock(&g->lock);
	g->readers++;
	ext_unlock(&g->lock);
	ext_read_unlock(&p->lock);
	c = group_cls(p, g);
	copy_in(c, g, d, idx, from, n);
	ext_lock(&g->lock);
	g->readers--;
	ext_unlock(&g->lock);
}
#endif

void op_free(struct pool *p, ul handle)
{
	struct pagedesc *d;
	struct group *g;
	struct cls *c;
	u32 idx, cls;
	ul o;

	if (RARE(handle > -4096ul))
		return;
	ext_read_lock(&p->lock);
	o = *(ul *)handle;
	unpack(o, &d, &idx, &cls);
	g = group_of(d);
	c = group_cls(p, g);
	ext_lock(&c->lock);
	ext_read_unlock(&p->lock);
	c->stat[13]--;
	obj_free(c->size, o);
	if (COLD(fix_fullness(c, g) == 0))
		free_group(p, c, g);
	ext_unlock(&c->lock);
	ext_slab_free(p->slab, handle);
}
