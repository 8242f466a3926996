/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/source.h"

#include <string.h>

void source_free(struct source *s)
{
	if (!s)
		return;
	result_free(s->result);
	g_free(s->name);
	g_free(s->variant);
	g_free(s->text);
	g_free(s);
}

static bool has_variant(const struct result *r, const char *variant)
{
	return g_strv_contains((const char *const *)r->variants, variant);
}

/* DIR/VARIANT or DIR:VARIANT, where DIR is a result and has that variant. */
static bool read_variant_of(struct source *s, const char *path)
{
	for (const char *p = path + strlen(path); p > path; p--) {
		g_autofree char *dir = NULL;

		if (*p != '/' && *p != ':')
			continue;
		dir = g_strndup(path, p - path);
		s->result = result_load(dir, NULL);
		if (s->result && has_variant(s->result, p + 1)) {
			s->variant = g_strdup(p + 1);
			return true;
		}
		g_clear_pointer(&s->result, result_free);
	}
	return false;
}

struct source *source_read(const char *path, GError **error)
{
	struct source *s = g_new0(struct source, 1);
	g_autofree char *trimmed = g_strdup(path);
	size_t n = strlen(trimmed);

	while (n > 1 && trimmed[n - 1] == '/')
		trimmed[--n] = '\0';
	s->name = g_strdup(trimmed);
	if (read_variant_of(s, trimmed))
		return s;
	if (g_file_test(trimmed, G_FILE_TEST_IS_DIR) ||
	    g_str_has_suffix(trimmed, ".json"))
		s->result = result_load(trimmed, error);
	else if (!strcmp(trimmed, "-"))
		g_file_get_contents("/dev/stdin", &s->text, NULL, error);
	else
		g_file_get_contents(trimmed, &s->text, NULL, error);
	if (s->result || s->text)
		return s;
	source_free(s);
	return NULL;
}
