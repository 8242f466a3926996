/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A workload of the tests, with an option of every type. A test that includes
 * this has it as the only workload and needs no allocator.
 */
#ifndef CONFIGS_TEST_WORKLOAD_H
#define CONFIGS_TEST_WORKLOAD_H

#include <string.h>

#include "workloads/workload.h"

struct test_options {
	int64_t queues;
	double work_ns;
	bool pinned;
	int mode;
	char *dump;
};

static const char *const test_modes[] = { "pipe", "socket", NULL };

static const struct param_desc test_option_table[] = {
	{ "queues", PARAM_INT, offsetof(struct test_options, queues), "queues",
	  1, 64, NULL, "queue pairs", NULL },
	{ "work_ns", PARAM_DOUBLE, offsetof(struct test_options, work_ns),
	  "ns", 0, 1e6, NULL, "work outside the allocator", NULL },
	{ "pinned", PARAM_BOOL, offsetof(struct test_options, pinned), "", 0, 0,
	  NULL, "whether queues stay on their CPUs", NULL },
	{ "mode", PARAM_ENUM, offsetof(struct test_options, mode), "", 0, 0,
	  test_modes, "how messages go", NULL },
	{ "dump", PARAM_STRING, offsetof(struct test_options, dump), "", 0, 0,
	  NULL, "a posted dump", NULL },
	{ NULL }
};

static void test_defaults(void *options)
{
	struct test_options *o = options;

	*o = (struct test_options){ .queues = 16, .work_ns = 0.1,
				    .pinned = true };
}

static char *test_check(const void *options, const struct topology *t)
{
	const struct test_options *o = options;

	if (o->queues > t->nr_cpus)
		return g_strdup_printf("queues = %d, expected at most the "
				       "machine's %d CPUs", (int)o->queues,
				       t->nr_cpus);
	return NULL;
}

static const struct workload test_workload = {
	.name = "queues",
	.help = "a workload of the tests",
	.options_size = sizeof(struct test_options),
	.options = test_option_table,
	.defaults = test_defaults,
	.check = test_check,
};

const struct workload *const workloads[] = { &test_workload, NULL };

const struct workload *workload_find(const char *name)
{
	return strcmp(name, test_workload.name) ? NULL : &test_workload;
}

#endif
