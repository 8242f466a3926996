/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages through AF_UNIX stream sockets: an skb and its data, allocated by
 * the sender, queued under the receiving socket's lock, freed by the receiver.
 */
#include "workloads/hackbench_internal.h"

/* Every sender may have passed the check before any of them queues. */
#define SOCKET_SLOTS (HACKBENCH_SNDBUF / HACKBENCH_TRUESIZE + 1 + MAX_FAN)

static bool socket_full(const struct channel *ch)
{
	return ch->in_flight * HACKBENCH_TRUESIZE >= HACKBENCH_SNDBUF;
}

static enum step_result socket_send(struct cpu *c, struct actor *a,
				    struct channel *ch)
{
	struct hackbench *h = a->h;
	struct task *reader;
	struct message msg;

	cpu_meet(c, h->everyone);
	if (socket_full(ch)) {
		sched_wait_on(&ch->writers, &a->task);
		return STEP_WAITS;
	}
	ch->in_flight++;
	hackbench_work(c, h, 1 - h->o->locked_share);
	msg.skb = hackbench_take(c, h, h->skb);
	hackbench_touch(c, msg.skb, 4, true); /* cleared, then filled in */
	msg.data = hackbench_take(c, h, h->data);
	cpu_write(c, msg.data + 128); /* struct skb_shared_info */
	cpu_copy(c, msg.data, 0, h->o->datasize);
	cpu_lock(c, &ch->lock);
	ch->ring[ch->head++ % SOCKET_SLOTS] = msg;
	reader = task_list_take(&ch->reader);
	cpu_write(c, ch->info); /* sk_receive_queue */
	hackbench_work(c, h, h->o->locked_share);
	cpu_unlock(c, &ch->lock);
	if (reader) {
		cpu_meet(c, h->everyone);
		sched_wake(c, reader);
	}
	return STEP_AGAIN;
}

static enum step_result socket_receive(struct cpu *c, struct actor *a,
				       struct channel *ch)
{
	struct hackbench *h = a->h;
	struct task_list woken = { 0 };
	struct message msg;
	struct task *t;

	cpu_lock(c, &ch->lock);
	if (ch->head == ch->tail) {
		sched_wait_on(&ch->reader, &a->task);
		cpu_unlock(c, &ch->lock);
		return STEP_WAITS;
	}
	msg = ch->ring[ch->tail++ % SOCKET_SLOTS];
	/*
	 * The kernel returns the send buffer after the copy; here it goes
	 * back at once, a few microseconds early in a drain of 200 messages.
	 */
	ch->in_flight--;
	if (ch->in_flight * HACKBENCH_TRUESIZE * 4 <= HACKBENCH_SNDBUF) {
		woken = ch->writers;
		ch->writers = (struct task_list){ 0 };
	}
	cpu_write(c, ch->info);
	hackbench_work(c, h, h->o->locked_share);
	cpu_unlock(c, &ch->lock);
	hackbench_work(c, h, 1 - h->o->locked_share);
	hackbench_touch(c, msg.skb, 3, false);
	cpu_read(c, msg.data + 128);
	cpu_copy(c, 0, msg.data, h->o->datasize);
	cpu_write(c, msg.skb);
	while ((t = task_list_take(&woken))) {
		cpu_meet(c, h->everyone);
		sched_wake(c, t);
	}
	hackbench_give(c, h, h->data, msg.data);
	hackbench_give(c, h, h->skb, msg.skb);
	return STEP_AGAIN;
}

const struct channel_kind hackbench_sockets = {
	.objects = hackbench_socket_objects,
	.info = "UNIX",
	.lock_class = "&list->lock#2",
	.ring = SOCKET_SLOTS,
	.memory = HACKBENCH_SNDBUF + HACKBENCH_SNDBUF / 2,
	.send = socket_send,
	.receive = socket_receive,
};
