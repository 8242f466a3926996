/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between import_resolve.c and import_parts.c only. */
#ifndef CONFIGS_IMPORT_RESOLVER_H
#define CONFIGS_IMPORT_RESOLVER_H

#include "configs/import_resolve.h"

struct resolver {
	const struct machine_facts *f;
	const struct resolve_options *options;
	struct imported_machine *m;
	struct topology *t;
	int threads; /* per core; 0 = unknown */
	int total;   /* CPU ids, holes and off-line ones included */
	GError **error;
};

void resolver_note(struct resolver *r, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

/* Each needs the nodes of CPUs, and topology_finish() after the one before;
 * in this order. @keys is room for TOPOLOGY_MAX_CPUS. */
void resolve_cores(struct resolver *r, int64_t *keys);
void resolve_sockets(struct resolver *r, int64_t *keys);
void resolve_l3(struct resolver *r, int64_t *keys);

#endif
