/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/drawing.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "results/pool.h"
#include "results/result.h"

struct drawing {
	struct outdir *out;
	const char *folder;
	GPtrArray *plots; /* struct plot *, each name once */
};

struct drawing *drawing_new(struct outdir *out, const char *folder)
{
	struct drawing *d = g_new0(struct drawing, 1);

	d->out = out;
	d->folder = folder;
	d->plots = g_ptr_array_new_with_free_func((GDestroyNotify)plot_free);
	return d;
}

void drawing_free(struct drawing *d)
{
	g_ptr_array_unref(d->plots);
	g_free(d);
}

static char *file_of(const char *dir, const struct plot *p, const char *suffix)
{
	return g_strconcat(dir, "/", p->name, suffix, NULL);
}

/* Two names that are one as a file: the later plot is the one to keep. */
static void queue(struct drawing *d, struct plot *p)
{
	for (guint i = 0; i < d->plots->len; i++)
		if (!strcmp(((struct plot *)d->plots->pdata[i])->name,
			    p->name)) {
			g_ptr_array_remove_index(d->plots, i);
			break;
		}
	g_ptr_array_add(d->plots, p);
}

bool plot_draw(struct plot *p, struct drawing *d, GError **error)
{
	g_autofree char *gp = file_of(d->folder, p, ".gp");
	g_autofree char *dat = file_of(d->folder, p, ".dat");

	g_string_append_printf(
		p->gp,
		"set terminal pngcairo size 1000,600 font 'DejaVu Sans,11' "
		"noenhanced\n"
		"set output '%s.png'\nreplot\nunset output\n",
		p->name);
	queue(d, p);
	return outdir_write(d->out, gp, p->gp->str, error) &&
	       outdir_write(d->out, dat, p->dat->str, error);
}

/* ---- one gnuplot, in a process of its own ---- */

struct round {
	const GPtrArray *plots;
	const char *dir;
	guint shares; /* share k: plots k, k + shares, ... */
};

/* What the gnuplot of share @k reads; a plot alone needs nothing around it. */
static char *share_script(const struct round *r, guint k, GError **error)
{
	g_autoptr(GString) s = g_string_new(NULL);
	g_autofree char *path = NULL;

	if (k + r->shares >= r->plots->len)
		return g_strconcat(((struct plot *)r->plots->pdata[k])->name,
				   ".gp", NULL);
	for (guint i = k; i < r->plots->len; i += r->shares)
		g_string_append_printf(
			s, "reset session\nload '%s.gp'\n",
			((struct plot *)r->plots->pdata[i])->name);
	path = g_strdup_printf("%s/%u.share", r->dir, k);
	return write_aside(path, s->str, error) ?
		       g_path_get_basename(path) :
		       NULL;
}

static char *stderr_file(const struct round *r, guint k)
{
	return g_strdup_printf("%s/%u.stderr", r->dir, k);
}

static bool redirect(const char *path, int flags, int fd)
{
	int from = open(path, flags | O_CLOEXEC, 0600);

	return from >= 0 && dup2(from, fd) == fd;
}

static bool draw_share(void *arg, int k, GError **error)
{
	const struct round *r = arg;
	g_autofree char *script = share_script(r, k, error);
	g_autofree char *said = stderr_file(r, k);
	char *argv[] = {(char *)"gnuplot", script, NULL};

	if (!script)
		return false;
	if (!chdir(r->dir) && redirect("/dev/null", O_RDONLY, 0) &&
	    redirect("/dev/null", O_WRONLY, 1) &&
	    redirect(said, O_WRONLY | O_CREAT | O_TRUNC, 2))
		execvp(argv[0], argv);
	g_set_error(error, RESULT_ERROR, RESULT_ERROR_IO, "%s",
		    g_strerror(errno));
	return false;
}

/* ---- all of them ---- */

static void warn(const struct round *r, guint k, const char *message,
		 char **warning)
{
	g_autofree char *path = stderr_file(r, k), *said = NULL;
	const char *why, *last;

	if (*warning)
		return;
	g_file_get_contents(path, &said, NULL, NULL);
	why = said && *g_strstrip(said) ? said : message;
	last = strrchr(why, '\n');
	*warning = g_strdup_printf("gnuplot %s.gp: %s",
				   ((struct plot *)r->plots->pdata[k])->name,
				   last ? last + 1 : why);
}

/*
 * Draws what isn't @drawn, and notes what is now. A share is all or nothing:
 * after an error nobody knows which of its images are whole. Returns the signal
 * that ended it, or 0.
 */
static int draw_round(const struct round *r, int jobs, bool *drawn,
		      char **warning)
{
	bool alone = r->shares == r->plots->len;
	struct pool_outcome *o = pool_run(NULL, r->shares,
					  alone ? drawn : NULL, 1, jobs,
					  draw_share, (void *)r);
	int sig = o->signal;

	for (guint i = 0; !sig && i < r->plots->len; i++) {
		g_autofree char *png = file_of(r->dir, r->plots->pdata[i],
					       ".png");
		g_autofree char *svg = file_of(r->dir, r->plots->pdata[i],
					       ".svg");
		guint k = i % r->shares;

		if (drawn[i])
			continue;
		drawn[i] = o->done[k] && g_file_test(png, G_FILE_TEST_EXISTS) &&
			   g_file_test(svg, G_FILE_TEST_EXISTS);
		if (!drawn[i] && alone)
			warn(r, k, o->messages[k] ? o->messages[k] : "no image",
			     warning);
	}
	pool_outcome_free(o);
	return sig;
}

static int draw_all(const struct drawing *d, const char *dir, int jobs,
		    bool *drawn, char **warning)
{
	guint n = d->plots->len;
	struct round r = {d->plots, dir, MIN((guint)MAX(jobs, 1), n)};
	int sig = draw_round(&r, jobs, drawn, warning);

	if (sig || r.shares == n)
		return sig;
	r.shares = n;
	return draw_round(&r, jobs, drawn, warning);
}

static bool write_sources(const struct drawing *d, const char *dir,
			  GError **error)
{
	for (guint i = 0; i < d->plots->len; i++) {
		const struct plot *p = d->plots->pdata[i];
		g_autofree char *gp = file_of(dir, p, ".gp");
		g_autofree char *dat = file_of(dir, p, ".dat");

		if (!write_aside(gp, p->gp->str, error) ||
		    !write_aside(dat, p->dat->str, error))
			return false;
	}
	return true;
}

static bool copy_image(const struct drawing *d, const struct plot *p,
		       const char *suffix, const char *dir, GError **error)
{
	g_autofree char *source = file_of(dir, p, suffix);
	g_autofree char *target = file_of(d->folder, p, suffix);
	g_autofree char *data = NULL;
	gsize length;

	return g_file_get_contents(source, &data, &length, error) &&
	       outdir_write_data(d->out, target, data, length, error);
}

static bool copy_images(const struct drawing *d, const char *dir,
			const bool *drawn, GError **error)
{
	for (guint i = 0; i < d->plots->len; i++) {
		const struct plot *p = d->plots->pdata[i];

		if (drawn[i] && (!copy_image(d, p, ".png", dir, error) ||
				 !copy_image(d, p, ".svg", dir, error)))
			return false;
	}
	return true;
}

static void remove_folder(const char *dir)
{
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	const char *name;

	while (d && (name = g_dir_read_name(d))) {
		g_autofree char *path = g_build_filename(dir, name, NULL);

		g_unlink(path);
	}
	g_rmdir(dir);
}

static bool have_gnuplot(char **warning)
{
	g_autofree char *path = g_find_program_in_path("gnuplot");

	if (!path && !*warning)
		*warning = g_strdup("gnuplot is not installed (Debian: "
				    "gnuplot-nox): plots have no images");
	return path != NULL;
}

bool drawing_finish(struct drawing *d, int jobs, char **warning, GError **error)
{
	g_autofree bool *drawn = g_new0(bool, d->plots->len + 1);
	g_autofree char *dir = NULL;
	g_autoptr(GError) e = NULL;
	int sig = 0;
	bool ok;

	if (!d->plots->len || !have_gnuplot(warning))
		return true;
	dir = g_dir_make_tmp("slubsim-plot-XXXXXX", &e);
	if (!dir) {
		g_free(*warning);
		*warning = g_strdup_printf("TMPDIR: %s: plots have no images",
					   e->message);
		return true;
	}
	ok = write_sources(d, dir, error);
	if (ok)
		sig = draw_all(d, dir, jobs, drawn, warning);
	ok = ok && !sig && copy_images(d, dir, drawn, error);
	remove_folder(dir);
	if (sig) { /* as if nobody had waited for it */
		signal(sig, SIG_DFL);
		raise(sig);
	}
	return ok;
}
