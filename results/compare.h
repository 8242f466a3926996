/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results side by side, in the layout of mmtests' compare.
 *
 * Sources are result folders, single variants of one (DIR/VARIANT or
 * DIR:VARIANT), and what people post: mmtests tables, hackbench's output,
 * slab_bulk_test's. A source gives one column per variant it has; several
 * folders with more than one variant each give a column per folder and rows
 * per variant.
 *
 * A row is a title (the metric, or mmtests' name of the benchmark), and an
 * operation (group count, bulk size, queue ...); it holds the samples of each
 * column. The first column is the baseline.
 */
#ifndef RESULTS_COMPARE_H
#define RESULTS_COMPARE_H

#include <glib.h>
#include <stdbool.h>

#include "results/stats.h"

struct cmp_cell {
	GArray *values; /* double; empty = not measured there */
	bool posted_star; /* the author of a posted table printed one */
	bool is_mean;	  /* the one value is a mean; its samples are unknown */
};

struct cmp_row {
	char *title, *op, *unit;
	bool higher_is_better;
	GPtrArray *cells; /* struct cmp_cell *, one per column */
};

struct comparison {
	GPtrArray *heads; /* char *: "source\nvariant", two header rows */
	GPtrArray *rows;  /* struct cmp_row *, by title, in order of first
			   * sight */
	bool incomplete;  /* a source says that points are missing */
};

/*
 * Reads @sources (NULL-terminated); only figures named in @metrics (NULL: the
 * headline of each result, "all": all of them).
 */
struct comparison *comparison_read(char **sources, char **metrics,
				   GError **error);
void comparison_free(struct comparison *c);

/* For readers: columns and rows are made as needed. Returns the column. */
int comparison_column(struct comparison *c, const char *source,
		      const char *variant);
struct cmp_cell *comparison_cell(struct comparison *c, int column,
				 const char *title, const char *op,
				 const char *unit, bool higher_is_better);
/* Whether @text looks like something that comparison_parse() can read. */
bool comparison_parse(struct comparison *c, const char *name, const char *text,
		      GError **error);

/* Row @r, column @col against the baseline. */
struct cmp_verdict {
	struct stats base, now;
	/* of the mean that is printed; positive is better; NAN from 0 to
	 * something, where a table shows mmtests' -99 or 100 */
	double change_pct;
	bool star;
	struct welch welch;
};
struct cmp_verdict comparison_verdict(const struct cmp_row *r, int col);

char *comparison_table(const struct comparison *c);
char *comparison_tsv(const struct comparison *c);
char *comparison_json(const struct comparison *c);
char *comparison_mmtests(const struct comparison *c); /* its raw input */

/*
 * EXIT_DONE, EXIT_RUN_FAILED where a mean is worse by more than
 * @threshold_pct and not by chance (p < 0.05, or a single, exact value on each
 * side), else EXIT_CANT_TELL where one is but may be chance, where nothing is
 * common to the columns, or where points are missing. A negative threshold
 * asks for nothing: EXIT_DONE unless there is nothing to compare.
 */
int comparison_exit(const struct comparison *c, double threshold_pct);

#endif
