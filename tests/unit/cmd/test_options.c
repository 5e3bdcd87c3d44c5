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
    "--section-only in",
    "--remove in",
    "--report",
    "--dump",
    "--verify",
    "--report --dump in",
    "--remove --verify in out",
    "--section-only --remove in out",
    "--report=pdf in",
    "--report= in",
    "--format=0 in out",
    "--format=4 in out",
    "--format=1 --no-pcrel in out",
    "--no-pcrel --format=3 in out",
    "--format in out",
    "--format=2x in out",
    "--method=append in out",
    "--optimize=tiny in out",
    "--max-rows=8 in out",
    "--max-rows=1 --optimize=size in out",
    "--max-rows=65536 --optimize=size in out",
    "--max-rows= --optimize=size in out",
    "--max-rows=eight --optimize=size in out",
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
    "--max-growth=5 --report in",
    "--max-growth=5 --section-only in out",
    "--max-size=-1 in out",
    "--max-size=4K in out",
    "--max-size=18446744073709551616 in out",
    "--max-size= in out",
    "--allow-unmatched=yes in out",
    "--section-only --section-address=here in out",
    "--section-only --section-address=-4 in out",
    "--section-only --section-address=0x10000000000000000 in out",
    "--section-address=0x1000 in out",
    "--cfi=other in out",
    "--cfi=other --report in",
    "-o file in out",
    "--output=file --dump in",
    "--report in -o",
    "--no-such-option in out",
    "-x in out",
    "--dump=yes in",
    "--exclude-symbol",
    "--sandbox=yes in out",
    "--sandbox= in out",
    "--functions in out",
    "--functions --report=json in",
    "--functions --report --merge in",
    "--top=0 --report in",
    "--top=-1 --report in",
    "--top=ten --report in",
    "--top= --report in",
    "--top=99999999999999999999 --report in",
    "--top=5 in out",
    "--top=5 --report=json in",
    "--baseline=old --dump in",
    "--baseline=old --remove in out",
    "--baseline=old --batch --verify in",
    "--baseline=old --report --merge in",
    "--baseline",
    "--report-diff in",
    "--report-diff in two three",
    "--report-diff --report=json in two",
    "--report=html --report-diff in two",
    "--report-diff --merge in two",
    "--report-diff --dump in two",
    "--verify --report-diff in two",
    "--report-diff --baseline=old in two",
    "--report-diff --functions in two",
    "--report-diff --top=3 in two",
};

START_TEST(wrong_lines)
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
END_TEST

static const struct {
	const char *line;
	enum command command;
	size_t n_paths;
} right[] = {
    {"in out", COMMAND_CONVERT, 2},
    {"same same", COMMAND_CONVERT, 2},
    {"--section-only in out", COMMAND_SECTION_ONLY, 2},
    {"in --section-only out", COMMAND_SECTION_ONLY, 2},
    {"--remove in out", COMMAND_REMOVE, 2},
    {"--report in", COMMAND_REPORT, 1},
    {"--report --functions --baseline=old in two", COMMAND_REPORT, 2},
    {"--report --top=3 in two", COMMAND_REPORT, 2},
    {"--report-diff in two", COMMAND_REPORT, 2},
    {"--report-diff --report=text -o out in two", COMMAND_REPORT, 2},
    {"--baseline=old in out", COMMAND_CONVERT, 2},
    {"--baseline=old --section-only in out", COMMAND_SECTION_ONLY, 2},
    {"--report=text a b c", COMMAND_REPORT, 3},
    {"--dump a b", COMMAND_DUMP, 2},
    {"--verify a b", COMMAND_VERIFY, 2},
    {"--dump -- --verify", COMMAND_DUMP, 1},
    {"--help", COMMAND_HELP, 0},
    {"--version --nonsense", COMMAND_VERSION, 0},
    {"--format=1 in out", COMMAND_CONVERT, 2},
    {"--format=2 --no-pcrel in out", COMMAND_CONVERT, 2},
    {"--format=2 --method=slack in out", COMMAND_CONVERT, 2},
    {"--format=3 in out", COMMAND_CONVERT, 2},
    {"--method=auto --no-verify in out", COMMAND_CONVERT, 2},
    {"--method=grow in out", COMMAND_CONVERT, 2},
};

START_TEST(right_lines)
{
	struct args args;
	struct eh2sframe_error err = {0};
	char line[120];

	strcpy(line, right[_i].line);
	ck_assert_msg(parse(line, &args, &err), "%s: %s", right[_i].line, err.text);
	ck_assert_int_eq(args.command, right[_i].command);
	ck_assert_uint_eq(args.n_paths, right[_i].n_paths);
	args_deinit(&args);
}
END_TEST

START_TEST(defaults)
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
END_TEST

START_TEST(values)
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
END_TEST

START_TEST(values_of_commands)
{
	char report[] = "--report -q -o file in",
	     bare[] = "--section-only "
		      "--section-address=0x400000 in out",
	     verify[] = "--verify --cfi=before in";
	struct args args;
	struct eh2sframe_error err = {0};

	ck_assert_msg(parse(report, &args, &err), "%s", err.text);
	ck_assert_str_eq(args.report_path, "file");
	ck_assert_int_eq(args.verbosity, -1);
	ck_assert_int_eq(args.options->options.verbosity, -1);
	args_deinit(&args);
	ck_assert_msg(parse(bare, &args, &err), "%s", err.text);
	ck_assert_uint_eq(args.section_addr, 0x400000);
	args_deinit(&args);
	ck_assert_msg(parse(verify, &args, &err), "%s", err.text);
	ck_assert_str_eq(args.cfi_path, "before");
	args_deinit(&args);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *tcase = tcase_create("options");

	tcase_add_loop_test(tcase, wrong_lines, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_loop_test(tcase, right_lines, 0, sizeof(right) / sizeof(right[0]));
	tcase_add_test(tcase, defaults);
	tcase_add_test(tcase, values);
	tcase_add_test(tcase, values_of_commands);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
