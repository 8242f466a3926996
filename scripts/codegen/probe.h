/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What probe.c and its driver share. */
typedef unsigned long ul;
typedef unsigned int u32;
typedef unsigned short u16;
#define NULL ((void *)0)
#define NOINLINE __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))
#ifdef FDO
#define COLD(x) __builtin_expect_with_probability(!!(x), 0, 0.9999)
#else
#define COLD(x) (x)
#endif
#define RARE(x) __builtin_expect(!!(x), 0)

#define PG 4096u
#define GROUPS 12
#define IDX_BITS 16
#define CLS_BITS 8

struct node { struct node *next, *prev; };
struct group;
struct pagedesc {
	ul flags;
	struct node lru;
	struct pagedesc *next;
	struct group *group;
	u32 first, type;
	u32 refs, pad;
	ul memcg;
};
struct group {
	struct {
		u32 huge : 1;
		u32 full : 4;
		u32 cls : 9;
		u32 magic : 8;
	};
	u32 used;
	u32 freeidx;
	struct pagedesc *first;
	struct node list;
	struct pool *pool;
	u32 lock, readers;
};
struct cls {
	u32 lock;
	struct node lists[GROUPS];
	u32 size, per_group, pages, index;
	ul stat[14];
};
struct pool {
	const char *name;
	struct cls *cls[255];
	ul pages_allocated;
	u32 lock;
	void *slab;
};

extern struct pagedesc *descs; /* vmemmap */
extern char *memory;	      /* direct map */
#ifdef __x86_64__
#define DESC_BASE descs  /* a variable there (KASLR) */
#define MEM_BASE memory
#else
#define DESC_BASE ((struct pagedesc *)0x100000000000)
#define MEM_BASE ((char *)0x200000000000)
#endif

/* empty functions outside this object */
void ext_lock(u32 *l);
void ext_unlock(u32 *l);
void ext_read_lock(u32 *l);
void ext_read_unlock(u32 *l);
ul ext_slab_alloc(void *s, u32 gfp);
void ext_slab_free(void *s, ul o);
void ext_copy(void *to, const void *from, ul n);
#ifdef __x86_64__
#define BUG() do { __asm__ volatile("ud2"); __builtin_unreachable(); } while (0)
#else
#define BUG() do { __asm__ volatile("brk 0x800"); __builtin_unreachable(); } while (0)
#endif
struct pagedesc *ext_page(u32 gfp, int nid);

