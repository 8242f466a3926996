/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/plot.h"

#include <math.h>
#include <string.h>

#include "results/drawing.h"

struct plot *plot_new(const char *name, const char *title, int width,
		      int height)
{
	struct plot *p = g_new0(struct plot, 1);
	g_autofree char *quoted = plot_quote(title);

	p->name = safe_name(name);
	for (char *c = p->name; *c; c++)
		if (!g_ascii_isalnum(*c) && !strchr("-_.+=,", *c))
			*c = '_';
	p->dat = g_string_new(NULL);
	p->gp = g_string_new(NULL);
	/* a font that gnuplot's packages bring along */
	g_string_append_printf(
		p->gp,
		"# gnuplot %s.gp draws %s.svg and %s.png again\n"
		"set encoding utf8\n"
		"set terminal svg size %d,%d font 'DejaVu Sans,13' noenhanced "
		"background '#ffffff'\n"
		"set output '%s.svg'\n"
		"set title %s\n"
		"set border 3 linecolor '#444444'\n"
		"set tics out nomirror\n"
		"set grid ytics linetype 1 linecolor '#dddddd'\n"
		"set bmargin at screen 0.18\n"
		"set key at screen 0.5, screen 0.01 center bottom horizontal "
		"reverse Left\n"
		"set pointintervalbox 0\n"
		"set datafile separator tab\n"
		"set errorbars 0.6 linecolor '#222222'\n",
		p->name, p->name, p->name, width, height, p->name, quoted);
	return p;
}

void plot_free(struct plot *p)
{
	g_free(p->name);
	g_string_free(p->gp, TRUE);
	g_string_free(p->dat, TRUE);
	g_free(p);
}

char *plot_quote(const char *s)
{
	GString *q = g_string_new("'");

	for (; *s; s++) {
		if (*s == '\'')
			g_string_append_c(q, '\'');
		g_string_append_c(q, (unsigned char)*s < ' ' ? ' ' : *s);
	}
	g_string_append_c(q, '\'');
	return g_string_free(q, FALSE);
}

char *plot_label(const char *name, const char *unit, double largest,
		 double *divisor)
{
	g_autofree char *words = g_strdelimit(g_strdup(name), "_", ' ');
	g_autofree char *per_s = g_strdup(unit);
	const char *prefix = "";

	*divisor = 1;
	if (unit_higher_is_better(unit) && largest >= 1e6) {
		*divisor = 1e6;
		prefix = "M";
	} else if (unit_higher_is_better(unit) && largest >= 1e4) {
		*divisor = 1e3;
		prefix = "k";
	}
	if (!strcmp(per_s, "1/s")) {
		g_free(per_s);
		per_s = g_strdup("/s");
	}
	/* "iops per s [M/s]" says it twice */
	if (g_str_has_suffix(words, " per s"))
		words[strlen(words) - strlen(" per s")] = '\0';
	else if (*unit && g_str_has_suffix(words, unit) &&
		 words[strlen(words) - strlen(unit) - 1] == ' ')
		words[strlen(words) - strlen(unit) - 1] = '\0';
	if (g_str_has_suffix(words, "]")) /* a difference in percent */
		return g_strdup(words);
	return *unit ? g_strdup_printf("%s [%s%s]", words, prefix, per_s) :
		       g_strdup(words);
}

/*
 * Light and dark take turns, so that neighbours differ in grey too; hues that
 * the common forms of colour blindness keep apart.
 */
static const char *const palette[] = {
	"#1b4f8a", "#e8a33d", "#2f8f6b", "#7fb2e0", "#a8324a", "#a996dc",
	"#5a3d8a", "#d0b92f", "#555555", "#ea8aa0", "#0b7f8f", "#b0703a",
};

char **variant_colours(char **variants)
{
	guint n = g_strv_length(variants);
	char **colours = g_new0(char *, n + 1);
	bool used[G_N_ELEMENTS(palette)] = {false};

	for (guint i = 0; i < n; i++) {
		guint k = g_str_hash(variants[i]) % G_N_ELEMENTS(palette);

		for (guint tries = 0; used[k] && tries < G_N_ELEMENTS(palette);
		     tries++)
			k = (k + 1) % G_N_ELEMENTS(palette);
		used[k] = true;
		colours[i] = g_strdup(palette[k]);
	}
	return colours;
}

bool plots_write(struct outdir *out, const char *folder, const struct result *r,
		 int jobs, char **warning, GError **error)
{
	struct drawing *d = drawing_new(out, folder);
	bool ok = plot_figures(d, r, error) && plot_costs(d, r, error) &&
		  plot_locks(d, r, error) &&
		  drawing_finish(d, jobs, warning, error);

	drawing_free(d);
	return ok;
}
