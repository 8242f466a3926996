/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From .conf files to the plain structs of sim/, model/ and workloads/.
 *
 * Files are GKeyFile; what GKeyFile does not check is checked here from the
 * param tables: unknown groups and keys (with the nearest known name),
 * duplicate groups and keys, ranges, units. Every error is one line that names
 * file, group, key and what was expected (domain CONFIG_ERROR).
 *
 * A name without '/' and without ".conf" is looked up in the shipped folders
 * (configs/topologies, machines, costs, variants, experiments; $SLUBSIM_CONFIGS
 * overrides where those are); anything else is a path.
 *
 * Experiment files:
 *   [experiment] name description topology workload variants(;-list, the first
 *                is the baseline) iterations seed published(path or name)
 *   [workload]   the workload's options
 *   [machine]    overrides of machine parameters
 *   [topology]   overrides (see config_override)
 *   [features]   overrides for all variants
 *   [instructions] overrides of instruction counts
 *   [sweep]      GROUP.KEY = a;b;c : each combination of the values is a case
 *                of its own, run for every variant (a case is the experiment
 *                loaded again with "GROUP.KEY=a" among its overrides)
 *   [fitted]     key = what it was fitted to, in words. Text before the first
 *                ':' names the compared rows: "VARIANT", "VARIANT groups=12" or
 *                several of those separated by ','; without ':' all rows. Those
 *                are printed as "fitted", all others as "predicted"
 */
#ifndef CONFIGS_CONFIG_H
#define CONFIGS_CONFIG_H

#include <glib.h>

#include "model/costs.h"
#include "model/features.h"
#include "sim/machine_params.h"
#include "sim/topology.h"
#include "workloads/workload.h"

#define CONFIG_ERROR config_error_quark()
GQuark config_error_quark(void);

struct variant {
	char *name, *description, *kernel; /* kernel: "6.12", "7.1" */
	char *costs_name;
	struct features features;
	struct insn_costs costs;
};

struct sweep_axis {
	char *key;     /* "workload.groups" */
	char **values; /* NULL-terminated, as written */
};

struct experiment {
	char *name, *description, *file;
	struct topology *topology;
	struct machine_params params;
	GPtrArray *variants; /* struct variant *, the first is the baseline */
	const struct workload *workload;
	void *options; /* of the workload */
	int64_t iterations;
	uint64_t seed;
	GPtrArray *sweep;   /* struct sweep_axis *, in file order; may be NULL */
	char *published;    /* path, or NULL */
	GHashTable *fitted; /* "group.key" -> what it was fitted to */
};

/* Each returns NULL with @error set; the caller frees. @overrides are
 * "GROUP.KEY=VALUE" strings (--set), NULL-terminated, or NULL. */
struct topology *config_load_topology(const char *name, char **overrides,
				      GError **error);
bool config_load_machine(const char *name, char **overrides,
			 struct machine_params *p, GError **error);
struct variant *config_load_variant(const char *name, char **overrides,
				    GError **error);
struct experiment *config_load_experiment(const char *name, char **overrides,
					  GError **error);
void variant_free(struct variant *v);
void experiment_free(struct experiment *e);

/* The effective config of a point as .conf text; newly allocated. Loading it
 * again gives the same experiment with that one variant. */
char *config_effective(const struct experiment *e, const struct variant *v);

/* Names of the shipped files of a folder ("variants"), sorted, NULL-ended. */
char **config_list(const char *folder);

/* Reads/writes a struct through its param table (for --set, JSON, lists). */
bool param_set(const struct param_desc *table, void *base, const char *key,
	       const char *value, char **expected);
char *param_get(const struct param_desc *p, const void *base);

#endif
