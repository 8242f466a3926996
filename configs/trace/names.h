/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache names of a trace, each kept once and known by a number.
 *
 * Number 0 is "no name". At most TRACE_MAX_NAMES are told apart; the names
 * after them are number 0 too. A name becomes a folder's name in the results,
 * so bytes that cannot be in one are replaced as the kernel's sysfs does
 * ('/' by '!') or by '?', and long ones are cut at TRACE_MAX_NAME.
 */
#ifndef CONFIGS_TRACE_NAMES_H
#define CONFIGS_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_names;
struct trace_names *trace_names_new(void);
void trace_names_free(struct trace_names *n);
/* @altered is set if the name could not be kept as it is. */
uint32_t trace_names_add(struct trace_names *n, const char *s, size_t len,
			 bool *altered);
const char *trace_names_get(const struct trace_names *n, uint32_t name);

#endif
