/* SPDX-License-Identifier: MIT */
/* Which options go together, and values that are checked alone. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd/common/args.h"
#include "base/program/fail.h"

/* Returns what is wrong with what a report tells besides, or NULL. */
static const char *args_wrong_tell(const struct args *args)
{
	const bool report =
	    args->command == COMMAND_REPORT && !args->diff && !args->merge;
	const bool converts = args->command == COMMAND_CONVERT ||
			      (args->command == COMMAND_SECTION_ONLY && !args->batch);

	if (args->diff && (args->merge || args->report_json))
		return "--report-diff goes with the text of --report, without --merge";
	if (args->diff && args->n_paths != 2)
		return "--report-diff needs two JSON reports, the old one first";
	if (args->functions && (!report || args->report_json))
		return "--functions goes with the text of --report alone; JSON has them "
		       "all";
	if (args->baseline && !report && !converts && args->command != COMMAND_CHECK_CODE)
		return "--baseline goes with --report, --check-code or a conversion";
	if (args->top && (!report || args->report_json))
		return "--top goes with the text of --report";
	return NULL;
}

/* The same for where reports go. */
static const char *args_wrong_place(const struct args *args)
{
	const bool check = args->command == COMMAND_CHECK_CODE;
	const bool converts =
	    args->command == COMMAND_CONVERT || args->command == COMMAND_SECTION_ONLY;

	if (check && args->batch && args->report_json)
		return "--batch has --report-file; make a page of it with "
		       "--report=html --merge";
	if (args->report_path && args->command != COMMAND_REPORT &&
	    (!check || args->batch))
		return "-o goes with --report; OUT is an argument";
	if (args->json_path && args->command == COMMAND_REPORT)
		return "--report-file goes with a conversion; --report has -o";
	if (args->json_path && check && !args->batch)
		return "--report-file goes with --batch; --check-code has --report=json "
		       "and -o";
	if (args->json_path && !converts && !check)
		return "--report-file goes with a conversion, not with --remove, "
		       "--verify, --lint or --dump";
	return NULL;
}

/* Whether the command looks at a section or CFI as it is, or takes a section out. */
static bool args_looks(const struct args *args)
{
	return args->command == COMMAND_VERIFY || args->command == COMMAND_LINT ||
	       args->command == COMMAND_DUMP || args->command == COMMAND_CHECK_CODE ||
	       args->command == COMMAND_REMOVE;
}

/* Returns what is wrong with options that choose files and their parts, or NULL. */
static const char *args_wrong_choice(const struct args *args)
{
	const bool converts = args->command == COMMAND_CONVERT;

	if (args->batch && !converts && args->command != COMMAND_REMOVE &&
	    args->command != COMMAND_VERIFY && args->command != COMMAND_LINT &&
	    args->command != COMMAND_CHECK_CODE)
		return "--batch goes with --remove, --verify, --lint, --check-code or "
		       "none of them";
	/* Every file would seem to have no section, or to be like a new one. */
	if (args->refresh && !converts && (args->batch || args_looks(args)))
		return "--refresh goes with a conversion";
	/* Functions that patterns name would be looked at all the same. */
	if (args->patterns->n && args->command != COMMAND_VERIFY && args_looks(args))
		return "--exclude-symbol and --exclude-section go with a conversion, "
		       "--report or --verify";
	if ((args->include.n || args->exclude.n) && !args->batch)
		return "--include and --exclude go with --batch";
	if (args->drop_signatures && (!args->batch || !converts))
		return "--drop-signatures goes with a conversion by --batch";
	return NULL;
}

/* Returns what is wrong with the number of files, or with options for a single command, or NULL. */
static const char *args_wrong_use(const struct args *args)
{
	const bool converts = args->command == COMMAND_CONVERT;
	const bool pair =
	    !args->batch && (converts || args->command == COMMAND_SECTION_ONLY ||
				args->command == COMMAND_REMOVE);

	if (pair && args->n_paths != 2)
		return "give IN and OUT; see --help";
	if (!pair && args->n_paths == 0)
		return "give at least one file; see --help";
	if (args->cfi_path && args->batch)
		return "--cfi has the CFI of one program, so it does not go with "
		       "--batch";
	if (args->debug_file && (args->batch || (!pair && args->n_paths > 1)))
		return "--debug-file is of one program; --debug-dir is for several";
	if (args->cfi_path && args->command != COMMAND_VERIFY)
		return "--cfi goes with --verify";
	if (args->merge && args->command != COMMAND_REPORT)
		return "--merge goes with --report";
	/* They would seem to have passed. */
	if (args->judge && !converts && args->command != COMMAND_SECTION_ONLY &&
	    (args->command != COMMAND_REPORT || args->merge || args->diff))
		return "--min-coverage and --max-size go with a conversion or --report "
		       "of ELF files";
	if (args->max_growth && !converts)
		return "--max-growth goes with the conversion of a file";
	if (args->section_addr && args->command != COMMAND_SECTION_ONLY)
		return "--section-address goes with --section-only";
	return NULL;
}

bool args_consistent(const struct args *args, struct eh2sframe_error *error)
{
	const char *wrong = args_wrong_tell(args);

	if (!wrong)
		wrong = args_wrong_place(args);
	if (wrong)
		return cmd_fail(error, EH2SFRAME_USAGE, "%s", wrong);
	/* A limit would seem to be kept. */
	if (args->of_program && args->command == COMMAND_REPORT &&
	    (args->merge || args->diff))
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--%s goes with programs; --merge and --report-diff take reports",
		    args->of_program);
	wrong = args_wrong_choice(args);
	if (!wrong)
		wrong = args_wrong_use(args);
	return wrong ? cmd_fail(error, EH2SFRAME_USAGE, "%s", wrong)
		     : eh2sframe_options_check(args->options, error);
}

bool args_set_sandbox(struct args *args, const char *value, struct eh2sframe_error *error)
{
	if (!value || !strcmp(value, "on"))
		args->sandbox = ARGS_SANDBOX_ON;
	else if (!strcmp(value, "auto"))
		args->sandbox = ARGS_SANDBOX_AUTO;
	else if (!strcmp(value, "off"))
		args->sandbox = ARGS_SANDBOX_OFF;
	else
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--sandbox=%s: must be auto, on or off", value);
	return true;
}

bool args_set_path(const char *option, const char *value, const char **path,
    struct eh2sframe_error *error)
{
	*path = value;
	return *value ||
	       cmd_fail(error, EH2SFRAME_USAGE, "%s needs a name; see --help", option);
}

bool args_set_address(const char *text, uint64_t *out, struct eh2sframe_error *error)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	if (errno || *end || !isdigit((unsigned char)text[0]))
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--section-address=%s: give an address such as 0x400000", text);
	return true;
}

bool args_set_top(const char *text, size_t *top, struct eh2sframe_error *error)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || !isdigit((unsigned char)text[0]) || *end || !value)
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--top=%s: give a number of files, such as 20", text);
	*top = value;
	return true;
}

char *args_absolute(const char *name)
{
	char *path = realpath(name, NULL), *from;

	if (path || errno == ENOMEM)
		return path;
	if (name[0] == '/')
		return strdup(name);
	from = getcwd(NULL, 0);
	if (from && asprintf(&path, "%s/%s", from, name) < 0)
		path = NULL;
	free(from);
	return path;
}

/* A file is never matched by nothing, or by what ends with a slash. */
bool args_add_glob(struct args_list *list, const char *option, const char *glob,
    struct eh2sframe_error *error)
{
	size_t length = strlen(glob);

	if (!length)
		return cmd_fail(
		    error, EH2SFRAME_USAGE, "--%s needs a pattern; see --help", option);
	if (glob[length - 1] == '/')
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "--%s=%s matches no file; write %s* for all files below it", option,
		    glob, glob);
	if (!vec_reserve(&list->values, &list->cap, list->n + 1))
		return cmd_fail_nomem(error);
	list->values[list->n++] = glob;
	return true;
}
