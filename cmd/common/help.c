/* SPDX-License-Identifier: MIT */
/* The texts of --help, from the tables. The completions take options and their values from them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/args.h"

/* Columns: where explanations begin, and where lines end. */
enum { HELP_SECOND = 31, HELP_WIDTH = 100 };
/* Longer lists of values stand behind the explanation. */
enum { HELP_VALUES = 36 };

/* Prints text from a column on. Breaks lines at blanks, and behind the bars of values. */
static void help_wrap(size_t column, const char *text, FILE *out)
{
	while (*text) {
		const bool blank = *text == ' ';
		size_t n = strcspn(text + blank, " |");

		n += text[blank + n] == '|';
		if (column + blank + n > HELP_WIDTH) {
			fprintf(out, "\n%*s", HELP_SECOND, "");
			column = HELP_SECOND;
			text += blank;
		} else {
			n += blank;
		}
		fwrite(text, 1, n, out);
		column += n;
		text += n;
	}
	fputc('\n', out);
}

/* Prints two columns. */
static void help_line(const char *first, const char *text, FILE *out)
{
	size_t column = (size_t)fprintf(out, "%-*s", HELP_SECOND - 2, first);

	column += (size_t)fprintf(out, "  ");
	help_wrap(column, text, out);
}

static void help_option(const struct args_option *option, FILE *out)
{
	const bool inside = *option->values && strlen(option->values) < HELP_VALUES;
	const bool optional = *option->argument == '[';
	char first[HELP_WIDTH], text[6 * HELP_WIDTH], letter[] = "    ";

	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	snprintf(first, sizeof(first), "  %s--%s%s%s%s%s", letter, option->name,
	    optional ? "[" : "", *option->argument ? "=" : "",
	    inside ? option->values : option->argument, optional ? "]" : "");
	snprintf(text, sizeof(text), "%s%s%s", option->help,
	    *option->values && !inside ? ": " : "", inside ? "" : option->values);
	help_line(first, text, out);
}

static void help_use(const struct args_use *use, FILE *out)
{
	fprintf(out, "Usage: eh2sframe %s [OPTION...] %s\n%c%s.\n\n", use->name,
	    use->operands, toupper((unsigned char)use->help[0]), use->help + 1);
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (args_goes_with(&args_options[i], use))
			help_option(&args_options[i], out);
}

static void help_uses(bool tree, FILE *out)
{
	char first[HELP_WIDTH];

	for (const struct args_use *use = args_uses; use->name; use++) {
		if (use->tree != tree)
			continue;
		snprintf(first, sizeof(first), "  %s %s", use->name, use->operands);
		help_line(first, use->help, out);
	}
}

static void help_tree(FILE *out)
{
	fputs(
	    "Usage: eh2sframe tree VERB [OPTION...] PATH...\n"
	    "Do the same with every ELF file below the paths, by several processes.\n\n",
	    out);
	help_uses(true, out);
	fputs("\neh2sframe tree VERB --help lists the options of each.\n", out);
}

static void help_all(FILE *out)
{
	fputs(
	    "Usage: eh2sframe [OPTION...] IN OUT\n"
	    "       eh2sframe VERB [OPTION...] PATH...\n"
	    "\n"
	    "SFrame is a table by which profilers find the callers of a function. "
	    "eh2sframe makes it from the\n"
	    ".eh_frame, .debug_frame or Go table of a finished ELF file. IN and OUT may "
	    "be the same path, and\n"
	    "OUT may be a directory.\n"
	    "\n",
	    out);
	help_uses(false, out);
	help_line("  tree VERB PATH...",
	    "run VERB on every ELF file below the paths; convert and remove work in "
	    "place",
	    out);
	help_line("  help [VERB]", "print the options of a verb", out);
	fputs("\nA first word that is a verb is the verb; write ./report for a file. "
	      "Options of all verbs:\n",
	    out);
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (!strcmp(args_options[i].verbs, "*"))
			help_option(&args_options[i], out);
	fputs("\n"
	      "Exit status: 0 done and proven, 1 bad or unsupported input, 2 usage, 3 "
	      "I/O, 4 the proof failed,\n"
	      "5 coverage too low, too large or worse, 6 nothing to do, 7 no memory, "
	      "8 converted, but writing\n"
	      "the report or the summary failed, 70 a bug.\n",
	    out);
}

void args_print_help(const struct args *args, FILE *out)
{
	if (args->help)
		help_use(args->help, out);
	else if (args->tree)
		help_tree(out);
	else
		help_all(out);
}
