/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "workloads/script.h"

/* Tokens of a counter ("total C0=1 ...") or of a where line that differ. */
static void differing_tokens(const char *want, const char *got, GString *report)
{
	g_auto(GStrv) a = g_strsplit(want, " ", -1);
	g_auto(GStrv) b = g_strsplit(got, " ", -1);
	int shown = 0;

	g_string_append(report, " [");
	for (int i = 0; a[i]; i++)
		if (!g_strv_contains((const char *const *)b, a[i]) &&
		    shown++ < 16)
			g_string_append_printf(report, " -%s", a[i]);
	for (int i = 0; b[i]; i++)
		if (!g_strv_contains((const char *const *)a, b[i]) &&
		    shown++ < 32)
			g_string_append_printf(report, " +%s", b[i]);
	g_string_append(report, " ]\n");
}

/* "attr" of "attr:content", or a whole line that is no attribute. */
static char *key_of(const char *line, const char *section)
{
	const char *end;

	if (g_str_has_prefix(line, "== where"))
		end = strchr(line, ':');
	else if (g_str_has_prefix(line, "=="))
		end = NULL;
	else
		end = strchr(line, ':');
	return g_strdup_printf("%s\t%.*s", section,
			       end ? (int)(end - line) : (int)strlen(line),
			       line);
}

/* Lines by section and key, in order; repeated keys get a number. */
static GPtrArray *read_lines(const char *text, GHashTable *by_key)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *section = g_strdup("start");

	for (int i = 0; lines[i]; i++) {
		char *key, *unique;
		int nr = 1;

		g_strchomp(lines[i]);
		if (!*lines[i])
			continue;
		if (g_str_has_prefix(lines[i], "== dump")) {
			g_free(section);
			section = g_strdup(lines[i] + 3);
		}
		key = key_of(lines[i], section);
		unique = g_strdup(key);
		while (g_hash_table_contains(by_key, unique)) {
			g_free(unique);
			unique = g_strdup_printf("%s #%d", key, ++nr);
		}
		g_free(key);
		g_hash_table_insert(by_key, g_strdup(unique),
				    g_strdup(lines[i]));
		g_ptr_array_add(keys, unique);
	}
	return keys;
}

static const char *content(const char *line)
{
	const char *colon = strchr(line, ':');

	return colon ? colon + 1 : line;
}

static void report_difference(const char *name, const char *key,
			      const char *want, const char *got,
			      GString *report)
{
	g_auto(GStrv) part = g_strsplit(key, "\t", 2);

	g_string_append_printf(report, "%s: %s: %s: ", name, part[0], part[1]);
	if (!got) {
		g_string_append_printf(report,
				       "kernel '%s', slubsim has none\n",
				       content(want));
	} else if (!want) {
		g_string_append_printf(report,
				       "slubsim '%s', kernel has none\n",
				       content(got));
	} else {
		if (!strchr(part[1], '='))
			g_string_append_printf(report,
					       "kernel '%.60s', "
					       "slubsim '%.60s'",
					       content(want), content(got));
		else
			g_string_append(report, "places");
		differing_tokens(content(want), content(got), report);
	}
}

int script_compare(const char *name, const char *expected, const char *got,
		   GString *report)
{
	g_autoptr(GHashTable) want =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autoptr(GHashTable) have =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autoptr(GPtrArray) want_keys = read_lines(expected, want);
	g_autoptr(GPtrArray) have_keys = read_lines(got, have);
	int differ = 0;

	for (guint i = 0; i < want_keys->len; i++) {
		const char *key = want_keys->pdata[i];
		const char *a = g_hash_table_lookup(want, key);
		const char *b = g_hash_table_lookup(have, key);

		if (b && !strcmp(a, b))
			continue;
		report_difference(name, key, a, b, report);
		differ++;
	}
	for (guint i = 0; i < have_keys->len; i++) {
		const char *key = have_keys->pdata[i];

		if (g_hash_table_contains(want, key))
			continue;
		report_difference(name, key, NULL,
				  g_hash_table_lookup(have, key), report);
		differ++;
	}
	/* the same lines in another order are no agreement either */
	if (!differ)
		for (guint i = 0; i < want_keys->len; i++)
			if (strcmp(want_keys->pdata[i], have_keys->pdata[i])) {
				g_string_append_printf(report,
						       "%s: the order of lines "
						       "differs\n",
						       name);
				return 1;
			}
	return differ;
}
