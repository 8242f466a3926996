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

/* A device or a pipe takes what comes; nobody wants it replaced by a file. */
static int write_into(const char *path, const char *data, size_t length)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return errno;
	err = file_write_all(fd, data, length);
	if (close(fd) && !err)
		err = errno;
	return err;
}

static int replace_by(const char *aside, const char *path, const char *data,
		      size_t length)
{
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

int file_replace(const char *path, const char *data, size_t length)
{
	char *target = realpath(path, NULL); /* NULL: no such file yet */
	g_autofree char *aside = NULL;
	struct stat s;
	int err;

	if (target && !stat(target, &s) && !S_ISREG(s.st_mode) &&
	    !S_ISDIR(s.st_mode)) {
		free(target);
		return write_into(path, data, length);
	}
	/* what a link leads to, not the link */
	aside = g_strdup_printf("%s.tmp-%d", target ? target : path,
				(int)getpid());
	err = replace_by(aside, target ? target : path, data, length);
	free(target);
	return err;
}
