/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What people post, as columns of a comparison: tables of mmtests' compare,
 * the output of hackbench, and of slab_bulk_test (with the "- NAME : ..."
 * lists its users make of several runs). Quoting ("> ") and squeezed blanks of
 * mails are taken as they come.
 */
#include <string.h>

#include "results/compare.h"
#include "results/result.h"

static GRegex *regex(const char *pattern)
{
	GRegex *re = g_regex_new(pattern, 0, 0, NULL);

	g_assert(re);
	return re;
}

static char *unquoted(const char *line)
{
	while (*line == '>' || (*line == ' ' && line[1] == '>'))
		line += *line == '>' && line[1] == ' ' ? 2 : 1;
	return g_strchomp(g_strdup(line));
}

static double match_number(const GMatchInfo *m, int i)
{
	g_autofree char *s = g_match_info_fetch(m, i);

	return g_ascii_strtod(s, NULL);
}

/* ---- mmtests ---- */

/* Words, where what stands in brackets or quotes is part of one. */
static GPtrArray *header_words(const char *line)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	GString *word = g_string_new(NULL);
	int depth = 0;
	bool quoted = false;

	for (const char *p = line;; p++) {
		if (!*p || (!depth && !quoted && g_ascii_isspace(*p))) {
			if (word->len)
				g_ptr_array_add(words, g_strdup(word->str));
			g_string_truncate(word, 0);
			if (!*p)
				break;
			continue;
		}
		if (*p == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (*p == '(') - (*p == ')' && depth > 0);
		g_string_append_c(word, *p);
	}
	g_string_free(word, TRUE);
	return words;
}

struct mmtests {
	GPtrArray *header; /* char *: lines since the last table */
	char *title;
	char **names; /* of the columns */
	int columns;
};

/* Title and column names out of the lines above a table of @n columns. */
static void read_header(struct mmtests *t, int n)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	g_free(t->title);
	g_strfreev(t->names);
	t->title = NULL;
	t->columns = n;
	for (int i = 0; i < n; i++)
		g_ptr_array_add(names, NULL);
	for (guint k = 0; k < t->header->len; k++) {
		const char *line = t->header->pdata[k];
		g_autoptr(GPtrArray) words = header_words(line);
		int extra = words->len - n;

		if ((extra == 1 || words->len == 1) &&
		    !g_ascii_isspace(*line)) {
			g_free(t->title);
			t->title = g_strdup(words->pdata[0]);
		} else if (extra != 0) {
			continue;
		}
		for (int i = 0; extra >= 0 && i < n; i++) {
			char *old = names->pdata[i];
			const char *word = words->pdata[extra + i];

			/* two header rows are two halves of a name */
			names->pdata[i] = old ? g_strdup_printf("%s-%s", old,
								word) :
						g_strdup(word);
			g_free(old);
		}
	}
	for (int i = 0; i < n; i++)
		if (!names->pdata[i])
			names->pdata[i] = g_strdup_printf("column %d", i + 1);
	g_ptr_array_add(names, NULL);
	t->names = (char **)g_ptr_array_steal(names, NULL);
	if (!t->title)
		t->title = g_strdup("mmtests");
	g_ptr_array_set_size(t->header, 0);
}

/* The cells of a row: "0.4743 (   0.00%)" or "0.4295 *   9.45%*". */
static bool read_cells(struct comparison *c, struct mmtests *t,
		       const char *source, const char *op, bool higher,
		       const char *cells, const GRegex *cell_re)
{
	g_autoptr(GMatchInfo) m = NULL;
	int i = 0, n = 0;

	g_regex_match(cell_re, cells, 0, &m);
	for (; g_match_info_matches(m); g_match_info_next(m, NULL))
		n++;
	if (!n)
		return false;
	if (t->header->len || t->columns != n)
		read_header(t, n);
	g_match_info_free(m);
	m = NULL;
	g_regex_match(cell_re, cells, 0, &m);
	for (; g_match_info_matches(m); g_match_info_next(m, NULL), i++) {
		g_autofree char *mark = g_match_info_fetch(m, 2);
		int column = comparison_column(c, source, t->names[i]);
		struct cmp_cell *cell = comparison_cell(c, column, t->title, op,
							"", higher);
		double v = match_number(m, 1);

		cell->is_mean = true;
		cell->posted_star = *mark == '*';
		g_array_append_val(cell->values, v);
	}
	return true;
}

static bool parse_mmtests(struct comparison *c, const char *source,
			  char **lines)
{
	g_autoptr(GRegex) row_re = regex(
		"^\\s*([A-Z][A-Za-z]*|[123][a-z]{2}-qrtle|BAmean|BHmean)"
		"(?:[-.][0-9.]+)?\\s+(\\S+)\\s+(-?[0-9.]+\\s*[(*].*)$");
	g_autoptr(GRegex) cell_re = regex(
		"(-?[0-9.]+(?:e[-+][0-9]+)?)\\s*([(*])\\s*"
		"(?:-?[0-9.]+|-?nan|-?inf)%\\s*[)*]");
	struct mmtests t = {.header = g_ptr_array_new_with_free_func(g_free)};
	bool found = false;

	for (int i = 0; lines[i]; i++) {
		g_autofree char *line = unquoted(lines[i]);
		g_autoptr(GMatchInfo) m = NULL;
		g_autofree char *stat = NULL, *op = NULL, *cells = NULL;

		if (!g_regex_match(row_re, line, 0, &m)) {
			if (*line)
				g_ptr_array_add(t.header,
						g_steal_pointer(&line));
			continue;
		}
		stat = g_match_info_fetch(m, 1);
		op = g_match_info_fetch(m, 2);
		cells = g_match_info_fetch(m, 3);
		if (strcmp(stat, "Amean") && strcmp(stat, "Hmean"))
			continue;
		found |= read_cells(c, &t, source, op, *stat == 'H', cells,
				    cell_re);
	}
	g_ptr_array_unref(t.header);
	g_free(t.title);
	g_strfreev(t.names);
	return found;
}

/* ---- hackbench ---- */

static bool parse_hackbench(struct comparison *c, const char *source,
			    char **lines)
{
	g_autoptr(GRegex) mode_re = regex(
		"^Running in (process|threaded|thread) mode with (\\d+) groups");
	g_autoptr(GRegex) time_re = regex("^Time: ([0-9.]+)");
	g_autofree char *title = g_strdup("hackbench"), *op = g_strdup("all");
	bool found = false;

	for (int i = 0; lines[i]; i++) {
		g_autofree char *line = unquoted(lines[i]);
		g_autoptr(GMatchInfo) m = NULL, mt = NULL;

		if (g_regex_match(mode_re, line, 0, &m)) {
			g_autofree char *mode = g_match_info_fetch(m, 1);

			g_free(title);
			g_free(op);
			title = g_strdup_printf("hackbench-%s",
						*mode == 'p' ? "process" :
							       "thread");
			op = g_match_info_fetch(m, 2);
		} else if (g_regex_match(time_re, line, 0, &mt)) {
			int column = comparison_column(c, source, "");
			struct cmp_cell *cell = comparison_cell(
				c, column, title, op, "s", false);
			double v = match_number(mt, 1);

			g_array_append_val(cell->values, v);
			found = true;
		}
	}
	return found;
}

/* ---- slab_bulk_test ---- */

static void add_values(struct cmp_cell *cell, const char *text)
{
	g_auto(GStrv) parts = g_strsplit(text, " -", -1);

	for (int i = 0; parts[i]; i++) {
		double v = g_ascii_strtod(parts[i], NULL);

		g_array_append_val(cell->values, v);
	}
}

static bool parse_lists(struct comparison *c, const char *source, char **lines)
{
	g_autoptr(GRegex) re = regex(
		"^\\s*-\\s*(\\S[^:]*?)\\s*:\\s*([^:=]+?)(?:\\s+objects=(\\d+))?"
		"\\s*:\\s*([0-9][-0-9. ]*?)\\s+(cycles|ns)\\b");
	bool found = false;

	for (int i = 0; lines[i]; i++) {
		g_autofree char *line = unquoted(lines[i]);
		g_autoptr(GMatchInfo) m = NULL;
		g_autofree char *kernel = NULL, *title = NULL, *op = NULL;
		g_autofree char *values = NULL, *unit = NULL;

		if (!g_regex_match(re, line, 0, &m))
			continue;
		kernel = g_match_info_fetch(m, 1);
		title = g_match_info_fetch(m, 2);
		op = g_match_info_fetch(m, 3);
		values = g_match_info_fetch(m, 4);
		unit = g_match_info_fetch(m, 5);
		add_values(comparison_cell(c,
					   comparison_column(c, source, kernel),
					   title, *op ? op : "all", unit,
					   false),
			   values);
		found = true;
	}
	return found;
}

static bool parse_time_bench(struct comparison *c, const char *source,
			     char **lines)
{
	g_autoptr(GRegex) re = regex(
		"Type:(\\S.*?) Per elem: ([0-9]+) cycles\\(tsc\\) [0-9.]+ ns"
		"(?:\\s+\\(step:(\\d+)\\))?");
	bool found = false;

	for (int i = 0; lines[i]; i++) {
		g_autoptr(GMatchInfo) m = NULL;
		g_autofree char *title = NULL, *step = NULL;
		struct cmp_cell *cell;
		double v;

		if (!g_regex_match(re, lines[i], 0, &m))
			continue;
		title = g_match_info_fetch(m, 1);
		step = g_match_info_fetch(m, 3);
		cell = comparison_cell(c, comparison_column(c, source, ""),
				       title, step && *step ? step : "all",
				       "cycles", false);
		v = match_number(m, 2);
		g_array_append_val(cell->values, v);
		found = true;
	}
	return found;
}

bool comparison_parse(struct comparison *c, const char *name, const char *text,
		      GError **error)
{
	g_auto(GStrv) lines = NULL;
	g_autofree char *base = g_path_get_basename(name);

	if (g_str_has_suffix(base, ".txt"))
		base[strlen(base) - 4] = '\0';
	if (g_utf8_validate(text, -1, NULL)) {
		lines = g_strsplit(text, "\n", -1);
		if (parse_mmtests(c, base, lines) ||
		    parse_hackbench(c, base, lines) ||
		    parse_lists(c, base, lines) ||
		    parse_time_bench(c, base, lines))
			return true;
	}
	g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
		    "%s: expected a result folder, a table of mmtests, the "
		    "output of hackbench or of slab_bulk_test", name);
	return false;
}
