/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Published figures beside simulated ones, over all experiments: the rows of
 * validation.tsv and the summary of them.
 *
 * The summary is made from the rows alone, so that a committed validation.tsv
 * and a committed summary can be checked against each other without a run.
 *
 * A comparison is two variants at one place of one figure, or a published
 * difference. Its sign is right
 * if the simulation puts the same one first. Where the simulated difference is
 * known not to reach the published one for a reason that is told
 * (disagreements.conf beside the published tables: a group per experiment,
 * key "reason"), a wrong sign counts as stated.
 */
#ifndef RESULTS_VALIDATION_H
#define RESULTS_VALIDATION_H

#include <glib.h>
#include <stdbool.h>

#include "results/result.h"

enum validation_status { VALIDATION_PREDICTED, VALIDATION_FITTED };

struct validation_row {
	char *experiment, *figure, *where, *unit;
	char *variant; /* of a published difference: "VARIANT - MINUS" */
	double published, published_sd; /* sd NAN if not published */
	double simulated, simulated_sd;
	double error_pct; /* see figure_error_pct() */
	enum validation_status status;
};

/* Appends a row per published figure of @r, each with its simulated one. */
bool validation_add(GPtrArray *rows, const struct result *r, GError **error);
GPtrArray *validation_new(void); /* of struct validation_row * */

char *validation_tsv(const GPtrArray *rows);
GPtrArray *validation_read(const char *path, GError **error);
/* @reasons: the disagreements file, NULL = none. */
char *validation_summary(const GPtrArray *rows, const char *reasons);

#endif
