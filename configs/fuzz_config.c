/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: any bytes as a config file. It is read as what it says it is;
 * it either loads or is refused in one line, and an experiment that loads is
 * the same after a walk through its effective text.
 */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <unistd.h>

#include "configs/config.h"
#include "configs/fuzz.h"
#include "configs/test_workload.h"

/* A file that is only in memory; the caller closes *fd. */
static char *memory_file(const void *data, size_t size, int *fd)
{
	*fd = memfd_create("fuzz.conf", MFD_CLOEXEC);
	g_assert_cmpint(*fd, >=, 0);
	g_assert_cmpint(write(*fd, data, size), ==, size);
	return g_strdup_printf("/proc/self/fd/%d", *fd);
}

static void check_effective(const char *path)
{
	struct experiment *x = config_load_experiment(path, NULL, NULL);
	g_autofree char *first = NULL, *second = NULL, *again = NULL;
	g_autoptr(GError) error = NULL;
	struct experiment *y;
	int fd;

	if (!x)
		return;
	if (!x->variants->len)
		goto out;
	first = config_effective(x, x->variants->pdata[0]);
	again = memory_file(first, strlen(first), &fd);
	y = config_load_experiment(again, NULL, &error);
	g_assert_no_error(error);
	second = config_effective(y, y->variants->pdata[0]);
	g_assert_cmpstr(first, ==, second);
	experiment_free(y);
	close(fd);
out:
	experiment_free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;
	g_autofree char *path = memory_file(data, size, &fd);
	g_autoptr(GError) error = NULL;
	g_autofree char *summary = config_check(path, NULL, &error);

	g_assert_true((summary != NULL) != (error != NULL));
	if (error)
		g_assert_null(strchr(error->message, '\n'));
	else if (g_str_has_prefix(summary, "experiment"))
		check_effective(path);
	close(fd);
	return 0;
}
