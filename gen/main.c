/* SPDX-License-Identifier: MIT */
/* The command: one call per file, one line per failure, one exit status. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "config.h"
#include "gen/commands.h"
#include "gen/options.h"
#include "gen/pipeline.h"

static void main_complain(const char *path, const struct err *err)
{
	if (path)
		fprintf(stderr, "eh2sframe: %s: %s\n", path, err->text);
	else
		fprintf(stderr, "eh2sframe: %s\n", err->text);
}

/* Of several inputs the worst of 1 to 5 counts (a bug, 70, too); nothing to do does not.
 */
static int main_worse(int status, int next)
{
	return next != 6 && next > status ? next : status;
}

static int main_each(const struct options *options,
	bool (*command)(const struct options *, const char *, FILE *, struct err *),
	FILE *out)
{
	int status = 0;

	for (size_t i = 0; i < options->n_paths; i++) {
		struct err err = {0};

		if (command(options, options->paths[i], out, &err))
			continue;
		main_complain(options->paths[i], &err);
		if (options->n_paths == 1)
			return err_exit_status(err.kind);
		status = main_worse(status, err_exit_status(err.kind));
	}
	return status;
}

/* A missing file is no other's: whoever opens it says so. */
static bool main_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* What is written there would take the place of the program. */
static int main_spare(const char *path)
{
	struct err err = {0};

	err_set(&err, ERR_USAGE, "is an input; the output needs a name of its own");
	main_complain(path, &err);
	return err_exit_status(err.kind);
}

static int main_pair(const struct options *options)
{
	struct err err = {0};
	bool ok;

	if (options->command == COMMAND_SECTION_ONLY &&
		main_same_file(options->paths[0], options->paths[1]))
		return main_spare(options->paths[1]);
	if (options->command == COMMAND_REMOVE)
		ok = command_remove(options, options->paths[0], options->paths[1], &err);
	else
		ok = pipeline_convert(
			options, options->paths[0], options->paths[1], &err);
	if (!ok)
		main_complain(options->paths[0], &err);
	return err_exit_status(ok ? ERR_NONE : err.kind);
}

static int main_report(const struct options *options)
{
	FILE *out = stdout;
	struct err err = {0};
	int status;

	for (size_t i = 0; options->report_path && i < options->n_paths; i++)
		if (main_same_file(options->report_path, options->paths[i]))
			return main_spare(options->report_path);
	if (options->report_path) {
		out = fopen(options->report_path, "w");
		if (!out) {
			err_set_errno(&err, "cannot write");
			main_complain(options->report_path, &err);
			return err_exit_status(err.kind);
		}
	}
	status = main_each(options, pipeline_report, out);
	if (out != stdout && fclose(out) != 0) {
		err_set_errno(&err, "cannot write");
		main_complain(options->report_path, &err);
		status = main_worse(status, err_exit_status(err.kind));
	}
	return status;
}

static int main_run(const struct options *options)
{
	switch (options->command) {
	case COMMAND_HELP:
		fputs(options_help, stdout);
		return 0;
	case COMMAND_VERSION:
		puts("eh2sframe " EH2SFRAME_VERSION);
		return 0;
	case COMMAND_CONVERT:
	case COMMAND_SECTION_ONLY:
	case COMMAND_REMOVE:
		return main_pair(options);
	case COMMAND_REPORT:
		return main_report(options);
	case COMMAND_DUMP:
		return main_each(options, command_dump, stdout);
	case COMMAND_VERIFY:
		return main_each(options, command_verify, stdout);
	}
	return err_exit_status(ERR_INTERNAL);
}

int main(int argc, char **argv)
{
	struct options options;
	struct err err = {0};
	int status;

	if (!options_parse(argc, argv, &options, &err)) {
		main_complain(NULL, &err);
		options_deinit(&options);
		return err_exit_status(err.kind);
	}
	status = main_run(&options);
	options_deinit(&options);
	if (fflush(stdout) != 0) {
		err_set_errno(&err, "cannot write to standard output");
		main_complain(NULL, &err);
		status = main_worse(status, err_exit_status(err.kind));
	}
	return status;
}
