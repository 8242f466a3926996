/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine, cost and variant files; shared by their own readers and that of
 * experiments, which lay their groups over them.
 *
 * Machine files: [machine] description, base and each key of
 * machine_param_table. Cost files: [costs] description, base; [instructions]
 * each key of insn_cost_table. Both: [range], see struct estimate. Variant
 * files: [variant] name, description, kernel, costs, base; [features] each key
 * of feature_table; [instructions] what differs from the cost file. "Each" is
 * meant with the base: files that are based on another hold what differs.
 */
#ifndef CONFIGS_VARIANT_H
#define CONFIGS_VARIANT_H

#include "configs/conf.h"
#include "configs/config.h"

extern const char *const variant_keys[]; /* of [variant] */

/*
 * The variant that [variant], [features] and [instructions] of @c make. Its
 * cost file is not read if [instructions] has every step.
 */
struct variant *variant_from_conf(const struct conf *c, GError **error);

/*
 * Reads a variant file (relative to the file @from) and lays [features] and
 * [instructions] of @over over it (may be NULL).
 */
struct variant *variant_load(const char *name, const char *from,
			     const struct conf *over, GError **error);

/* Whether [group] of @c has every key of @table. */
bool conf_has_all(const struct conf *c, const char *group,
		  const struct param_desc *table);

/* The machine file's [machine] and [range], and nothing unknown. */
struct conf *machine_read(const char *name, const char *from, GError **error);

#endif
