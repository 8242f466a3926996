/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shell completion and the man page, made from the table of commands: what is
 * in --help is in them, and nothing else.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/command.h"

/* The first words of all commands, each once. */
static GPtrArray *first_words(void)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);

	for (int i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		char *word = g_strndup(name, strcspn(name, " "));

		if (g_ptr_array_find_with_equal_func(words, word, g_str_equal,
						     NULL))
			g_free(word);
		else
			g_ptr_array_add(words, word);
	}
	return words;
}

static void print_option_words(const GOptionEntry *o)
{
	for (; o && o->long_name; o++) {
		if (o->flags & G_OPTION_FLAG_HIDDEN || !o->long_name[0])
			continue;
		printf(" --%s", o->long_name);
		if (o->short_name)
			printf(" -%c", o->short_name);
	}
}

/* What slubsim list calls the names that an option's value is one of. */
static const char *list_of(const GOptionEntry *o)
{
	static const char *const lists[][2] = {
		{ "CONFIG", "experiments" },
		{ "VARIANT", "variants" },
		{ "TOPOLOGY", "topologies" },
		{ "MACHINE", "machines" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		if (!g_strcmp0(o->arg_description, lists[i][0]))
			return lists[i][1];
	return "";
}

/* After an option that has a value, options and arguments are no choice. */
static void print_values(const GOptionEntry *options)
{
	g_autoptr(GString) others = g_string_new(NULL);

	for (const GOptionEntry *o = options; o && o->long_name; o++) {
		g_autoptr(GString) names = g_string_new(NULL);

		if (!o->arg_description || !o->long_name[0])
			continue;
		g_string_printf(names, "--%s", o->long_name);
		if (o->short_name)
			g_string_append_printf(names, " | -%c", o->short_name);
		if (*list_of(o))
			printf("\t\t\t%s) words='' lists=%s ;;\n", names->str,
			       list_of(o));
		else
			g_string_append_printf(others, "%s%s",
					       others->len ? " | " : "",
					       names->str);
	}
	if (others->len)
		printf("\t\t\t%s) words='' lists='' ;;\n", others->str);
}

static void print_command_case(const struct command *c, bool two)
{
	printf("\t\t'%s%s'*)\n\t\t\twords='--help", c->name, two ? "" : " ");
	print_option_words(c->options);
	if (c->words)
		printf(" %s", c->words);
	printf("'\n");
	if (c->lists && c->lists_with)
		printf("\t\t\t[[ $line != *' --%s'* && $line != *' -%c '* ]] "
		       "|| lists='%s'\n",
		       c->lists_with, c->lists_with[0], c->lists);
	else if (c->lists)
		printf("\t\t\tlists='%s'\n", c->lists);
	printf("\t\t\tcase $prev in\n");
	print_values(c->options);
	printf("\t\t\tesac\n\t\t\t;;\n");
}

/* The first word of two: what may follow it. */
static void print_first_case(const char *first)
{
	size_t n = strlen(first);
	g_autoptr(GString) second = g_string_new(NULL);

	for (int j = 0; commands[j]; j++)
		if (!strncmp(commands[j]->name, first, n) &&
		    commands[j]->name[n] == ' ')
			g_string_append_printf(second, "%s%s",
					       second->len ? " " : "",
					       commands[j]->name + n + 1);
	if (second->len)
		printf("\t\t'%s '*) words='%s' ;;\n", first, second->str);
}

static void print_completion(void)
{
	g_autoptr(GPtrArray) words = first_words();

	printf("# bash completion of slubsim %s, made by: slubsim completion "
	       "bash\n"
	       "_slubsim() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words='' lists='' list\n"
	       "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]} "
	       "line=\" ${COMP_WORDS[*]} \"\n"
	       "\t# bash takes --option=VALUE apart\n"
	       "\tif [ \"$cur\" = = ]; then\n"
	       "\t\tcur=''\n"
	       "\telif [ \"$prev\" = = ]; then\n"
	       "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	       "\tfi\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	       "\t\twords='", SLUBSIM_VERSION);
	for (guint i = 0; i < words->len; i++)
		printf("%s ", (char *)words->pdata[i]);
	printf("--help --version'\n"
	       "\telse\n"
	       "\t\tcase \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
	/* two words first: a case takes the first pattern that fits */
	for (int two = 1; two >= 0; two--)
		for (int i = 0; commands[i]; i++)
			if (!strchr(commands[i]->name, ' ') == !two)
				print_command_case(commands[i], two);
	for (guint i = 0; i < words->len; i++)
		print_first_case(words->pdata[i]);
	printf("\t\tesac\n"
	       "\tfi\n"
	       "\tif [[ $cur != -* ]]; then\n"
	       "\t\tfor list in $lists; do\n"
	       "\t\t\twords+=\" $(\"${COMP_WORDS[0]}\" list \"$list\" "
	       "2>/dev/null |\n"
	       "\t\t\t\tcut -d' ' -f1)\"\n"
	       "\t\tdone\n"
	       "\tfi\n"
	       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "\t[[ $cur == -* || $COMP_CWORD -eq 1 ]] || "
	       "COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
	       "}\n"
	       "complete -o filenames -F _slubsim slubsim\n");
}

static int run_completion(int argc, char **argv)
{
	if (argc != 1 || strcmp(argv[0], "bash")) {
		fprintf(stderr, "slubsim: completion: expected one argument, "
			"the shell: bash\n");
		return EXIT_USAGE;
	}
	print_completion();
	return EXIT_DONE;
}

const struct command cmd_completion = {
	.name = "completion",
	.args = "bash",
	.summary = "Print the shell completion of this program",
	.description = "Use: . <(slubsim completion bash)",
	.words = "bash",
	.run = run_completion,
};

/* roff reads '-' as a hyphen, '\' as an escape and a leading '.' or '\'' as
 * a request. */
static void print_roff(const char *s)
{
	bool line_start = true;

	for (; *s; s++) {
		if (line_start && (*s == '.' || *s == '\''))
			printf("\\&");
		if (*s == '-')
			printf("\\-");
		else if (*s == '\\')
			printf("\\e");
		else
			putchar(*s);
		line_start = *s == '\n';
	}
}

static void print_man_option(const GOptionEntry *o)
{
	if (o->flags & G_OPTION_FLAG_HIDDEN)
		return;
	if (!o->long_name[0]) /* G_OPTION_REMAINING */
		return;
	printf(".TP\n\\fB");
	if (o->short_name)
		printf("\\-%c\\fR, \\fB", o->short_name);
	printf("\\-\\-");
	print_roff(o->long_name);
	printf("\\fR");
	if (o->arg_description) {
		printf("=\\fI");
		print_roff(o->arg_description);
		printf("\\fR");
	}
	printf("\n");
	print_roff(o->description ? o->description : "");
	printf("\n");
}

static void print_man_command(const struct command *c)
{
	printf(".SS \"slubsim ");
	print_roff(c->name);
	if (c->options)
		printf(" [OPTION...]");
	if (c->args) {
		putchar(' ');
		print_roff(c->args);
	}
	printf("\"\n");
	print_roff(c->summary);
	printf(".\n");
	if (c->description) {
		g_auto(GStrv) paragraphs = g_strsplit(c->description, "\n\n",
						      -1);

		for (int i = 0; paragraphs[i]; i++) {
			printf(".PP\n");
			print_roff(paragraphs[i]);
			printf("\n");
		}
	}
	for (const GOptionEntry *o = c->options; o && o->long_name; o++)
		print_man_option(o);
}

static int run_man(int argc, char **argv)
{
	if (argc) {
		fprintf(stderr, "slubsim: man: expected no argument\n");
		return EXIT_USAGE;
	}
	/* no date: the same program prints the same page */
	printf(".TH SLUBSIM 1 \"\" \"slubsim %s\" \"User Commands\"\n"
	       ".SH NAME\n"
	       "slubsim \\- simulate the Linux SLUB allocator on modeled NUMA "
	       "hardware\n"
	       ".SH SYNOPSIS\n"
	       "\\fBslubsim\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] "
	       "[\\fIARGUMENT\\fR...]\n"
	       ".SH COMMANDS\n", SLUBSIM_VERSION);
	for (int i = 0; commands[i]; i++)
		print_man_command(commands[i]);
	printf(".SH \"EXIT STATUS\"\n"
	       ".TP\n0\nDone.\n"
	       ".TP\n1\nThe run failed, or what was compared differs.\n"
	       ".TP\n2\nWrong usage, config or input.\n"
	       ".TP\n125\nNo answer (compare), for git bisect run.\n"
	       ".TP\n128+n\nStopped by signal n.\n"
	       ".SH ENVIRONMENT\n"
	       ".TP\nSLUBSIM_CONFIGS\n"
	       "Folder with the shipped configs (topologies, machines, costs, "
	       "variants, experiments).\n");
	return EXIT_DONE;
}

const struct command cmd_man = {
	.name = "man",
	.summary = "Print the manual page of this program",
	.description = "Use: slubsim man | man -l -",
	.run = run_man,
};
