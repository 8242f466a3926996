/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Caches between what an input says of them and the [machine] group of a
 * topology file: what the input has replaces the named machine file's values,
 * the rest is listed as coming from there.
 */
#ifndef CONFIGS_IMPORT_CACHES_H
#define CONFIGS_IMPORT_CACHES_H

#include "configs/import_facts.h"
#include "sim/machine_params.h"

/*
 * The [machine] group as text. @name and @params: the machine file, or NULL if
 * none was named (then only comments are written of what a machine file would
 * give). What can't be used is said by a note in @notes. Newly allocated.
 */
char *import_caches_to_conf(const struct machine_facts *f, const char *name,
			    const struct machine_params *params,
			    GPtrArray *notes);

#endif
