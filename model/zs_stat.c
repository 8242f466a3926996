/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What debugfs shows of a pool, in its columns. */
#include "model/zs_pool.h"

bool zs_class_stats(const struct zs_pool *pool, unsigned from,
		    struct zs_class_stats *s)
{
	for (unsigned i = from; i < ZS_CLASSES; i++) {
		const struct zs_class *class = pool->class[i];
		const struct zs_class_shape *shape = &class->shape;
		uint64_t allocated = class->stats[ZS_STAT_ALLOCATED];
		uint64_t used = class->stats[ZS_STAT_INUSE];

		if (shape->index != i)
			continue;
		s->index = i;
		s->size = shape->size;
		s->pages_per_zspage = shape->pages_per_zspage;
		s->objs_per_zspage = shape->objs_per_zspage;
		for (int g = 0; g < ZS_GROUPS; g++)
			s->zspages[g] = class->stats[g];
		s->obj_allocated = allocated;
		s->obj_used = used;
		s->pages_used = allocated / shape->objs_per_zspage *
				shape->pages_per_zspage;
		s->freeable = (allocated - used) / shape->objs_per_zspage *
			      shape->pages_per_zspage;
		return true;
	}
	return false;
}

uint64_t zs_get_total_pages(const struct zs_pool *pool)
{
	return pool->pages_allocated;
}

uint64_t zs_pages_compacted(const struct zs_pool *pool)
{
	return pool->pages_compacted;
}

static void show_counts(GString *out, const struct zs_class_stats *s)
{
	for (int g = ZS_EMPTY + 1; g < ZS_GROUPS; g++)
		g_string_append_printf(out, "%9" G_GUINT64_FORMAT " ",
				       s->zspages[g]);
	g_string_append_printf(
		out,
		"%13" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT
		" %10" G_GUINT64_FORMAT " ",
		s->obj_allocated, s->obj_used, s->pages_used);
}

char *zs_classes_show(const struct zs_pool *pool)
{
	GString *out = g_string_new(NULL);
	struct zs_class_stats s, total = { 0 };

	g_string_append_printf(out, " %5s %5s ", "class", "size");
	for (int percent = 10; percent <= 110; percent += 10) {
		g_autofree char *title = g_strdup_printf(
			"%d%%", percent < 100 ? percent :
				percent == 100 ? 99 : 100);

		g_string_append_printf(out, "%9s ", title);
	}
	g_string_append_printf(out, "%13s %10s %10s %16s %8s\n",
			       "obj_allocated", "obj_used", "pages_used",
			       "pages_per_zspage", "freeable");
	for (unsigned i = 0; zs_class_stats(pool, i, &s); i = s.index + 1) {
		g_string_append_printf(out, " %5u %5u ", s.index, s.size);
		show_counts(out, &s);
		g_string_append_printf(out, "%16u %8" G_GUINT64_FORMAT "\n",
				       s.pages_per_zspage, s.freeable);
		for (int g = 0; g < ZS_GROUPS; g++)
			total.zspages[g] += s.zspages[g];
		total.obj_allocated += s.obj_allocated;
		total.obj_used += s.obj_used;
		total.pages_used += s.pages_used;
		total.freeable += s.freeable;
	}
	g_string_append_printf(out, "\n %5s %5s ", "Total", "");
	show_counts(out, &total);
	g_string_append_printf(out, "%16s %8" G_GUINT64_FORMAT "\n\n", "",
			       total.freeable);
	return g_string_free(out, FALSE);
}

void zs_handle_place(const struct zs_pool *pool, sim_addr handle,
		     uint64_t *zspage, unsigned *index)
{
	struct zs_place at = obj_to_location(pool, handle_word(pool, handle));

	*zspage = at.zspage->id;
	*index = at.index;
}
