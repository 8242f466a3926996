/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page allocator: one zone per node, a buddy allocator under its lock, and
 * per-CPU lists (pcp) of each zone in front of it.
 *
 * A CPU allocates from its own pcp list of the zone it takes the page from, and
 * frees to its own list of the page's zone; a list that runs dry or over moves
 * a batch of blocks under the zone's lock. Frames are kept in groups of the
 * largest order and appear when they are first needed, so a node may have any
 * amount of memory.
 */
#include "model/cache.h"

#define MAX_ORDER 10 /* blocks of 4 MiB */
#define GROUP_PAGES (1u << MAX_ORDER)
#define PCP_ORDERS 4 /* orders 0..3 are kept in pcp lists, if more than 0 */
#define PAGE_SHIFT 12

/* Where a node's pages and their struct pages begin in its address space; what
 * machine_reserve() hands out is above both. */
#define PAGES_OFFSET (1ull << 36)
#define MEMMAP_OFFSET (3ull << 37)
_Static_assert(MEMMAP_OFFSET + ((MEMMAP_OFFSET - PAGES_OFFSET) >> PAGE_SHIFT) *
				       64 <= SIM_RESERVED_OFFSET,
	       "struct pages end before machine_reserve()'s addresses");

struct frame {
	union {
		struct page_owner owner;
		struct {
			struct slab *slab; /* owner.slab: NULL if free */
			struct list_head list; /* of the buddy's free blocks */
		};
	};
	uint32_t pfn;
	int8_t free_order; /* -1: not the first page of a free block */
};

struct pcp {
	GArray *list[PCP_ORDERS]; /* of page numbers, used as a stack */
	unsigned count, high, high_min, high_max, batch;
	unsigned alloc_factor, free_count;
	bool free_high_order; /* the last free was one */
	sim_addr line;
};

struct zone {
	int node;
	sim_addr line;
	struct sim_lock lock;
	struct list_head free[MAX_ORDER + 1];
	GPtrArray *groups;  /* struct frame[GROUP_PAGES] each */
	uint64_t nr_groups; /* that the node's memory has room for */
	struct pcp **pcp;   /* by CPU id */
};

struct page_allocator {
	struct slub *sl;
	struct zone **zone; /* by node id; NULL = no memory */
	int *zonelists, *nr_zones;
};

static struct frame *frame_of(const struct zone *z, uint64_t pfn)
{
	struct frame *group = g_ptr_array_index(z->groups, pfn >> MAX_ORDER);

	return &group[pfn & (GROUP_PAGES - 1)];
}

static uint64_t pfn_of(sim_addr addr)
{
	return (addr - sim_node_base(sim_addr_node(addr)) - PAGES_OFFSET) >>
	       PAGE_SHIFT;
}

static sim_addr page_addr(const struct zone *z, uint64_t pfn)
{
	return sim_node_base(z->node) + PAGES_OFFSET + (pfn << PAGE_SHIFT);
}

sim_addr page_struct(const struct slub *sl, sim_addr addr)
{
	return sim_node_base(sim_addr_node(addr)) + MEMMAP_OFFSET +
	       pfn_of(addr) * 64;
}

const struct page_owner *page_owner(const struct page_allocator *pa,
				    sim_addr addr)
{
	return &frame_of(pa->zone[sim_addr_node(addr)], pfn_of(addr))->owner;
}

struct slab *page_slab(const struct page_allocator *pa, sim_addr addr)
{
	return page_owner(pa, addr)->slab;
}

struct slab *page_slab_checked(const struct page_allocator *pa, sim_addr addr)
{
	int node = sim_addr_node(addr);

	if (node < 0 || node >= pa->sl->nr_node_ids || !pa->zone[node] ||
	    pfn_of(addr) >> MAX_ORDER >= pa->zone[node]->groups->len)
		return NULL;
	return page_slab(pa, addr);
}

void page_set_slab(struct page_allocator *pa, sim_addr addr, unsigned order,
		   struct slab *slab)
{
	struct zone *z = pa->zone[sim_addr_node(addr)];
	uint64_t pfn = pfn_of(addr);

	for (unsigned i = 0; i < 1u << order; i++)
		frame_of(z, pfn + i)->owner = (struct page_owner){
			slab, slab ? slab->cache : NULL,
			slab ? slab->line : 0
		};
}

int page_zonelist(const struct page_allocator *pa, int node, const int **order)
{
	*order = pa->zonelists + node * pa->sl->nr_node_ids;
	return pa->nr_zones[node];
}

/* ---- buddy ---- */

static void free_list_add(struct zone *z, uint64_t pfn, unsigned order)
{
	struct frame *f = frame_of(z, pfn);

	f->free_order = order;
	list_add(&f->list, &z->free[order]);
}

static void free_list_del(struct frame *f)
{
	list_del(&f->list);
	f->free_order = -1;
}

static bool grow(struct zone *z)
{
	struct frame *group;

	if (z->groups->len >= z->nr_groups)
		return false;
	group = g_new0(struct frame, GROUP_PAGES);
	for (unsigned i = 0; i < GROUP_PAGES; i++) {
		group[i].free_order = -1;
		group[i].pfn = z->groups->len * GROUP_PAGES + i;
	}
	g_ptr_array_add(z->groups, group);
	free_list_add(z, (uint64_t)(z->groups->len - 1) << MAX_ORDER,
		      MAX_ORDER);
	return true;
}

static int64_t buddy_alloc(struct zone *z, unsigned order)
{
	for (;;) {
		for (unsigned k = order; k <= MAX_ORDER; k++) {
			struct frame *f;
			uint64_t pfn;

			if (list_empty(&z->free[k]))
				continue;
			f = list_entry(z->free[k].next, struct frame, list);
			pfn = f->pfn;
			free_list_del(f);
			while (k > order) { /* the upper half stays free */
				k--;
				free_list_add(z, pfn + (1u << k), k);
			}
			return pfn;
		}
		if (!grow(z))
			return -1;
	}
}

static void buddy_free(struct zone *z, uint64_t pfn, unsigned order)
{
	while (order < MAX_ORDER) {
		uint64_t buddy = pfn ^ (1u << order);
		struct frame *f = frame_of(z, buddy);

		if (f->free_order != (int)order)
			break;
		free_list_del(f);
		pfn &= ~(uint64_t)(1u << order);
		order++;
	}
	free_list_add(z, pfn, order);
}

/* ---- per-CPU lists ---- */

/* 6.12 to 7.1: three quarters of a 4096th of the zone, at most 63 pages. */
static unsigned pcp_batch(uint64_t pages)
{
	unsigned batch = MIN(pages >> 12, 64), p2 = 1;

	batch = MAX(batch + batch / 2, 1);
	while (p2 * 2 <= batch)
		p2 *= 2;
	return MAX(p2, 2) - 1;
}

static struct pcp *pcp_create(struct slub *sl, struct cpu *c, int node)
{
	const struct topology_node *n =
		&machine_topology(sl->machine)->nodes[node];
	uint64_t pages = n->memory_bytes >> PAGE_SHIFT;
	int local_cpus = n->nr_cpus;
	struct pcp *p = g_new0(struct pcp, 1);
	/* a node without CPUs is shared by all of them */
	unsigned split = local_cpus ? local_cpus
				    : machine_topology(sl->machine)->nr_cpus;
	uint64_t low_watermark = pages / 1024; /* order of min_free_kbytes */

	for (int i = 0; i < PCP_ORDERS; i++)
		p->list[i] = g_array_new(FALSE, FALSE, sizeof(int64_t));
	if (sl->f->pcp_high_orders) {
		p->batch = pcp_batch(pages);
		p->high_min = MAX(low_watermark / split, 4 * p->batch);
		p->high_max = MAX(pages / 8 / split, 4 * p->batch);
		p->high_max = MAX(p->high_max, p->high_min);
	} else { /* zones of 512 MB and more */
		p->batch = 31;
		p->high_min = p->high_max = 186;
	}
	p->high = p->high_min;
	p->line = machine_reserve(sl->machine, c->mem_node, SIM_LINE, SIM_LINE);
	machine_name_region(sl->machine, p->line, SIM_LINE, "per_cpu_pages");
	return p;
}

/* A CPU's list of a zone appears when it is first used: most never are. */
static struct pcp *pcp_of(struct page_allocator *pa, struct zone *z,
			  struct cpu *c)
{
	if (!z->pcp[c->id])
		z->pcp[c->id] = pcp_create(pa->sl, c, z->node);
	return z->pcp[c->id];
}

struct pcp_state page_pcp_state(struct page_allocator *pa, struct cpu *c,
				int node)
{
	struct pcp *p = pcp_of(pa, pa->zone[node], c);
	struct pcp_state state = {p->count, p->high, p->batch, {0}};

	for (int i = 0; i < PCP_ORDERS; i++)
		state.blocks[i] = p->list[i]->len;
	return state;
}

static bool pcp_holds(const struct slub *sl, unsigned order)
{
	return order < (sl->f->pcp_high_orders ? PCP_ORDERS : 1);
}

/* Moves up to @n blocks from the buddy to a list, under the zone's lock. */
static void rmqueue_bulk(struct cpu *c, struct page_allocator *pa,
			 struct zone *z, struct pcp *p, unsigned order,
			 unsigned n)
{
	cpu_lock(c, &z->lock);
	for (unsigned i = 0; i < n; i++) {
		int64_t pfn = buddy_alloc(z, order);

		if (pfn < 0)
			break;
		cpu_exec(c, pa->sl->cost->page_bulk);
		cpu_write(c, page_struct(pa->sl, page_addr(z, pfn)));
		g_array_append_val(p->list[order], pfn);
		p->count += 1u << order;
	}
	cpu_unlock(c, &z->lock);
}

static void free_pcppages_bulk(struct cpu *c, struct page_allocator *pa,
			       struct zone *z, struct pcp *p, unsigned pages)
{
	cpu_lock(c, &z->lock);
	/* round robin over the orders, oldest blocks of each first */
	for (unsigned order = 0; pages && p->count;
	     order = (order + 1) % PCP_ORDERS) {
		GArray *l = p->list[order];
		uint64_t pfn;

		if (!l->len)
			continue;
		pfn = g_array_index(l, int64_t, 0);
		g_array_remove_index(l, 0);
		cpu_exec(c, pa->sl->cost->page_bulk);
		cpu_write(c, page_struct(pa->sl, page_addr(z, pfn)));
		buddy_free(z, pfn, order);
		p->count -= 1u << order;
		pages -= MIN(pages, 1u << order);
	}
	cpu_unlock(c, &z->lock);
}

/*
 * How many blocks a refill takes. Those of single pages take twice as many each
 * time nothing was freed in between; a fuller list may grow for it.
 */
static unsigned refill_blocks(struct pcp *p, unsigned order)
{
	unsigned n = order ? p->batch : p->batch << p->alloc_factor;
	int room;

	p->high = MIN(p->high + n, p->high_max);
	if (order)
		return MAX(p->batch >> order, 2);
	room = MAX((int)(p->high - p->count - p->batch), (int)p->batch);
	if ((int)n <= room && p->alloc_factor < 5)
		p->alloc_factor++;
	return MIN(n, (unsigned)room);
}

static sim_addr zone_alloc(struct cpu *c, struct page_allocator *pa,
			   struct zone *z, unsigned order)
{
	const struct insn_costs *cost = pa->sl->cost;
	struct pcp *p = pcp_of(pa, z, c);
	int64_t pfn;
	GArray *l;

	cpu_exec(c, cost->page_alloc);
	if (!pcp_holds(pa->sl, order)) {
		cpu_lock(c, &z->lock);
		pfn = buddy_alloc(z, order);
		cpu_unlock(c, &z->lock);
		return pfn < 0 ? 0 : page_addr(z, pfn);
	}
	cpu_rmw(c, p->line, RMW_LOCK);
	p->free_count >>= 1;
	l = p->list[order];
	if (!l->len)
		rmqueue_bulk(c, pa, z, p, order, refill_blocks(p, order));
	if (!l->len)
		return 0;
	pfn = g_array_index(l, int64_t, l->len - 1);
	g_array_set_size(l, l->len - 1);
	p->count -= 1u << order;
	cpu_write(c, p->line);
	cpu_write(c, page_struct(pa->sl, page_addr(z, pfn)));
	return page_addr(z, pfn);
}

sim_addr alloc_pages(struct cpu *c, struct slub *sl, unsigned gfp,
		     unsigned order, int node)
{
	struct page_allocator *pa = sl->pages;
	int from = node == NO_NODE ? c->node : node;
	const int *zones;
	int nr = page_zonelist(pa, from, &zones);
	sim_addr addr = 0;

	cpu_enter(c, sl->frame[FR_alloc_pages]);
	for (int i = 0; i < nr && !addr; i++) {
		if (gfp & GFP_ONLY_NODE && zones[i] != from)
			break;
		addr = zone_alloc(c, pa, pa->zone[zones[i]], order);
	}
	cpu_leave(c);
	return addr;
}

void free_pages(struct cpu *c, struct slub *sl, sim_addr addr, unsigned order)
{
	struct page_allocator *pa = sl->pages;
	struct zone *z = pa->zone[sim_addr_node(addr)];
	struct pcp *p = pcp_of(pa, z, c);
	int64_t pfn = pfn_of(addr);
	unsigned drain = 0;

	cpu_enter(c, sl->frame[FR_free_pages]);
	cpu_exec(c, sl->cost->page_free);
	cpu_write(c, page_struct(sl, addr));
	if (!pcp_holds(sl, order)) {
		cpu_lock(c, &z->lock);
		buddy_free(z, pfn, order);
		cpu_unlock(c, &z->lock);
		cpu_leave(c);
		return;
	}
	cpu_rmw(c, p->line, RMW_LOCK);
	p->alloc_factor >>= 1;
	g_array_append_val(p->list[order], pfn);
	p->count += 1u << order;
	/* a run of high orders is given back before the list is full */
	if (order && p->free_high_order &&
	    p->free_count >= p->batch + p->high_min / 2)
		drain = p->batch;
	p->free_high_order = order > 0;
	if (p->free_count < p->batch << 5)
		p->free_count += 1u << order;
	if (p->count >= p->high)
		drain = CLAMP(p->free_count, p->batch,
			      MAX(p->high - p->batch, p->batch));
	cpu_write(c, p->line);
	if (drain)
		free_pcppages_bulk(c, pa, z, p, drain);
	cpu_leave(c);
}

/* ---- creation ---- */

static struct zone *zone_create(struct slub *sl, int node)
{
	const struct topology *t = machine_topology(sl->machine);
	uint64_t pages = t->nodes[node].memory_bytes >> PAGE_SHIFT;
	struct zone *z = g_new0(struct zone, 1);

	z->node = node;
	z->groups = g_ptr_array_new_with_free_func(g_free);
	z->nr_groups =
		MIN(pages >> MAX_ORDER,
		    (MEMMAP_OFFSET - PAGES_OFFSET) >> (PAGE_SHIFT + MAX_ORDER));
	z->nr_groups = MAX(z->nr_groups, 1);
	for (int k = 0; k <= MAX_ORDER; k++)
		list_init(&z->free[k]);
	z->line = machine_reserve(sl->machine, node, 2 * SIM_LINE, SIM_LINE);
	machine_name_region(sl->machine, z->line, SIM_LINE, "zone");
	lock_init(sl->machine, &z->lock, "&zone->lock", z->line, sl->everyone);
	z->pcp = g_new0(struct pcp *, sl->nr_cpu_ids);
	return z;
}

struct page_allocator *page_allocator_new(struct slub *sl)
{
	const struct topology *t = machine_topology(sl->machine);
	struct page_allocator *pa = g_new0(struct page_allocator, 1);

	pa->sl = sl;
	pa->zone = g_new0(struct zone *, sl->nr_node_ids);
	pa->zonelists = g_new0(int, (size_t)sl->nr_node_ids * sl->nr_node_ids);
	pa->nr_zones = g_new0(int, sl->nr_node_ids);
	topology_zonelists(t, pa->zonelists, pa->nr_zones);
	for (int i = 0; i < sl->nr_node_ids; i++)
		if (topology_node_has_memory(t, i))
			pa->zone[i] = zone_create(sl, i);
	return pa;
}

void page_allocator_free(struct page_allocator *pa)
{
	for (int i = 0; i < pa->sl->nr_node_ids; i++) {
		struct zone *z = pa->zone[i];

		if (!z)
			continue;
		for (int k = 0; k < pa->sl->nr_cpu_ids; k++) {
			if (!z->pcp[k])
				continue;
			for (int o = 0; o < PCP_ORDERS; o++)
				g_array_unref(z->pcp[k]->list[o]);
			g_free(z->pcp[k]);
		}
		lock_destroy(pa->sl->machine, &z->lock);
		g_ptr_array_unref(z->groups);
		g_free(z->pcp);
		g_free(z);
	}
	g_free(pa->zone);
	g_free(pa->zonelists);
	g_free(pa->nr_zones);
	g_free(pa);
}
