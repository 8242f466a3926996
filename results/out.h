/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A result folder, written so that nothing in it is ever half there.
 *
 * Every file is written beside its place (NAME.tmp-PID), checked, and renamed.
 * While a folder is open no other run can open it (a lock on DIR/.lock, which
 * the system drops when the process ends, however it ends). The names of all
 * files are kept in DIR/.written before they are, so that the next run can
 * remove what an earlier one left, and nothing else.
 */
#ifndef RESULTS_OUT_H
#define RESULTS_OUT_H

#include <glib.h>
#include <stdbool.h>

struct outdir;

/* Makes the folder where needed and locks it. */
struct outdir *outdir_open(const char *path, GError **error);
const char *outdir_path(const struct outdir *o);
/* Removes what earlier runs wrote here; files whose names are in the set @keep
 * (may be NULL) stay, without what killed writers left beside them. */
bool outdir_clear(struct outdir *o, GHashTable *keep, GError **error);
/* Notes that @name will be written, by this process or a child of it. */
bool outdir_expect(struct outdir *o, const char *name, GError **error);
/* Writes DIR/@name, with the folders on its way. */
bool outdir_write(struct outdir *o, const char *name, const char *text,
		  GError **error);
bool outdir_write_data(struct outdir *o, const char *name, const char *data,
		       size_t length, GError **error);
/* Removes what killed writers of the set @names may have left beside them. */
void outdir_drop_partial(struct outdir *o, GHashTable *names);
void outdir_close(struct outdir *o);

/* The same for any path, without a folder's lock and list. */
bool write_aside(const char *path, const char *text, GError **error);

/* A name that can be a folder: '/' and control characters become '_'. */
char *safe_name(const char *name);

#endif
