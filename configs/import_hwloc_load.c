/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs in the child: libhwloc's tree into a struct hwloc_result. */
#include "configs/import_hwloc.h"

#include <hwloc.h>
#include <string.h>

/* Memory that the kernel gives to a node without CPUs, wherever hwloc draws
 * it. */
static bool is_memory_only(hwloc_obj_t node)
{
	const char *type = node->subtype;

	return type && (strstr(type, "HBM") || strstr(type, "MCDRAM") ||
			strstr(type, "CXL") || strstr(type, "GPU") ||
			strstr(type, "NVM") || strstr(type, "SPM"));
}

/* The kernel node of a PU: the smallest that covers it, memory-only ones
 * last, then the lowest id. */
static hwloc_obj_t node_of(hwloc_topology_t t, unsigned pu)
{
	hwloc_obj_t best = NULL, n = NULL;

	while ((n = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, n))) {
		int less;

		if (!hwloc_bitmap_isset(n->cpuset, pu))
			continue;
		if (!best) {
			best = n;
			continue;
		}
		less = is_memory_only(n) - is_memory_only(best);
		if (!less)
			less = hwloc_bitmap_weight(n->cpuset) -
			       hwloc_bitmap_weight(best->cpuset);
		if (less < 0 || (!less && n->os_index < best->os_index))
			best = n;
	}
	return best;
}

static void take_cache(struct hwloc_result *r, hwloc_topology_t t, int level,
		       hwloc_obj_type_t type)
{
	hwloc_obj_t o = hwloc_get_next_obj_by_type(t, type, NULL);

	if (!o)
		return;
	r->caches[level].kib = MIN(o->attr->cache.size / 1024, INT32_MAX);
	r->caches[level].ways = o->attr->cache.associativity;
	r->caches[level].shared = hwloc_bitmap_weight(o->cpuset);
}

static int index_of(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_obj_t pu)
{
	hwloc_obj_t o = hwloc_get_ancestor_obj_by_type(t, type, pu);

	return o ? (int)o->logical_index : FACT_UNKNOWN;
}

static bool take_pus(struct hwloc_result *r, hwloc_topology_t t)
{
	hwloc_obj_t pu = NULL;

	while ((pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu))) {
		hwloc_obj_t node;

		if (pu->os_index >= TOPOLOGY_MAX_CPUS) {
			g_snprintf(r->error, sizeof(r->error),
				   "PU %u, "
				   "expected CPU numbers below %d",
				   pu->os_index, TOPOLOGY_MAX_CPUS);
			return false;
		}
		node = node_of(t, pu->os_index);
		r->pus[pu->os_index] = (struct hwloc_pu){
			true, index_of(t, HWLOC_OBJ_CORE, pu),
			index_of(t, HWLOC_OBJ_PACKAGE, pu),
			index_of(t, HWLOC_OBJ_L3CACHE, pu),
			node ? (int)node->os_index : FACT_UNKNOWN};
	}
	return true;
}

static bool take_nodes(struct hwloc_result *r, hwloc_topology_t t)
{
	hwloc_obj_t n = NULL;

	while ((n = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, n))) {
		int first = hwloc_bitmap_first(n->cpuset);

		if (n->os_index >= TOPOLOGY_MAX_NODES) {
			g_snprintf(r->error, sizeof(r->error),
				   "NUMANode %u, "
				   "expected node numbers below %d",
				   n->os_index, TOPOLOGY_MAX_NODES);
			return false;
		}
		r->nodes[n->os_index] = (struct hwloc_node){
			true,
			MIN(n->attr->numanode.local_memory / 1024,
			    UINT64_C(1) << 50),
			first < TOPOLOGY_MAX_CPUS ? first : FACT_UNKNOWN};
	}
	return true;
}

/* Between nodes, in the kernel's units: 10 on the diagonal. */
static bool is_latency(const struct hwloc_distances_s *d)
{
	if (!(d->kind & HWLOC_DISTANCES_KIND_MEANS_LATENCY) ||
	    d->nbobjs > TOPOLOGY_MAX_NODES)
		return false;
	for (unsigned i = 0; i < d->nbobjs; i++)
		if (!d->objs[i] || d->objs[i]->type != HWLOC_OBJ_NUMANODE ||
		    d->objs[i]->os_index >= TOPOLOGY_MAX_NODES ||
		    d->values[i * d->nbobjs + i] != 10)
			return false;
	for (size_t i = 0; i < (size_t)d->nbobjs * d->nbobjs; i++)
		if (d->values[i] > 255)
			return false;
	return true;
}

/* Of several matrices (hops, bandwidths), the first that is. */
static void take_distances(struct hwloc_result *r, hwloc_topology_t t)
{
	struct hwloc_distances_s *all[16];
	unsigned nr = G_N_ELEMENTS(all);

	if (hwloc_distances_get(t, &nr, all, 0, 0))
		return;
	nr = MIN(nr, G_N_ELEMENTS(all));
	for (unsigned k = 0; k < nr; k++) {
		struct hwloc_distances_s *d = all[k];

		if (r->nr_distances || !is_latency(d)) {
			r->ignored_distances++;
			continue;
		}
		r->nr_distances = d->nbobjs;
		for (unsigned i = 0; i < d->nbobjs; i++)
			r->distance_nodes[i] = d->objs[i]->os_index;
		for (size_t i = 0; i < (size_t)d->nbobjs * d->nbobjs; i++)
			r->distances[i] = d->values[i];
	}
}

static void copy_info(char *to, size_t size, hwloc_obj_t o, const char *name)
{
	const char *info = o ? hwloc_obj_get_info_by_name(o, name) : NULL;

	g_strlcpy(to, info ? info : "", size);
}

/* The child ends after this, so nothing is freed. */
void hwloc_result_load(const char *xml, struct hwloc_result *r)
{
	unsigned version = hwloc_get_api_version();
	hwloc_topology_t t;

	if (hwloc_topology_init(&t) ||
	    hwloc_topology_set_flags(t,
				     HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
	    hwloc_topology_set_xmlbuffer(t, xml, (int)strlen(xml) + 1) ||
	    hwloc_topology_load(t)) {
		g_snprintf(r->error, sizeof(r->error),
			   "libhwloc %u.%u can't "
			   "load it, expected XML of lstopo 1.0 to 3.0",
			   version >> 16, version >> 8 & 0xff);
		return;
	}
	copy_info(r->architecture, sizeof(r->architecture),
		  hwloc_get_root_obj(t), "Architecture");
	copy_info(r->model, sizeof(r->model),
		  hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PACKAGE, NULL),
		  "CPUModel");
	take_cache(r, t, 0, HWLOC_OBJ_L1CACHE);
	take_cache(r, t, 1, HWLOC_OBJ_L2CACHE);
	take_cache(r, t, 2, HWLOC_OBJ_L3CACHE);
	if (take_nodes(r, t) && take_pus(r, t))
		take_distances(r, t);
}
