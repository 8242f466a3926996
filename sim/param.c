/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/param.h"

#include <string.h>

const struct param_desc *param_blamed(const struct param_desc *table,
				      const char *sentence, const char **rest)
{
	static const char *const marks[] = { " = ", ": " };

	for (const struct param_desc *p = table; p && p->key; p++) {
		size_t n = strlen(p->key);

		if (strncmp(sentence, p->key, n))
			continue;
		for (int i = 0; i < 2; i++) {
			size_t mark = strlen(marks[i]);

			if (strncmp(sentence + n, marks[i], mark))
				continue;
			*rest = sentence + n + mark;
			return p;
		}
	}
	*rest = sentence;
	return NULL;
}
