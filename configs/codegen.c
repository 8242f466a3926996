/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "configs/codegen.h"

#include "configs/variant.h"

const char *const zsmalloc_keys[] = { "codegen", NULL };
static const char *const header_keys[] = { "description", "base", NULL };
static const struct conf_known codegen_known[] = {
	{ "codegen", header_keys, zs_codegen_table },
	{ NULL }
};

static bool read_profile(struct zs_codegen *g, const char *name,
			 const char *from, GError **error)
{
	conf_auto struct conf *c = conf_read_based("codegen", "codegen", name,
						   from, error);

	return c && conf_check_known(c, codegen_known, error) &&
	       conf_read_table(c, "codegen", zs_codegen_table, g, true, error);
}

bool config_load_codegen(const char *name, struct zs_codegen *g,
			 GError **error)
{
	return read_profile(g, name, NULL, error);
}

static bool read_codegen(struct variant *v, const struct conf *c,
			 GError **error)
{
	const struct conf_entry *e = conf_find(c, "zsmalloc", "codegen");
	struct zs_codegen *g = &v->zs->codegen;

	v->codegen_name = g_strdup(e ? e->value : NULL);
	if (!conf_has_all(c, "codegen", zs_codegen_table)) {
		g_autofree char *path = NULL;
		g_autoptr(GError) err = NULL;
		const char *from;

		if (!e)
			return conf_fail_missing(error, c, "zsmalloc",
						 "codegen", "missing, expected "
						 "a name that slubsim list "
						 "codegen prints, or a path");
		from = e->line ? e->file : NULL;
		path = config_path("codegen", e->value, from, &err);
		if (!path)
			return conf_fail(error, e, "%s", err->message);
		if (!read_profile(g, e->value, from, error))
			return false;
	}
	return conf_read_table(c, "codegen", zs_codegen_table, g, false,
			       error);
}

bool variant_read_zsmalloc(struct variant *v, const struct conf *c,
			   GError **error)
{
	g_autofree char *wrong = NULL;

	if (!conf_group(c, "zsmalloc"))
		return true;
	v->zs = g_new0(struct zs_build, 1);
	zs_features_defaults(&v->zs->features);
	if (!conf_read_table(c, "zsmalloc", zs_feature_table,
			     &v->zs->features, false, error) ||
	    !read_codegen(v, c, error))
		return false;
	wrong = zs_features_check(&v->zs->features);
	if (wrong)
		return conf_fail_missing(error, c, "zsmalloc", NULL, "%s",
					 wrong);
	return true;
}

void zs_build_free(struct zs_build *b)
{
	if (!b)
		return;
	params_clear(zs_codegen_table, &b->codegen);
	g_free(b);
}
