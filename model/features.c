/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/features.h"

#include <glib.h>

static const char *const sheaves_names[] = {"none", "opt-in", "all", NULL};
static const char *const partial_break_names[] = {"objects", "gt", "ge",
						  "gt-nonzero", NULL};
static const char *const bulk_alloc_names[] = {"singly", "initial", "slowpath",
					       NULL};
static const char *const bulk_free_names[] = {"singly", "same-slab", "detached",
					      NULL};
static const char *const stat_set_names[] = {"cpu-slab", "cpu-slab+sheaves",
					     "sheaves", NULL};
static const char *const order_rule_names[] = {"by-objects", "by-fraction",
					       NULL};

#define BOOL(member, since, help)                                              \
	{                                                                      \
#member, PARAM_BOOL, offsetof(struct features, member), "", 0, \
			0, NULL, help, since                                   \
	}
#define ENUM(member, since, help)                                              \
	{                                                                      \
#member, PARAM_ENUM, offsetof(struct features, member), "", 0, \
			0, member##_names, help, since                         \
	}

/*
 * In the order of the kernel's history (a bisection walks it). "since" is the
 * first kernel whose source was read with the newest choice, which may be
 * later than its merge where no kernel between was read.
 */
const struct param_desc feature_table[] = {
	BOOL(cpu_slabs, "2.6.22",
	     "each CPU owns one slab and allocates from its freelist without "
	     "a lock; until 6.19"),
	BOOL(cpu_partial, "3.2",
	     "each CPU keeps a list of partial slabs behind its cpu slab, "
	     "filled by frees to full slabs; until 6.19"),
	BOOL(cpu_partial_in_objects, "3.2",
	     "the cpu partial list is limited by free objects counted at "
	     "insertion, not by slabs; until 5.15"),
	BOOL(frozen_partial, "3.2",
	     "slabs on a cpu partial list are frozen, so they are taken from "
	     "the node list by a cmpxchg under its lock; until 6.7"),
	BOOL(deactivate_by_object, "2.6.22",
	     "a cpu slab that is given up gets its freelist back object by "
	     "object, one cmpxchg each, which reverses it; until 5.10"),
	BOOL(freelist_random, "4.7",
	     "CONFIG_SLAB_FREELIST_RANDOM: a new slab's freelist is a rotation "
	     "of the cache's permutation"),
	BOOL(freelist_hardened, "4.14",
	     "CONFIG_SLAB_FREELIST_HARDENED: free pointers are stored mangled "
	     "with a secret and their address"),
	BOOL(freeptr_in_middle, "5.7",
	     "the free pointer lies in the middle of the object, not at its "
	     "start"),
	ENUM(bulk_alloc, "4.3",
	     "bulk allocation from cpu slabs: a loop of single ones, the cpu "
	     "freelist until it is empty and then single ones, or the slow "
	     "path refilling inside the loop"),
	ENUM(bulk_free, "4.4",
	     "bulk free to slabs: a loop of single ones, plain pushes while "
	     "objects are of the cpu slab, or detached freelists with one free "
	     "per slab seen"),
	BOOL(bulk_free_relinks, "4.17",
	     "the free hook walks a detached freelist of a caller's bulk free "
	     "and links it anew, which reverses it"),
	BOOL(rcu_bulk_free, "5.9",
	     "kfree_rcu() outside sheaves collects objects in arrays that bulk "
	     "frees empty after the grace period; before, one by one"),
	BOOL(pcp_high_orders, "5.14",
	     "the page allocator's per-CPU lists hold blocks of orders 1 to 3 "
	     "too; before, those take the zone's lock each time"),
	BOOL(bulk_slow_stats, "6.1",
	     "the slow path counts itself as such, so that its calls from a "
	     "bulk allocation count too"),
	BOOL(bulk_stats, "6.9",
	     "bulk operations count each object as a fast path one"),
	ENUM(order_rule, "6.9",
	     "a slab's order: the most objects first and then the waste, or "
	     "the smallest order whose waste is at most 1/16, 1/8, 1/4, 1/2"),
	ENUM(partial_break, "6.12",
	     "how many slabs one visit to a node list takes: until objects > "
	     "cpu_partial/2, until extra slabs > (gt) or >= (ge, rejected) "
	     "cpu_partial_slabs/2, or gt but none where that limit is 0"),
	BOOL(node_two_pass, "6.12",
	     "an allocation for a node first tries that node only, its partial "
	     "slabs and a new one, and then any node"),
	ENUM(sheaves, "6.18",
	     "per-CPU sheaves of object pointers and per-node barns of them: "
	     "none, for caches that ask (opt-in, in front of the cpu slabs), "
	     "or for all caches"),
	BOOL(rcu_sheaves, "6.18",
	     "kfree_rcu() collects objects in a sheaf that goes to the barn "
	     "after the grace period"),
	ENUM(stat_set, "7.0", "which SLUB_STATS counters the kernel has"),
	BOOL(bulk_free_loses_objects, "7.0",
	     "a fault: a bulk free whose 32nd remote object is the last one "
	     "scanned loses the local objects gathered before; until 7.1.5"),
	BOOL(refill_without_blocking, "7.0",
	     "an allocation that may not block may still refill a sheaf; "
	     "before, it went object by object through the node list"),
	BOOL(barns_on_memoryless, "7.1",
	     "every online node has a barn, found by the CPU's own node, "
	     "whether it has memory or not"),
	BOOL(remote_free_to_sheaf, "7.1",
	     "a CPU of a memoryless node puts objects of any node into its "
	     "sheaf instead of freeing them to their slab"),
	BOOL(bulk_refill_freelist, "7.2",
	     "a new slab's freelist is built after the wanted objects were "
	     "taken, from what is left, so taken objects are not touched"),
	BOOL(bulk_refill_whole_only, NULL,
	     "the first posted form of bulk_refill_freelist: only where the "
	     "whole slab is taken and its order is not randomised; never "
	     "merged"),
	BOOL(refill_returns_leftovers, "7.2",
	     "a refill offers what it did not take from a slab back by one "
	     "cmpxchg without walking it, and keeps the list's order"),
	BOOL(have_memoryless_nodes, "2.6.34",
	     "CONFIG_HAVE_MEMORYLESS_NODES (powerpc only): numa_mem_id() of a "
	     "memoryless node's CPU is the nearest node with memory"),
	BOOL(slub_stats, "2.6.25",
	     "CONFIG_SLUB_STATS: the counters are there, and cost their "
	     "increments"),
	{NULL}};

static char *needs(const char *feature, const char *what)
{
	return g_strdup_printf("%s needs %s", feature, what);
}

char *features_check(const struct features *f)
{
	if (!f->cpu_slabs) {
		if (f->cpu_partial)
			return needs("cpu_partial", "cpu_slabs");
		if (f->sheaves == SHEAVES_OPT_IN)
			return g_strdup("sheaves=opt-in needs cpu_slabs, "
					"which serve the other caches");
	} else {
		if (f->bulk_refill_freelist)
			return g_strdup("bulk_refill_freelist needs "
					"cpu_slabs=false, a cpu slab holds "
					"its freelist");
		if (f->refill_returns_leftovers)
			return needs("refill_returns_leftovers",
				     "cpu_slabs=false");
	}
	if (!f->cpu_partial) {
		if (f->cpu_partial_in_objects)
			return needs("cpu_partial_in_objects", "cpu_partial");
		if (f->frozen_partial)
			return needs("frozen_partial", "cpu_partial");
	} else if (f->cpu_partial_in_objects !=
		   (f->partial_break == PARTIAL_BREAK_OBJECTS)) {
		return g_strdup("partial_break=objects and "
				"cpu_partial_in_objects need each other");
	}
	if (f->cpu_partial_in_objects && !f->frozen_partial)
		return needs("cpu_partial_in_objects", "frozen_partial");
	if (f->sheaves == SHEAVES_NONE) {
		const struct {
			bool on;
			const char *name;
		} of_sheaves[] = {
			{f->rcu_sheaves, "rcu_sheaves"},
			{f->refill_without_blocking, "refill_without_blocking"},
			{f->barns_on_memoryless, "barns_on_memoryless"},
			{f->remote_free_to_sheaf, "remote_free_to_sheaf"},
			{f->bulk_free_loses_objects, "bulk_free_loses_objects"},
		};

		for (size_t i = 0; i < G_N_ELEMENTS(of_sheaves); i++)
			if (of_sheaves[i].on)
				return needs(of_sheaves[i].name,
					     "sheaves=opt-in or all");
	}
	if (f->remote_free_to_sheaf && !f->barns_on_memoryless)
		return g_strdup("remote_free_to_sheaf needs "
				"barns_on_memoryless, else the sheaves of a "
				"memoryless node have nowhere to go");
	if (f->bulk_refill_whole_only && !f->bulk_refill_freelist)
		return needs("bulk_refill_whole_only", "bulk_refill_freelist");
	return NULL;
}
