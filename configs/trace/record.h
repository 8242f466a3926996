/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kmem record in one line of text: where it begins and ends, and what its
 * header and fields say. Looks at bytes only; keeps and counts nothing.
 *
 * A record is
 *	[comm-pid] [[CPU]] [flags] [time:] event: [(sym+off)] fields
 * where the header's columns are read from the event's name leftwards, since
 * a comm may hold blanks, colons and brackets, and the name is found from
 * "call_site=" backwards, since a comm may be called anything.
 */
#ifndef CONFIGS_TRACE_RECORD_H
#define CONFIGS_TRACE_RECORD_H

#include "configs/trace/trace.h"

struct record {
	struct trace_event ev; /* .name and .gfp are not filled */
	const char *name, *gfp; /* not terminated; NULL = no such field */
	unsigned name_len, gfp_len;
	unsigned ptr_digits; /* of the pointer as printed; 0 if decimal */
	bool ptr_prefixed;   /* with 0x */
	const char *event;   /* the event's name */
	const char *end;     /* first byte behind the record */
	bool has_time, has_cpu, has_ptr, has_node;
	bool hidden_ptr; /* the kernel printed none: (____ptrval____) */
	bool hashed_ptr;
	bool bad;      /* a field is there but cannot be read */
	bool torn;     /* another record of ours was cut off before it */
	bool mail;     /* quoted-printable '=' undone */
};

enum record_found {
	RECORD_NONE,  /* no event of kmem's four kinds in the line */
	RECORD_NAMED, /* the event's name is there, no field is */
	RECORD_FOUND, /* there are fields; some may be missing */
};
enum record_found record_find(const char *line, const char *end,
			      struct record *r);

/* Does a record of this kind have what it cannot do without? */
bool record_complete(const struct record *r);
/* Is the text at @p one of the keys of a kmem record ("node=")? */
bool record_is_key(const char *p, const char *end);
/* Does the text end in a time stamp, as a header cut before its event does?
 * Does it hold one anywhere? */
bool record_ends_in_time(const char *line, const char *end);
bool record_has_time(const char *line, const char *end);
/* Does the text at @p begin with a kmem event's name and colon? */
bool record_is_event(const char *p, const char *end);

#endif
