/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slubsim check: would these configs run?
 */
#include <stdio.h>

#include "configs/config.h"
#include "sim/command.h"

static char **sets;

static const GOptionEntry options[] = {
	{ "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &sets,
	  "Check with this value in place of the file's", "GROUP.KEY=VALUE" },
	{ NULL }
};

static bool check_one(const char *name)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) paths = config_find(name, &error);

	for (int i = 0; paths && paths[i] && !error; i++) {
		g_autofree char *summary = config_check(paths[i], sets, &error);

		if (summary)
			printf("%s: %s\n", paths[i], summary);
	}
	if (error)
		fprintf(stderr, "slubsim: %s\n", error->message);
	return !error;
}

static int run(int argc, char **argv)
{
	bool ok = true;

	if (!argc) {
		fprintf(stderr, "slubsim: check: expected configs, by name or "
			"path\n");
		return EXIT_USAGE;
	}
	for (int i = 0; i < argc; i++)
		ok &= check_one(argv[i]);
	return ok ? EXIT_DONE : EXIT_USAGE;
}

const struct command cmd_check = {
	.name = "check",
	.args = "CONFIG...",
	.summary = "Check configs without running them",
	.description =
		"A CONFIG is a file, or the name of a shipped one (see slubsim "
		"list). Each is loaded as a run would load it, with all it "
		"refers to; what is wrong is told in one line with file, line, "
		"group and key.",
	.lists = "experiments topologies variants machines costs codegen",
	.options = options,
	.run = run,
};
