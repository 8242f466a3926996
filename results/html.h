/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.html: a result in one file that needs nothing else, no network and no
 * script: figures, what explains them, the plots (SVG, embedded), all tables,
 * the effective configs and the command that repeats the run.
 */
#ifndef RESULTS_HTML_H
#define RESULTS_HTML_H

#include "results/result.h"

/* @table: its table_text(); @plots: the folder whose *.svg are embedded, in
 * order of name. Newly allocated text. */
char *html_report(const struct result *r, const char *table, const char *plots);

#endif
