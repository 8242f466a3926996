/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target over the files of the folders given, so that what a fuzzer
 * once found stays found.
 */
#include <glib.h>
#include <stdio.h>

#include "configs/fuzz.h"

int main(int argc, char **argv)
{
	int n = 0;

	for (int i = 1; i < argc; i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GDir) dir = g_dir_open(argv[i], 0, &error);
		const char *name;

		g_assert_no_error(error);
		while ((name = g_dir_read_name(dir))) {
			g_autofree char *path = g_build_filename(argv[i], name,
								 NULL);
			g_autofree char *data = NULL;
			gsize size;

			if (!g_file_get_contents(path, &data, &size, NULL))
				continue; /* a folder */
			LLVMFuzzerTestOneInput((const uint8_t *)data, size);
			n++;
		}
	}
	printf("%d inputs\n", n);
	return n ? 0 : 1;
}
