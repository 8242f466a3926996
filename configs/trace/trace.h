/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded kmem events as a plain struct and an iterator over a file of them.
 *
 * A file is ftrace text, `trace-cmd report` text, `perf script` text (with or
 * without call chains) or a trace.dat; plain or compressed in any way that
 * libarchive knows (gzip, xz, zstd, bzip2 ...). It is streamed: the memory
 * taken depends on the longest line allowed, not on the length of the file.
 * What reads an event from here never learns what the file looked like.
 *
 * Nothing is dropped silently: every line and record that gives no event, or
 * gives one only after mending, is counted under one enum trace_note. Records
 * are conserved: kmem records seen = events given + records skipped, and after
 * a replay records seen = events replayed + trace_notes_skipped().
 *
 * Order: events come in the order of their time stamps; equal stamps and the
 * events of one CPU stay as they are in the file. Records may be late by up to
 * TRACE_ORDER_WINDOW records; beyond that (and for a CPU whose own clock goes
 * backwards) the stamp is raised and counted.
 *
 * Errors (domain TRACE_ERROR) begin with the file's name and say what was
 * found and what was expected.
 */
#ifndef CONFIGS_TRACE_TRACE_H
#define CONFIGS_TRACE_TRACE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_ERROR trace_error_quark()
GQuark trace_error_quark(void);
enum trace_error { TRACE_ERROR_OPEN, TRACE_ERROR_READ, TRACE_ERROR_FORMAT };

enum trace_kind {
	TRACE_KMALLOC,	   /* kmalloc, kmalloc_node */
	TRACE_KFREE,	   /* kfree */
	TRACE_CACHE_ALLOC, /* kmem_cache_alloc, kmem_cache_alloc_node */
	TRACE_CACHE_FREE,  /* kmem_cache_free */
	NR_TRACE_KINDS
};
extern const char *const trace_kind_names[NR_TRACE_KINDS];
static inline bool trace_is_alloc(enum trace_kind k)
{
	return k == TRACE_KMALLOC || k == TRACE_CACHE_ALLOC;
}

/* What of gfp_flags matters to an allocator, whatever its spelling was. */
enum trace_gfp {
	TRACE_GFP_BLOCK = 1,	   /* direct reclaim allowed */
	TRACE_GFP_RECLAIM = 2,	   /* any reclaim, kswapd's at least */
	TRACE_GFP_THISNODE = 4,
	TRACE_GFP_ZERO = 8,
	TRACE_GFP_ACCOUNT = 16,
	TRACE_GFP_RECLAIMABLE = 32,
	TRACE_GFP_DMA = 64,
};

/* Small on purpose: the reader's window and the replay keep many. */
struct trace_event {
	uint64_t time_ns;     /* on the trace's clock */
	uint64_t ptr;	      /* as printed, hashed or not; 0 = NULL */
	uint32_t bytes_req;   /* allocations; 0 = the record does not say */
	uint32_t bytes_alloc; /* the same */
	uint32_t name;	      /* of the cache, see trace_name(); 0 = none */
	int16_t cpu;	      /* 0..TRACE_MAX_CPU */
	int16_t node;	      /* asked for; -1 = any */
	uint8_t kind;	      /* enum trace_kind */
	uint8_t gfp;	      /* enum trace_gfp bits */
};

#define TRACE_MAX_CPU 8191	/* the largest NR_CPUS that kernels offer */
#define TRACE_MAX_NODE 1023	/* MAX_NUMNODES at NODES_SHIFT 10 */
#define TRACE_MAX_NAMES 65536	/* cache names told apart in one trace */
#define TRACE_MAX_NAME 128	/* bytes of a cache's name that are kept */
#define TRACE_MAX_LINE (1u << 20)
#define TRACE_ORDER_WINDOW 4096

/*
 * Why something in the file is not, or not exactly, an event. The first group
 * are lines that hold no kmem record, the second kmem records that give no
 * event, the third events that needed mending, the fourth facts about the
 * trace. The replay adds to the second to fourth group.
 */
enum trace_note {
	/* lines without a kmem record */
	NOTE_BLANK,
	NOTE_COMMENT,
	NOTE_BANNER,
	NOTE_STACK,
	NOTE_FUNCTION,
	NOTE_OTHER_EVENT,
	NOTE_OTHER_TEXT,
	NOTE_LONG_LINE,
	NOTE_LOST_MARK,
	/* kmem records that are not replayed */
	NOTE_CUT,
	NOTE_BAD_FIELD,
	NOTE_HIDDEN_POINTER,
	NOTE_NULL_FREE,
	NOTE_FAILED_ALLOC,
	NOTE_UNSEEN_FREE,
	NOTE_SIZE_RANGE,
	NOTE_NO_MEMORY,
	/* events mended */
	NOTE_JOINED,
	NOTE_MAIL,
	NOTE_NO_TIME,
	NOTE_NO_CPU,
	NOTE_REORDERED,
	NOTE_TIME_RAISED,
	NOTE_SIZE_GUESSED,
	NOTE_GFP_UNKNOWN,
	NOTE_GFP_ABSENT,
	NOTE_NAME_ALTERED,
	NOTE_LOST_FREE,
	NOTE_OTHER_NAME,
	NOTE_CPU_MAPPED,
	NOTE_NODE_MAPPED,
	NOTE_PREALLOCATED,
	/* facts */
	NOTE_LOST_EVENTS,
	NOTE_HASHED,
	NOTE_UNNAMED,
	NOTE_SIZE_CHANGED,
	NR_TRACE_NOTES
};
enum trace_note_class { NOTE_IS_LINE, NOTE_IS_SKIP, NOTE_IS_MEND, NOTE_IS_FACT };
struct trace_note_desc {
	const char *key;  /* "lost_free" */
	const char *text; /* a phrase for a person */
	enum trace_note_class class;
};
extern const struct trace_note_desc trace_note_table[NR_TRACE_NOTES];

struct trace_notes {
	uint64_t lines;	  /* of text; 0 for a trace.dat */
	uint64_t records; /* kmem records seen, whole or not */
	uint64_t events;  /* given by the reader */
	uint64_t count[NR_TRACE_NOTES];
};
/* Records skipped, all reasons. */
uint64_t trace_notes_skipped(const struct trace_notes *n);

struct trace;

/* "-" is standard input. NULL with @error set. */
struct trace *trace_open(const char *path, GError **error);
/* The same over @size bytes of text or compressed text; borrows @bytes. */
struct trace *trace_open_memory(const char *bytes, size_t size,
				GError **error);
void trace_close(struct trace *t);

/* The next event. False at the end, or with @error set on a failure. */
bool trace_next(struct trace *t, struct trace_event *ev, GError **error);

/* "perf script text, gzip" and the like, once an event was asked for. */
const char *trace_format(const struct trace *t);
/* The reader's counts so far; the replay may add to .count. */
struct trace_notes *trace_notes(struct trace *t);
/* A cache's name by its number in an event; owned by @t. */
const char *trace_name(const struct trace *t, uint32_t name);

#endif
