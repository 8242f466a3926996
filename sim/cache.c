/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/cache.h"

#include <string.h>
#include <sys/mman.h>

#define CHUNK_BITS 15 /* lines of 2 MiB */
#define CHUNK_LINES (1u << CHUNK_BITS)
#define NODE_LINE_BITS (SIM_NODE_SHIFT - 6)
#define HALF_LINES ((uint64_t)1 << (NODE_LINE_BITS - 1))

/* Chunk numbers by (offset in the node / 2 MiB); one table for each half of a
 * node's addresses, as reserved memory starts in the middle. */
struct chunk_table {
	uint32_t *numbers; /* 0 = none yet */
	uint64_t room;
};

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		g_error("no memory for %zu bytes of cache state", bytes);
	return p;
}

static struct cache_shape shape(int64_t kib, int64_t ways, bool masked)
{
	uint64_t lines = MAX(1, (uint64_t)kib * 1024 / SIM_LINE), sets;
	struct cache_shape s;

	ways = CLAMP(ways, 1, (int64_t)lines);
	sets = lines / ways;
	if (masked) {
		/* the next lower power of two, the rest as ways */
		while (sets & (sets - 1))
			sets &= sets - 1;
		ways = lines / sets;
	}
	s.sets = sets;
	s.mask = sets & (sets - 1) ? 0 : sets - 1;
	s.ways = (unsigned)ways;
	return s;
}

static size_t number_bytes(const struct cache_shape *s)
{
	return s->sets * sizeof(uint32_t);
}

static size_t way_bytes(const struct cache_shape *s)
{
	return s->sets * s->ways * sizeof(uint32_t);
}

static struct tags new_tags(const struct cache_shape *s)
{
	return (struct tags){
		.number = map(number_bytes(s)),
		.ways = map(way_bytes(s)),
	};
}

static void free_tags(struct tags *t, const struct cache_shape *s)
{
	munmap(t->number, number_bytes(s));
	munmap(t->ways, way_bytes(s));
}

static struct l1 *new_l1(size_t ways)
{
	size_t bytes = sizeof(struct l1) + ways * sizeof(struct l1_way);
	struct l1 *l1 = g_aligned_alloc0(1, bytes + ways, 64);

	l1->watched = (uint8_t *)l1 + bytes;
	return l1;
}

struct caches *caches_new(const struct topology *t,
			  const struct machine_params *p)
{
	struct caches *x = g_new0(struct caches, 1);

	x->topology = t;
	x->l1 = shape(p->l1_kib, p->l1_ways, true);
	x->l2 = shape(p->l2_kib, p->l2_ways, true);
	x->l3 = shape(p->l3_kib, p->l3_ways, false);
	g_assert(x->l1.sets * x->l1.ways <= G_MAXUINT16);
	x->inclusive = p->l3_inclusive;
	x->nr_cores = t->nr_cores;
	x->nr_l3 = t->nr_l3;
	x->cores = g_new0(struct core, t->nr_cores);
	x->l3s = g_new0(struct l3, t->nr_l3);
	x->tables = g_new0(struct chunk_table, 2 * (size_t)t->nr_node_ids);
	x->nr_chunks = 1; /* handle 0 is no line */
	x->sets = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	x->free_sets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	x->set_words = (t->nr_cores + 63) / 64;
	x->scratch = g_new(uint16_t, t->nr_cores);
	g_assert(t->nr_cores < (int)NO_CORE && t->nr_l3 < (int)NO_L3);
	for (int i = 0; i < t->nr_l3; i++)
		x->l3s[i].id = i;
	for (int i = 0; i < t->nr_cpu_ids; i++) {
		const struct topology_cpu *c = &t->cpus[i];
		struct core *k;
		struct l3 *l;

		if (!c->online)
			continue;
		k = &x->cores[c->core];
		l = &x->l3s[c->l3];
		if (k->nr_threads++)
			continue;
		k->id = c->core;
		k->l3 = c->l3;
		k->socket = l->socket = c->socket;
		k->node = c->node;
		k->l1 = new_l1(x->l1.sets * x->l1.ways);
		k->l2 = new_tags(&x->l2);
		if (!l->nr_cores) {
			l->tags = new_tags(&x->l3);
			l->cores = g_new(int, t->nr_cores);
			l->node = c->node;
		}
		l->cores[l->nr_cores++] = k->id;
	}
	for (int i = 0; i < t->nr_l3; i++)
		if (x->l3s[i].cores)
			x->l3s[i].cores = g_renew(int, x->l3s[i].cores,
						  x->l3s[i].nr_cores);
	return x;
}

static void free_chunk(struct chunk *chunk)
{
	munmap(chunk->lines, CHUNK_LINES * sizeof(struct line));
	g_free(chunk);
}

void caches_free(struct caches *x)
{
	for (int i = 0; i < x->nr_cores; i++) {
		if (!x->cores[i].l1)
			continue;
		g_aligned_free(x->cores[i].l1);
		free_tags(&x->cores[i].l2, &x->l2);
	}
	for (int i = 0; i < x->nr_l3; i++) {
		if (x->l3s[i].nr_cores)
			free_tags(&x->l3s[i].tags, &x->l3);
		g_free(x->l3s[i].cores);
	}
	for (uint32_t i = 1; i < x->nr_chunks; i++)
		free_chunk(x->chunks[i]);
	for (int i = 0; i < 2 * x->topology->nr_node_ids; i++)
		g_free(x->tables[i].numbers);
	g_free(x->tables);
	g_free(x->chunks);
	g_free(x->cores);
	g_free(x->l3s);
	g_free(x->scratch);
	g_array_free(x->sets, TRUE);
	g_array_free(x->free_sets, TRUE);
	g_free(x);
}

/* ---- directory ---- */

static struct chunk *new_chunk(struct caches *x, struct chunk_table *table,
			       uint64_t index, uint64_t line)
{
	struct chunk *chunk = g_new0(struct chunk, 1);
	uint32_t number = x->nr_chunks++;

	g_assert(number < 1u << (32 - CHUNK_BITS));
	if (index >= table->room) {
		uint64_t room = MAX(16, MAX(2 * table->room, index + 1));

		table->numbers = g_renew(uint32_t, table->numbers, room);
		memset(table->numbers + table->room, 0,
		       (room - table->room) * sizeof(uint32_t));
		table->room = room;
	}
	table->numbers[index] = number;
	if (number >= x->room_chunks) {
		x->room_chunks = MAX(16, 2 * x->room_chunks);
		x->chunks = g_renew(struct chunk *, x->chunks, x->room_chunks);
	}
	x->chunks[number] = chunk;
	chunk->number = number;
	chunk->first = line & ~(uint64_t)(CHUNK_LINES - 1);
	chunk->lines = map(CHUNK_LINES * sizeof(struct line));
	return chunk;
}

static struct chunk *chunk_of(struct caches *x, uint64_t line)
{
	uint64_t node = (line >> NODE_LINE_BITS) - 1;
	uint64_t at = line & (2 * HALF_LINES - 1);
	bool upper = at >= HALF_LINES;
	struct chunk_table *table = &x->tables[2 * node + upper];
	uint64_t index = (at & (HALF_LINES - 1)) >> CHUNK_BITS;

	g_assert(node < (uint64_t)x->topology->nr_node_ids);
	if (index < table->room && table->numbers[index])
		return x->chunks[table->numbers[index]];
	return new_chunk(x, table, index, line);
}

static struct line *entry(const struct caches *x, uint32_t handle)
{
	return &x->chunks[handle >> CHUNK_BITS]->lines[handle & (CHUNK_LINES - 1)];
}

static uint64_t line_of(const struct caches *x, uint32_t handle)
{
	return x->chunks[handle >> CHUNK_BITS]->first +
	       (handle & (CHUNK_LINES - 1));
}

struct line *cache_line(struct caches *x, struct core *k, uint64_t line)
{
	uint32_t at = line & (CHUNK_LINES - 1);
	struct line *e;

	if (!k->chunk || k->chunk->first != line - at)
		k->chunk = chunk_of(x, line);
	e = &k->chunk->lines[at];
	if (!e->handle) /* fresh from the host it is all zero */
		*e = (struct line){
			.owner = NO_CORE,
			.dirty_l3 = NO_L3,
			.handle = k->chunk->number << CHUNK_BITS | at,
		};
	return e;
}

/* ---- sharers ---- */

static uint64_t *set_of(const struct caches *x, const struct line *e)
{
	return &g_array_index(x->sets, uint64_t, (size_t)e->set * x->set_words);
}

static void to_set(struct caches *x, struct line *e)
{
	uint16_t old[INLINE_SHARERS];
	uint32_t number;

	memcpy(old, e->sharer, sizeof(old));
	if (x->free_sets->len) {
		number = g_array_index(x->free_sets, uint32_t,
				       x->free_sets->len - 1);
		g_array_set_size(x->free_sets, x->free_sets->len - 1);
	} else {
		number = x->sets->len / x->set_words;
		g_array_set_size(x->sets, x->sets->len + x->set_words);
	}
	e->many = true;
	e->set = number;
	for (int i = 0; i < INLINE_SHARERS; i++)
		set_of(x, e)[old[i] / 64] |= (uint64_t)1 << old[i] % 64;
}

void sharer_add(struct caches *x, struct line *e, int core)
{
	if (!e->many && e->nr < INLINE_SHARERS) {
		e->sharer[e->nr++] = core;
		return;
	}
	if (!e->many)
		to_set(x, e);
	set_of(x, e)[core / 64] |= (uint64_t)1 << core % 64;
	e->nr++;
}

void sharer_clear(struct caches *x, struct line *e)
{
	if (e->many) {
		uint32_t number = e->set;

		memset(set_of(x, e), 0, x->set_words * sizeof(uint64_t));
		g_array_append_val(x->free_sets, number);
		e->many = false;
	}
	e->nr = 0;
}

void sharer_remove(struct caches *x, struct line *e, int core)
{
	int i = 0;

	if (e->many) {
		set_of(x, e)[core / 64] &= ~((uint64_t)1 << core % 64);
		if (!--e->nr)
			sharer_clear(x, e);
		return;
	}
	while (i < e->nr && e->sharer[i] != core)
		i++;
	g_assert(i < e->nr);
	e->nr--;
	for (; i < e->nr; i++)
		e->sharer[i] = e->sharer[i + 1];
}

bool is_sharer(const struct caches *x, const struct line *e, int core)
{
	if (e->many)
		return set_of(x, e)[core / 64] >> core % 64 & 1;
	for (int i = 0; i < e->nr; i++)
		if (e->sharer[i] == core)
			return true;
	return false;
}

bool sharer_in_l3(const struct caches *x, const struct line *e, int l3)
{
	const struct l3 *l = &x->l3s[l3];

	if (!e->many) {
		for (int i = 0; i < e->nr; i++)
			if (x->cores[e->sharer[i]].l3 == l3)
				return true;
		return false;
	}
	for (int i = 0; i < l->nr_cores; i++)
		if (is_sharer(x, e, l->cores[i]))
			return true;
	return false;
}

int sharer_list(struct caches *x, const struct line *e, const uint16_t **cores)
{
	int n = 0;

	*cores = e->many ? x->scratch : e->sharer;
	if (!e->many)
		return e->nr;
	for (int w = 0; w < x->set_words; w++) {
		uint64_t bits = set_of(x, e)[w];

		for (; bits; bits &= bits - 1)
			x->scratch[n++] = 64 * w + __builtin_ctzll(bits);
	}
	return n;
}

/* ---- tags ---- */

struct l1_way *l1_search(const struct caches *x, const struct core *k,
			 uint64_t line)
{
	struct l1_way *set = l1_set(x, k, line);

	for (unsigned i = 0; i < x->l1.ways; i++)
		if (l1_line(&set[i]) == line)
			return &set[i];
	return NULL;
}

void l1_use(struct core *k, struct l1_way *way)
{
	way->stamp = ++k->l1->tick;
	k->l1->hints[l1_line(way) % L1_HINTS] = (uint16_t)(way - k->l1->ways);
}

void l1_put(const struct caches *x, struct core *k, uint64_t tag)
{
	struct l1_way *set = l1_set(x, k, tag / SIM_LINE), *oldest = set;

	for (unsigned i = 1; i < x->l1.ways && oldest->stamp; i++)
		if (set[i].stamp < oldest->stamp)
			oldest = &set[i];
	l1_set_tag(k, oldest, tag);
	l1_use(k, oldest);
}

static void l1_drop(const struct caches *x, const struct core *k,
		    uint64_t line)
{
	struct l1_way *way = l1_find(x, k, line);

	if (!way)
		return;
	l1_set_tag(k, way, 0);
	way->stamp = 0;
}

static uint32_t *ways_of(struct tags *t, const struct cache_shape *s,
			 uint64_t set)
{
	if (!t->number[set])
		t->number[set] = ++t->used;
	return t->ways + (uint64_t)(t->number[set] - 1) * s->ways;
}

static uint32_t *l2_set(const struct caches *x, struct core *k, uint64_t line)
{
	return ways_of(&k->l2, &x->l2, line & x->l2.mask);
}

/* Slices are chosen by a hash of the address on all machines modeled; the
 * multiplier is Fibonacci hashing's 2^64 / golden ratio. */
static uint64_t l3_index(const struct caches *x, uint64_t line)
{
	return (((line * 0x9e3779b97f4a7c15u) >> 32) * x->l3.sets) >> 32;
}

static uint32_t *l3_set(const struct caches *x, struct l3 *l, uint64_t line)
{
	return ways_of(&l->tags, &x->l3, l3_index(x, line));
}

/* The same if it was ever used, else NULL. */
static const uint32_t *used_l3_set(const struct caches *x, const struct l3 *l,
				   uint64_t line)
{
	uint32_t number = l->nr_cores ?
				  l->tags.number[l3_index(x, line)] : 0;

	return number ? l->tags.ways + (uint64_t)(number - 1) * x->l3.ways :
			NULL;
}

/* Sets have no gaps: behind the first empty way all are. */

/* Moves @handle to the front of its set if it is there. */
static bool touch(uint32_t *set, unsigned ways, uint32_t handle)
{
	unsigned i = 0;

	while (set[i] != handle)
		if (!set[i] || ++i == ways)
			return false;
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = handle;
	return true;
}

/* Puts @handle in front; returns what fell out at the end, or 0. */
static uint32_t push(uint32_t *set, unsigned ways, uint32_t handle)
{
	uint32_t moved = handle;

	for (unsigned i = 0; i < ways; i++) {
		uint32_t next = set[i];

		set[i] = moved;
		moved = next;
		if (!moved)
			break; /* the rest is empty */
	}
	return moved;
}

static bool drop(uint32_t *set, unsigned ways, uint32_t handle)
{
	unsigned i = 0;

	while (set[i] != handle)
		if (!set[i] || ++i == ways)
			return false;
	for (; i + 1 < ways && set[i]; i++)
		set[i] = set[i + 1];
	set[i] = 0;
	return true;
}

void l2_touch(struct caches *x, struct core *k, uint32_t handle,
	      uint64_t line)
{
	bool there = touch(l2_set(x, k, line), x->l2.ways, handle);

	g_assert(there);
}

void core_drop(struct caches *x, struct core *k, uint32_t handle,
	       uint64_t line)
{
	l1_drop(x, k, line);
	drop(l2_set(x, k, line), x->l2.ways, handle);
}

void l2_insert(struct caches *x, struct core *k, uint32_t handle,
	       uint64_t line)
{
	struct l3 *l = &x->l3s[k->l3];
	uint32_t out = push(l2_set(x, k, line), x->l2.ways, handle);
	struct line *e;
	uint64_t old;

	if (!out)
		return;
	e = entry(x, out);
	old = line_of(x, out);
	l1_drop(x, k, old);
	if (e->owner == k->id) {
		bool dirty = e->dirty;

		e->owner = NO_CORE;
		e->dirty = false;
		if (!x->inclusive)
			l3_insert(x, l, out, old);
		if (dirty)
			e->dirty_l3 = l->id;
	} else {
		sharer_remove(x, e, k->id);
		if (!x->inclusive)
			l3_insert(x, l, out, old);
	}
}

static bool in_set(const uint32_t *set, unsigned ways, uint32_t handle)
{
	for (unsigned i = 0; i < ways && set[i]; i++)
		if (set[i] == handle)
			return true;
	return false;
}

static bool l3_holds(const struct caches *x, int l3, uint32_t handle,
		     uint64_t line)
{
	const uint32_t *set = used_l3_set(x, &x->l3s[l3], line);

	return set && in_set(set, x->l3.ways, handle);
}

/* Whether an L3 that shares @l3's bit of .l3s holds the line: with more than 64
 * of them a bit speaks for several. */
static bool twin_holds(const struct caches *x, int l3, uint32_t handle,
		       uint64_t line)
{
	for (int i = l3 % 64; i < x->nr_l3; i += 64)
		if (i != l3 && l3_holds(x, i, handle, line))
			return true;
	return false;
}

bool other_l3_holds(const struct caches *x, const struct line *e, int l3,
		    uint64_t line)
{
	uint64_t bit = (uint64_t)1 << l3 % 64;

	return (e->l3s & ~bit) ||
	       ((e->l3s & bit) && twin_holds(x, l3, e->handle, line));
}

/* @l doesn't hold the line any more. */
static void l3_forget(const struct caches *x, const struct l3 *l,
		      struct line *e, uint64_t line)
{
	if (!twin_holds(x, l->id, e->handle, line))
		e->l3s &= ~((uint64_t)1 << l->id % 64);
	if (e->dirty_l3 == l->id)
		e->dirty_l3 = NO_L3;
}

bool l3_touch(struct caches *x, struct l3 *l, uint32_t handle, uint64_t line)
{
	return (entry(x, handle)->l3s >> l->id % 64 & 1) &&
	       touch(l3_set(x, l, line), x->l3.ways, handle);
}

/* An L3 gives up a line: nobody below an inclusive one may keep it. */
static void l3_evict(struct caches *x, struct l3 *l, uint32_t handle)
{
	struct line *e = entry(x, handle);
	uint64_t line = line_of(x, handle);
	bool dirty = e->dirty_l3 == l->id;

	l3_forget(x, l, e, line);
	if (x->inclusive) {
		if (e->owner != NO_CORE && x->cores[e->owner].l3 == l->id) {
			core_drop(x, &x->cores[e->owner], handle, line);
			dirty |= e->dirty;
			e->owner = NO_CORE;
			e->dirty = false;
		}
		for (int i = 0; e->nr && i < l->nr_cores; i++) {
			if (!is_sharer(x, e, l->cores[i]))
				continue;
			core_drop(x, &x->cores[l->cores[i]], handle, line);
			sharer_remove(x, e, l->cores[i]);
		}
	}
	if (dirty)
		x->write_back(x->arg, line, l->id);
}

void l3_insert(struct caches *x, struct l3 *l, uint32_t handle, uint64_t line)
{
	uint32_t *set = l3_set(x, l, line), out;
	uint64_t bit = (uint64_t)1 << l->id % 64;
	struct line *e = entry(x, handle);

	if ((e->l3s & bit) && touch(set, x->l3.ways, handle))
		return;
	e->l3s |= bit;
	out = push(set, x->l3.ways, handle);
	if (out)
		l3_evict(x, l, out);
}

void l3_remove(struct caches *x, struct l3 *l, uint32_t handle, uint64_t line)
{
	struct line *e = entry(x, handle);

	drop(l3_set(x, l, line), x->l3.ways, handle);
	l3_forget(x, l, e, line);
}

/* ---- invariants ---- */

static char *check_line(const struct caches *x, uint32_t handle)
{
	const struct line *e = entry(x, handle);
	uint64_t line = line_of(x, handle);
	int nr = 0;

	if (e->owner != NO_CORE && e->nr)
		return g_strdup("has an owner and sharers");
	if (e->dirty && e->owner == NO_CORE)
		return g_strdup("is dirty without an owner");
	for (int i = 0; i < x->nr_cores; i++) {
		struct core *k = &x->cores[i];
		bool may = e->owner == i || is_sharer(x, e, i), l1, l2;
		const struct l1_way *way;

		if (!k->l1)
			continue;
		way = l1_find(x, k, line);
		l1 = way != NULL;
		l2 = in_set(l2_set(x, k, line), x->l2.ways, handle);
		nr += is_sharer(x, e, i);
		if (l2 != may)
			return g_strdup_printf("core %d: in L2 %d, by the "
					       "directory %d", i, l2, may);
		if (l1 && !l2)
			return g_strdup_printf("core %d: in L1, not in L2", i);
		if (l1 && (way->tag & L1_WRITABLE) && !(e->owner == i && e->dirty))
			return g_strdup_printf("core %d: writable without "
					       "being the owner", i);
		if (l2 && x->inclusive && !l3_holds(x, k->l3, handle, line))
			return g_strdup_printf("core %d: not in its L3", i);
	}
	if (nr != e->nr)
		return g_strdup_printf("%d sharers, counted %d", e->nr, nr);
	for (int i = 0; i < x->nr_l3; i++) {
		bool in = l3_holds(x, i, handle, line);
		bool told = e->l3s >> i % 64 & 1;

		if (in && !told)
			return g_strdup_printf("in L3 %d, unknown to the "
					       "directory", i);
		if (told && !in && !twin_holds(x, i, handle, line))
			return g_strdup_printf("not in L3 %d, as the directory "
					       "says", i);
		/* a core that has it alone may write to it without a word */
		if (in && e->owner != NO_CORE &&
		    !(x->inclusive && x->cores[e->owner].l3 == i))
			return g_strdup_printf("in L3 %d and core %d's alone",
					       i, e->owner);
		if (!in && e->dirty_l3 == i)
			return g_strdup_printf("dirty in L3 %d, but not "
					       "there", i);
	}
	return NULL;
}

char *caches_check(const struct caches *x)
{
	for (uint32_t n = 1; n < x->nr_chunks; n++) {
		for (uint32_t i = 0; i < CHUNK_LINES; i++) {
			uint32_t handle = n << CHUNK_BITS | i;
			const struct line *e = entry(x, handle);
			g_autofree char *wrong = NULL;

			if (!e->handle)
				continue; /* never touched */
			wrong = check_line(x, handle);
			if (wrong)
				return g_strdup_printf(
					"line %#" G_GINT64_MODIFIER "x: %s",
					line_of(x, handle) * SIM_LINE, wrong);
		}
	}
	return NULL;
}
