/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Topologies between their text and struct topology; the format is told in
 * topology.c. Used by the readers of topology and experiment files and by
 * whoever writes a topology (importers, the effective config).
 */
#ifndef CONFIGS_TOPOLOGY_H
#define CONFIGS_TOPOLOGY_H

#include "configs/conf.h"
#include "sim/topology.h"

/* Keys of [topology], [nodes] and [node N]. */
extern const char *const topology_keys[], *const topology_nodes_keys[],
	*const topology_node_keys[];
/* What a topology file may hold: these, and [machine]. */
extern const struct conf_known topology_known[];

/* From the three kinds of groups of @c; others are not looked at. NULL with
 * @error; the caller frees. */
struct topology *topology_from_conf(const struct conf *c, GError **error);

/* Adds [topology] and a [node N] for each node. Reading it again gives the same
 * topology, if cores and L3s are numbered by their first CPU without holes. */
void topology_to_conf(GKeyFile *file, const struct topology *t);

#endif
