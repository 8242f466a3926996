/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a user names as a result: a folder, a variant in one, a posted text. */
#ifndef RESULTS_SOURCE_H
#define RESULTS_SOURCE_H

#include "results/result.h"

struct source {
	char *name;	       /* as the user wrote it */
	struct result *result; /* NULL: a posted text */
	char *variant;	       /* the one asked for, or NULL: all of them */
	char *text;
};

/* @path: a result folder, DIR/VARIANT, DIR:VARIANT, a file, or "-". */
struct source *source_read(const char *path, GError **error);
void source_free(struct source *s);

#endif
