/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Op scripts with what a real kernel showed for them: a .ops file and the .out
 * beside it, alone, in a folder (at any depth) or in an archive of such a
 * folder (.tar with any compression libarchive knows, .zip).
 *
 * A case runs on a timeless machine of the topology in its header, as the
 * variant that its header's kernel means (config_variant_of_kernel()).
 */
#ifndef RESULTS_CASES_H
#define RESULTS_CASES_H

#include <glib.h>
#include <stdbool.h>

#include "configs/config.h"

struct script_case {
	char *name;	/* path of the .ops, "ARCHIVE:path" inside an archive */
	char *ops;	/* text, not of an archive: read when it is run */
	char *expected; /* text of the .out, likewise */
	bool archived;
};

/*
 * Adds the cases of @path to @cases (script_case_list_new()), sorted by name.
 * False with @error (SCRIPT_ERROR) if there is none or it can't be read.
 */
GPtrArray *script_case_list_new(void);
bool script_cases_find(const char *path, GPtrArray *cases, GError **error);

/* Where a case runs. Loads each variant once. */
struct case_runner;
/* @topology and @variant override what headers say; NULL = don't. */
struct case_runner *case_runner_new(const char *topology, const char *variant,
				    bool verify, GError **error);
void case_runner_free(struct case_runner *r);

/*
 * Runs one case: newly allocated text in the form of .out. NULL with @error:
 * SCRIPT_ERROR or CONFIG_ERROR for what is wrong with the input,
 * CASE_ERROR_STATE for a complaint of the checker.
 */
char *script_case_run(struct case_runner *r, struct script_case *c,
		      GError **error);
/* Runs it and compares; false after appending to @report what differs, or why
 * it could not be compared. */
bool script_case_agrees(struct case_runner *r, struct script_case *c,
			GString *report);

#define CASE_ERROR case_error_quark()
GQuark case_error_quark(void);
enum { CASE_ERROR_STATE };

#endif
