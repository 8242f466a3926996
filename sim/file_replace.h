/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are whole or not there: written aside and renamed.
 */
#ifndef SIM_FILE_REPLACE_H
#define SIM_FILE_REPLACE_H

#include <stddef.h>

/* Writes @length bytes at @data to PATH.tmp-PID and renames that to @path.
 * Returns 0, or an errno: then @path is as it was, and nothing is beside it. */
int file_replace(const char *path, const char *data, size_t length);

/* The same for a path that a user named: a link stays, what it leads to is
 * replaced; a device or a pipe stays and is written to. */
int file_write_to(const char *path, const char *data, size_t length);

/* All of it to @fd; 0 or an errno. */
int file_write_all(int fd, const char *data, size_t length);

#endif
