/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an input says about a machine, before anything is concluded from it.
 *
 * One parser per kind of input fills a struct machine_facts with what stands
 * there and nothing else; unknown stays unknown. facts_merge() completes one
 * input by another. facts_resolve() (import_resolve.h) draws conclusions and
 * says which.
 */
#ifndef CONFIGS_IMPORT_FACTS_H
#define CONFIGS_IMPORT_FACTS_H

#include "configs/import_text.h"

#define FACT_UNKNOWN (-1)

/* Where a value stands. .file is borrowed from the facts' own name. */
struct origin {
	const char *file; /* NULL = unknown */
	int first, last;  /* lines; 0 = the file as a whole */
};

struct cpu_facts {
	bool listed;
	signed char online; /* FACT_UNKNOWN, 0, 1 */
	int node;
	int core, socket, l3; /* any numbers; equal means shared */
};

struct node_facts {
	bool listed;
	int64_t memory_kib;
	int nearest_cpu; /* a CPU beside a CPU-less node, or FACT_UNKNOWN */
	int *row;	 /* distances to the ids of .columns, or NULL */
	int nr_row;
	int *columns; /* node ids, nr_row of them */
	struct origin cpus, memory, distances;
};

struct cache_facts {
	int64_t kib; /* one instance */
	int ways;    /* 0 = unknown */
	int shared;  /* CPUs per instance, 0 = unknown */
	struct origin from;
};

/* Of all kinds, the most trustworthy about NUMA first: the kernel's own tree,
 * its plain rendering, a summary, a tree with an interpretation of its own. */
enum facts_kind { FACTS_SYSFS, FACTS_NUMACTL, FACTS_LSCPU, FACTS_HWLOC };

struct machine_facts {
	char *name; /* of the input */
	enum facts_kind kind;
	const char *what;   /* "numactl -H", static */
	char *model;	    /* "AMD EPYC 7601 32-Core Processor", or NULL */
	char *architecture; /* "x86_64", or NULL */

	int nr_cpu_ids, nr_node_ids;		     /* highest id seen + 1 */
	struct cpu_facts *cpus;			     /* [TOPOLOGY_MAX_CPUS] */
	struct node_facts *nodes;		     /* [TOPOLOGY_MAX_NODES] */
	struct cache_facts caches[3];		     /* L1d, L2, L3 */
	struct origin cpu_list, cores, sockets, l3s; /* of the per-CPU ids */

	/* Counts that a summary gives instead of ids; 0 = not given. */
	int nr_cpus_said, threads_said, cores_said /* per socket */,
		sockets_said, nodes_said, l3_said;
	struct origin cpus_from, threads_from, cores_from, sockets_from,
		nodes_from, l3_from;

	GPtrArray *notes; /* char *: what a reader should know */
};

struct machine_facts *facts_new(const char *name, enum facts_kind kind,
				const char *what);
void facts_free(struct machine_facts *f);

void facts_note(struct machine_facts *f, const char *format, ...)
	G_GNUC_PRINTF(2, 3);
struct cpu_facts *facts_cpu(struct machine_facts *f, int cpu);
struct node_facts *facts_node(struct machine_facts *f, int node);
/* Line @line, or the file as a whole where it's 0. */
struct origin facts_origin(const struct machine_facts *f, int line);
void origin_extend(struct origin *o, const struct machine_facts *f, int line);
/* "lscpu.txt:4", "lscpu.txt:4-9"; newly allocated. */
char *origin_to_string(const struct origin *o);

/* Takes ids of a list to be on @node; false + *@clash if one already is on
 * another node. */
bool facts_set_node(struct machine_facts *f, const struct id_set *cpus,
		    int node, int *clash);

/*
 * Completes @into by @from where @into knows nothing; where both know and
 * disagree, @into stays and a note is taken. Lasting references to @from's
 * name are kept, so it has to live as long.
 */
void facts_merge(struct machine_facts *into, const struct machine_facts *from);

/* ---- the parsers: NULL with @error, or new facts ---- */

struct machine_facts *facts_from_numactl(const struct import_text *t,
					 GError **error);
struct machine_facts *facts_from_lscpu(const struct import_text *t,
				       GError **error); /* the summary */
struct machine_facts *facts_from_lscpu_table(const struct import_text *t,
					     GError **error); /* -p, -e */
struct machine_facts *facts_from_lscpu_json(const struct import_text *t,
					    GError **error);
struct machine_facts *facts_from_hwloc(const struct import_text *t,
				       GError **error);

/* Reads a size such as "32K", "1.5 MiB", "8192K", "32 KiB"; a comma may be
 * the decimal point. Returns KiB, or FACT_UNKNOWN; moves *@s behind it. */
int64_t facts_parse_size(const char **s);

/* Takes one field of lscpu ("L3 cache", "456 MiB (4 instances)"). @value NULL
 * = no value. False with @error if it's known and makes no sense. */
bool facts_lscpu_field(struct machine_facts *f, const char *key,
		       const char *value, int line, GError **error);
/* What only all fields together tell. */
bool facts_lscpu_finish(struct machine_facts *f, GError **error);

#endif
