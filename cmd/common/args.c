/* SPDX-License-Identifier: MIT */
/* The command line: a verb, its options by the table, its paths. */
#include "cmd/common/args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program/fail.h"
#include "base/task.h"
#include "base/vec.h"
#include "cmd/common/line.h"

/* True for options that change no byte of a result. */
static bool args_is_limit(enum option_id id)
{
	return id == OPTION_MIN_COVERAGE || id == OPTION_MIN_COVERAGE_OF ||
	       id == OPTION_MAX_SIZE || id == OPTION_MAX_GROWTH;
}

static enum option_id args_id(const struct args_option *option)
{
	return (enum option_id)(option - args_options);
}

/* Sets an option of the library, and notes it. Takes value, which may be NULL. */
static bool args_give(struct args *args, const struct args_option *option, char *value,
    struct eh2sframe_error *error)
{
	if (!vec_reserve(&args->given, &args->cap_given, args->n_given + 1)) {
		free(value);
		return cmd_fail_nomem(error);
	}
	args->given[args->n_given++] = (struct args_given){option, value};
	return eh2sframe_options_set(args->options, option->name, value, error);
}

bool args_set_threads(struct eh2sframe_options *options, unsigned int threads,
    struct eh2sframe_error *error)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", threads);
	return eh2sframe_options_set(options, "jobs", text, error);
}

struct eh2sframe_options *args_again(const struct args *args, bool limits,
    unsigned int threads, struct eh2sframe_error *error)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	bool ok = options ? eh2sframe_options_set(options, "refresh", NULL, error)
			  : cmd_fail_nomem(error);

	for (size_t i = 0; ok && i < args->n_given; i++)
		ok = (!limits && args_is_limit(args_id(args->given[i].option))) ||
		     eh2sframe_options_set(options, args->given[i].option->name,
			 args->given[i].value, error);
	if (ok && args_set_threads(options, threads, error))
		return options;
	eh2sframe_options_free(options);
	return NULL;
}

/* Notes what the command itself has to know of an option of the library. */
static bool args_note(struct args *args, enum option_id id, const char *value)
{
	switch ((int)id) {
	case OPTION_JOBS:
		args->jobs = (unsigned int)strtoul(value, NULL, 10);
		break;
	case OPTION_QUIET:
		args->verbosity = -1;
		break;
	case OPTION_VERBOSE:
		args->verbosity = 1;
		break;
	case OPTION_MIN_COVERAGE:
	case OPTION_MAX_SIZE:
		args->judge = true;
		break;
	case OPTION_FORMAT:
		args->modules = true;
		break;
	case OPTION_FOR:
		/* Readers of other names do not read modules. */
		args->modules |= !strcmp(value, "linux-arm64");
		args->reader = value;
		break;
	case OPTION_DERIVE:
		args->linked_only = true;
		break;
	case OPTION_CODE:
		args->linked_only |= strcmp(value, "ignore") != 0;
		break;
	case OPTION_SOURCE:
		args->linked_only |= strstr(value, "derived") != NULL;
		break;
	case OPTION_DEBUG_FILE:
		args->debug_file = value;
		break;
	case OPTION_DEBUG_DIR:
		args->debug_dir = value;
		break;
	case OPTION_EXCLUDE_SECTION:
	case OPTION_EXCLUDE_SYMBOL:
		return cmd_patterns_add(args->patterns, args_options[id].name, value);
	case OPTION_ALLOW_UNMATCHED:
		args->patterns->allow_unmatched = true;
		break;
	default:
		break;
	}
	return true;
}

/* Passes on an option of the library. */
static bool args_pass(struct args *args, const struct args_option *option,
    const char *value, struct eh2sframe_error *error)
{
	char *copy = NULL;

	/* linux-eh-frame reads no SFrame, so the library, which writes for readers, has no such name. */
	if (args_id(option) == OPTION_FOR && args->verb == VERB_LINT &&
	    !strcmp(value, "linux-eh-frame"))
		return args_note(args, OPTION_FOR, value);
	if (value && *value && args->tree && args_id(option) == OPTION_DEBUG_DIR) {
		/* Workers go to the directory of each file: the path must still lead there. */
		copy = args_absolute(value);
		if (!copy)
			return cmd_fail_errno(error, "--debug-dir=%s", value);
	} else if (value) {
		copy = strdup(value);
		if (!copy)
			return cmd_fail_nomem(error);
	}
	if (!args_give(args, option, copy, error))
		return false;
	return args_note(args, args_id(option), value) || cmd_fail_nomem(error);
}

/* Sets an option of the command, which the use has. */
static bool args_own(struct args *args, enum option_id id, const char *value,
    struct eh2sframe_error *error)
{
	switch ((int)id) {
	case OPTION_BASELINE:
		return args_set_path("--baseline", value, &args->baseline, error);
	case OPTION_ADDRESS:
		return args_set_address(value, &args->address, error);
	case OPTION_CFI:
		return args_set_path("--cfi", value, &args->cfi_path, error);
	case OPTION_INCLUDE:
		return args_add_glob(&args->include, "include", value, error);
	case OPTION_EXCLUDE:
		return args_add_glob(&args->exclude, "exclude", value, error);
	case OPTION_OBJECTS:
		args->objects = true;
		return true;
	case OPTION_DROP_SIGNATURES:
		args->drop_signatures = true;
		return true;
	case OPTION_DRY_RUN:
		args->dry_run = true;
		return true;
	case OPTION_JSON:
		args->json = true;
		return true;
	case OPTION_HTML:
		args->html = true;
		return true;
	case OPTION_OUTPUT:
		return args_set_path("-o", value, &args->report_path, error);
	case OPTION_FUNCTIONS:
		args->functions = true;
		return true;
	case OPTION_REPORT_FILE:
		return args_set_path("--report-file", value, &args->json_path, error);
	case OPTION_SANDBOX:
		return args_set_sandbox(args, value, error);
	case OPTION_VERSION:
		args->verb = VERB_VERSION;
		return true;
	default:
		args->verb = VERB_HELP;
		return true;
	}
}

/* Returns what options mean together that each of them may mean alone, or NULL. */
static const char *args_wrong(const struct args *args)
{
	if (args->json && args->html)
		return "give --json or --html, not both";
	if (args->functions && (args->json || args->html))
		return "--functions goes with text; --json and --html list all of them";
	if (args->debug_file && args->n_paths > 1 && args->verb != VERB_CONVERT &&
	    args->verb != VERB_SECTION)
		return "--debug-file is for one program; give --debug-dir for several";
	if (args->objects && args->verb == VERB_CONVERT && !args->modules &&
	    !args->reader)
		return "--objects needs --format=N, the version that the linker takes";
	return NULL;
}

/* Reads the options up to the end, or to --help or --version. */
static bool args_options_of(
    const struct args_line *line, struct args *args, struct eh2sframe_error *error)
{
	const struct args_option *option;
	bool failed;

	opterr = 0;
	while ((option = args_line_next(line, &failed, error))) {
		if (!(option->of_library
			    ? args_pass(args, option, optarg, error)
			    : args_own(args, args_id(option), optarg, error)))
			return false;
		if (args->verb == VERB_HELP || args->verb == VERB_VERSION)
			return true;
	}
	/* getopt has moved the paths after the options. */
	args->n_paths = line->argc > optind ? (size_t)(line->argc - optind) : 0;
	args->paths = line->argv + optind;
	return !failed;
}

/* Checks what is known only with the whole line. */
static bool args_whole(
    const struct args_line *line, struct args *args, struct eh2sframe_error *error)
{
	const char *wrong;

	if (!args_line_paths(line, args->paths, args->n_paths, error))
		return false;
	wrong = args_wrong(args);
	if (wrong)
		return cmd_fail(error, EH2SFRAME_USAGE, "%s", wrong);
	if (!eh2sframe_options_check(args->options, error))
		return false;
	/* One of several files is enough; cmd_patterns_judge asks for it. */
	return (args->verb != VERB_REPORT && !args->tree) ||
	       args_give(args, &args_options[OPTION_ALLOW_UNMATCHED], NULL, error);
}

bool args_parse(int argc, char **argv, struct args *args, struct eh2sframe_error *error)
{
	struct args_line line;

	*args = (struct args){.options = eh2sframe_options_new(),
	    .patterns = calloc(1, sizeof(*args->patterns)),
	    .jobs = task_processors()};
	if (!args->options || !args->patterns)
		return cmd_fail_nomem(error);
	if (!args_line_open(&line, argc, argv, error))
		return false;
	args->tree = line.tree;
	args->help = line.named ? line.use : NULL;
	if (line.help || line.version) {
		args->verb = line.help ? VERB_HELP : VERB_VERSION;
		return true;
	}
	args->verb = line.use->verb;
	return args_options_of(&line, args, error) &&
	       (args->verb == VERB_HELP || args->verb == VERB_VERSION ||
		   args_whole(&line, args, error));
}

void args_deinit(struct args *args)
{
	eh2sframe_options_free(args->options);
	for (size_t i = 0; i < args->n_given; i++)
		free(args->given[i].value);
	free(args->given);
	if (args->patterns)
		cmd_patterns_deinit(args->patterns);
	free(args->patterns);
	free(args->include.values);
	free(args->exclude.values);
	*args = (struct args){0};
}
