/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From facts to a topology that can be simulated, and where each part of it
 * came from: the input, a conclusion (named), an assumption (named) or an
 * option of the user.
 */
#ifndef CONFIGS_IMPORT_RESOLVE_H
#define CONFIGS_IMPORT_RESOLVE_H

#include "configs/import_facts.h"
#include "sim/topology.h"

/* Given to nodes with CPUs where no input says anything about memory. */
#define ASSUMED_MEMORY_MB 16384

struct resolve_options {
	int64_t memory_mb; /* 0 = assume */
	int cpus_per_node; /* 0 = CPUs have to be in the input */
};

struct imported_node {
	char *cpus_from, *memory_from, *socket_from, *distances_from;
};

struct imported_machine {
	struct topology *topology;
	char *core_from, *l3_from, *socket_from;
	struct imported_node *nodes; /* [topology->nr_node_ids] */
	GPtrArray *notes;	     /* char *: what was assumed or odd */
};

/* NULL with @error if the inputs don't make a machine; says which further
 * input would. Takes over the notes of @f as copies. */
struct imported_machine *facts_resolve(const struct machine_facts *f,
				       const char *name,
				       const struct resolve_options *options,
				       GError **error);
void imported_machine_free(struct imported_machine *m);

/*
 * The .conf text. @machine: name of a machine file, or NULL; @machine_lines:
 * lines on what comes from there (may be NULL).
 */
char *imported_machine_to_conf(const struct imported_machine *m,
			       const struct machine_facts *f,
			       const char *inputs, const char *machine,
			       const char *machine_lines);

#endif
