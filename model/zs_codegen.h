/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a compiler makes of zsmalloc's helpers: a profile per compiler and
 * architecture (configs/codegen/NAME.conf), and the instruction costs that
 * follow from it for one set of features.
 *
 * The structure. Each function has a body: its instructions with everything
 * that it calls inlined. A helper that is called instead adds
 *
 *   reach       call, return and what the kernel puts at a function's entry,
 *               or one jump less where the helper ends in a tail call
 *   moves       arguments into their registers and out of them again
 *   saves       registers it saves and restores, at save_register each
 *   frame       what a function that itself calls adds (arm64: frame record
 *               and pointer authentication)
 *   spills      live values its caller spills and reloads around it
 *   refetch     what it derives again though its caller knows it: class from
 *               zspage, fields of the location word, offset, huge test; only
 *               what the compiler really folds once it is inlined
 *
 * and inlining takes exactly that away, with the fetch bubbles of the taken
 * branches in it (branch_cycles each). Saved registers that move into the
 * caller when it inlines are negative spills. An inlined slow path
 * (alloc_zspage) costs the caller's hot path slow_path_spills.
 *
 * Where the numbers come from: scripts/codegen/ holds a stand-in for the hot
 * path, written for this, and a script that compiles it with the compilers
 * at hand, runs it and sorts each executed instruction into these kinds.
 * No figure comes from a published result except the parameters that an
 * experiment lists in its [fitted] group.
 */
#ifndef MODEL_ZS_CODEGEN_H
#define MODEL_ZS_CODEGEN_H

#include "model/zs_features.h"
#include "sim/param.h"

struct zs_helper {
	int64_t moves, saves, spills, refetch;
	bool inlined; /* by the compiler itself */
};

struct zs_codegen {
	char *compiler, *arch; /* for labels */

	/* a call */
	int64_t call_return;   /* call, return, return thunk */
	int64_t tail_call;     /* what reaching a helper that tail-calls costs */
	int64_t function_entry; /* nops of a traceable function */
	int64_t save_register; /* save and restore one register */
	int64_t frame;	       /* of a function that calls */
	struct zs_helper obj_malloc, obj_free, obj_write;
	bool alloc_zspage_inlined;
	int64_t slow_path_spills;
	/* Jumps around cold blocks on a pair's path; a profile moves those blocks
	 * away where it sees the helpers in their callers. */
	int64_t cold_jumps;
	bool profile_guided;
	int64_t call_branches; /* taken branches of a call and its return */
	double branch_cycles;  /* fetch bubble of one */

	/* bodies, everything inlined */
	int64_t malloc, store, list_head, obj_malloc_body, hop;
	int64_t pack_class; /* zs_store's location word also has the class */
	int64_t fullness, fullness_move;
	int64_t write, write_second_page, obj_write_body;
	int64_t read_begin, read_end;
	int64_t free, obj_free_body;
	int64_t alloc_zspage, alloc_zspage_page, free_link;
	int64_t free_zspage, free_zspage_page;
	int64_t compact_object;

	/* outside zsmalloc */
	int64_t lock_call;	/* one spin or rw lock operation */
	int64_t copy_call, copy_64_bytes; /* memcpy(): per call, per 64 B */
};

extern const struct param_desc zs_codegen_table[];

/* Instructions per step for one profile and one set of features. */
struct zs_costs {
	unsigned malloc, list_head, obj_malloc, hop;
	unsigned fullness, fullness_move;
	unsigned write, write_second_page, obj_write;
	unsigned read_begin, read_end, free, obj_free;
	unsigned alloc_zspage, alloc_zspage_page, free_link;
	unsigned free_zspage, free_zspage_page, compact_object;
	unsigned lock_call, copy_call, copy_64_bytes;
	/* Taken branches among them whose fetch bubbles the machine's IPC does
	 * not contain: those that inlining and layout take away. */
	int malloc_branches, obj_malloc_branches, obj_free_branches,
		obj_write_branches;
	double branch_cycles;
};

void zs_costs_of(const struct zs_codegen *g, const struct zs_features *f,
		 struct zs_costs *k);

/* Whether a helper is in its caller: forced by @f or chosen by @g. */
bool zs_obj_malloc_inlined(const struct zs_codegen *g,
			   const struct zs_features *f);
bool zs_obj_free_inlined(const struct zs_codegen *g,
			 const struct zs_features *f);
bool zs_obj_write_inlined(const struct zs_codegen *g,
			  const struct zs_features *f);
bool zs_alloc_zspage_inlined(const struct zs_codegen *g,
			     const struct zs_features *f);

#endif
