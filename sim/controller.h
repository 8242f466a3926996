/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory controllers, one per node, of finite bandwidth.
 *
 * A controller serves a line in line size / bandwidth. It keeps count of the
 * lines asked for in windows of CONTROLLER_WINDOW such times: the k-th line of a
 * window isn't served before k services after the window's start, and a full
 * window passes requests on to the next. Requests may come out of order (clocks
 * run ahead between meetings); each counts where it belongs.
 */
#ifndef SIM_CONTROLLER_H
#define SIM_CONTROLLER_H

#include <stddef.h>
#include <stdint.h>

#define CONTROLLER_WINDOW 256 /* lines */

struct controllers;

/* @service: cycles per line in units of 2^-CYCLE_FRAC_BITS. */
struct controllers *controllers_new(size_t nr_nodes, uint64_t service);
void controllers_free(struct controllers *s);

/* How many cycles a line that a CPU of @cpu_node asked for at @date waits
 * before @node's controller serves it; the line counts as moved. */
uint64_t controller_wait(struct controllers *s, int cpu_node, int node,
			 uint64_t date);

/* Bytes moved since the last reset: @bytes[cpu_node * nr_nodes + node]. */
void controllers_traffic(const struct controllers *s, uint64_t *bytes);
void controllers_reset_traffic(struct controllers *s);

#endif
