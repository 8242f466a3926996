/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/costs.h"

/* A step of more instructions than this is a typing error. */
#define MAX_INSNS 1000000

#define C(member, help)                                                        \
	{                                                                      \
#member, PARAM_INT, offsetof(struct insn_costs, member),       \
			"instructions", 0, MAX_INSNS, NULL, help, NULL         \
	}

const struct param_desc insn_cost_table[] = {
	C(caller, "the caller's loop and call around one operation"),
	C(alloc_fast, "allocation through the fast path, entry to return"),
	C(free_fast, "free through the fast path, entry to return"),
	C(alloc_slow, "entry to the allocation slow path, above the fast one"),
	C(free_slow, "a free to its slab, above the fast one"),
	C(get_freelist, "taking over a slab's freelist"),
	C(get_partial, "a visit to a node's partial list, without its slabs"),
	C(partial_slab, "a slab looked at on a node's partial list"),
	C(any_node, "a zone looked at in search of another node's slabs"),
	C(list_move, "a slab added to or removed from a node's list"),
	C(deactivate, "giving up a cpu slab"),
	C(cpu_partial_put, "putting a slab on a cpu partial list"),
	C(cpu_partial_get, "taking a slab from a cpu partial list"),
	C(new_slab, "a new slab, without its pages and objects"),
	C(new_slab_object, "an object linked into a new slab's freelist"),
	C(walk_object, "an object taken from a freelist chain"),
	C(discard_slab, "giving a slab back, without its pages"),
	C(page_alloc, "pages from the CPU's own page list"),
	C(page_free, "pages to the CPU's own page list"),
	C(page_bulk, "a block moved between a page list and the buddy lists"),
	C(sheaf_swap, "exchange of main and spare sheaf"),
	C(barn_exchange, "one operation on a barn"),
	C(sheaf_alloc, "allocation of a sheaf, without its kmalloc"),
	C(refill, "a sheaf refill, without slabs and objects"),
	C(bulk_alloc, "a bulk allocation, without its objects"),
	C(bulk_alloc_object, "an object of a bulk allocation"),
	C(bulk_free, "a bulk free, without its objects"),
	C(bulk_free_object, "an object of a bulk free"),
	C(detached_object, "an object looked at by the detached freelist's "
			   "builder"),
	C(random_object, "an object of a new slab, extra where randomised"),
	C(hardened_object, "a free pointer of a new slab's list, extra where "
			   "hardened"),
	{NULL}};
