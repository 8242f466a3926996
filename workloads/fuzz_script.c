/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: any bytes as an op script. It is refused in one line that names
 * the file, or it is a script; a short one also runs, under the checker, on a
 * small machine, as a generation that the bytes choose.
 */
#include <string.h>

#include "configs/fuzz.h"
#include "model/test_eras.h"
#include "workloads/script.h"

#define MAX_WORK 3000

/* Operations that a run takes, or MAX_WORK + 1 if that is too much. */
static int64_t work(const struct script *s)
{
	int64_t sum = 0, times[80] = { 1 };
	int depth = 0;

	for (guint i = 0; i < s->ops->len && sum <= MAX_WORK; i++) {
		const struct script_op *op =
			&g_array_index(s->ops, struct script_op, i);
		int64_t n = op->kind == OP_STREAM ?
				    (int64_t)op->pairs * op->total * 2 : op->n;

		if (op->kind == OP_REPEAT) {
			times[depth + 1] = MIN(times[depth] * op->value,
					       MAX_WORK + 1);
			depth++;
		} else if (op->kind == OP_END) {
			depth--;
		}
		n = MIN(n, MAX_WORK + 1);
		sum += (n + 1) * MIN(times[depth] + 1, MAX_WORK + 1);
	}
	return sum;
}

static void run(const struct script *s, enum era era)
{
	struct features f = era_features(era);
	struct test_machine *x = test_machine_new(&f, 6, 3, 5);
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	if (script_fits(s, x->t, NULL) &&
	    !script_run(s, x->sl, true, out, &error))
		g_error("%s", error->message);
	test_machine_free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autoptr(GError) error = NULL;
	struct script *s = script_parse("x.ops", text, &error);

	if (!s) {
		g_assert_null(strchr(error->message, '\n'));
		g_assert_true(g_str_has_prefix(error->message, "x.ops:"));
		return 0;
	}
	if (work(s) <= MAX_WORK)
		run(s, size % NR_ERAS);
	script_free(s);
	return 0;
}
