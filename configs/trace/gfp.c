/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/trace/gfp.h"

#include <string.h>

#include "configs/trace/trace.h"

#define KERNEL (TRACE_GFP_BLOCK | TRACE_GFP_RECLAIM)

/* Names without their underscores and without "GFP_". Those that say nothing
 * an allocator of small objects heeds map to 0. */
static const struct {
	const char *name;
	uint8_t bits;
} gfp_names[] = {
	{ "KERNEL", KERNEL },
	{ "KERNEL_ACCOUNT", KERNEL | TRACE_GFP_ACCOUNT },
	{ "ATOMIC", TRACE_GFP_RECLAIM },
	{ "NOWAIT", TRACE_GFP_RECLAIM },
	{ "NOIO", KERNEL },
	{ "NOFS", KERNEL },
	{ "USER", KERNEL },
	{ "HIGHUSER", KERNEL },
	{ "HIGHUSER_MOVABLE", KERNEL },
	{ "TEMPORARY", KERNEL | TRACE_GFP_RECLAIMABLE },
	{ "TRANSHUGE", KERNEL },
	{ "TRANSHUGE_LIGHT", 0 },
	{ "WAIT", KERNEL },
	{ "RECLAIM", KERNEL },
	{ "DIRECT_RECLAIM", TRACE_GFP_BLOCK },
	{ "KSWAPD_RECLAIM", TRACE_GFP_RECLAIM },
	{ "ZERO", TRACE_GFP_ZERO },
	{ "THISNODE", TRACE_GFP_THISNODE },
	{ "ACCOUNT", TRACE_GFP_ACCOUNT },
	{ "RECLAIMABLE", TRACE_GFP_RECLAIMABLE },
	{ "DMA", TRACE_GFP_DMA },
	{ "DMA32", 0 },
	{ "HIGHMEM", 0 },
	{ "MOVABLE", 0 },
	{ "HIGH", 0 },
	{ "IO", 0 },
	{ "FS", 0 },
	{ "COLD", 0 },
	{ "NOWARN", 0 },
	{ "REPEAT", 0 },
	{ "RETRY_MAYFAIL", 0 },
	{ "NOFAIL", 0 },
	{ "NORETRY", 0 },
	{ "COMP", 0 },
	{ "MEMALLOC", 0 },
	{ "NOMEMALLOC", 0 },
	{ "HARDWALL", 0 },
	{ "WRITE", 0 },
	{ "NOTRACK", 0 },
	{ "OTHER_NODE", 0 },
	{ "NOLOCKDEP", 0 },
	{ "ZEROTAGS", 0 },
	{ "SKIP_ZERO", 0 },
	{ "SKIP_KASAN", 0 },
	{ "SKIP_KASAN_POISON", 0 },
	{ "SKIP_KASAN_UNPOISON", 0 },
	{ "NO_OBJ_EXT", 0 },
	{ "NO_KSWAPD", 0 },
	{ "NOACCOUNT", 0 },
};

unsigned trace_gfp_raw(uint64_t raw)
{
	unsigned bits = 0;

	if (raw & 0xc00 || !(raw & 0x3000010)) { /* 5.0 and later */
		bits |= raw & 0x400 ? TRACE_GFP_BLOCK | TRACE_GFP_RECLAIM : 0;
		bits |= raw & 0x800 ? TRACE_GFP_RECLAIM : 0;
		bits |= raw & 0x100 ? TRACE_GFP_ZERO : 0;
		bits |= raw & 0x200000 ? TRACE_GFP_THISNODE : 0;
		bits |= raw & 0x400000 ? TRACE_GFP_ACCOUNT : 0;
		bits |= raw & 0x10 ? TRACE_GFP_RECLAIMABLE : 0;
	} else if (raw & 0x3000000) { /* 4.4 to 4.20 */
		bits |= TRACE_GFP_RECLAIM;
		bits |= raw & 0x400000 ? TRACE_GFP_BLOCK : 0;
		bits |= raw & 0x8000 ? TRACE_GFP_ZERO : 0;
		bits |= raw & 0x40000 ? TRACE_GFP_THISNODE : 0;
		bits |= raw & 0x100000 ? TRACE_GFP_ACCOUNT : 0;
	} else { /* before 4.4 */
		bits |= TRACE_GFP_BLOCK | TRACE_GFP_RECLAIM;
		bits |= raw & 0x8000 ? TRACE_GFP_ZERO : 0;
		bits |= raw & 0x40000 ? TRACE_GFP_THISNODE : 0;
		bits |= raw & 0x80000 ? TRACE_GFP_RECLAIMABLE : 0;
	}
	bits |= raw & 1 ? TRACE_GFP_DMA : 0;
	return bits;
}

/* The whole of @s as a number; false if it is none. */
static bool gfp_number(const char *s, size_t len, uint64_t *out)
{
	unsigned base = 10;
	uint64_t v = 0;

	if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
		len -= 2;
	}
	if (!len || len > 16)
		return false;
	for (size_t i = 0; i < len; i++) {
		int d = g_ascii_xdigit_value(s[i]);

		if (d < 0 || d >= (int)base)
			return false;
		v = v * base + d;
	}
	*out = v;
	return true;
}

static bool gfp_name(const char *s, size_t len, unsigned *bits)
{
	if (len >= 2 && s[0] == '_' && s[1] == '_') {
		s += 2;
		len -= 2;
	}
	if (len < 4 || memcmp(s, "GFP_", 4))
		return false;
	s += 4;
	len -= 4;
	for (size_t i = 0; i < G_N_ELEMENTS(gfp_names); i++) {
		if (strlen(gfp_names[i].name) == len &&
		    !memcmp(gfp_names[i].name, s, len)) {
			*bits |= gfp_names[i].bits;
			return true;
		}
	}
	return false;
}

unsigned trace_gfp_parse(const char *s, size_t len, bool *known)
{
	unsigned bits = 0;
	uint64_t raw;

	*known = true;
	if (gfp_number(s, len, &raw))
		return trace_gfp_raw(raw);
	if (len == 4 && !memcmp(s, "none", 4))
		return 0;
	while (true) {
		const char *bar = memchr(s, '|', len);
		size_t n = bar ? (size_t)(bar - s) : len;

		/* bits beside names are those without a name: no matter */
		if (!gfp_number(s, n, &raw) && !gfp_name(s, n, &bits))
			*known = false;
		if (!bar)
			return bits;
		s = bar + 1;
		len -= n + 1;
	}
}

unsigned trace_gfp_memo(struct gfp_memo *m, const char *s, size_t len,
			bool *known)
{
	unsigned hash = len;
	unsigned bits;

	if (!len || len > GFP_MEMO_LEN)
		return trace_gfp_parse(s, len, known);
	hash = hash * 31 + (unsigned char)s[len / 2];
	hash = hash * 31 + (unsigned char)s[len - 1];
	hash = hash * 31 + (unsigned char)s[len > 4 ? 4 : 0];
	hash %= GFP_MEMO_SLOTS;
	if (m->slot[hash].len == len && !memcmp(m->slot[hash].text, s, len)) {
		*known = m->slot[hash].known;
		return m->slot[hash].bits;
	}
	bits = trace_gfp_parse(s, len, known);
	m->slot[hash].len = len;
	m->slot[hash].bits = bits;
	m->slot[hash].known = *known;
	memcpy(m->slot[hash].text, s, len);
	return bits;
}
