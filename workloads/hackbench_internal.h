/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of hackbench share: hackbench.c has the tasks, the clock and
 * the options, hackbench_sockets.c and hackbench_pipes.c what a message does on
 * its way from a sender to a receiver.
 */
#ifndef WORKLOADS_HACKBENCH_INTERNAL_H
#define WORKLOADS_HACKBENCH_INTERNAL_H

#include "sim/lock.h"
#include "workloads/hackbench.h"
#include "workloads/sched.h"

#define PAGE_BYTES 4096
#define PIPE_SLOTS 16 /* pages, PIPE_DEF_BUFFERS */
#define PIPE_TMP_PAGES 2
#define MAX_FAN 64 /* senders to a channel */

struct hackbench;
struct channel;
struct actor;

/* What messages go through. */
struct channel_kind {
	const struct hackbench_object *objects; /* of a channel */
	const char *info, *bufs; /* caches of channel.info and .bufs, or NULL */
	const char *lock_class;
	unsigned ring;	 /* messages that channel.ring holds, 0 = no ring */
	unsigned memory; /* bytes of messages in a channel, generously */
	/* A message of @a: STEP_AGAIN when it is through, STEP_WAITS when @a
	 * has entered a wait list of the channel. */
	enum step_result (*send)(struct cpu *c, struct actor *a,
				 struct channel *ch);
	enum step_result (*receive)(struct cpu *c, struct actor *a,
				    struct channel *ch);
	/* After the last writer; NULL = nothing is left over. */
	void (*close)(struct cpu *c, struct hackbench *h, struct channel *ch);
};
extern const struct channel_kind hackbench_sockets, hackbench_pipes;

struct message { /* on a socket */
	sim_addr skb, data;
};

struct channel {
	sim_addr info, bufs; /* pipe_inode_info or the receiving sock */
	struct sim_lock lock;
	struct task_list writers, reader; /* that wait */
	unsigned in_flight;		  /* messages */
	/* socket: a ring of messages */
	struct message *ring;
	unsigned head, tail; /* next to write, next to read */
	/* pipe: pages head-1 (partly written) down to tail (partly read) */
	sim_addr pages[PIPE_SLOTS], tmp[PIPE_TMP_PAGES];
	unsigned written, read; /* messages in the last, of the first page */
	GArray *objects[2];	/* owned; reader's, writers' */
};

struct group {
	struct channel *channels;
	unsigned senders_left;
};

struct actor { /* a sender, a receiver or the starter */
	struct task task;
	struct hackbench *h;
	struct group *group;
	unsigned index, next; /* of the channels; sender: next one to write */
	unsigned left;	      /* messages to do */
	bool woken_writer;    /* pipe: came from the wait list */
	GArray *objects;      /* owned */
};

struct hackbench {
	const struct hackbench_options *o;
	const struct channel_kind *kind;
	struct slub *sl;
	struct machine *m;
	struct sched *sched;
	struct domain *everyone;
	struct group *groups;
	struct actor *actors;
	unsigned nr_actors;
	struct actor starter;
	struct task_list start;
	GHashTable *caches; /* name -> struct kmem_cache */
	struct kmem_cache *skb, *data;
	unsigned per_page; /* messages */
	double half_work;  /* cycles of one side of a message */
	uint64_t begin, last_message, end;
	uint64_t *slab; /* per CPU: cycles in the allocator */
	uint64_t operations;
	int frame_send, frame_receive, frame_exit;
};

/* The allocator, with its time taken. */
sim_addr hackbench_take(struct cpu *c, struct hackbench *h,
			struct kmem_cache *s);
void hackbench_give(struct cpu *c, struct hackbench *h, struct kmem_cache *s,
		    sim_addr a);

/* @share of one side's work on a message: varied, so that runs are samples. */
void hackbench_work(struct cpu *c, struct hackbench *h, double share);

/* The first @lines lines of @a. */
void hackbench_touch(struct cpu *c, sim_addr a, unsigned lines, bool write);

#endif
