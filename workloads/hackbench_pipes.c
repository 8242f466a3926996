/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages through pipes: copied into pages of the pipe under its mutex, many
 * messages a page, and out of them. Nothing comes from a slab; a page that is
 * read goes to one of the pipe's spare ones or back to the page allocator.
 */
#include "workloads/hackbench_internal.h"

/* No slot left; the last one may still have room for a message. */
static bool pipe_full(const struct channel *ch)
{
	return ch->head - ch->tail == PIPE_SLOTS;
}

static bool pipe_merges(const struct hackbench *h, const struct channel *ch)
{
	return ch->head != ch->tail && ch->written < h->per_page;
}

static sim_addr pipe_new_page(struct cpu *c, struct hackbench *h,
			      struct channel *ch)
{
	for (int i = 0; i < PIPE_TMP_PAGES; i++) {
		sim_addr page = ch->tmp[i];

		if (page) {
			ch->tmp[i] = 0;
			return page;
		}
	}
	return alloc_pages(c, h->sl, GFP_FOR_KERNEL, 0, NO_NODE);
}

static void pipe_put_page(struct cpu *c, struct hackbench *h,
			  struct channel *ch, sim_addr page)
{
	for (int i = 0; i < PIPE_TMP_PAGES; i++) {
		if (!ch->tmp[i]) {
			ch->tmp[i] = page;
			return;
		}
	}
	free_pages(c, h->sl, page, 0);
}

static enum step_result pipe_send(struct cpu *c, struct actor *a,
				  struct channel *ch)
{
	struct hackbench *h = a->h;
	struct task *reader = NULL, *writer = NULL;
	sim_addr page;

	hackbench_work(c, h, 1 - h->o->locked_share);
	cpu_lock(c, &ch->lock);
	hackbench_touch(c, ch->info + SIM_LINE, 2, true);
	if (!pipe_merges(h, ch) && pipe_full(ch)) {
		sched_wait_on(&ch->writers, &a->task);
		a->woken_writer = true;
		cpu_unlock(c, &ch->lock);
		return STEP_WAITS;
	}
	if (!pipe_merges(h, ch)) {
		ch->pages[ch->head++ % PIPE_SLOTS] = pipe_new_page(c, h, ch);
		ch->written = 0;
	}
	page = ch->pages[(ch->head - 1) % PIPE_SLOTS];
	cpu_write(c, ch->bufs + (ch->head - 1) % PIPE_SLOTS * 40);
	cpu_copy(c, page + ch->written * h->o->datasize, 0, h->o->datasize);
	ch->written++;
	if (!ch->in_flight++)
		reader = task_list_take(&ch->reader);
	/* Who was let in lets the next one in while there is a slot. */
	if (a->woken_writer && !pipe_full(ch))
		writer = task_list_take(&ch->writers);
	a->woken_writer = false;
	hackbench_work(c, h, h->o->locked_share);
	cpu_unlock(c, &ch->lock);
	if (reader || writer)
		cpu_meet(c, h->everyone);
	if (reader)
		sched_wake(c, reader);
	if (writer)
		sched_wake(c, writer);
	return STEP_AGAIN;
}

static enum step_result pipe_receive(struct cpu *c, struct actor *a,
				     struct channel *ch)
{
	struct hackbench *h = a->h;
	struct task *writer = NULL;
	sim_addr page;

	cpu_lock(c, &ch->lock);
	hackbench_touch(c, ch->info + SIM_LINE, 2, true);
	if (!ch->in_flight) {
		sched_wait_on(&ch->reader, &a->task);
		cpu_unlock(c, &ch->lock);
		return STEP_WAITS;
	}
	page = ch->pages[ch->tail % PIPE_SLOTS];
	cpu_write(c, ch->bufs + ch->tail % PIPE_SLOTS * 40);
	cpu_copy(c, 0, page + ch->read * h->o->datasize, h->o->datasize);
	ch->in_flight--;
	ch->read++;
	/* A buffer goes when it is empty, even the one being filled. */
	if (ch->read == h->per_page || !ch->in_flight) {
		if (pipe_full(ch))
			writer = task_list_take(&ch->writers);
		ch->tail++;
		ch->read = 0;
		pipe_put_page(c, h, ch, page);
	}
	hackbench_work(c, h, h->o->locked_share);
	cpu_unlock(c, &ch->lock);
	if (writer) {
		cpu_meet(c, h->everyone);
		sched_wake(c, writer);
	}
	hackbench_work(c, h, 1 - h->o->locked_share);
	return STEP_AGAIN;
}

static void pipe_close(struct cpu *c, struct hackbench *h, struct channel *ch)
{
	for (int i = 0; i < PIPE_TMP_PAGES; i++) {
		if (ch->tmp[i])
			free_pages(c, h->sl, ch->tmp[i], 0);
		ch->tmp[i] = 0;
	}
}

const struct channel_kind hackbench_pipes = {
	.objects = hackbench_pipe_objects,
	.info = "kmalloc-cg-192",
	.bufs = "kmalloc-cg-1k",
	.lock_class = "&pipe->mutex",
	.memory = PIPE_SLOTS * PAGE_BYTES,
	.send = pipe_send,
	.receive = pipe_receive,
	.close = pipe_close,
};
