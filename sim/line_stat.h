/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened to each line, and what lies there: inside of sim/ only, its
 * users read sim/memory.h. Kept with MACHINE_LINE_STATS.
 */
#ifndef SIM_LINE_STAT_H
#define SIM_LINE_STAT_H

#include "sim/memory.h"

struct line_stats;

struct line_stats *line_stats_new(void);
void line_stats_free(struct line_stats *s);
void line_stats_reset(struct line_stats *s); /* names stay */

enum access { LOAD, STORE, RMW };

void line_count_access(struct line_stats *s, sim_addr a, enum access kind);
/* @line moved to @cpu from where it was dirty, @remote: in another socket. */
void line_count_hitm(struct line_stats *s, uint64_t line, int cpu, bool remote);
void line_count_dram(struct line_stats *s, uint64_t line, bool local);

#endif
