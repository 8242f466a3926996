/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.html: complete, without anything from outside, and good enough for a
 * real browser (skipped without chromium). */
#include <string.h>

#include "results/html.h"
#include "results/out.h"
#include "results/plot.h"
#include "results/test_fixture.h"
#include "results/views.h"

static const char svg[] =
	"<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'>"
	"<rect width='40' height='30' fill='red'/></svg>";

static char *report_of(struct result *r, const char *dir)
{
	g_autofree char *a = g_build_filename(dir, "a.svg", NULL);
	g_autofree char *headline = g_build_filename(dir, "headline.svg", NULL);
	g_autoptr(GError) error = NULL;
	g_autofree char *table = table_text(r, &error);

	g_assert_no_error(error);
	g_assert_true(write_aside(a, svg, NULL));
	g_assert_true(write_aside(headline, svg, NULL));
	return html_report(r, table, dir);
}

static void test_contents(void)
{
	g_autofree char *dir = fixture_dir(), *html = NULL;
	struct result *r = fixture_result();
	static const char *const expected[] = {
		"<h1>fixture &lt;1&gt;</h1>", "<h2>Figures</h2>",
		"<h2>Why</h2>",		      "<h2>Plots</h2>",
		"<h2>Tables</h2>",	      "<h2>Effective configs</h2>",
		"<pre>slubsim run fixture</pre>",
		"waiting for &amp;n-&gt;list_lock of node 1",
		"channel = pipes"};

	g_free(r->name);
	r->name = g_strdup("fixture <1>");
	html = report_of(r, dir);
	for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
		if (!strstr(html, expected[i]))
			g_test_message("missing: %s", expected[i]);
		g_assert_nonnull(strstr(html, expected[i]));
	}
	/* the headline's plot comes first; nothing is fetched from anywhere */
	g_assert_true(strstr(html, "alt=\"headline.svg\"") <
		      strstr(html, "alt=\"a.svg\""));
	g_assert_null(strstr(html, "src=\"http"));
	g_assert_null(strstr(html, "href="));
	result_free(r);
	fixture_remove(dir);
}

static void test_browser(void)
{
	g_autofree char *browser = g_find_program_in_path("chromium");
	g_autofree char *dir = fixture_dir(), *html = NULL, *probe = NULL;
	g_autofree char *file = g_build_filename(dir, "report.html", NULL);
	g_autofree char *url = g_strconcat("file://", file, NULL);
	g_autofree char *data = g_strconcat("--user-data-dir=", dir, NULL);
	char *argv[] = {(char *)"chromium",
			(char *)"--headless",
			(char *)"--no-sandbox",
			(char *)"--disable-gpu",
			(char *)"--enable-logging=stderr",
			data,
			(char *)"--virtual-time-budget=5000",
			(char *)"--dump-dom",
			url,
			NULL};
	g_autofree char *dom = NULL, *log = NULL;
	struct result *r;
	int status;

	if (!browser) {
		g_test_skip("no chromium");
		fixture_remove(dir);
		return;
	}
	r = fixture_result();
	html = report_of(r, dir);
	/* what the browser made of it, as the title */
	probe = g_strconcat(
		html,
		"<script>addEventListener('load',()=>{const i=[...document."
		"images];document.title='images '+i.length+' empty '+i.filter("
		"x=>!x.naturalWidth).length+' headings '+document."
		"querySelectorAll('h1,h2').length})</script>",
		NULL);
	g_assert_true(write_aside(file, probe, NULL));
	g_assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL,
				   NULL, &dom, &log, &status, NULL));
	g_assert_nonnull(
		strstr(dom, "<title>images 2 empty 0 headings 8</title>"));
	g_assert_null(strstr(log, "CONSOLE"));
	result_free(r);
	fixture_remove(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/html/contents", test_contents);
	g_test_add_func("/html/browser", test_browser);
	return g_test_run();
}
