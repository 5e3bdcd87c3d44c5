/* SPDX-License-Identifier: MIT */
/* The command line. */
#include "gen/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "base/vec.h"
#include "gen/lint.h"
#include "sframe/fuse.h"

const char options_help[] =
	"Usage: eh2sframe [OPTION...] IN OUT            OUT = IN plus .sframe\n"
	"       eh2sframe --section-only IN OUT         OUT = the bare section bytes\n"
	"       eh2sframe --report[=text|json] [-o FILE] IN...  coverage; converts "
	"nothing\n"
	"       eh2sframe --dump IN...                  print an existing .sframe\n"
	"       eh2sframe --verify [--cfi=FILE] IN...   prove an existing .sframe\n"
	"       eh2sframe --lint=kernel|glibc|libsframe|all IN...  hold an existing "
	".sframe against their rules\n"
	"       eh2sframe --remove IN OUT               take out a .sframe put in by "
	"this tool\n"
	"\n"
	"Gives a finished ELF binary SFrame stack-trace data from the .eh_frame it has.\n"
	"IN and OUT may be the same path.\n"
	"\n"
	"      --format=1|2|3           SFrame version to write (2)\n"
	"      --no-pcrel               version 2 with starts relative to the section, "
	"for old readers\n"
	"      --refresh                replace an existing .sframe instead of refusing\n"
	"      --method=auto|slack|note|append|front  how the section gets into the "
	"file\n"
	"      --optimize=none|share|size  store equal blocks of rows once (share, the "
	"default); size: also cut the text anew\n"
	"      --max-rows=N             --optimize=size: rows of an FDE at most (32)\n"
	"      --exclude-section=GLOB   leave out functions of these sections "
	"(repeatable)\n"
	"      --exclude-symbol=GLOB    leave out functions of these names (repeatable)\n"
	"      --min-coverage=PCT       fail when less of the code with CFI is covered\n"
	"      --section-address=ADDR   --section-only: where the section will be loaded "
	"(0)\n"
	"      --no-verify              skip the proof\n"
	"      --witness=own|libdwarf   whose reading of the CFI the proof compares "
	"with\n"
	"      --cfi=FILE               --verify: take the CFI from FILE\n"
	"  -o, --output=FILE            --report: write there instead of standard "
	"output\n"
	"  -j, --jobs=N                 threads at most (one per processor)\n"
	"      --report-file=FILE       also write the JSON report while converting\n"
	"  -q, --quiet                  only errors\n"
	"  -v, --verbose                also one line per refusal\n"
	"      --help, --version\n"
	"\n"
	"Exit status: 0 done and proven, 1 bad or unsupported input, 2 usage, 3 I/O,\n"
	"4 the proof failed, 5 coverage too low, 6 nothing to do, 70 a bug.\n";

enum { OPTIONS_MAX_JOBS = 1024 };

enum {
	OPT_SECTION_ONLY = 256,
	OPT_REPORT,
	OPT_DUMP,
	OPT_VERIFY,
	OPT_LINT,
	OPT_REMOVE,
	OPT_FORMAT,
	OPT_NO_PCREL,
	OPT_REFRESH,
	OPT_METHOD,
	OPT_OPTIMIZE,
	OPT_MAX_ROWS,
	OPT_EXCLUDE_SECTION,
	OPT_EXCLUDE_SYMBOL,
	OPT_MIN_COVERAGE,
	OPT_SECTION_ADDRESS,
	OPT_NO_VERIFY,
	OPT_WITNESS,
	OPT_CFI,
	OPT_REPORT_FILE,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{"section-only", no_argument, NULL, OPT_SECTION_ONLY},
	{"report", optional_argument, NULL, OPT_REPORT},
	{"dump", no_argument, NULL, OPT_DUMP},
	{"verify", no_argument, NULL, OPT_VERIFY},
	{"lint", required_argument, NULL, OPT_LINT},
	{"remove", no_argument, NULL, OPT_REMOVE},
	{"format", required_argument, NULL, OPT_FORMAT},
	{"no-pcrel", no_argument, NULL, OPT_NO_PCREL},
	{"refresh", no_argument, NULL, OPT_REFRESH},
	{"method", required_argument, NULL, OPT_METHOD},
	{"optimize", required_argument, NULL, OPT_OPTIMIZE},
	{"max-rows", required_argument, NULL, OPT_MAX_ROWS},
	{"exclude-section", required_argument, NULL, OPT_EXCLUDE_SECTION},
	{"exclude-symbol", required_argument, NULL, OPT_EXCLUDE_SYMBOL},
	{"min-coverage", required_argument, NULL, OPT_MIN_COVERAGE},
	{"section-address", required_argument, NULL, OPT_SECTION_ADDRESS},
	{"no-verify", no_argument, NULL, OPT_NO_VERIFY},
	{"witness", required_argument, NULL, OPT_WITNESS},
	{"cfi", required_argument, NULL, OPT_CFI},
	{"report-file", required_argument, NULL, OPT_REPORT_FILE},
	{"jobs", required_argument, NULL, 'j'},
	{"output", required_argument, NULL, 'o'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{0},
};

static bool options_command(
	struct options *options, enum command command, struct err *err)
{
	if (options->command != COMMAND_CONVERT)
		return err_set(err, ERR_USAGE,
			"only one of --section-only, --report, --dump, "
			"--verify, --lint and --remove can be asked for");
	options->command = command;
	return true;
}

static bool options_glob(struct glob_list *globs, const char *pattern, struct err *err)
{
	if (!vec_reserve(&globs->list, &globs->cap, globs->n + 1))
		return err_set_nomem(err);
	globs->list[globs->n++] = pattern;
	return true;
}

static bool options_percent(const char *text, double *out, struct err *err)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	if (errno || end == text || *end || !(*out >= 0.0 && *out <= 100.0))
		return err_set(err, ERR_USAGE,
			"--min-coverage=%s: give a number from 0 to 100", text);
	return true;
}

static bool options_address(const char *text, uint64_t *out, struct err *err)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (errno || end == text || *end || text[0] == '-')
		return err_set(err, ERR_USAGE,
			"--section-address=%s: give an address such as 0x400000", text);
	return true;
}

/* A whole number of an option, from min to max. */
static bool options_number(const char *option, const char *text, unsigned long min,
	unsigned long max, unsigned int *out, struct err *err)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value < min || value > max)
		return err_set(err, ERR_USAGE, "%s%s: give a number from %lu to %lu",
			option, text, min, max);
	*out = (unsigned int)value;
	return true;
}

static bool options_choice(const char *option, const char *text,
	const char *const *choices, size_t *out, struct err *err)
{
	for (size_t i = 0; choices[i]; i++) {
		if (!strcmp(text, choices[i])) {
			*out = i;
			return true;
		}
	}
	return err_set(err, ERR_USAGE,
		"%s=%s: not a value this version knows; see --help", option, text);
}

/* The options that choose among words. */
static bool options_word(
	struct options *options, int opt, const char *text, struct err *err)
{
	static const char *const formats[] = {"1", "2", "3", NULL};
	static const char *const methods[] = {
		"auto", "slack", "note", "append", "front", NULL};
	static const enum method method_of[] = {
		METHOD_AUTO, METHOD_SLACK, METHOD_NOTE, METHOD_APPEND, METHOD_FRONT};
	static const char *const optimize[] = {"none", "share", "size", NULL};
	static const char *const witnesses[] = {"own", "libdwarf", NULL};
	static const char *const reports[] = {"text", "json", NULL};
	static const char *const consumers[] = {
		"kernel", "glibc", "libsframe", "all", NULL};
	static const uint8_t consumer_of[] = {
		LINT_KERNEL, LINT_GLIBC, LINT_LIBSFRAME, LINT_ALL};
	size_t choice = 0;

	switch (opt) {
	case OPT_FORMAT:
		if (!options_choice("--format", text, formats, &choice, err))
			return false;
		options->format = (uint8_t)(choice + 1);
		return true;
	case OPT_METHOD:
		if (!options_choice("--method", text, methods, &choice, err))
			return false;
		options->method = method_of[choice];
		return true;
	case OPT_REPORT:
		if (text && !options_choice("--report", text, reports, &choice, err))
			return false;
		options->report_json = choice == 1;
		return options_command(options, COMMAND_REPORT, err);
	case OPT_LINT:
		if (!options_choice("--lint", text, consumers, &choice, err))
			return false;
		options->lint = consumer_of[choice];
		return options_command(options, COMMAND_LINT, err);
	case OPT_OPTIMIZE:
		if (!options_choice("--optimize", text, optimize, &choice, err))
			return false;
		options->share = choice >= 1;
		options->fuse = choice == 2;
		options->optimize_given = true;
		return true;
	default:
		if (!options_choice("--witness", text, witnesses, &choice, err))
			return false;
		options->witness = choice == 1 ? WITNESS_LIBDWARF : WITNESS_OWN;
		return true;
	}
}

static bool options_one(
	struct options *options, int opt, const char *arg, struct err *err)
{
	switch (opt) {
	case OPT_SECTION_ONLY:
		return options_command(options, COMMAND_SECTION_ONLY, err);
	case OPT_DUMP:
		return options_command(options, COMMAND_DUMP, err);
	case OPT_VERIFY:
		return options_command(options, COMMAND_VERIFY, err);
	case OPT_REMOVE:
		return options_command(options, COMMAND_REMOVE, err);
	case OPT_REPORT:
	case OPT_LINT:
	case OPT_FORMAT:
	case OPT_METHOD:
	case OPT_OPTIMIZE:
	case OPT_WITNESS:
		return options_word(options, opt, arg, err);
	case OPT_EXCLUDE_SECTION:
		return options_glob(&options->exclude_sections, arg, err);
	case OPT_EXCLUDE_SYMBOL:
		return options_glob(&options->exclude_symbols, arg, err);
	case OPT_MIN_COVERAGE:
		return options_percent(arg, &options->min_coverage, err);
	case OPT_SECTION_ADDRESS:
		return options_address(arg, &options->section_addr, err);
	case OPT_MAX_ROWS:
		return options_number("--max-rows=", arg, SF_FUSE_ROWS_MIN,
			SF_FUSE_ROWS_MAX, &options->max_rows, err);
	case OPT_NO_PCREL:
		options->pcrel = false;
		return true;
	case OPT_REFRESH:
		options->refresh = true;
		return true;
	case OPT_NO_VERIFY:
		options->prove = false;
		return true;
	case OPT_REPORT_FILE:
		options->json_path = arg;
		return true;
	case OPT_CFI:
		options->cfi_path = arg;
		return true;
	case 'j':
		return options_number(
			"-j ", arg, 1, OPTIONS_MAX_JOBS, &options->jobs, err);
	case 'o':
		options->report_path = arg;
		return true;
	case 'q':
		options->verbosity = -1;
		return true;
	case 'v':
		options->verbosity = 1;
		return true;
	case OPT_HELP:
		options->command = COMMAND_HELP;
		return true;
	case OPT_VERSION:
		options->command = COMMAND_VERSION;
		return true;
	default:
		return err_set(err, ERR_USAGE, "see --help");
	}
}

/* How many paths the command wants, and which options only make sense with one command.
 */
static bool options_consistent(const struct options *options, struct err *err)
{
	bool pair = options->command == COMMAND_CONVERT ||
		    options->command == COMMAND_SECTION_ONLY ||
		    options->command == COMMAND_REMOVE;

	if (pair && options->n_paths != 2)
		return err_set(err, ERR_USAGE, "give IN and OUT; see --help");
	if (!pair && options->n_paths == 0)
		return err_set(err, ERR_USAGE, "give at least one file; see --help");
	if (!options->pcrel && options->format != 2)
		return err_set(err, ERR_USAGE, "--no-pcrel goes with --format=2");
	if (options->cfi_path && options->command != COMMAND_VERIFY)
		return err_set(err, ERR_USAGE, "--cfi goes with --verify");
	if (options->report_path && options->command != COMMAND_REPORT)
		return err_set(
			err, ERR_USAGE, "-o goes with --report; OUT is an argument");
	if (options->json_path && options->command != COMMAND_CONVERT &&
		options->command != COMMAND_SECTION_ONLY)
		return err_set(err, ERR_USAGE,
			"--report-file goes with a conversion; --report has -o");
	if (options->section_addr && options->command != COMMAND_SECTION_ONLY)
		return err_set(
			err, ERR_USAGE, "--section-address goes with --section-only");
	if (options->max_rows != SF_FUSE_ROWS && !options->fuse)
		return err_set(err, ERR_USAGE, "--max-rows goes with --optimize=size");
	return true;
}

bool options_parse(int argc, char **argv, struct options *options, struct err *err)
{
	int opt;

	*options = (struct options){.format = 2,
		.pcrel = true,
		.method = METHOD_AUTO,
		.share = true,
		.max_rows = SF_FUSE_ROWS,
		.prove = true,
		.jobs = task_processors(),
		.min_coverage = -1.0};
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":j:o:qv", long_options, NULL)) != -1) {
		if (opt == '?')
			return err_set(err, ERR_USAGE, "unknown option %s; see --help",
				argv[optind - 1]);
		if (opt == ':')
			return err_set(err, ERR_USAGE, "%s needs a value; see --help",
				argv[optind - 1]);
		if (!options_one(options, opt, optarg, err))
			return false;
		if (options->command == COMMAND_HELP ||
			options->command == COMMAND_VERSION)
			return true;
	}
	options->n_paths = (size_t)(argc - optind);
	if (!vec_reserve(&options->paths, &options->cap_paths, options->n_paths + 1))
		return err_set_nomem(err);
	for (size_t i = 0; i < options->n_paths; i++)
		options->paths[i] = argv[optind + (int)i];
	return options_consistent(options, err);
}

void options_deinit(struct options *options)
{
	free(options->exclude_sections.list);
	free(options->exclude_symbols.list);
	free(options->paths);
	*options = (struct options){0};
}
