/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the probe in steady state, as the published benchmark: eight sizes,
 * 160 of 200 objects live, a random victim, 40 pairs a size. Freestanding, so
 * that the emulator needs no libraries.
 */
#include "probe.h"

struct pagedesc *descs;
char *memory;
#ifdef STORE
ul op_alloc(struct pool *p, const char *from, ul size, u32 gfp, int nid);
#else
ul op_alloc(struct pool *p, ul size, u32 gfp, int nid);
void op_write(struct pool *p, ul handle, const char *from, ul n);
#endif
void op_free(struct pool *p, ul handle);

static ul handles[4096], stack[4096];
static u32 top;
static struct pool pool;
static struct cls classes[255];
static struct group groups[256];
static u32 ngroups, npages;
static char payload[4096];

static long sys(long n, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
	long r;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c),
			 "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
#else
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2),
			 "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#endif
}
#ifdef __x86_64__
#define SYS_MMAP 9
#define SYS_EXIT 60
#else
#define SYS_MMAP 222
#define SYS_EXIT 93
#endif

void ext_lock(u32 *l) {}
void ext_unlock(u32 *l) {}
void ext_read_lock(u32 *l) {}
void ext_read_unlock(u32 *l) {}
void ext_copy(void *to, const void *from, ul n) {}
ul ext_slab_alloc(void *s, u32 gfp)
{
	if (gfp == 77)
		return (ul)&groups[ngroups++];
	return stack[--top];
}
void ext_slab_free(void *s, ul o) { stack[top++] = o; }
struct pagedesc *ext_page(u32 gfp, int nid) { return DESC_BASE + npages++; }

static ul alloc(ul size)
{
#ifdef STORE
	return op_alloc(&pool, payload, size, 1, 0);
#else
	ul h = op_alloc(&pool, size, 1, 0);
	op_write(&pool, h, payload, size);
	return h;
#endif
}
volatile int mark;
__attribute__((noinline)) void mark_begin(void) { mark = 1; }
__attribute__((noinline)) void mark_end(void) { mark = 2; }

void *memset(void *p, int c, ul n)
{
	for (ul i = 0; i < n; i++)
		((volatile char *)p)[i] = c;
	return p;
}

static void setup(void)
{
	descs = (void *)sys(SYS_MMAP, 0x100000000000, 1 << 20, 3, 0x32, -1, 0);
	memory = (void *)sys(SYS_MMAP, 0x200000000000, 16 << 20, 3, 0x32, -1, 0);
	for (int i = 0; i < 255; i++) {
		ul size = 32 + 16 * i, best = 1, waste = PG;
		struct cls *c = &classes[i];

		for (ul n = 1; n <= 8; n++)
			if (n * PG % size < waste) {
				waste = n * PG % size;
				best = n;
			}
		if (!(size & (size - 1)))
			best = 1;
		c->size = size;
		c->pages = best;
		c->per_group = best * PG / size;
		c->index = i;
		for (int g = 0; g < GROUPS; g++)
			c->lists[g].next = c->lists[g].prev = &c->lists[g];
		pool.cls[i] = c;
	}
	for (int i = 253; i >= 0; i--) /* merge */
		if (pool.cls[i]->pages == pool.cls[i + 1]->pages &&
		    pool.cls[i]->per_group == pool.cls[i + 1]->per_group)
			pool.cls[i] = pool.cls[i + 1];
	for (int i = 0; i < 4096; i++)
		stack[i] = (ul)&handles[i];
	top = 4096;
}

/* A group filled by hand: the slow path is not what is counted. */
static void new_groups(ul request)
{
	struct cls *c = pool.cls[(request + 8 - 32 + 15) / 16];
	ul have = 0;

	while (have < 200) {
		struct group *g = &groups[ngroups++];
		u32 n = 1;
		ul off = 0;

		g->magic = 0x58;
		g->cls = c->index;
		g->pool = &pool;
		struct pagedesc *last = NULL;
		for (u32 i = 0; i < c->pages; i++) {
			struct pagedesc *d = ext_page(0, 0);
			char *m = MEM_BASE + ((ul)(d - DESC_BASE) << 12);
			d->group = g;
			if (last)
				last->next = d;
			else
				g->first = d;
			last = d;
			for (; off < PG; off += c->size)
				*(ul *)(m + off) = (ul)n++ << 1;
			off -= PG;
		}
		g->list.next = c->lists[0].next;
		g->list.prev = &c->lists[0];
		c->lists[0].next->prev = &g->list;
		c->lists[0].next = &g->list;
		have += c->per_group;
	}
}

#ifdef PUBLISHED_SIZES
static const ul sizes[8] = { 384, 512, 640, 1024, 1536, 2048, 2560, 3136 };
#else
static const ul sizes[8] = { 384, 777, 1170, 1563, 1956, 2349, 2742, 3136 };
#endif

void run(void)
{
	static ul live[8][160];
	ul seed = 12345;

	setup();
	for (int s = 0; s < 8; s++) {
		new_groups(sizes[s]);
		for (int i = 0; i < 160; i++)
			live[s][i] = alloc(sizes[s]);
	}
	for (int round = 0; round < 2; round++) {
		if (round)
			mark_begin();
		for (int s = 0; s < 8; s++)
			for (int i = 0; i < 40; i++) {
				ul h = alloc(sizes[s]), v;

				seed = seed * 6364136223846793005ul + 1442695040888963407ul;
				v = (seed >> 33) % 160;
				op_free(&pool, live[s][v]);
				live[s][v] = h;
			}
	}
	mark_end();
	sys(SYS_EXIT, 0, 0, 0, 0, 0, 0);
}
#ifdef __x86_64__
__asm__(".globl _start\n_start: and $-16,%rsp\n call run\n");
#else
__asm__(".globl _start\n_start: bl run\n");
#endif
#ifdef __x86_64__
__asm__(".globl __x86_return_thunk\n__x86_return_thunk: ret\n");
#endif
