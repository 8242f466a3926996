/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

static int write_and_close(int fd, const char *data, size_t length)
{
	int err = file_write_all(fd, data, length);

	return close(fd) && !err ? errno : err;
}

int file_replace(const char *path, const char *data, size_t length)
{
	g_autofree char *aside = g_strdup_printf("%s.tmp-%d", path,
						 (int)getpid());
	int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int err;

	if (fd < 0)
		return errno;
	err = write_and_close(fd, data, length);
	if (!err && rename(aside, path))
		err = errno;
	if (err)
		unlink(aside);
	return err;
}

int file_write_to(const char *path, const char *data, size_t length)
{
	char *target = realpath(path, NULL); /* NULL: no such file yet */
	struct stat s;
	int fd, err;

	if (target && !stat(target, &s) && !S_ISREG(s.st_mode) &&
	    !S_ISDIR(s.st_mode)) {
		fd = open(target, O_WRONLY | O_CLOEXEC);
		err = fd < 0 ? errno : write_and_close(fd, data, length);
	} else {
		err = file_replace(target ? target : path, data, length);
	}
	free(target);
	return err;
}
