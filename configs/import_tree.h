/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A /sys/devices/system tree, wherever it lies: the folder itself, a folder
 * above it (/, /sys, an unpacked snapshot) or a tar of one (plain, gzip,
 * bzip2, xz, zstd), read with bounded memory.
 */
#ifndef CONFIGS_IMPORT_TREE_H
#define CONFIGS_IMPORT_TREE_H

#include "configs/import_facts.h"

struct import_tree;

/* NULL with @error: unreadable, too large, or nothing of that kind inside. */
struct import_tree *import_tree_open_folder(const char *path, GError **error);
struct import_tree *import_tree_open_tar(const struct import_text *tar,
					 GError **error);
void import_tree_free(struct import_tree *t);

const char *import_tree_name(const struct import_tree *t);
/* Which cpu/cpuN and node/nodeN there are. */
const struct id_set *import_tree_cpus(const struct import_tree *t);
const struct id_set *import_tree_nodes(const struct import_tree *t);
/* Content of a file such as "cpu/cpu0/topology/core_id", without the blanks
 * around it; newly allocated, NULL if there is none. */
char *import_tree_get(const struct import_tree *t, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

struct machine_facts *facts_from_tree(const struct import_tree *t,
				      GError **error);

#endif
