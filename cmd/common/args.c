/* SPDX-License-Identifier: MIT */
/* The command line. Options of the library go to the library by their names. */
#include "cmd/common/args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "base/vec.h"
#include "base/program/fail.h"

enum {
	OPT_SECTION_ONLY = 256,
	OPT_REPORT,
	OPT_DUMP,
	OPT_VERIFY,
	OPT_LINT,
	OPT_CHECK_CODE,
	OPT_REMOVE,
	OPT_BATCH,
	OPT_MERGE,
	OPT_REPORT_DIFF,
	OPT_FUNCTIONS,
	OPT_TOP,
	OPT_BASELINE,
	OPT_FOR,
	OPT_FORMAT,
	OPT_NO_PCREL,
	OPT_REFRESH,
	OPT_METHOD,
	OPT_OPTIMIZE,
	OPT_OBJECT_SECTIONS,
	OPT_MAX_ROWS,
	OPT_EXCLUDE_SECTION,
	OPT_EXCLUDE_SYMBOL,
	OPT_ALLOW_UNMATCHED,
	OPT_MIN_COVERAGE,
	OPT_MIN_COVERAGE_OF,
	OPT_MAX_GROWTH,
	OPT_MAX_SIZE,
	OPT_SECTION_ADDRESS,
	OPT_NO_VERIFY,
	OPT_WITNESS,
	OPT_CODE,
	OPT_DERIVE,
	OPT_SOURCE,
	OPT_DEBUG_FILE,
	OPT_DEBUG_DIR,
	OPT_CFI,
	OPT_REPORT_FILE,
	OPT_INCLUDE,
	OPT_EXCLUDE,
	OPT_DROP_SIGNATURES,
	OPT_SANDBOX,
};

static const struct option long_options[] = {
    {"section-only", no_argument, NULL, OPT_SECTION_ONLY},
    {"report", optional_argument, NULL, OPT_REPORT},
    {"dump", no_argument, NULL, OPT_DUMP},
    {"verify", no_argument, NULL, OPT_VERIFY},
    {"lint", required_argument, NULL, OPT_LINT},
    {"check-code", no_argument, NULL, OPT_CHECK_CODE},
    {"remove", no_argument, NULL, OPT_REMOVE},
    {"batch", no_argument, NULL, OPT_BATCH},
    {"merge", no_argument, NULL, OPT_MERGE},
    {"report-diff", no_argument, NULL, OPT_REPORT_DIFF},
    {"functions", no_argument, NULL, OPT_FUNCTIONS},
    {"top", required_argument, NULL, OPT_TOP},
    {"baseline", required_argument, NULL, OPT_BASELINE},
    {"for", required_argument, NULL, OPT_FOR},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"no-pcrel", no_argument, NULL, OPT_NO_PCREL},
    {"refresh", no_argument, NULL, OPT_REFRESH},
    {"method", required_argument, NULL, OPT_METHOD},
    {"optimize", required_argument, NULL, OPT_OPTIMIZE},
    {"object-sections", required_argument, NULL, OPT_OBJECT_SECTIONS},
    {"max-rows", required_argument, NULL, OPT_MAX_ROWS},
    {"exclude-section", required_argument, NULL, OPT_EXCLUDE_SECTION},
    {"exclude-symbol", required_argument, NULL, OPT_EXCLUDE_SYMBOL},
    {"allow-unmatched", no_argument, NULL, OPT_ALLOW_UNMATCHED},
    {"min-coverage", required_argument, NULL, OPT_MIN_COVERAGE},
    {"min-coverage-of", required_argument, NULL, OPT_MIN_COVERAGE_OF},
    {"max-growth", required_argument, NULL, OPT_MAX_GROWTH},
    {"max-size", required_argument, NULL, OPT_MAX_SIZE},
    {"section-address", required_argument, NULL, OPT_SECTION_ADDRESS},
    {"no-verify", no_argument, NULL, OPT_NO_VERIFY},
    {"witness", required_argument, NULL, OPT_WITNESS},
    {"code", required_argument, NULL, OPT_CODE},
    {"derive", no_argument, NULL, OPT_DERIVE},
    {"source", required_argument, NULL, OPT_SOURCE},
    {"debug-file", required_argument, NULL, OPT_DEBUG_FILE},
    {"debug-dir", required_argument, NULL, OPT_DEBUG_DIR},
    {"cfi", required_argument, NULL, OPT_CFI},
    {"report-file", required_argument, NULL, OPT_REPORT_FILE},
    {"jobs", required_argument, NULL, 'j'},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"include", required_argument, NULL, OPT_INCLUDE},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"drop-signatures", no_argument, NULL, OPT_DROP_SIGNATURES},
    {"sandbox", optional_argument, NULL, OPT_SANDBOX},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {0},
};

static bool args_command(
    struct args *args, enum command command, struct eh2sframe_error *error)
{
	if (args->command != COMMAND_CONVERT)
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "give only one of --section-only, --report, --dump, --verify, "
		    "--lint, --check-code and --remove");
	args->command = command;
	return true;
}

static bool args_report(
    struct args *args, const char *text, struct eh2sframe_error *error)
{
	if (text && strcmp(text, "text") != 0 && strcmp(text, "json") != 0 &&
	    strcmp(text, "html") != 0)
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--report=%s: not a value this version knows; see --help", text);
	args->report_html = text && !strcmp(text, "html");
	args->report_json = args->report_html || (text && !strcmp(text, "json"));
	/* It is one of the ways to show a difference, or what was found in the code. */
	return args->diff || args->command == COMMAND_CHECK_CODE ||
	       args_command(args, COMMAND_REPORT, error);
}

/* Options of reports: what they are of, how much they tell, and where they go. */
static bool args_tell(
    struct args *args, int opt, const char *value, struct eh2sframe_error *error)
{
	switch (opt) {
	case 'o':
		return args_set_path("-o", value, &args->report_path, error);
	case OPT_REPORT_FILE:
		return args_set_path("--report-file", value, &args->json_path, error);
	case OPT_MERGE:
		args->merge = true;
		return true;
	case OPT_FUNCTIONS:
		args->functions = true;
		return true;
	case OPT_TOP:
		return args_set_top(value, &args->top, error);
	case OPT_BASELINE:
		return args_set_path("--baseline", value, &args->baseline, error);
	default:
		if (args->diff)
			return true;
		args->diff = true;
		return args->command == COMMAND_REPORT ||
		       args_command(args, COMMAND_REPORT, error);
	}
}

static bool args_is_limit(int opt)
{
	return opt == OPT_MIN_COVERAGE || opt == OPT_MIN_COVERAGE_OF ||
	       opt == OPT_MAX_SIZE || opt == OPT_MAX_GROWTH;
}

/* An option of the library; the short ones have a long name, too. */
static bool args_pass(
    struct args *args, int opt, const char *value, struct eh2sframe_error *error)
{
	for (size_t i = 0; long_options[i].name; i++) {
		if (long_options[i].val != opt)
			continue;
		if (opt != 'j' && opt != 'q' && opt != 'v')
			args->of_program = long_options[i].name;
		return eh2sframe_options_set(
			   args->options, long_options[i].name, value, error) &&
		       eh2sframe_options_set(
			   args->again, long_options[i].name, value, error) &&
		       (args_is_limit(opt) || eh2sframe_options_set(args->unlimited,
						  long_options[i].name, value, error));
	}
	return cmd_fail(error, EH2SFRAME_USAGE, "see --help");
}

/* The command itself needs them, too, when there are several files. */
static bool args_exclude(
    struct args *args, int opt, const char *value, struct eh2sframe_error *error)
{
	const char *option =
	    opt == OPT_EXCLUDE_SECTION ? "exclude-section" : "exclude-symbol";

	return (cmd_patterns_add(args->patterns, option, value) ||
		   cmd_fail_nomem(error)) &&
	       args_pass(args, opt, value, error);
}

/* Options of the library. The command also needs some of them. */
static bool args_shared(
    struct args *args, int opt, const char *value, struct eh2sframe_error *error)
{
	switch (opt) {
	case 'j':
		args->jobs = (unsigned int)strtoul(value, NULL, 10);
		break;
	case 'q':
		args->verbosity = -1;
		break;
	case 'v':
		args->verbosity = 1;
		break;
	case OPT_MIN_COVERAGE:
	case OPT_MAX_SIZE:
		args->judge = true;
		break;
	case OPT_MAX_GROWTH:
		args->max_growth = true;
		break;
	case OPT_REFRESH:
		args->refresh = true;
		break;
	case OPT_FORMAT:
		args->modules = true;
		break;
	case OPT_FOR:
		/* The readers of the others do not read modules. */
		args->modules |= !strcmp(value, "linux-arm64");
		break;
	case OPT_DERIVE:
		args->linked_only = true;
		break;
	case OPT_CODE:
		args->linked_only |= strcmp(value, "ignore") != 0;
		break;
	case OPT_SOURCE:
		args->linked_only |= strstr(value, "derived") != NULL;
		break;
	case OPT_DEBUG_FILE:
		args->debug_file = value;
		break;
	case OPT_DEBUG_DIR:
		args->debug_dir = value;
		break;
	case OPT_EXCLUDE_SECTION:
	case OPT_EXCLUDE_SYMBOL:
		return args_exclude(args, opt, value, error);
	case OPT_ALLOW_UNMATCHED:
		args->patterns->allow_unmatched = true;
		break;
	default:
		break;
	}
	return args_pass(args, opt, value, error);
}

/* Before any file, so that a wrong name does not pass where no file is looked at. */
static bool args_lint(struct args *args, const char *value, struct eh2sframe_error *error)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_error ignored;
	bool known;

	if (!options)
		return cmd_fail_nomem(error);
	known = strcmp(value, "all") == 0 ||
		eh2sframe_options_set(options, "for", value, &ignored);
	eh2sframe_options_free(options);
	if (!known)
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--lint=%s: unknown reader; eh2sframe(1) lists them under READERS",
		    value);
	args->lint = value;
	return args_command(args, COMMAND_LINT, error);
}

static bool args_one(
    struct args *args, int opt, const char *value, struct eh2sframe_error *error)
{
	switch (opt) {
	case OPT_SECTION_ONLY:
		return args_command(args, COMMAND_SECTION_ONLY, error);
	case OPT_DUMP:
		return args_command(args, COMMAND_DUMP, error);
	case OPT_VERIFY:
		return args_command(args, COMMAND_VERIFY, error);
	case OPT_CHECK_CODE:
		if (args->command == COMMAND_REPORT && !args->diff)
			args->command = COMMAND_CONVERT;
		return args_command(args, COMMAND_CHECK_CODE, error);
	case OPT_REMOVE:
		return args_command(args, COMMAND_REMOVE, error);
	case OPT_BATCH:
		args->batch = true;
		return true;
	case OPT_INCLUDE:
		return args_add_glob(&args->include, "include", value, error);
	case OPT_EXCLUDE:
		return args_add_glob(&args->exclude, "exclude", value, error);
	case OPT_DROP_SIGNATURES:
		args->drop_signatures = true;
		return true;
	case OPT_REPORT:
		return args_report(args, value, error);
	case OPT_LINT:
		return args_lint(args, value, error);
	case OPT_SECTION_ADDRESS:
		return args_set_address(value, &args->section_addr, error);
	case OPT_CFI:
		return args_set_path("--cfi", value, &args->cfi_path, error);
	case 'o':
	case OPT_REPORT_FILE:
	case OPT_MERGE:
	case OPT_REPORT_DIFF:
	case OPT_FUNCTIONS:
	case OPT_TOP:
	case OPT_BASELINE:
		return args_tell(args, opt, value, error);
	case OPT_SANDBOX:
		return args_set_sandbox(args, value, error);
	case 'h':
	case 'V':
		args->command = opt == 'h' ? COMMAND_HELP : COMMAND_VERSION;
		return true;
	default:
		return args_shared(args, opt, value, error);
	}
}

/* Reports what getopt refused: opt, in the argument word. When several short options
 * share an argument, word may be the argument before it. */
static bool args_unknown(int opt, const char *word, struct eh2sframe_error *error)
{
	if (opt == ':')
		return cmd_fail(
		    error, EH2SFRAME_USAGE, "%s needs a value; see --help", word);
	for (size_t i = 0; optopt && long_options[i].name; i++)
		if (long_options[i].val == optopt)
			return cmd_fail(error, EH2SFRAME_USAGE, "%s: --%s takes no value",
			    word, long_options[i].name);
	if (optopt)
		return cmd_fail(
		    error, EH2SFRAME_USAGE, "unknown option -%c; see --help", optopt);
	return cmd_fail(error, EH2SFRAME_USAGE, "unknown option %s; see --help", word);
}

/* --batch goes to the directory of each file: a path from this one must still lead there. */
static bool args_debug_dir(struct args *args, struct eh2sframe_error *error)
{
	char *path;
	bool ok;

	if (!args->batch || !args->debug_dir)
		return true;
	path = args_absolute(args->debug_dir);
	ok = path ? args_pass(args, OPT_DEBUG_DIR, path, error)
		  : cmd_fail_errno(error, "--debug-dir=%s", args->debug_dir);
	free(path);
	return ok;
}

bool args_parse(int argc, char **argv, struct args *args, struct eh2sframe_error *error)
{
	int opt;

	*args = (struct args){.options = eh2sframe_options_new(),
	    .again = eh2sframe_options_new(),
	    .unlimited = eh2sframe_options_new(),
	    .patterns = calloc(1, sizeof(*args->patterns)),
	    .jobs = task_processors()};
	if (!args->options || !args->again || !args->unlimited || !args->patterns)
		return cmd_fail_nomem(error);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":hj:o:qvV", long_options, NULL)) != -1) {
		if (opt == '?' || opt == ':')
			return args_unknown(opt, argv[optind - 1], error);
		if (!args_one(args, opt, optarg, error))
			return false;
		if (args->command == COMMAND_HELP || args->command == COMMAND_VERSION)
			return true;
	}
	/* getopt has moved the paths after the options. */
	args->n_paths = (size_t)(argc - optind);
	args->paths = argv + optind;
	if (!args_consistent(args, error) || !args_debug_dir(args, error) ||
	    !eh2sframe_options_set(args->again, "refresh", NULL, error) ||
	    !eh2sframe_options_set(args->unlimited, "refresh", NULL, error))
		return false;
	/* One of several files is enough; cmd_patterns_judge asks for it. */
	return (args->command != COMMAND_REPORT && !args->batch) ||
	       (eh2sframe_options_set(args->options, "allow-unmatched", NULL, error) &&
		   eh2sframe_options_set(args->again, "allow-unmatched", NULL, error) &&
		   eh2sframe_options_set(
		       args->unlimited, "allow-unmatched", NULL, error));
}

void args_deinit(struct args *args)
{
	eh2sframe_options_free(args->options);
	eh2sframe_options_free(args->again);
	eh2sframe_options_free(args->unlimited);
	if (args->patterns)
		cmd_patterns_deinit(args->patterns);
	free(args->patterns);
	free(args->include.values);
	free(args->exclude.values);
	*args = (struct args){0};
}
