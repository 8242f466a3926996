/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of what lies where in the simulated structs, for c2c.txt.
 *
 * Kinds are those that model/ names its memory by (machine_name_region());
 * offsets are the ones that it touches, the kernel's layout on 64 bits without
 * debugging options. Members that share 8 bytes share a name.
 */
#ifndef MODEL_FIELDS_H
#define MODEL_FIELDS_H

#include <stddef.h>

/* The member at @offset bytes of a @kind ("freelist", "objects[]"), or NULL:
 * not such a kind. */
const char *slub_field_name(const char *kind, size_t offset);

#endif
