/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hackbench: groups of senders and receivers that pass short messages.
 *
 * Per group, @fan senders each write @loops messages to each of @fan channels
 * (AF_UNIX stream sockets or pipes); each channel has one receiver. Creation
 * of the tasks lies before the clock, their ends inside it.
 *
 * What is simulated of a message: the allocations and frees it really causes
 * and the lines it touches (traces of 6.18). A message on a socket is
 * an skbuff_head_cache object and a kmalloc-cg-512 object, allocated by the
 * sender and freed by the receiver; on a pipe it is no object, 40 messages
 * share a page. A sender waits while the skbs in flight on its socket hold
 * sk_sndbuf bytes, and is woken once they hold at most a quarter; a pipe holds
 * 16 pages. All else that a message costs (system calls, memcg, LSM, the
 * scheduler's bookkeeping) is the option message_us.
 *
 * Sampling: with sample_messages only as many loops are simulated as make that
 * many messages, at least a quarter of all; the time from the start to the last
 * message received is multiplied accordingly. The tasks' ends are simulated in
 * full. A quarter of 100 loops moves the time of 12 groups by +1.6 % (sockets) and
 * -2.2 % (pipes).
 */
#ifndef WORKLOADS_HACKBENCH_H
#define WORKLOADS_HACKBENCH_H

#include "workloads/workload.h"

enum hackbench_channel { HACKBENCH_SOCKETS, HACKBENCH_PIPES };
enum hackbench_tasks { HACKBENCH_PROCESSES, HACKBENCH_THREADS };

struct hackbench_options {
	int64_t groups, loops, fan;
	int64_t sample_messages; /* about how many are simulated, 0 = all */
	int channel; /* enum hackbench_channel */
	int tasks;   /* enum hackbench_tasks */
	int64_t datasize;
	double message_us; /* sender's and receiver's work on a message */
	double locked_share; /* of it, inside the channel's lock */
	double jitter;	     /* of the work on each message, +- this share */
	double exit_us;	     /* work of an ending task outside the allocator */
	double slice_ms, wakeup_us, newidle_us; /* struct sched_params */
	int64_t cpu_partial; /* of the message caches, -1 = the kernel's */
};

extern const struct workload hackbench_workload;

/* Objects that one task owns from its creation to its end. */
struct hackbench_object {
	const char *cache; /* the kernel's name */
	unsigned size, align, flags; /* as struct kmem_cache_args */
	unsigned per_process, per_thread; /* how many */
};
extern const struct hackbench_object hackbench_task_objects[]; /* name NULL */
/* Objects of a channel, half of them the reader's, half the writers'. */
extern const struct hackbench_object hackbench_pipe_objects[];
extern const struct hackbench_object hackbench_socket_objects[];

/* truesize of a 100-byte skb and the default sk_sndbuf, bytes. */
#define HACKBENCH_TRUESIZE 768
#define HACKBENCH_SNDBUF 212992

#endif
