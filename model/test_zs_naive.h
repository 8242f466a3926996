/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zsmalloc a second time, as plainly as it can be said: no lists, no free
 * chains, no words, no addresses. Everything is counted anew when asked for.
 * Handles are the caller's numbers, any that is not in use. For tests.
 */
#ifndef MODEL_TEST_ZS_NAIVE_H
#define MODEL_TEST_ZS_NAIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct naive;

struct naive *naive_new(unsigned chain_size);
void naive_free_pool(struct naive *n);

void naive_malloc(struct naive *n, uint64_t handle, unsigned size);
void naive_free(struct naive *n, uint64_t handle);
uint64_t naive_compact(struct naive *n); /* pages freed */
/* Holds the page of @handle's object locked: returns its zspage's number. */
uint64_t naive_lock(struct naive *n, uint64_t handle);
void naive_unlock(struct naive *n, uint64_t zspage);
void naive_free_deferred(struct naive *n);

void naive_place(struct naive *n, uint64_t handle, uint64_t *zspage,
		 unsigned *index);
uint64_t naive_pages(struct naive *n);
/* The file of debugfs, made from scratch. */
char *naive_classes(struct naive *n);

#endif
