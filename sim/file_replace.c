/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <unistd.h>

int file_write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		data += n;
		length -= n;
	}
	return 0;
}

int file_replace(const char *path, const char *data, size_t length)
{
	g_autofree char *aside = g_strdup_printf("%s.tmp-%d", path,
						 (int)getpid());
	int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int err;

	if (fd < 0)
		return errno;
	err = file_write_all(fd, data, length);
	if (close(fd) && !err)
		err = errno;
	if (!err && rename(aside, path))
		err = errno;
	if (err)
		unlink(aside);
	return err;
}
