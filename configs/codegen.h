/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zsmalloc's part of a variant: [zsmalloc] and [codegen].
 *
 * [zsmalloc] has the keys of zs_feature_table, and codegen=NAME: the compiler
 * profile configs/codegen/NAME.conf ([codegen] description, base and each key
 * of zs_codegen_table). [codegen] in a variant or an experiment overrides
 * single figures of the profile. A variant without [zsmalloc] has none.
 */
#ifndef CONFIGS_CODEGEN_H
#define CONFIGS_CODEGEN_H

#include "configs/conf.h"
#include "configs/config.h"

extern const char *const zsmalloc_keys[]; /* beside zs_feature_table */

/* Fills v->zs from @c, or leaves it NULL. */
bool variant_read_zsmalloc(struct variant *v, const struct conf *c,
			   GError **error);
void zs_build_free(struct zs_build *b);

#endif
