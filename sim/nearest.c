/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/nearest.h"

#include <glib.h>
#include <string.h>

enum { MAX_WORD = 100 };

unsigned edit_distance(const char *a, const char *b)
{
	size_t n = strlen(b);
	unsigned row[MAX_WORD + 1];

	if (n > MAX_WORD || strlen(a) > MAX_WORD)
		return MAX_WORD;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			unsigned above = row[j];

			row[j] = MIN(MIN(above, row[j - 1]) + 1,
				     diagonal + (*a != b[j - 1]));
			diagonal = above;
		}
	}
	return row[n];
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	unsigned d = edit_distance(n->word, candidate);

	if (d > MAX(strlen(n->word) / 2, 2u) || d >= strlen(candidate) ||
	    (n->name && d >= n->distance))
		return;
	n->name = candidate;
	n->distance = d;
}
