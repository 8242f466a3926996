/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's parts: CPU lists, numbers, values, files, overrides.
 */
#include <glib/gstdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "configs/conf.h"
#include "configs/config.h"
#include "sim/cpulist.h"
#include "configs/test_workload.h"

static void test_cpulist(void)
{
	const struct {
		const char *text, *canonical; /* NULL: refused */
	} cases[] = {
		{ "", "" },
		{ "0", "0" },
		{ "0-3,32-35", "0-3,32-35" },
		{ "5,4,3", "3-5" },
		{ "0-6:2", "0,2,4,6" },
		{ "0-62:2", "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,"
			    "36,38,40,42,44,46,48,50,52,54,56,58,60,62" },
		{ "0-7:1/4", "0,4" },
		{ "0-7:2/4", "0-1,4-5" },
		{ "63", "63" },
		{ "64", NULL },
		{ "0-64", NULL },
		{ "1-0", NULL },
		{ "-1", NULL },
		{ "1-", NULL },
		{ ",", NULL },
		{ "1,", NULL },
		{ "1,,2", NULL },
		{ "1 2", NULL },
		{ "0x1", NULL },
		{ "0-7:0", NULL },
		{ "0-7:3/2", NULL },
		{ "0-7:0/2", NULL },
		{ "0,0", NULL },
		{ "0-4,4", NULL },
		{ "0-99999999999999999999", NULL },
		{ "99999999999999999999", NULL },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		bool set[64] = { true };
		g_autofree char *wrong = cpulist_parse(cases[i].text, 64, set,
						       NULL);
		g_autofree char *text = cpulist_format(set, 64);

		g_assert_cmpint(wrong == NULL, ==, cases[i].canonical != NULL);
		if (!wrong)
			g_assert_cmpstr(text, ==, cases[i].canonical);
	}
}

static void test_numbers(void)
{
	const double same[] = { 0, 1, -1, 0.1, 1.0 / 3, 1e6, 105, 7.4,
				4.9e-324, 1.7976931348623157e308 };
	const char *const ints[] = { "", " 1", "1 ", "+1", "0x10", "1.0", "1e3",
				     "9223372036854775808", "-", "--1" };
	const char *const doubles[] = { "", " 1", "1 ", "0x1p3", "inf", "nan",
					"1e999", "1,5", "e", "-", "1.2.3" };
	int64_t i;
	double d;

	for (size_t n = 0; n < G_N_ELEMENTS(same); n++) {
		g_autofree char *text = param_number(same[n]);

		g_assert_true(parse_double(text, &d));
		g_assert_true(d == same[n]);
	}
	for (size_t n = 0; n < G_N_ELEMENTS(ints); n++)
		g_assert_false(parse_int(ints[n], &i));
	for (size_t n = 0; n < G_N_ELEMENTS(doubles); n++)
		g_assert_false(parse_double(doubles[n], &d));
	g_assert_true(parse_int("-9223372036854775808", &i));
	g_assert_cmpint(i, ==, INT64_MIN);
	g_assert_true(parse_double("-1.5e-3", &d));
	g_assert_cmpfloat(d, ==, -0.0015);
}

static void test_params(void)
{
	struct test_options o = { 0 }, p = { 0 };
	g_autofree char *expected = NULL;

	g_assert_true(param_set(test_option_table, &o, "queues", "7", NULL));
	g_assert_true(param_set(test_option_table, &o, "work_ns", ".5", NULL));
	g_assert_true(param_set(test_option_table, &o, "pinned", "true", NULL));
	g_assert_true(param_set(test_option_table, &o, "mode", "socket", NULL));
	g_assert_true(param_set(test_option_table, &o, "dump", "a b", NULL));
	g_assert_true(param_set(test_option_table, &o, "dump", "c d", NULL));
	for (const struct param_desc *d = test_option_table; d->key; d++) {
		g_autofree char *text = param_get(d, &o), *again = NULL;

		g_assert_true(param_set(test_option_table, &p, d->key, text,
					NULL));
		again = param_get(d, &p);
		g_assert_cmpstr(text, ==, again);
	}
	/* what is refused changes nothing */
	g_assert_false(param_set(test_option_table, &o, "queues", "65",
				 &expected));
	g_assert_cmpstr(expected, ==, "an integer from 1 to 64 queues");
	g_assert_cmpint(o.queues, ==, 7);
	g_assert_false(param_set(test_option_table, &o, "queue", "1", NULL));
	params_clear(test_option_table, &o);
	params_clear(test_option_table, &p);
	g_assert_null(o.dump);
}

static struct conf *read_bytes(const char *bytes, size_t n, GError **error)
{
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("slubsim-XXXXXX.conf", &path, NULL);
	struct conf *c;

	g_assert_cmpint(write(fd, bytes, n), ==, n);
	g_close(fd, NULL);
	c = conf_read(path, error);
	g_unlink(path);
	return c;
}

static void test_text(void)
{
	const char text[] = "# comment\r\n  [ab c]  \r\n  key = a b\\tc \r\n"
			    "  # another\nempty=\n\n[d]";
	g_autoptr(GError) error = NULL;
	conf_auto struct conf *c = read_bytes(text, sizeof(text) - 1, &error);

	g_assert_no_error(error);
	g_assert_cmpstr(conf_get(c, "ab c", "key"), ==, "a b\tc");
	g_assert_cmpstr(conf_get(c, "ab c", "empty"), ==, "");
	g_assert_null(conf_get(c, "ab c", "none"));
	g_assert_cmpint(conf_find(c, "ab c", "key")->line, ==, 3);
	g_assert_cmpint(conf_find(c, "ab c", "empty")->line, ==, 5);
	g_assert_cmpint(conf_group(c, "d")->line, ==, 7);
}

static void test_not_text(void)
{
	g_autoptr(GError) zero = NULL, latin = NULL, folder = NULL;

	g_assert_null(read_bytes("[a]\nb=\0c\n", 9, &zero));
	g_assert_error(zero, CONFIG_ERROR, 0);
	g_assert_null(read_bytes("[a]\nb=\xe4\n", 8, &latin));
	g_assert_error(latin, CONFIG_ERROR, 0);
	g_assert_null(conf_read("/", &folder));
	g_assert_error(folder, CONFIG_ERROR, 0);
}

/* Neither a file without end nor a hostile topology takes memory. */
static void test_endless(void)
{
	const char *const hostile[] = {
		"[topology]\n[node 0]\ncpus=0-999999999\n",
		"[topology]\n[nodes]\ncount=1024\ncores_each=4096\n",
		"[topology]\n[nodes]\ncount=1000000\n",
		"[topology]\n[node 1000000]\ncpus=0\n",
		"[topology]\n[node -1]\ncpus=0\n",
		"[topology]\n[node 0]\ncpus=0\nmemory_mb=1\ndistances=-10\n",
	};
	struct rusage before, after;
	g_autoptr(GError) error = NULL;

	getrusage(RUSAGE_SELF, &before);
	if (g_file_test("/dev/zero", G_FILE_TEST_EXISTS)) {
		g_assert_null(conf_read("/dev/zero", &error));
		g_assert_error(error, CONFIG_ERROR, 0);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(hostile); i++) {
		g_autofree char *path = NULL;
		g_autoptr(GError) err = NULL;
		int fd = g_file_open_tmp("slubsim-XXXXXX.conf", &path, NULL);

		g_close(fd, NULL);
		g_file_set_contents(path, hostile[i], -1, NULL);
		g_assert_null(config_load_topology(path, NULL, &err));
		g_assert_error(err, CONFIG_ERROR, 0);
		g_unlink(path);
	}
	getrusage(RUSAGE_SELF, &after);
	/* KiB: the bound on a file, twice while it grows, and little more */
	g_assert_cmpint(after.ru_maxrss - before.ru_maxrss, <, 96 * 1024);
}

static void test_override(void)
{
	const char *const wrong[] = { "a", "a.b", "a=b", "=.", ".=", "a.=b",
				      ".b=c", "a=b.c", "a\nb.c=d" };
	conf_auto struct conf *c = conf_new("file");
	char *good[] = { (char *)"a.b=c=d", (char *)"node 1.e= f ",
			 (char *)"sweep.a.b=1;2", NULL };
	g_autoptr(GError) error = NULL;

	conf_set(c, "a", "b", "old", "file", 3);
	g_assert_true(conf_override(c, good, &error));
	g_assert_cmpstr(conf_get(c, "a", "b"), ==, "c=d");
	g_assert_cmpstr(conf_get(c, "node 1", "e"), ==, "f");
	g_assert_cmpstr(conf_get(c, "sweep", "a.b"), ==, "1;2");
	g_assert_cmpint(conf_find(c, "a", "b")->line, ==, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		char *one[] = { (char *)wrong[i], NULL };
		g_autoptr(GError) err = NULL;

		g_assert_false(conf_override(c, one, &err));
		g_assert_error(err, CONFIG_ERROR, 0);
		g_assert_null(strchr(err->message, '\n'));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/cpulist", test_cpulist);
	g_test_add_func("/numbers", test_numbers);
	g_test_add_func("/params", test_params);
	g_test_add_func("/text", test_text);
	g_test_add_func("/not-text", test_not_text);
	g_test_add_func("/endless", test_endless);
	g_test_add_func("/override", test_override);
	return g_test_run();
}
