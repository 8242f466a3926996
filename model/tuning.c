/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tuning.h"

#include <glib.h>

#define P(member, unit, max, help)                                             \
	{ #member, PARAM_INT, offsetof(struct cache_tuning, member), unit, -1, \
	  max, NULL, help, NULL }

const struct param_desc cache_tuning_table[] = {
	P(sheaf_capacity, "objects", 1024,
	  "objects in a sheaf of every cache that has sheaves; -1 = the "
	  "kernel's rule"),
	P(min_partial, "slabs", 1000000,
	  "slabs a node's list keeps even if they are empty; -1 = the kernel's "
	  "rule"),
	P(cpu_partial, "objects", 1000000,
	  "objects on a cpu partial list; -1 = the kernel's rule"),
	P(remote_node_defrag_ratio, "%", 100,
	  "how often other nodes' lists are looked at; -1 = the kernel's 100"),
	{ NULL }
};

char *cache_tuning_check(const struct cache_tuning *t)
{
	/* a sheaf of none would be a cache without sheaves: another variant */
	if (!t->sheaf_capacity)
		return g_strdup("sheaf_capacity: 0, expected 1 to 1024, or -1 "
				"for the kernel's rule");
	return NULL;
}
