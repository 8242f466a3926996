/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/published.h"

#include <math.h>
#include <string.h>

/* A TSV in memory: '#' lines skipped, the first other line names columns. */
struct table {
	char *file;
	char **columns;
	GPtrArray *rows; /* char ** */
	GArray *lines;	 /* int: line number of each row */
};

static void table_clear(struct table *t)
{
	g_free(t->file);
	g_strfreev(t->columns);
	if (t->rows)
		g_ptr_array_unref(t->rows);
	if (t->lines)
		g_array_unref(t->lines);
}
typedef struct table table; /* g_auto() wants one word */
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(table, table_clear)

void target_free(struct target *t)
{
	g_free(t->variant);
	g_free(t->minus);
	g_free(t->name);
	g_free(t->source);
	g_ptr_array_unref(t->coords);
	g_free(t);
}

static bool table_read(struct table *t, const char *file, GError **error)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(file, &text, NULL, error))
		return false;
	t->file = g_strdup(file);
	t->rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
	t->lines = g_array_new(FALSE, FALSE, sizeof(int));
	lines = g_strsplit(text, "\n", -1);
	for (int i = 0; lines[i]; i++) {
		char **cells;
		int line = i + 1;

		if (lines[i][0] == '#' || !*g_strchomp(lines[i]))
			continue;
		cells = g_strsplit(lines[i], "\t", -1);
		if (!t->columns) {
			t->columns = cells;
			continue;
		}
		if (g_strv_length(cells) != g_strv_length(t->columns)) {
			g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
				    "%s:%d: %u columns, expected %u", file,
				    line, g_strv_length(cells),
				    g_strv_length(t->columns));
			g_strfreev(cells);
			return false;
		}
		g_ptr_array_add(t->rows, cells);
		g_array_append_val(t->lines, line);
	}
	if (t->columns)
		return true;
	g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
		    "%s: no header line", file);
	return false;
}

static const char *table_cell(const struct table *t, guint row,
			      const char *column)
{
	char **cells = t->rows->pdata[row];

	for (int i = 0; column && t->columns[i]; i++)
		if (!strcmp(t->columns[i], column))
			return cells[i];
	return NULL;
}

/* A group of the .map file. */
struct mapping {
	const char *file, *group;
	GKeyFile *keys;
	char *column, *figure, *stddev, *variant, *variant_column, *minus;
	char **select, **variants, **where, **fixed; /* "A=B" each */
	double scale;
	bool percent, parts;
};

static void mapping_clear(struct mapping *m)
{
	g_free(m->column);
	g_free(m->figure);
	g_free(m->stddev);
	g_free(m->variant);
	g_free(m->variant_column);
	g_free(m->minus);
	g_strfreev(m->select);
	g_strfreev(m->variants);
	g_strfreev(m->where);
	g_strfreev(m->fixed);
}
typedef struct mapping mapping;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(mapping, mapping_clear)

static bool map_error(const struct mapping *m, const char *key,
		      const char *expected, GError **error)
{
	g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
		    "%s: [%s] %s: expected %s", m->file, m->group, key,
		    expected);
	return false;
}

static char *map_string(const struct mapping *m, const char *key)
{
	char *s = g_key_file_get_string(m->keys, m->group, key, NULL);

	return s ? g_strstrip(s) : NULL;
}

/* "A=B;C=D"; an empty list if there is none. */
static char **map_pairs(const struct mapping *m, const char *key)
{
	char **v = g_key_file_get_string_list(m->keys, m->group, key, NULL,
					      NULL);

	for (int i = 0; v && v[i]; i++)
		g_strstrip(v[i]);
	return v ? v : g_new0(char *, 1);
}

static bool pairs_ok(const struct mapping *m, const char *key, char **pairs,
		     const struct table *t, int column_side, GError **error)
{
	for (int i = 0; pairs[i]; i++) {
		const char *equals = strchr(pairs[i], '=');
		g_autofree char *left = NULL;
		const char *column;

		if (!equals)
			return map_error(m, key, "NAME=VALUE;...", error);
		left = g_strndup(pairs[i], equals - pairs[i]);
		column = column_side == 1 ? left : equals + 1;
		if (column_side &&
		    !g_strv_contains((const char *const *)t->columns, column))
			return map_error(m, key, "columns of the table", error);
	}
	return true;
}

static bool mapping_read(struct mapping *m, const struct table *t,
			 GError **error)
{
	static const char *const known[] = {
		"column",   "select",	      "figure", "scale",   "stddev",
		"variant",  "variant_column", "minus",	"percent", "where",
		"variants", "fixed",	      "parts",	NULL};
	g_auto(GStrv) keys = g_key_file_get_keys(m->keys, m->group, NULL, NULL);
	const char *const *columns = (const char *const *)t->columns;

	for (int i = 0; keys[i]; i++)
		if (!g_strv_contains(known, keys[i]))
			return map_error(m, keys[i], "a known key (see "
					 "results/published.h)", error);
	m->column = map_string(m, "column");
	m->figure = map_string(m, "figure");
	m->stddev = map_string(m, "stddev");
	m->variant = map_string(m, "variant");
	m->variant_column = map_string(m, "variant_column");
	m->minus = map_string(m, "minus");
	m->select = map_pairs(m, "select");
	m->variants = map_pairs(m, "variants");
	m->where = map_pairs(m, "where");
	m->fixed = map_pairs(m, "fixed");
	m->percent = g_key_file_get_boolean(m->keys, m->group, "percent", NULL);
	m->parts = g_key_file_get_boolean(m->keys, m->group, "parts", NULL);
	m->scale = 1;
	if (g_key_file_has_key(m->keys, m->group, "scale", NULL))
		m->scale = g_key_file_get_double(m->keys, m->group, "scale",
						 NULL);
	if (!m->column || !g_strv_contains(columns, m->column))
		return map_error(m, "column", "a column of the table", error);
	if (m->stddev && !g_strv_contains(columns, m->stddev))
		return map_error(m, "stddev", "a column of the table", error);
	if (!m->figure)
		return map_error(m, "figure", "a metric or series", error);
	if (!m->scale)
		return map_error(m, "scale", "a number other than 0", error);
	if (!m->variant &&
	    (!m->variant_column || !g_strv_contains(columns,
						    m->variant_column)))
		return map_error(m, "variant",
				 "a variant, or a column in variant_column",
				 error);
	return pairs_ok(m, "select", m->select, t, 1, error) &&
	       pairs_ok(m, "variants", m->variants, t, 0, error) &&
	       pairs_ok(m, "where", m->where, t, 2, error) &&
	       pairs_ok(m, "fixed", m->fixed, t, 0, error);
}

static bool selected(const struct mapping *m, const struct table *t, guint row)
{
	for (int i = 0; m->select[i]; i++) {
		g_auto(GStrv) pair = g_strsplit(m->select[i], "=", 2);

		if (g_strcmp0(table_cell(t, row, pair[0]), pair[1]))
			return false;
	}
	return true;
}

static char *variant_of(const struct mapping *m, const struct table *t,
			guint row)
{
	const char *text;

	if (m->variant)
		return g_strdup(m->variant);
	text = table_cell(t, row, m->variant_column);
	for (int i = 0; m->variants[i]; i++) {
		const char *equals = strrchr(m->variants[i], '=');
		g_autofree char *left = g_strndup(m->variants[i],
						  equals - m->variants[i]);

		if (!strcmp(left, text))
			return g_strdup(equals + 1);
	}
	return g_strdup(text);
}

/* "12", or a range "-4.0..-4.5" */
static bool parse_value(const char *s, double scale, struct target *t)
{
	char *end;
	double a = g_ascii_strtod(s, &end), b = a;

	if (end == s)
		return false;
	if (g_str_has_prefix(end, "..")) {
		s = end + 2;
		b = g_ascii_strtod(s, &end);
		if (end == s)
			return false;
	}
	t->value = (a + b) / 2 * scale;
	t->low = MIN(a, b) * scale;
	t->high = MAX(a, b) * scale;
	return *end == '\0';
}

static bool add_target(const struct mapping *m, const struct table *t,
		       guint row, GPtrArray *targets, GError **error)
{
	struct target *g = g_new0(struct target, 1);
	const char *sd = table_cell(t, row, m->stddev);
	g_autofree char *base = g_path_get_basename(t->file);

	g->coords = g_ptr_array_new_with_free_func((GDestroyNotify)coord_free);
	g->variant = variant_of(m, t, row);
	g->minus = g_strdup(m->minus);
	g->percent = m->percent;
	g->part = m->parts;
	g->name = g_strdup(m->figure);
	g->source = g_strdup_printf("%s:%d", base,
				    g_array_index(t->lines, int, row));
	g->stddev = sd ? g_ascii_strtod(sd, NULL) * m->scale : NAN;
	for (int i = 0; m->where[i]; i++) {
		g_auto(GStrv) pair = g_strsplit(m->where[i], "=", 2);

		g_ptr_array_add(g->coords,
				coord_new(pair[0],
					  table_cell(t, row, pair[1])));
	}
	for (int i = 0; m->fixed[i]; i++) {
		g_auto(GStrv) pair = g_strsplit(m->fixed[i], "=", 2);

		g_ptr_array_add(g->coords, coord_new(pair[0], pair[1]));
	}
	g_ptr_array_add(targets, g);
	if (parse_value(table_cell(t, row, m->column), m->scale, g))
		return true;
	g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
		    "%s:%d: %s: '%s', expected a number", t->file,
		    g_array_index(t->lines, int, row), m->column,
		    table_cell(t, row, m->column));
	return false;
}

GPtrArray *targets_read(const char *tsv, GError **error)
{
	g_auto(table) t = {0};
	g_autoptr(GKeyFile) keys = g_key_file_new();
	g_autofree char *stem = g_strdup(tsv), *map = NULL;
	g_auto(GStrv) groups = NULL;
	g_autoptr(GPtrArray) targets = g_ptr_array_new_with_free_func(
		(GDestroyNotify)target_free);
	g_autoptr(GError) e = NULL;

	if (g_str_has_suffix(stem, ".tsv"))
		stem[strlen(stem) - 4] = '\0';
	map = g_strconcat(stem, ".map", NULL);
	if (!table_read(&t, tsv, error))
		return NULL;
	if (!g_key_file_load_from_file(keys, map, 0, &e)) {
		g_set_error(error, RESULT_ERROR, RESULT_ERROR_FORMAT,
			    "%s: %s", map, e->message);
		return NULL;
	}
	groups = g_key_file_get_groups(keys, NULL);
	for (int i = 0; groups[i]; i++) {
		g_auto(mapping) m = {
			.file = map, .group = groups[i], .keys = keys};

		if (!mapping_read(&m, &t, error))
			return NULL;
		for (guint row = 0; row < t.rows->len; row++)
			if (selected(&m, &t, row) &&
			    !add_target(&m, &t, row, targets, error))
				return NULL;
	}
	return g_steal_pointer(&targets);
}

/* ---- which rows were fitted ---- */

static bool same_value(const char *a, const char *b)
{
	char *ea, *eb;
	double x, y;

	if (!strcmp(a, b))
		return true;
	x = g_ascii_strtod(a, &ea);
	y = g_ascii_strtod(b, &eb);
	return ea != a && eb != b && !*ea && !*eb && x == y;
}

static const char *coord_value(const GPtrArray *coords, const char *name)
{
	for (guint i = 0; i < coords->len; i++) {
		const struct coord *c = coords->pdata[i];

		if (!strcmp(c->name, name))
			return c->value;
	}
	return NULL;
}

/* "VARIANT groups=12 figure=time_s": a variant or '*', coordinates, and the
 * figure where only one of several was fitted to. */
static bool fit_covers(const char *text, const struct target *t)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	bool variant_ok = false;

	for (int i = 0; words[i]; i++) {
		const char *equals = strchr(words[i], '=');
		g_autofree char *name = NULL;
		const char *value;

		if (!*words[i])
			continue;
		if (!equals) {
			variant_ok |= !strcmp(words[i], "*") ||
				      !strcmp(words[i], t->variant);
			continue;
		}
		name = g_strndup(words[i], equals - words[i]);
		value = strcmp(name, "figure") ? coord_value(t->coords, name) :
						 t->name;
		if (!value || !same_value(value, equals + 1))
			return false;
	}
	return variant_ok;
}

/* Which rows a [fitted] text names; without ':' it may be nothing but that. */
static char *fitted_rows(const char *why, char **variants)
{
	const char *colon = strchr(why, ':');
	g_auto(GStrv) parts = NULL;

	if (colon)
		return g_strndup(why, colon - why);
	parts = g_strsplit(why, ",", -1);
	for (int i = 0; parts[i]; i++) {
		g_auto(GStrv) words = g_strsplit(g_strstrip(parts[i]), " ", 2);

		if (!words[0] || !g_strv_contains((const char *const *)variants,
						  words[0]))
			return g_strdup("*");
	}
	return g_strdup(why);
}

static void mark_fitted(GPtrArray *targets, const GPtrArray *fits,
			char **variants)
{
	for (guint i = 0; i < fits->len; i++) {
		const struct fit *f = fits->pdata[i];
		g_autofree char *rows = fitted_rows(f->why, variants);
		g_auto(GStrv) parts = g_strsplit(rows, ",", -1);

		for (guint k = 0; k < targets->len; k++) {
			struct target *t = targets->pdata[k];

			for (int j = 0; parts[j]; j++)
				t->fitted |= fit_covers(parts[j], t);
		}
	}
}

static char *table_path(const char *name)
{
	const char *dir = g_getenv("SLUBSIM_PUBLISHED");
	g_autofree char *file = g_str_has_suffix(name, ".tsv") ?
					g_strdup(name) :
					g_strconcat(name, ".tsv", NULL);

	if (strchr(file, '/'))
		return g_steal_pointer(&file);
	return g_build_filename(dir ? dir : SLUBSIM_PUBLISHED, file, NULL);
}

GPtrArray *targets_load(const struct result *r, GError **error)
{
	GPtrArray *targets = NULL;
	g_auto(GStrv) names = NULL;

	if (!r->published)
		return NULL;
	names = g_strsplit(r->published, ";", -1);
	for (int i = 0; names[i]; i++) {
		g_autofree char *path = NULL;
		GPtrArray *more;

		if (!*g_strstrip(names[i]))
			continue;
		path = table_path(names[i]);
		more = targets_read(path, error);
		if (!more) {
			if (targets)
				g_ptr_array_unref(targets);
			return NULL;
		}
		if (targets)
			g_ptr_array_extend_and_steal(targets, more);
		else
			targets = more;
	}
	if (targets)
		mark_fitted(targets, r->fitted, r->variants);
	return targets;
}

/* ---- figures and targets together ---- */

/* Looks up what the figure's coordinates don't say in its config. */
static bool config_says(GKeyFile *config, const char *name, const char *value)
{
	const char *dot = strchr(name, '.');
	g_autofree char *group = dot ? g_strndup(name, dot - name) :
				       g_strdup("workload");
	g_autofree char *has = config ?
				       g_key_file_get_string(
					       config, group,
					       dot ? dot + 1 : name, NULL) :
				       NULL;

	return has && same_value(g_strstrip(has), value);
}

static bool at_target(const struct figure *f, const struct target *t,
		      GKeyFile *config)
{
	for (guint i = 0; i < t->coords->len; i++) {
		const struct coord *c = t->coords->pdata[i];
		const char *has = coord_value(f->coords, c->name);

		if (has ? !same_value(has, c->value) :
			  !config_says(config, c->name, c->value))
			return false;
	}
	for (guint i = 0; i < f->coords->len; i++) {
		const struct coord *c = f->coords->pdata[i];

		if (!coord_value(t->coords, c->name))
			return false;
	}
	return true;
}

static GKeyFile *config_of(const struct result *r, const char *variant)
{
	for (guint i = 0; i < r->points->len; i++) {
		const struct point *p = r->points->pdata[i];
		GKeyFile *k;

		if (strcmp(p->variant, variant) || !p->config)
			continue;
		k = g_key_file_new();
		if (g_key_file_load_from_data(k, p->config, -1, 0, NULL))
			return k;
		g_key_file_unref(k);
	}
	return NULL;
}

static void config_free(void *config)
{
	if (config)
		g_key_file_unref(config);
}

/* The same, read once for each variant in the table @configs. */
static GKeyFile *config_once(GHashTable *configs, const struct result *r,
			     const char *variant)
{
	void *config;

	if (g_hash_table_lookup_extended(configs, variant, NULL, &config))
		return config;
	config = config_of(r, variant);
	g_hash_table_insert(configs, (void *)variant, config);
	return config;
}

static struct figure *find_at(GPtrArray *figures, const struct target *t,
			      const char *variant, GKeyFile *config)
{
	for (guint i = 0; i < figures->len; i++) {
		struct figure *f = figures->pdata[i];

		if (!strcmp(f->variant, variant) && !strcmp(f->name, t->name) &&
		    at_target(f, t, config))
			return f;
	}
	return NULL;
}

static struct figure *difference(const struct figure *f,
				 const struct figure *base,
				 const struct target *t)
{
	struct figure *d = g_new0(struct figure, 1);

	d->variant = g_strdup(f->variant);
	d->name = g_strdup_printf("%s - %s%s", f->name, base->variant,
				  t->percent ? " [%]" : "");
	d->unit = g_strdup(t->percent ? "%" : f->unit);
	d->higher_is_better = f->higher_is_better;
	d->is_series = f->is_series;
	d->where = g_strdup(f->where);
	d->coords = g_ptr_array_ref(f->coords);
	d->values = g_array_new(FALSE, FALSE, sizeof(double));
	d->seeds = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (guint i = 0; i < MIN(f->values->len, base->values->len); i++) {
		double a = g_array_index(f->values, double, i);
		double b = g_array_index(base->values, double, i);
		double v = t->percent ? 100 * (a - b) / b : a - b;
		uint64_t seed = g_array_index(f->seeds, uint64_t, i);

		g_array_append_val(d->values, v);
		g_array_append_val(d->seeds, seed);
	}
	d->target = t;
	return d;
}

void figures_attach(GPtrArray *figures, const GPtrArray *targets,
		    const struct result *r)
{
	g_autoptr(GHashTable) configs = g_hash_table_new_full(
		g_str_hash, g_str_equal, NULL, config_free);

	for (guint i = 0; i < targets->len; i++) {
		const struct target *t = targets->pdata[i];
		GKeyFile *config = config_once(configs, r, t->variant);
		struct figure *f = find_at(figures, t, t->variant, config);
		const struct figure *base =
			t->minus ? find_at(figures, t, t->minus, config) : NULL;

		if (f && base)
			g_ptr_array_add(figures, difference(f, base, t));
		else if (f && !t->minus)
			f->target = t;
	}
}

double figure_error_pct(const struct figure *f)
{
	const struct target *t = f->target;
	double v = figure_mean(f);
	/* inside a published range there is no error */
	double to = v < t->low ? t->low : v > t->high ? t->high : v;

	if (t->percent)
		return v - to;
	return t->value ? 100 * (v - to) / fabs(t->value) : NAN;
}
