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

struct zs_naive;

struct zs_naive *zs_naive_new(unsigned chain_size);
void zs_naive_free_pool(struct zs_naive *n);

void zs_naive_malloc(struct zs_naive *n, uint64_t handle, unsigned size);
void zs_naive_free(struct zs_naive *n, uint64_t handle);
uint64_t zs_naive_compact(struct zs_naive *n); /* pages freed */
/* Holds the page of @handle's object locked: returns its zspage's number. */
uint64_t zs_naive_lock(struct zs_naive *n, uint64_t handle);
void zs_naive_unlock(struct zs_naive *n, uint64_t zspage);
void zs_naive_free_deferred(struct zs_naive *n);

void zs_naive_place(struct zs_naive *n, uint64_t handle, uint64_t *zspage,
		    unsigned *index);
uint64_t zs_naive_pages(struct zs_naive *n);
/* The file of debugfs, made from scratch. */
char *zs_naive_classes(struct zs_naive *n);

#endif
