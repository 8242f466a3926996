/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/zram_sizes.h"

#include <string.h>

#include "model/zs_class.h"

enum { MAX_LINES = 4097, MAX_BYTES = 1 << 20 };

struct size_mix {
	GArray *sizes;  /* unsigned */
	GArray *limits; /* double, rising to 1 */
	double mean;
};

const char *const size_mix_names[] = { "even", "anon", NULL };

static struct size_mix *mix_new(void)
{
	struct size_mix *m = g_new0(struct size_mix, 1);

	m->sizes = g_array_new(FALSE, FALSE, sizeof(unsigned));
	m->limits = g_array_new(FALSE, FALSE, sizeof(double));
	return m;
}

static void mix_add(struct size_mix *m, unsigned size, double weight)
{
	double sum = m->limits->len ?
			     g_array_index(m->limits, double,
					   m->limits->len - 1) : 0;

	sum += weight;
	g_array_append_val(m->sizes, size);
	g_array_append_val(m->limits, sum);
	m->mean += size * weight;
}

/* From weights to probabilities. */
static void mix_finish(struct size_mix *m)
{
	double sum = g_array_index(m->limits, double, m->limits->len - 1);

	for (guint i = 0; i < m->limits->len; i++)
		g_array_index(m->limits, double, i) /= sum;
	m->mean /= sum;
}

/*
 * "anon": anonymous memory under lzo or zstd. Only its mean, 1.0 to 1.4 KB a
 * page, is known (and that from memory); the shape is a guess: 10 % of one
 * word, a hump that falls off from 600 bytes on, 5 % that do not compress.
 */
static void mix_anon(struct size_mix *m)
{
	mix_add(m, 0, 10);
	for (unsigned size = 64; size < 3600; size += 48) {
		double x = (size - 600) / 1000.0;

		mix_add(m, size, size < 600 ? size / 600.0 * 2.2 :
						2.2 / (1 + x * x * 1.6));
	}
	mix_add(m, ZS_PAGE, 5);
}

static bool read_line(struct size_mix *m, char *line)
{
	g_auto(GStrv) w = NULL;
	guint64 size;
	double weight;
	char *end;

	if (strchr(line, '#'))
		*strchr(line, '#') = 0;
	w = g_strsplit_set(g_strstrip(line), " \t", -1);
	if (!w[0] || !*w[0])
		return true;
	if (!w[1] || w[2] ||
	    !g_ascii_string_to_unsigned(w[0], 10, 0, ZS_PAGE, &size, NULL))
		return false;
	weight = g_ascii_strtod(w[1], &end);
	if (*end || end == w[1] || !(weight >= 0 && weight <= 1e12))
		return false;
	if (weight > 0)
		mix_add(m, size, weight);
	return m->sizes->len <= MAX_LINES;
}

static bool read_file(struct size_mix *m, const char *path, GError **error)
{
	g_autoptr(GMappedFile) f = g_mapped_file_new(path, FALSE, error);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!f)
		return false;
	if (g_mapped_file_get_length(f) > MAX_BYTES) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s: longer than %d bytes", path, MAX_BYTES);
		return false;
	}
	text = g_strndup(g_mapped_file_get_contents(f),
			 g_mapped_file_get_length(f));
	lines = g_strsplit(text, "\n", -1);
	for (int i = 0; lines[i]; i++)
		if (!read_line(m, lines[i])) {
			g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
				    "%s:%d: expected SIZE WEIGHT, a size from "
				    "0 to %u", path, i + 1, ZS_PAGE);
			return false;
		}
	if (!m->sizes->len)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
			    "%s: no line with a weight above 0", path);
	return m->sizes->len != 0;
}

struct size_mix *size_mix_new(const char *name, GError **error)
{
	struct size_mix *m = mix_new();

	if (!strcmp(name, "anon")) {
		mix_anon(m);
	} else if (!strcmp(name, "even")) {
		/* the span of the published benchmark */
		for (unsigned size = 384; size <= 3136; size += 16)
			mix_add(m, size, 1);
	} else if (!read_file(m, name, error)) {
		size_mix_free(m);
		return NULL;
	}
	mix_finish(m);
	return m;
}

void size_mix_free(struct size_mix *m)
{
	g_array_unref(m->sizes);
	g_array_unref(m->limits);
	g_free(m);
}

unsigned size_mix_draw(const struct size_mix *m, uint64_t r)
{
	double x = (r >> 11) * 0x1p-53;
	guint low = 0, high = m->limits->len - 1;

	while (low < high) {
		guint mid = (low + high) / 2;

		if (x < g_array_index(m->limits, double, mid))
			high = mid;
		else
			low = mid + 1;
	}
	return g_array_index(m->sizes, unsigned, low);
}

double size_mix_mean(const struct size_mix *m)
{
	return m->mean;
}
