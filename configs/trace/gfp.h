/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gfp_flags of any kernel's spelling to enum trace_gfp bits.
 *
 * Symbolic: names joined by '|', with or without the leading underscores
 * ("GFP_ZERO" was printed by old kernels), "none", and numbers for the bits
 * that the kernel had no name for. Raw: hex or decimal. Raw bits have moved
 * over the years; three layouts are told apart (include/linux/gfp.h and
 * gfp_types.h of the kernels named):
 *   5.0 and later  direct reclaim 0x400, kswapd's 0x800, zero 0x100,
 *                  this node 0x200000 (0x40000 before 4.20 is not told apart)
 *   4.4 to 4.20    direct reclaim 0x400000, kswapd's 0x1000000 or 0x2000000,
 *                  zero 0x8000; known by 0x1000000|0x2000000 without 0x400
 *   before 4.4     wait 0x10, io 0x40, fs 0x80, zero 0x8000; known by 0x10
 *                  with none of 0x400, 0x800
 */
#ifndef CONFIGS_TRACE_GFP_H
#define CONFIGS_TRACE_GFP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The bits of @len bytes at @s; @known is false if any part was not known. */
unsigned trace_gfp_parse(const char *s, size_t len, bool *known);
unsigned trace_gfp_raw(uint64_t raw);

/* Remembers the spellings met last: a trace has few of them. */
#define GFP_MEMO_SLOTS 32
#define GFP_MEMO_LEN 120
struct gfp_memo {
	struct {
		uint8_t len, bits;
		bool known;
		char text[GFP_MEMO_LEN];
	} slot[GFP_MEMO_SLOTS];
};
unsigned trace_gfp_memo(struct gfp_memo *m, const char *s, size_t len,
			bool *known);

#endif
