/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/trace/objects.h"

#include <string.h>

/* kmalloc's sets of caches, in the order in which kmalloc_type() asks. */
enum kmalloc_set { SET_DMA, SET_RECLAIM, SET_ACCOUNT, SET_NORMAL, NR_SETS };
static const char *const set_names[NR_SETS] = {
	"dma-kmalloc", "kmalloc-rcl", "kmalloc-cg", "kmalloc"
};
static const unsigned class_sizes[] = { 8,   16,  32,  64,   96,   128, 192,
					256, 512, 1024, 2048, 4096, 8192 };
#define NR_CLASSES G_N_ELEMENTS(class_sizes)
#define NR_PAGE_ORDERS 11 /* orders 0 to 10 */

struct live { /* an entry of the table of live addresses */
	uint64_t ptr; /* 0 = empty */
	uint32_t slot;
};

struct object {
	uint32_t cache; /* number */
	int32_t cpu;	/* that allocated it; free slots: the next free one */
};

struct trace_objects {
	struct trace *trace;
	struct trace_notes *notes;
	/* open addressing, linear probing, at most half full */
	struct live *live;
	uint64_t mask;
	uint64_t nr_live;
	GArray *objects; /* struct object, by slot */
	int32_t free_slot; /* -1 = none */
	GPtrArray *caches;
	/* ways to a cache; numbers + 1, 0 = not there yet */
	GArray *by_name; /* uint32_t by the name's number */
	uint32_t by_class[NR_SETS][NR_CLASSES];
	uint32_t by_order[NR_PAGE_ORDERS];
	GHashTable *by_size; /* (object size << 32 | size) -> number + 1 */
};

static void cache_free(gpointer p)
{
	struct trace_cache *c = p;

	g_free(c->name);
	g_free(c);
}

struct trace_objects *trace_objects_new(struct trace *t,
					struct trace_notes *notes)
{
	struct trace_objects *o = g_new0(struct trace_objects, 1);

	o->trace = t;
	o->notes = notes;
	o->mask = (1 << 12) - 1;
	o->live = g_new0(struct live, o->mask + 1);
	o->objects = g_array_new(FALSE, FALSE, sizeof(struct object));
	o->free_slot = -1;
	o->caches = g_ptr_array_new_with_free_func(cache_free);
	o->by_name = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	o->by_size = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					   NULL);
	return o;
}

void trace_objects_free(struct trace_objects *o)
{
	if (!o)
		return;
	g_free(o->live);
	g_array_free(o->objects, TRUE);
	g_ptr_array_free(o->caches, TRUE);
	g_array_free(o->by_name, TRUE);
	g_hash_table_destroy(o->by_size);
	g_free(o);
}

/* ---- live addresses ---- */

static inline uint64_t home(const struct trace_objects *o, uint64_t ptr)
{
	/* Fibonacci hashing: addresses differ in their middle bits */
	return (ptr * 0x9e3779b97f4a7c15ull >> 20) & o->mask;
}

void trace_objects_expect(const struct trace_objects *o, uint64_t ptr)
{
	__builtin_prefetch(&o->live[home(o, ptr)]);
}

static struct live *lookup(struct trace_objects *o, uint64_t ptr)
{
	uint64_t i = home(o, ptr);

	while (o->live[i].ptr && o->live[i].ptr != ptr)
		i = (i + 1) & o->mask;
	return &o->live[i];
}

static void grow(struct trace_objects *o)
{
	struct live *old = o->live;
	uint64_t n = o->mask + 1;

	o->mask = 2 * n - 1;
	o->live = g_new0(struct live, 2 * n);
	for (uint64_t i = 0; i < n; i++)
		if (old[i].ptr)
			*lookup(o, old[i].ptr) = old[i];
	g_free(old);
}

/* Closes the gap, so that no probe ends early. */
static void forget(struct trace_objects *o, struct live *l)
{
	uint64_t gap = l - o->live, i = gap;

	while (true) {
		i = (i + 1) & o->mask;
		if (!o->live[i].ptr)
			break;
		/* may it move to the gap? not if its home lies after it */
		if (((i - home(o, o->live[i].ptr)) & o->mask) >=
		    ((i - gap) & o->mask)) {
			o->live[gap] = o->live[i];
			gap = i;
		}
	}
	o->live[gap].ptr = 0;
	o->nr_live--;
}

static uint32_t take_slot(struct trace_objects *o)
{
	struct object fresh = { 0 };
	uint32_t slot = o->free_slot;

	if (o->free_slot < 0) {
		g_array_append_val(o->objects, fresh);
		return o->objects->len - 1;
	}
	o->free_slot = g_array_index(o->objects, struct object, slot).cpu;
	return slot;
}

void trace_objects_release(struct trace_objects *o, uint32_t slot)
{
	g_array_index(o->objects, struct object, slot).cpu = o->free_slot;
	o->free_slot = slot;
}

uint32_t trace_objects_slots(const struct trace_objects *o)
{
	return o->objects->len;
}

/* ---- caches ---- */

unsigned trace_objects_caches(const struct trace_objects *o)
{
	return o->caches->len;
}

struct trace_cache *trace_objects_cache(struct trace_objects *o, unsigned i)
{
	return g_ptr_array_index(o->caches, i);
}

struct trace_cache *trace_objects_cache_of(struct trace_objects *o,
					   uint32_t slot)
{
	return trace_objects_cache(
		o, g_array_index(o->objects, struct object, slot).cache);
}

static uint32_t add_cache(struct trace_objects *o, enum trace_cache_kind kind,
			  char *name)
{
	struct trace_cache *c = g_new0(struct trace_cache, 1);

	c->kind = kind;
	c->name = name;
	c->number = o->caches->len;
	g_ptr_array_add(o->caches, c);
	return o->caches->len;
}

static unsigned align_up(unsigned v, unsigned to)
{
	return (v + to - 1) / to * to;
}

/*
 * What makes objects of bytes_req take bytes_alloc: alignment, or a free
 * pointer behind the object. If neither does, the traced kernel had debugging
 * on (red zones, tracking), and the object is replayed without it.
 */
static void set_sizes(struct trace_cache *c, const struct trace_event *ev)
{
	c->object_size = ev->bytes_req;
	c->size = ev->bytes_alloc;
	if (c->size == align_up(c->object_size, 8))
		return;
	for (unsigned align = 16; align <= 4096; align *= 2) {
		if (c->size == align_up(c->object_size, align)) {
			c->align = align;
			return;
		}
	}
	for (unsigned align = 8; align <= 64; align *= 2) {
		if (c->size == align_up(align_up(c->object_size, 8) + 8,
					align)) {
			c->align = align > 8 ? align : 0;
			c->pointer_outside = true;
			return;
		}
	}
}

static uint32_t *named_entry(struct trace_objects *o, uint32_t name)
{
	if (name >= o->by_name->len)
		g_array_set_size(o->by_name, name + 64);
	return &g_array_index(o->by_name, uint32_t, name);
}

static struct trace_cache *named_cache(struct trace_objects *o, uint32_t name,
				       uint32_t *number)
{
	uint32_t *entry = named_entry(o, name);

	if (!*entry)
		*entry = add_cache(o, TRACE_CACHE_NAMED,
				   g_strdup(trace_name(o->trace, name)));
	*number = *entry - 1;
	trace_objects_cache(o, *number)->name_number = name;
	return trace_objects_cache(o, *number);
}

static struct trace_cache *cache_by_size(struct trace_objects *o,
					 const struct trace_event *ev,
					 uint32_t *number)
{
	gint64 key = (gint64)ev->bytes_req << 32 | ev->bytes_alloc;
	uint32_t n = GPOINTER_TO_UINT(g_hash_table_lookup(o->by_size, &key));
	struct trace_cache *c;

	o->notes->count[NOTE_UNNAMED]++;
	if (!n) {
		char *name = g_strdup_printf(":%07u-%07u",
					     ev->bytes_req,
					     ev->bytes_alloc);

		if (o->caches->len >= TRACE_MAX_CACHES) {
			g_free(name);
			return NULL;
		}
		n = add_cache(o, TRACE_CACHE_BY_SIZE, name);
		g_hash_table_insert(o->by_size, g_memdup2(&key, sizeof(key)),
				    GUINT_TO_POINTER(n));
	}
	*number = n - 1;
	c = trace_objects_cache(o, *number);
	return c;
}

static struct trace_cache *page_cache(struct trace_objects *o,
				      uint64_t bytes, uint32_t *number)
{
	unsigned order = 0;
	struct trace_cache *c;

	while (4096ull << order < bytes)
		order++;
	if (!o->by_order[order]) {
		o->by_order[order] = add_cache(
			o, TRACE_CACHE_PAGES,
			g_strdup_printf("kmalloc-pages-order-%u", order));
		c = trace_objects_cache(o, o->by_order[order] - 1);
		c->order = order;
		c->object_size = 4096u << order;
		c->size = c->object_size;
	}
	*number = o->by_order[order] - 1;
	return trace_objects_cache(o, *number);
}

static struct trace_cache *kmalloc_class(struct trace_objects *o,
					 const struct trace_event *ev,
					 uint32_t *number)
{
	enum kmalloc_set set = ev->gfp & TRACE_GFP_DMA	       ? SET_DMA :
			       ev->gfp & TRACE_GFP_RECLAIMABLE ? SET_RECLAIM :
			       ev->gfp & TRACE_GFP_ACCOUNT     ? SET_ACCOUNT :
								 SET_NORMAL;
	unsigned k = 0, size;
	struct trace_cache *c;

	if (ev->bytes_req > TRACE_KMALLOC_MAX_CACHE)
		return page_cache(o, ev->bytes_req, number);
	while (class_sizes[k] < ev->bytes_req)
		k++;
	size = class_sizes[k];
	if (!o->by_class[set][k]) {
		char *name = size < 1024 ?
				     g_strdup_printf("%s-%u", set_names[set],
						     size) :
				     g_strdup_printf("%s-%uk", set_names[set],
						     size / 1024);

		o->by_class[set][k] = add_cache(
			o,
			set == SET_NORMAL ? TRACE_CACHE_KMALLOC :
					    TRACE_CACHE_KMALLOC_SET,
			name);
		c = trace_objects_cache(o, o->by_class[set][k] - 1);
		c->object_size = size;
		c->size = ev->bytes_alloc;
		c->accounted = set == SET_ACCOUNT;
	}
	*number = o->by_class[set][k] - 1;
	return trace_objects_cache(o, *number);
}

/* The cache of an allocation; NULL if no cache serves its size. */
static struct trace_cache *cache_of(struct trace_objects *o,
				    const struct trace_event *ev,
				    uint32_t *number)
{
	struct trace_cache *c;

	if (ev->kind == TRACE_KMALLOC)
		return ev->bytes_req > TRACE_KMALLOC_MAX ?
			       NULL :
			       kmalloc_class(o, ev, number);
	if (ev->bytes_req > TRACE_MAX_OBJECT)
		return NULL;
	c = ev->name ? named_cache(o, ev->name, number) :
		       cache_by_size(o, ev, number);
	if (!c)
		return NULL;
	if (!c->object_size) {
		set_sizes(c, ev);
		c->accounted = ev->gfp & TRACE_GFP_ACCOUNT;
	} else if (c->object_size != ev->bytes_req) {
		o->notes->count[NOTE_SIZE_CHANGED]++;
	}
	return c;
}

/* ---- events ---- */

static void step_alloc(struct trace_objects *o, const struct trace_event *ev,
		       struct trace_step *step)
{
	struct live *l;
	uint32_t number = 0;
	struct object *obj;

	if (!ev->ptr) {
		o->notes->count[NOTE_FAILED_ALLOC]++;
		return;
	}
	step->cache = cache_of(o, ev, &number);
	if (!step->cache) {
		o->notes->count[NOTE_SIZE_RANGE]++;
		return;
	}
	if (2 * (o->nr_live + 1) > o->mask)
		grow(o);
	step->action = TRACE_ALLOC;
	step->object = take_slot(o);
	l = lookup(o, ev->ptr);
	if (l->ptr) {
		struct trace_cache *lost = trace_objects_cache_of(o, l->slot);

		o->notes->count[NOTE_LOST_FREE]++;
		step->action = TRACE_FREE_THEN_ALLOC;
		step->lost = l->slot;
		lost->lost_frees++;
		lost->live--;
	} else {
		l->ptr = ev->ptr;
		o->nr_live++;
	}
	l->slot = step->object;
	obj = &g_array_index(o->objects, struct object, step->object);
	obj->cache = number;
	obj->cpu = ev->cpu;
	step->cache->allocs++;
	step->cache->live++;
	step->cache->peak = MAX(step->cache->peak, step->cache->live);
}

static void step_free(struct trace_objects *o, const struct trace_event *ev,
		      struct trace_step *step)
{
	struct live *l;
	uint32_t number;

	if (!ev->ptr) {
		o->notes->count[NOTE_NULL_FREE]++;
		return;
	}
	l = lookup(o, ev->ptr);
	if (!l->ptr) {
		o->notes->count[NOTE_UNSEEN_FREE]++;
		step->action = TRACE_FREE_UNSEEN;
		if (ev->name && ev->kind == TRACE_CACHE_FREE) {
			step->cache = named_cache(o, ev->name, &number);
			step->cache->unseen_frees++;
		}
		return;
	}
	step->action = TRACE_FREE;
	step->object = l->slot;
	step->cache = trace_objects_cache_of(o, l->slot);
	forget(o, l);
	if (ev->name && ev->kind == TRACE_CACHE_FREE &&
	    step->cache->name_number && step->cache->name_number != ev->name)
		o->notes->count[NOTE_OTHER_NAME]++;
	step->cache->frees++;
	step->cache->live--;
	if (g_array_index(o->objects, struct object, step->object).cpu !=
	    ev->cpu)
		step->cache->remote_frees++;
}

void trace_objects_step(struct trace_objects *o, const struct trace_event *ev,
			struct trace_step *step)
{
	memset(step, 0, sizeof(*step));
	if (trace_is_alloc(ev->kind))
		step_alloc(o, ev, step);
	else
		step_free(o, ev, step);
}
