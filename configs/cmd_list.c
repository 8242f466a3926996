/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slubsim list: what there is to choose from, out of the param tables and the
 * shipped files.
 */
#include <stdio.h>
#include <string.h>

#include "configs/conf.h"
#include "configs/config.h"
#include "sim/command.h"
#include "sim/nearest.h"

/* Rows of text, printed with columns as wide as needed. */
struct rows {
	GPtrArray *cells; /* char *, row by row */
	int columns;
};

static void add_row(struct rows *r, ...)
{
	va_list args;

	va_start(args, r);
	for (int i = 0; i < r->columns; i++)
		g_ptr_array_add(r->cells, g_strdup(va_arg(args, char *)));
	va_end(args);
}

static void print_rows(struct rows *r)
{
	g_autofree int *width = g_new0(int, r->columns);

	for (guint i = 0; i < r->cells->len; i++) {
		int *w = &width[i % r->columns];

		*w = MAX(*w, (int)strlen(r->cells->pdata[i]));
	}
	for (guint i = 0; i < r->cells->len; i++) {
		int column = i % r->columns;

		if (column == r->columns - 1)
			printf("%s\n", (char *)r->cells->pdata[i]);
		else
			printf("%-*s  ", width[column],
			       (char *)r->cells->pdata[i]);
	}
	g_ptr_array_free(r->cells, TRUE);
}

static struct rows rows_new(int columns)
{
	return (struct rows){ g_ptr_array_new_with_free_func(g_free), columns };
}

/* ---- files ---- */

static bool list_files(const char *folder, const char *header, GError **error)
{
	struct rows rows = rows_new(2);
	g_auto(GStrv) names = config_list(folder);

	for (int i = 0; names[i]; i++) {
		g_autofree char *path = config_path(folder, names[i], NULL,
						    error);
		conf_auto struct conf *c = path ? conf_read(path, error) : NULL;
		const char *description;

		if (!c)
			break;
		description = conf_get(c, header, "description");
		add_row(&rows, names[i], description ? description : "");
	}
	print_rows(&rows);
	return !*error;
}

static bool list_topologies(GError **error)
{
	return list_files("topologies", "topology", error);
}

static bool list_machines(GError **error)
{
	return list_files("machines", "machine", error);
}

static bool list_costs(GError **error)
{
	return list_files("costs", "costs", error);
}

static bool list_codegen(GError **error)
{
	return list_files("codegen", "codegen", error);
}

static bool list_variants(GError **error)
{
	return list_files("variants", "variant", error);
}

static bool list_experiments(GError **error)
{
	return list_files("experiments", "experiment", error);
}

/* ---- tables ---- */

static void add_features(struct rows *rows, const struct param_desc *p)
{
	for (; p->key; p++) {
		g_autofree char *values =
			p->type == PARAM_ENUM ?
				g_strjoinv(" ", (char **)p->choices) :
			p->type == PARAM_BOOL ? g_strdup("false true") :
						param_expected(p);

		add_row(rows, p->key, p->since ? p->since : "never merged",
			values, p->help);
	}
}

static bool list_features(GError **error)
{
	struct rows rows = rows_new(4);

	add_row(&rows, "FEATURE", "SINCE", "VALUES", "WHAT IT CHANGES");
	add_features(&rows, feature_table);
	print_rows(&rows);
	printf("\nOf zsmalloc:\n");
	rows = rows_new(4);
	add_features(&rows, zs_feature_table);
	print_rows(&rows);
	return true;
}

static bool list_workloads(GError **error)
{
	struct rows rows = rows_new(2);

	for (int i = 0; workloads[i]; i++)
		add_row(&rows, workloads[i]->name, workloads[i]->help);
	print_rows(&rows);
	return true;
}

static void add_table(struct rows *rows, const char *group,
		      const struct param_desc *table, const void *defaults)
{
	for (; table && table->key; table++) {
		g_autofree char *key = g_strdup_printf("%s.%s", group,
						       table->key);
		g_autofree char *expected = param_expected(table);
		g_autofree char *value = defaults ? param_get(table, defaults) :
						    NULL;

		add_row(rows, key, expected, value ? value : "-", table->help);
	}
}

static bool list_parameters(GError **error)
{
	static const struct cache_tuning none = CACHE_TUNING_NONE;
	struct rows rows = rows_new(4);

	add_row(&rows, "PARAMETER", "EXPECTED", "DEFAULT", "MEANING");
	add_row(&rows, "experiment.topology", "a name or a file", "-",
		"the machine's shape; published rows are of the shipped one");
	add_row(&rows, "experiment.variants", "names or files, ';' between", "-",
		"kernels to compare, the baseline first");
	add_row(&rows, "topology.machine", "a name or a file", "-",
		"what the machine's parts cost");
	add_row(&rows, "topology.memory_nodes", "a list of nodes", "-",
		"all other nodes are memoryless");
	add_row(&rows, "topology.far_distance", "an integer from 11 to 254", "-",
		"replaces the largest distance");
	add_table(&rows, "machine", machine_param_table, NULL);
	add_table(&rows, "features", feature_table, NULL);
	add_table(&rows, "instructions", insn_cost_table, NULL);
	add_table(&rows, "cache", cache_tuning_table, &none);
	add_table(&rows, "zsmalloc", zs_feature_table, NULL);
	add_table(&rows, "codegen", zs_codegen_table, NULL);
	print_rows(&rows);
	for (int i = 0; workloads[i]; i++) {
		const struct workload *w = workloads[i];
		g_autofree void *defaults = g_malloc0(MAX(w->options_size, 1));

		rows = rows_new(4);
		if (w->defaults)
			w->defaults(defaults);
		printf("\nWith workload=%s:\n", w->name);
		add_table(&rows, "workload", w->options, defaults);
		print_rows(&rows);
		params_clear(w->options, defaults);
	}
	return true;
}

/* ---- what has no exact source ---- */

static const char *kind_word(char kind)
{
	return kind == 'M' ? "memory" : "guess";
}

/* Those that the file itself says: a base's are listed with the base. */
static bool add_estimates(struct rows *rows, const char *folder, GError **error)
{
	g_auto(GStrv) names = config_list(folder);

	for (int i = 0; names[i]; i++) {
		g_autoptr(GPtrArray) list = config_estimates(folder, names[i],
							     error);

		if (!list)
			return false;
		for (guint n = 0; n < list->len; n++) {
			const struct estimate *e = list->pdata[n];
			g_autofree char *value = param_number(e->value);
			g_autofree char *low = param_number(e->low);
			g_autofree char *high = param_number(e->high);

			if (strcmp(e->file, names[i]) ||
			    !strchr("MG", e->kind))
				continue;
			add_row(rows, names[i], e->param->key, value, low, high,
				e->param->unit, kind_word(e->kind), e->reason);
		}
	}
	return true;
}

static bool list_estimates(GError **error)
{
	struct rows rows = rows_new(8);
	bool ok;

	add_row(&rows, "FILE", "PARAMETER", "VALUE", "LOW", "HIGH", "UNIT",
		"KIND", "REASON");
	ok = add_estimates(&rows, "machines", error) &&
	     add_estimates(&rows, "costs", error);
	print_rows(&rows);
	return ok;
}

/* ---- the command ---- */

static const struct listing {
	const char *name;
	bool (*list)(GError **error);
} listings[] = {
	{ "topologies", list_topologies },
	{ "variants", list_variants },
	{ "features", list_features },
	{ "workloads", list_workloads },
	{ "parameters", list_parameters },
	{ "estimates", list_estimates },
	{ "experiments", list_experiments },
	{ "machines", list_machines },
	{ "costs", list_costs },
	{ "codegen", list_codegen },
};

#define WORDS                                                                  \
	"topologies variants features workloads parameters estimates "        \
	"experiments machines costs codegen"

static int run(int argc, char **argv)
{
	struct nearest nearest = { .word = argc ? argv[0] : "" };
	g_autoptr(GError) error = NULL;

	if (argc != 1) {
		fprintf(stderr, "slubsim: list: expected one of " WORDS "\n");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(listings); i++) {
		nearest_offer(&nearest, listings[i].name);
		if (strcmp(argv[0], listings[i].name))
			continue;
		if (listings[i].list(&error))
			return EXIT_DONE;
		fprintf(stderr, "slubsim: %s\n", error->message);
		return EXIT_USAGE;
	}
	if (nearest.name)
		fprintf(stderr, "slubsim: list: '%.60s', did you mean %s?\n",
			argv[0], nearest.name);
	else
		fprintf(stderr, "slubsim: list: '%.60s', expected one of " WORDS
			"\n", argv[0]);
	return EXIT_USAGE;
}

const struct command cmd_list = {
	.name = "list",
	.args = "topologies|variants|features|workloads|parameters|estimates|"
		"experiments|machines|costs|codegen",
	.summary = "List what there is to choose from",
	.description =
		"Files are listed by name with what they are. features: each "
		"with the kernel that brought it and what it changes. "
		"parameters: every key that a config or --set can hold, with "
		"its range. estimates: the machine parameters and instruction "
		"counts that no public source gives exactly, with the range "
		"that they are run over.",
	.words = WORDS,
	.run = run,
};
