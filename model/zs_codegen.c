/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/zs_codegen.h"

#include <glib.h>

#define NUM(key_, member, help_)                                               \
	{ .key = key_, .type = PARAM_INT,                                      \
	  .offset = offsetof(struct zs_codegen, member),                       \
	  .unit = "instructions", .min = -100, .max = 10000, .help = help_ }
#define INSN(member, help_) NUM(#member, member, help_)
#define FLAG(key_, member, help_)                                              \
	{ .key = key_, .type = PARAM_BOOL,                                     \
	  .offset = offsetof(struct zs_codegen, member), .unit = "",           \
	  .help = help_ }
#define TEXT(member, help_)                                                    \
	{ .key = #member, .type = PARAM_STRING,                                \
	  .offset = offsetof(struct zs_codegen, member), .unit = "",           \
	  .help = help_ }
#define HELPER(h)                                                              \
	FLAG(#h "_inlined", h.inlined,                                         \
	     "the compiler inlines " #h "() by itself"),                       \
	NUM(#h "_moves", h.moves, "moves to and from argument registers"),     \
	{ .key = #h "_saves", .type = PARAM_INT,                               \
	  .offset = offsetof(struct zs_codegen, h.saves),                      \
	  .unit = "registers", .min = 0, .max = 12,                            \
	  .help = "registers that the called helper saves" },                  \
	NUM(#h "_spills", h.spills,                                            \
	    "spills and reloads around the call; below 0: the caller needs "   \
	    "more of them once it has the helper inlined"),                    \
	NUM(#h "_refetch", h.refetch,                                          \
	    "derived again by the called helper, folded when inlined")

const struct param_desc zs_codegen_table[] = {
	TEXT(compiler, "name of the compiler"),
	TEXT(arch, "x86-64 or arm64"),
	INSN(call_return, "call and return, with the return thunk if any"),
	INSN(tail_call, "reaching a helper whose last call is a jump"),
	INSN(function_entry, "nops at the entry of a traceable function"),
	INSN(save_register, "saving and restoring one register"),
	INSN(frame, "frame record and return address signing of a function "
		    "that calls"),
	HELPER(obj_malloc),
	HELPER(obj_free),
	HELPER(obj_write),
	FLAG("alloc_zspage_inlined", alloc_zspage_inlined,
	     "the compiler inlines alloc_zspage() by itself"),
	INSN(slow_path_spills, "what an inlined alloc_zspage() costs the hot "
			       "path of its caller in spills and saves"),
	INSN(cold_jumps, "jumps around cold blocks, per pair"),
	FLAG("profile_guided", profile_guided,
	     "a profile lays out these blocks once the helpers are inlined"),
	{ .key = "call_branches", .type = PARAM_INT,
	  .offset = offsetof(struct zs_codegen, call_branches),
	  .unit = "branches", .min = 0, .max = 10,
	  .help = "taken branches of a call and its return" },
	{ .key = "branch_cycles", .type = PARAM_DOUBLE,
	  .offset = offsetof(struct zs_codegen, branch_cycles),
	  .unit = "cycles", .min = 0, .max = 50,
	  .help = "fetch bubble of a taken branch that inlining removes" },
	INSN(malloc, "zs_malloc() without what follows"),
	INSN(store, "zs_store(): what it has more than zs_malloc()"),
	INSN(list_head, "per fullness list looked at"),
	INSN(obj_malloc_body, "obj_malloc() inlined, without hops"),
	INSN(hop, "per page walked in a zspage's chain"),
	INSN(pack_class, "packing the class into zs_store()'s location word"),
	INSN(fullness, "computing and comparing a fullness group"),
	INSN(fullness_move, "moving a zspage between lists, more"),
	INSN(write, "zs_obj_write()"),
	INSN(write_second_page, "a write's second page, more"),
	INSN(obj_write_body, "obj_write() inlined"),
	INSN(read_begin, "zs_obj_read_begin()"),
	INSN(read_end, "zs_obj_read_end()"),
	INSN(free, "zs_free() without what follows"),
	INSN(obj_free_body, "obj_free() inlined"),
	INSN(alloc_zspage, "alloc_zspage()"),
	INSN(alloc_zspage_page, "alloc_zspage(), per page"),
	INSN(free_link, "per object linked into a new zspage"),
	INSN(free_zspage, "free_zspage()"),
	INSN(free_zspage_page, "free_zspage(), per page"),
	INSN(compact_object, "compaction, per object moved"),
	INSN(lock_call, "one operation on a spinlock or rwlock"),
	INSN(copy_call, "memcpy(), per call"),
	INSN(copy_64_bytes, "memcpy(), per 64 bytes; 0 for a string "
			    "instruction, which counts once"),
	{ .key = NULL }
};

bool zs_obj_malloc_inlined(const struct zs_codegen *g,
			   const struct zs_features *f)
{
	return f->inline_obj_malloc || g->obj_malloc.inlined;
}

bool zs_obj_free_inlined(const struct zs_codegen *g,
			 const struct zs_features *f)
{
	return f->inline_obj_free || g->obj_free.inlined;
}

bool zs_obj_write_inlined(const struct zs_codegen *g,
			  const struct zs_features *f)
{
	return f->inline_obj_write || g->obj_write.inlined;
}

bool zs_alloc_zspage_inlined(const struct zs_codegen *g,
			     const struct zs_features *f)
{
	return !f->alloc_zspage_noinline && g->alloc_zspage_inlined;
}

/* What it costs that @h is called: all that inlining takes away. */
static int64_t called(const struct zs_codegen *g, const struct zs_helper *h,
		      int64_t reach, int64_t frame)
{
	return reach + g->function_entry + h->moves +
	       h->saves * g->save_register + frame + h->spills + h->refetch;
}

void zs_costs_of(const struct zs_codegen *g, const struct zs_features *f,
		 struct zs_costs *k)
{
	int64_t malloc = g->malloc + (f->zs_store ? g->store : 0);
	int64_t take = g->obj_malloc_body + (f->zs_store ? g->pack_class : 0);
	int64_t give = g->obj_free_body, write = g->obj_write_body;

	*k = (struct zs_costs){ 0 };
	if (!zs_obj_malloc_inlined(g, f)) {
		take += called(g, &g->obj_malloc, g->call_return, 0);
		k->obj_malloc_branches = g->call_branches;
	}
	if (!zs_obj_free_inlined(g, f)) {
		give += called(g, &g->obj_free, g->call_return, 0);
		k->obj_free_branches = g->call_branches;
	}
	if (!zs_obj_write_inlined(g, f)) {
		write += called(g, &g->obj_write, g->tail_call, g->frame);
		k->obj_write_branches = g->tail_call;
	}
	if (zs_alloc_zspage_inlined(g, f)) {
		malloc += g->slow_path_spills;
	}
	if (g->profile_guided && f->inline_obj_malloc)
		malloc -= g->cold_jumps;
	else
		k->malloc_branches = g->cold_jumps;

	k->branch_cycles = g->branch_cycles;
	k->malloc = malloc;
	k->obj_malloc = take;
	k->obj_free = give;
	k->obj_write = write;
	k->list_head = g->list_head;
	k->hop = g->hop;
	k->fullness = g->fullness;
	k->fullness_move = g->fullness_move;
	k->write = g->write;
	k->write_second_page = g->write_second_page;
	k->read_begin = g->read_begin;
	k->read_end = g->read_end;
	k->free = g->free;
	k->alloc_zspage = g->alloc_zspage;
	k->alloc_zspage_page = g->alloc_zspage_page;
	k->free_link = g->free_link;
	k->free_zspage = g->free_zspage;
	k->free_zspage_page = g->free_zspage_page;
	k->compact_object = g->compact_object;
	k->lock_call = g->lock_call;
	k->copy_call = g->copy_call;
	k->copy_64_bytes = g->copy_64_bytes;
}
