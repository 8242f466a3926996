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
 * Names in a file that are paths are relative to that file. What an experiment
 * says in full needs no other file (that is how an effective config stands by
 * itself): the topology without topology=, all of [machine], all of
 * [instructions].
 *
 * Experiment files:
 *   [experiment] name description topology workload variants(;-list, the first
 *                is the baseline) iterations seed published(path or name; not
 *                compared with where topology or workload is overridden)
 *   [workload]   the workload's options
 *   [machine]    overrides of machine parameters
 *   [topology], [nodes], [node N]  overrides of the topology file's (the format
 *                is told in configs/topology.c)
 *   [features]   overrides for all variants
 *   [instructions] overrides of instruction counts
 *   [zsmalloc], [codegen]  the same for zsmalloc (configs/codegen.h)
 *   [variant]    instead of variants=: the only one, by name, kernel and costs
 *   [sweep]      GROUP.KEY = a;b;c : each combination of the values is a case
 *                of its own, run for every variant (a case is the experiment
 *                loaded again with "GROUP.KEY=a" among its overrides)
 *   [cache]      settings of all caches (model/tuning.h)
 *   [fitted]     key = what it was fitted to, in words. Text before the first
 *                ':' names the compared rows: "VARIANT", "VARIANT groups=12" or
 *                several of those separated by ','; a text without ':' that
 *                names no variant means all rows. Those are printed as
 *                "fitted", all others as "predicted"
 */
#ifndef CONFIGS_CONFIG_H
#define CONFIGS_CONFIG_H

#include <glib.h>

#include "model/costs.h"
#include "model/features.h"
#include "model/tuning.h"
#include "model/zsmalloc.h"
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
	struct zs_build *zs; /* NULL: the variant says nothing of zsmalloc */
	char *codegen_name;  /* of the profile in zs */
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
	struct cache_tuning tuning;
	int64_t iterations;
	uint64_t seed;
	GPtrArray *sweep;   /* struct sweep_axis *, in file order; may be NULL */
	char *published;    /* path, or NULL */
	char *published_name; /* as written: a name, or the path */
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

/* The shipped variant of a kernel release: "6.12.117" -> "v6.12", by leaving
 * out parts from the right until one fits. NULL if none does; caller frees. */
char *config_variant_of_kernel(const char *kernel);

/* A compiler's profile for zsmalloc; its strings are the caller's. */
bool config_load_codegen(const char *name, struct zs_codegen *g,
			 GError **error);

bool config_load_costs(const char *name, struct insn_costs *costs,
		       GError **error);

/*
 * A value that has no exact source: in [range] of a machine or cost file as
 *   KEY = LOW HIGH KIND reason
 * KIND: S a source that gives a range, D derived, M from memory, G guess.
 * Those are run as ranges and never tuned.
 */
struct estimate {
	const struct param_desc *param;
	double value, low, high;
	char kind;
	char *file; /* name of the machine or cost file that says so */
	char *reason;
};
/* Of a file in "machines" or "costs": struct estimate *, in table order. Those
 * of kind S and D are in it too. */
GPtrArray *config_estimates(const char *folder, const char *name,
			    GError **error);

/*
 * Loads the file @path as what its groups say it is. Returns what it is in a
 * few words ("topology of 64 CPUs, ..."), newly allocated, or NULL with @error.
 */
char *config_check(const char *path, char **overrides, GError **error);
/* The files that @name may mean: a path, or the shipped ones of all folders.
 * NULL-ended, at least one; or NULL with @error. */
char **config_find(const char *name, GError **error);

/* Names of the shipped files of a folder ("variants"), sorted, NULL-ended. */
char **config_list(const char *folder);

/* Reads/writes a struct through its param table (for --set, JSON, lists). */
bool param_set(const struct param_desc *table, void *base, const char *key,
	       const char *value, char **expected);
char *param_get(const struct param_desc *p, const void *base);

#endif
