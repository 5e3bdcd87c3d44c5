/* SPDX-License-Identifier: MIT */
/* Finds the verb of a command line, and says what is wrong with words that are none of its. */
#include "cmd/common/line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* getopt's values for long options; above all letters. */
enum { LINE_OPTION = 256, LINE_TEXT_SIZE = 512, LINE_NAME_SIZE = 128 };

/* Makes getopt's tables. */
static void line_tables(struct args_line *line)
{
	struct option *to = line->longs;
	char *letter = line->letters;

	*letter++ = ':'; /* tells a missing value from an unknown option */
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const struct args_option *option = &args_options[i];
		const int value = *option->argument == '[' ? optional_argument
				  : *option->argument	   ? required_argument
							   : no_argument;

		if (!args_goes_with(option, line->use))
			continue;
		*to++ = (struct option){option->name, value, NULL, LINE_OPTION + (int)i};
		if (!option->letter)
			continue;
		*letter++ = option->letter;
		if (value == required_argument)
			*letter++ = ':';
	}
	*to = (struct option){0};
	*letter = '\0';
}

static bool line_is_help(const char *word)
{
	return word && (!strcmp(word, "--help") || !strcmp(word, "-h"));
}

/* Refuses a word that stands where tree or help need a verb. hint is for words that are like none. */
static bool line_no_verb(const char *before, const char *word, bool tree,
    const char *hint, struct eh2sframe_error *error)
{
	const char *like = args_like_verb(word, tree);

	return like ? cmd_fail(error, EH2SFRAME_USAGE, "%s: no verb %s; did you mean %s?",
			  before, word, like)
		    : cmd_fail(error, EH2SFRAME_USAGE, "%s: no verb %s; %s", before, word,
			  hint);
}

static const char line_tree_hint[] =
    "say what to do: eh2sframe tree convert, remove, report, verify, lint or check "
    "PATH...";

/* Opens "tree VERB", or the help of tree, or the version. */
static bool line_open_tree(
    struct args_line *line, int argc, char **argv, struct eh2sframe_error *error)
{
	line->tree = true;
	if (argc < 2)
		return cmd_fail(error, EH2SFRAME_USAGE, "tree: %s", line_tree_hint);
	line->help = line_is_help(argv[1]);
	line->version = !strcmp(argv[1], "--version") || !strcmp(argv[1], "-V");
	if (line->help || line->version)
		return true;
	line->use = args_find_use(true, argv[1]);
	line->argc = argc - 1;
	line->argv = argv + 1;
	return line->use || line_no_verb("tree", argv[1], true, line_tree_hint, error);
}

/* Opens "help", "help VERB" or "help tree VERB". Help about help is that of all. */
static bool line_open_help(
    struct args_line *line, int argc, char **argv, struct eh2sframe_error *error)
{
	int at = 1;

	line->help = true;
	line->tree = argc > at && !strcmp(argv[at], "tree");
	at += line->tree;
	if (argc > at && (line_is_help(argv[at]) || !strcmp(argv[at], "help"))) {
		at++;
	} else if (argc > at) {
		line->use = args_find_use(line->tree, argv[at]);
		line->named = line->use;
		if (!line->use)
			return line_no_verb(
			    "help", argv[at], line->tree, "see eh2sframe --help", error);
		at++;
	}
	return argc <= at ||
	       cmd_fail(error, EH2SFRAME_USAGE,
		   "help: %.200s is one word too many; give one verb", argv[at]);
}

bool args_line_open(
    struct args_line *line, int argc, char **argv, struct eh2sframe_error *error)
{
	const char *verb = argc > 1 ? argv[1] : "";

	*line = (struct args_line){.argc = argc, .argv = argv};
	if (!strcmp(verb, "help"))
		return line_open_help(line, argc - 1, argv + 1, error);
	if (!strcmp(verb, "tree")) {
		line->named = true;
		if (!line_open_tree(line, argc - 1, argv + 1, error))
			return false;
		if (line->help || line->version)
			return true;
	} else {
		line->use = args_find_use(false, verb);
		line->named = line->use;
		line->argc -= line->named;
		line->argv += line->named;
		if (!line->named)
			line->use = args_find_use(false, "convert");
	}
	line_tables(line);
	return true;
}

/* Fails with the verb before the text, where the line has it, and with the way to its help behind. */
static bool line_fail(const struct args_line *line, bool see, const char *text,
    struct eh2sframe_error *error)
{
	return cmd_fail(error, EH2SFRAME_USAGE, "%s%s%s%s%s%s",
	    line->named ? line->use->name : "", line->named ? ": " : "", text,
	    see ? "; see eh2sframe " : "", see ? line->use->name : "",
	    see ? " --help" : "");
}

/* Refuses an option that the use does not have; option is NULL when no use has it. name is without dashes. */
static bool line_no_option(const struct args_line *line, const char *dashes,
    const char *name, const struct args_option *option, struct eh2sframe_error *error)
{
	const char *like = args_like_option(name, line->use);
	const bool verb = !line->named && args_find_use(false, name);
	char text[LINE_TEXT_SIZE], uses[ARGS_LIST_SIZE];

	if (option)
		snprintf(text, sizeof(text), "no option %s%s (it goes with %s)", dashes,
		    name, args_uses_text(option, uses));
	else if (verb)
		snprintf(text, sizeof(text), "no option %s%s; did you mean the verb %s?",
		    dashes, name, name);
	else if (like)
		snprintf(text, sizeof(text), "unknown option %s%s; did you mean --%s?",
		    dashes, name, like);
	else
		snprintf(text, sizeof(text), "unknown option %s%s", dashes, name);
	return line_fail(line, option || (!verb && !like), text, error);
}

/* Refuses the letter at which getopt returned ? or :. */
static bool line_wrong_letter(
    const struct args_line *line, int opt, struct eh2sframe_error *error)
{
	const char name[] = {(char)optopt, '\0'};
	char text[LINE_TEXT_SIZE];

	if (opt == '?')
		return line_no_option(line, "-", name, args_find_letter(optopt), error);
	snprintf(text, sizeof(text), "-%c needs a value", optopt);
	return line_fail(line, true, text, error);
}

/* Checks the word of a long option, which getopt takes shortened, too; opt is what getopt returned. */
static bool line_is_long(const struct args_line *line, int opt, const char *word,
    struct eh2sframe_error *error)
{
	const int found = opt >= LINE_OPTION ? opt : optopt;
	char name[LINE_NAME_SIZE], text[LINE_TEXT_SIZE];

	word += strlen("--");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	if (!found || strcmp(args_options[found - LINE_OPTION].name, name) != 0)
		return line_no_option(line, "--", name, args_find_option(name), error);
	if (opt >= LINE_OPTION)
		return true;
	snprintf(text, sizeof(text),
	    opt == ':' ? "--%.300s needs a value" : "--%.300s: it takes no value", word);
	return line_fail(line, true, text, error);
}

const struct args_option *args_line_next(
    const struct args_line *line, bool *failed, struct eh2sframe_error *error)
{
	const int opt =
	    getopt_long(line->argc, line->argv, line->letters, line->longs, NULL);
	bool apart = false;

	*failed = false;
	if (opt == -1)
		return NULL;
	if ((opt == '?' || opt == ':') && optopt && optopt < LINE_OPTION)
		*failed = !line_wrong_letter(line, opt, error);
	else if (opt == '?' || opt == ':' || opt >= LINE_OPTION) {
		apart = opt >= LINE_OPTION && optarg == line->argv[optind - 1];
		*failed =
		    !line_is_long(line, opt, line->argv[optind - (apart ? 2 : 1)], error);
	}
	if (*failed)
		return NULL;
	return opt >= LINE_OPTION ? &args_options[opt - LINE_OPTION]
				  : args_find_letter(opt);
}

/* Shows the line with its verb in front, which is the first path, or the first two; help takes no options. */
static bool line_verb_first(const struct args_line *line, char *const *paths, size_t n,
    struct eh2sframe_error *error)
{
	const size_t verbs = !strcmp(paths[0], "tree") && n > 1 ? 2 : 1;
	const bool help = !strcmp(paths[0], "help");
	char text[LINE_TEXT_SIZE] = "";
	size_t used = 0;

	for (int i = 1; i < line->argc && used < sizeof(text); i++)
		if ((line->argv + i < paths && !help) || line->argv + i >= paths + verbs)
			used += (size_t)snprintf(
			    text + used, sizeof(text) - used, " %s", line->argv[i]);
	return cmd_fail(error, EH2SFRAME_USAGE,
	    "the verb comes first: eh2sframe %s%s%s%.300s", paths[0],
	    verbs > 1 ? " " : "", verbs > 1 ? paths[1] : "", text);
}

bool args_line_paths(const struct args_line *line, char *const *paths, size_t n,
    struct eh2sframe_error *error)
{
	/* getopt takes "--" away, and all behind it are files. */
	const bool guess = !line->named && n && strcmp(paths[-1], "--") != 0;
	char text[LINE_TEXT_SIZE];
	const char *like = NULL;

	if (guess && (args_find_use(false, paths[0]) || !strcmp(paths[0], "tree") ||
			 !strcmp(paths[0], "help")))
		return line_verb_first(line, paths, n, error);
	if (guess && !strchr(paths[0], '/') && access(paths[0], F_OK) != 0)
		like = args_like_verb(paths[0], false);
	if (like)
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "%.200s: neither a verb nor a file; did you mean the verb %s?",
		    paths[0], like);
	if (n >= line->use->min && n <= line->use->max)
		return true;
	snprintf(text, sizeof(text), "give %s", line->use->needs);
	return line_fail(line, true, text, error);
}
