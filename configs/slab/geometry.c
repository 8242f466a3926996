/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report's sizes against those that the model computes. */
#include "configs/slab/check.h"
#include "model/geometry.h"

/* Sizes beyond this are no slab object's. */
#define MAX_OBJECT (8 << 20)

static void compare(GPtrArray *checks, const struct slab_report *r,
		    const char *name, unsigned model, const char *variant)
{
	int64_t theirs = slab_report_get(r, name);
	struct slab_check *c;

	if (theirs < 0)
		return;
	c = g_new0(struct slab_check, 1);
	c->verdict = theirs == model ? SLAB_HOLDS : SLAB_FAILS;
	c->text = theirs == model
			  ? g_strdup_printf("%s is what the model computes: %u",
					    name, model)
			  : g_strdup_printf("%s is %" G_GINT64_FORMAT
					    ", the model "
					    "computes %u for %s",
					    name, theirs, model, variant);
	g_ptr_array_add(checks, c);
}

static void note(GPtrArray *checks, const char *text)
{
	struct slab_check *c = g_new0(struct slab_check, 1);

	c->verdict = SLAB_NEAR;
	c->text = g_strdup(text);
	g_ptr_array_add(checks, c);
}

/* The caller's wishes, as far as the report shows them. */
static bool args_of(const struct slab_report *r, struct kmem_cache_args *args,
		    bool *exact)
{
	int64_t object = slab_report_get(r, "object_size");
	int64_t size = slab_report_get(r, "slab_size");
	int64_t align = slab_report_get(r, "align");
	const struct slab_value *ctor = slab_report_find(r, "ctor");

	/* what /proc/slabinfo calls objsize includes all that was added */
	*exact = object > 0;
	if (object <= 0)
		object = size;
	if (object <= 0 || object > MAX_OBJECT)
		return false;
	args->name = r->cache ? r->cache : "imported";
	args->object_size = object;
	if (*exact && align > 0 && align <= 4096)
		args->align = align;
	if (*exact && slab_report_get(r, "hwcache_align") == 1)
		args->flags |= SLAB_HW_ALIGN;
	if (*exact && slab_report_get(r, "destroy_by_rcu") == 1)
		args->flags |= SLAB_RCU;
	if (*exact && ctor && ctor->word)
		args->flags |= SLAB_CTOR;
	return true;
}

static bool debugged(const struct slab_report *r)
{
	static const char *const flags[] = {"sanity_checks", "red_zone",
					    "poison", "store_user", "trace"};

	for (guint i = 0; i < G_N_ELEMENTS(flags); i++)
		if (slab_report_get(r, flags[i]) > 0)
			return true;
	return false;
}

void slab_check_geometry(const struct slab_report *r,
			 const struct features *features, const char *variant,
			 int nr_cpus, GPtrArray *checks)
{
	struct kmem_cache_args args = {0};
	int64_t size = slab_report_get(r, "slab_size");
	int64_t order = slab_report_get(r, "order");
	bool exact;
	struct geometry g;

	if (size > 0 && size <= MAX_OBJECT && order >= 0 && order <= 10)
		compare(checks, r, "objs_per_slab",
			MIN((PAGE_BYTES << order) / size, MAX_OBJS_PER_PAGE),
			"that size and order");
	if (debugged(r)) {
		note(checks, "slab_debug is on: its sizes are not the model's "
			     "business");
		return;
	}
	if (!args_of(r, &args, &exact))
		return;
	if (features->sheaves == SHEAVES_OPT_IN)
		args.sheaf_capacity =
			MAX(slab_report_get(r, "sheaf_capacity"), 0);
	g = kmem_cache_geometry(features, &args, MAX(nr_cpus, 1));
	if (exact && args.flags & (SLAB_RCU | SLAB_CTOR) && size != g.size) {
		struct kmem_cache_args inside = args;

		inside.flags &= ~(SLAB_RCU | SLAB_CTOR);
		if (size ==
		    kmem_cache_geometry(features, &inside, MAX(nr_cpus, 1))
			    .size)
			args = inside;
		if (args.flags == inside.flags) {
			note(checks,
			     "the cache's creator placed the free "
			     "pointer inside of the object (freeptr_offset), "
			     "which the model does not know");
			g = kmem_cache_geometry(features, &args,
						MAX(nr_cpus, 1));
		}
	}
	if (exact)
		compare(checks, r, "slab_size", g.size, variant);
	if (nr_cpus && (exact ? size < 0 || size == g.size : true))
		compare(checks, r, "order", g.order, variant);
	compare(checks, r, "min_partial", g.min_partial, variant);
	compare(checks, r, "cpu_partial", g.cpu_partial, variant);
	if (features->sheaves == SHEAVES_ALL)
		compare(checks, r, "sheaf_capacity", g.sheaf_capacity, variant);
}
