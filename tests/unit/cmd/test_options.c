/* SPDX-License-Identifier: MIT */
/*
 * The command line: the accepted forms, and a usage error with a reason for all others.
 */
#include <getopt.h>
#include <string.h>

#include "cmd/common/args.h"
#include "gen/lib/api.h"
#include "tests/unit/unit.h"

enum { MAX_ARGS = 24 };

/* Splits at blanks; line and the words must outlive args. */
static bool parse(char *line, struct args *args, struct eh2sframe_error *error)
{
	static char *argv[MAX_ARGS + 2];
	static char name[] = "eh2sframe";
	int argc = 0;

	argv[argc++] = name;
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
		ck_assert(argc < MAX_ARGS);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	optind = 0; /* glibc: start again */
	return args_parse(argc, argv, args, error);
}

static const char *const wrong[] = {
    "",
    "in",
    "in out more",
    "convert in",
    "section in",
    "remove in",
    "report",
    "merge",
    "diff in",
    "diff in two three",
    "dump",
    "verify",
    "lint",
    "check",
    "tree",
    "tree report",
    "tree in out",
    "tree merge in",
    "help nothing",
    "help tree in",
    "-q report in",
    "--json tree report in",
    "-q tree report in",
    "--report in",
    "--batch in",
    "report --pdf in",
    "report --json --html in",
    "--format=0 in out",
    "--format=4 in out",
    "--format=1 --no-pcrel in out",
    "--no-pcrel --format=3 in out",
    "--format in out",
    "--format=2x in out",
    "--forma=2 in out",
    "--method=in-place in out",
    "--optimize=tiny in out",
    "--witness=gcc in out",
    "-j 0 in out",
    "-j -1 in out",
    "-j 1025 in out",
    "-j two in out",
    "-j",
    "--min-coverage=101 in out",
    "--min-coverage=-1 in out",
    "--min-coverage=nan in out",
    "--min-coverage=50% in out",
    "--min-coverage= in out",
    "--min-coverage=+5 in out",
    "--min-coverage-of=code --min-coverage=5 in out",
    "--min-coverage-of=text in out",
    "--max-growth=-1 in out",
    "--max-growth=inf in out",
    "--max-growth=1000001 in out",
    "--max-growth= in out",
    "report --max-growth=5 in",
    "section --max-growth=5 in out",
    "--max-size=-1 in out",
    "--max-size=4K in out",
    "--max-size=18446744073709551616 in out",
    "--max-size= in out",
    "--allow-unmatched=yes in out",
    "section --address=here in out",
    "section --address=-4 in out",
    "section --address=0x10000000000000000 in out",
    "--address=0x1000 in out",
    "--cfi=other in out",
    "report --cfi=other in",
    "-o file in out",
    "dump --output=file in",
    "report in -o",
    "--no-such-option in out",
    "-x in out",
    "--exclude-symbol",
    "--sandbox=yes in out",
    "--sandbox= in out",
    "--functions in out",
    "report --functions --json in",
    "merge --functions in",
    "dump --baseline=old in",
    "remove --baseline=old in out",
    "tree verify --baseline=old in",
    "merge --baseline=old in",
    "--baseline",
    "diff --json in two",
    "diff --baseline=old in two",
    "lint --for=nobody in",
    "lint --for=all in",
    "report --debug-file=d in two",
    "tree convert --debug-file=d in",
    "tree verify --cfi=c in",
    "tree report --dry-run in",
    "--dry-run in out",
    "--include=x in out",
    "dump --json=yes in",
    "report --json=yes in",
};

UNIT_EACH(wrong_lines, wrong)
{
	struct args args;
	struct eh2sframe_error err = {0};
	char line[120];

	strcpy(line, wrong[_i]);
	ck_assert_msg(!parse(line, &args, &err), "accepted: %s", wrong[_i]);
	ck_assert_msg(
	    err.status == EH2SFRAME_USAGE, "status %d: %s", (int)err.status, wrong[_i]);
	ck_assert(err.text[0] != '\0' && !strchr(err.text, '\n'));
	args_deinit(&args);
}

static const struct {
	const char *line;
	enum verb verb;
	bool tree;
	size_t n_paths;
} right[] = {
    {"in out", VERB_CONVERT, false, 2},
    {"same same", VERB_CONVERT, false, 2},
    {"convert in out", VERB_CONVERT, false, 2},
    {"convert report out", VERB_CONVERT, false, 2},
    {"./report out", VERB_CONVERT, false, 2},
    {"in report", VERB_CONVERT, false, 2},
    {"-- report out", VERB_CONVERT, false, 2},
    {"section in out", VERB_SECTION, false, 2},
    {"section in -q out", VERB_SECTION, false, 2},
    {"remove in out", VERB_REMOVE, false, 2},
    {"report in", VERB_REPORT, false, 1},
    {"report report", VERB_REPORT, false, 1},
    {"report --functions --baseline=old in two", VERB_REPORT, false, 2},
    {"diff -o out in two", VERB_DIFF, false, 2},
    {"merge --html -o out in", VERB_MERGE, false, 1},
    {"--baseline=old in out", VERB_CONVERT, false, 2},
    {"section --baseline=old in out", VERB_SECTION, false, 2},
    {"report a b c", VERB_REPORT, false, 3},
    {"dump a b", VERB_DUMP, false, 2},
    {"verify a b", VERB_VERIFY, false, 2},
    {"lint a b", VERB_LINT, false, 2},
    {"lint --for=glibc a b", VERB_LINT, false, 2},
    {"check --json a b", VERB_CHECK, false, 2},
    {"dump -- --verify", VERB_DUMP, false, 1},
    {"tree convert --dry-run a", VERB_CONVERT, true, 1},
    {"tree remove a", VERB_REMOVE, true, 1},
    {"tree report --json a", VERB_REPORT, true, 1},
    {"tree verify a", VERB_VERIFY, true, 1},
    {"tree lint a", VERB_LINT, true, 1},
    {"tree check a", VERB_CHECK, true, 1},
    {"--help", VERB_HELP, false, 0},
    {"help", VERB_HELP, false, 0},
    {"help report", VERB_HELP, false, 0},
    {"help help", VERB_HELP, false, 0},
    {"help --help", VERB_HELP, false, 0},
    {"help -h", VERB_HELP, false, 0},
    {"help tree -h", VERB_HELP, true, 0},
    {"tree --version", VERB_VERSION, true, 0},
    {"tree -V", VERB_VERSION, true, 0},
    {"help tree", VERB_HELP, true, 0},
    {"tree -h", VERB_HELP, true, 0},
    {"help tree lint", VERB_HELP, true, 0},
    {"report -h --nonsense", VERB_HELP, false, 0},
    {"--version --nonsense", VERB_VERSION, false, 0},
    {"--format=1 in out", VERB_CONVERT, false, 2},
    {"--format=2 --no-pcrel in out", VERB_CONVERT, false, 2},
    {"--format 3 in out", VERB_CONVERT, false, 2},
    {"--method=auto --no-verify in out", VERB_CONVERT, false, 2},
    {"--method=grow in out", VERB_CONVERT, false, 2},
};

UNIT_EACH(right_lines, right)
{
	struct args args;
	struct eh2sframe_error err = {0};
	char line[120];

	strcpy(line, right[_i].line);
	ck_assert_msg(parse(line, &args, &err), "%s: %s", right[_i].line, err.text);
	ck_assert_int_eq(args.verb, right[_i].verb);
	ck_assert_int_eq(args.tree, right[_i].tree);
	if (args.verb != VERB_HELP && args.verb != VERB_VERSION)
		ck_assert_uint_eq(args.n_paths, right[_i].n_paths);
	args_deinit(&args);
}

UNIT(defaults)
{
	char line[] = "in out";
	const struct options *options;
	struct args args;
	struct eh2sframe_error err = {0};

	ck_assert(parse(line, &args, &err));
	options = &args.options->options;
	ck_assert_uint_eq(options->format, 2);
	ck_assert(options->share && options->prove && !options->refresh);
	ck_assert_int_eq(options->witness, WITNESS_OWN);
	ck_assert_uint_ge(options->jobs, 1);
	ck_assert_int_eq(options->verbosity, 0);
	ck_assert(options->min_coverage < 0.0 && options->max_growth < 0.0);
	ck_assert_int_eq(options->coverage_of, COVERAGE_OF_CFI);
	ck_assert(options->max_size == UINT64_MAX && !options->allow_unmatched);
	ck_assert_uint_eq(options->exclude_sections.n + options->exclude_symbols.n, 0);
	ck_assert_str_eq(args.paths[0], "in");
	ck_assert_str_eq(args.paths[1], "out");
	args_deinit(&args);
	args_deinit(&args); /* accepts a zeroed one */
}

UNIT(values)
{
	char line[] = "--refresh --optimize=none --witness=libdwarf -v -j7 "
		      "--min-coverage=99.5 --exclude-symbol=a* --exclude-symbol=b "
		      "--exclude-section=.init --min-coverage-of=text "
		      "--max-growth=.5 --max-size=4096 --allow-unmatched in out";
	const struct options *options;
	struct args args;
	struct eh2sframe_error err = {0};

	ck_assert_msg(parse(line, &args, &err), "%s", err.text);
	options = &args.options->options;
	ck_assert(!options->share && options->prove && options->refresh);
	ck_assert_int_eq(options->witness, WITNESS_LIBDWARF);
	ck_assert_uint_eq(options->jobs, 7);
	ck_assert_int_eq(options->verbosity, 1);
	ck_assert(options->min_coverage > 99.49 && options->min_coverage < 99.51);
	ck_assert_int_eq(options->coverage_of, COVERAGE_OF_TEXT);
	ck_assert(options->max_growth > 0.49 && options->max_growth < 0.51);
	ck_assert(options->max_size == 4096 && options->allow_unmatched);
	ck_assert_uint_eq(args.patterns->n, 3);
	ck_assert_uint_eq(options->exclude_symbols.n, 2);
	ck_assert_str_eq(options->exclude_symbols.list[0], "a*");
	ck_assert_str_eq(options->exclude_symbols.list[1], "b");
	ck_assert_uint_eq(options->exclude_sections.n, 1);
	args_deinit(&args);
}

UNIT(values_of_commands)
{
	char report[] = "report -q -o file in",
	     bare[] = "section --address=0x400000 in out",
	     verify[] = "verify --cfi=before in";
	struct args args;
	struct eh2sframe_error err = {0};

	ck_assert_msg(parse(report, &args, &err), "%s", err.text);
	ck_assert_str_eq(args.report_path, "file");
	ck_assert_int_eq(args.verbosity, -1);
	ck_assert_int_eq(args.options->options.verbosity, -1);
	args_deinit(&args);
	ck_assert_msg(parse(bare, &args, &err), "%s", err.text);
	ck_assert_uint_eq(args.address, 0x400000);
	args_deinit(&args);
	ck_assert_msg(parse(verify, &args, &err), "%s", err.text);
	ck_assert_str_eq(args.cfi_path, "before");
	args_deinit(&args);
}

/* Fails for a line, with these words in the reason. */
static const struct {
	const char *line, *words;
} told[] = {
    {"--report in", "no option --report; did you mean the verb report?"},
    {"--report=json in", "no option --report; did you mean the verb report?"},
    {"report --dump in", "report: unknown option --dump; see eh2sframe report --help"},
    {"--verify-not in out", "unknown option --verify-not; see eh2sframe convert --help"},
    {"--no-check in out", "unknown option --no-check; see eh2sframe convert --help"},
    {"report ---json in", "unknown option ---json; did you mean --json?"},
    {"-q help report", "the verb comes first: eh2sframe help report"},
    {"help report extra", "help: extra is one word too many; give one verb"},
    {"help tree lint extra", "help: extra is one word too many; give one verb"},
    {"--refersh in out", "unknown option --refersh; did you mean --refresh?"},
    {"--min-cov=5 in out", "unknown option --min-cov; did you mean --min-coverage?"},
    {"report --refresh in",
	"report: no option --refresh (it goes with convert and tree convert); see "
	"eh2sframe report --help"},
    {"-o x in out",
	"no option -o (it goes with report, merge, diff, check and tree report)"},
    {"-zq in out", "unknown option -z; see eh2sframe convert --help"},
    {"reprot in", "reprot: neither a verb nor a file; did you mean the verb report?"},
    {"-q report -j2 in", "the verb comes first: eh2sframe report -q -j2 in"},
    {"-q tree report in", "the verb comes first: eh2sframe tree report -q in"},
    {"tree reprot in", "tree: no verb reprot; did you mean report?"},
    {"tree /usr", "tree: no verb /usr; say what to do"},
    {"help lnit", "help: no verb lnit; did you mean lint?"},
    {"report -qj", "report: -j needs a value"},
    {"report --json=x in", "report: --json=x: it takes no value"},
    {"report", "report: give at least one file; see eh2sframe report --help"},
    {"diff in", "diff: give two JSON reports, the old one first"},
    {"--format=4 in out", "--format=4: give 1, 2 or 3"},
    {"--for=me in out", "--for=me: give glibc, linux-user, "},
    {"--sandbox=1 in out", "--sandbox=1: give auto, on or off"},
};

UNIT_EACH(reasons, told)
{
	struct args args;
	struct eh2sframe_error err = {0};
	char line[120];

	strcpy(line, told[_i].line);
	ck_assert(!parse(line, &args, &err));
	ck_assert_msg(
	    strstr(err.text, told[_i].words), "%s: %s", told[_i].line, err.text);
	args_deinit(&args);
}

/* The command's table must agree with the options that the library takes. */
UNIT_LOOP(table, 0, N_OPTIONS)
{
	const struct args_option *option = &args_options[_i];
	struct eh2sframe_options *options = eh2sframe_options_new();
	char list[ARGS_LIST_SIZE], *rest = list;
	struct eh2sframe_error err;

	ck_assert(option->name && option->help && option->verbs);
	ck_assert_msg(*option->argument || !*option->values, "%s", option->name);
	if (option->of_library && !*option->argument)
		ck_assert_msg(eh2sframe_options_set(options, option->name, NULL, &err),
		    "%s", err.text);
	strcpy(list, option->values);
	for (char *value; option->of_library && *list && (value = strsep(&rest, "|"));)
		ck_assert_msg(eh2sframe_options_set(options, option->name, value, &err),
		    "%s", err.text);
	if (option->of_library && *option->values)
		ck_assert(
		    !eh2sframe_options_set(options, option->name, "none such", &err));
	/* Each name of a verb is one. */
	strcpy(list, option->verbs);
	rest = list;
	for (char *verb; strcmp(list, "*") != 0 && (verb = strsep(&rest, ","));) {
		const bool tree = !strncmp(verb, "tree ", 5);

		ck_assert_msg(args_find_use(tree, verb + (tree ? 5 : 0)), "%s: %s",
		    option->name, verb);
	}
	eh2sframe_options_free(options);
}
