/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which kinds of machine description a text holds: a mail may have the output
 * of lscpu and of numactl -H one below the other.
 */
#ifndef CONFIGS_IMPORT_KIND_H
#define CONFIGS_IMPORT_KIND_H

#include "configs/import_facts.h"

enum import_kind {
	KIND_NUMACTL = 1,
	KIND_LSCPU = 2,
	KIND_LSCPU_TABLE = 4,
	KIND_LSCPU_JSON = 8,
	KIND_HWLOC = 16,
	KIND_TAR = 32,
};

unsigned import_recognise(const struct import_text *t);

/*
 * Appends to @all (struct machine_facts *, freed by the array) what @t holds,
 * one entry per kind. False with @error.
 */
bool facts_from_text(const struct import_text *t, GPtrArray *all,
		     GError **error);
/* The same of a file, folder or "-". */
bool facts_from_path(const char *path, GPtrArray *all, GError **error);
/* An array for them. */
GPtrArray *facts_array_new(void);
/* Merges all into the one that is most to be believed, which it returns
 * (owned by @all); @all has to live as long as that is used. */
struct machine_facts *facts_merge_all(GPtrArray *all);

#endif
