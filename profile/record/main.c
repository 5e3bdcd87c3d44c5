/* SPDX-License-Identifier: MIT */
/* eh2sframe-record: samples of programs with complete stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/plain.h"
#include "base/program/print.h"
#include "include/eh2sframe.h"
#include "profile/profile.h"
#include "profile/record/recorder.h"

static int record_fail(const struct err *err, int status)
{
	char text[4 * sizeof(err->text)];

	plain_copy(text, sizeof(text), err->text);
	fprintf(stderr, "eh2sframe-record: %s\n", text);
	return status;
}

/* The command's status, as a shell says it. */
static int record_status(const struct recorder *recorder)
{
	if (!recorder->args->command)
		return EXIT_SUCCESS;
	if (WIFSIGNALED(recorder->status))
		return 128 + WTERMSIG(recorder->status);
	return WEXITSTATUS(recorder->status);
}

/* The flame graph is made before the command is waited for: with -d it may go on. */
static int record_done(struct recorder *recorder)
{
	const struct record_args *args = recorder->args;
	bool ok = !args->is_picture || picture_write(args);
	char name[PRINT_PLAIN_SIZE];

	if (!args->quiet && (!args->is_picture || recorder_is_partial(recorder))) {
		plain_copy(name, sizeof(name), args->name);
		recorder_summary(recorder, name);
		if (!args->is_picture && recorder->unwinder.n_samples > 0) {
			fputs("; see it: eh2sframe-fold --format=html -o graph.html ",
			    stderr);
			plain_print(args->output, stderr);
		}
		fputc('\n', stderr);
	}
	recorder_command_drop(recorder);
	return ok ? record_status(recorder) : RECORD_FAILED;
}

static int record(struct record_args *args)
{
	struct recorder recorder;
	struct err err = {.kind = ERR_NONE};
	int status;

	if (!picture_begin(args, &err))
		return record_fail(&err, RECORD_FAILED);
	if (!recorder_begin(&recorder, args, &err)) {
		status = record_fail(
		    &err, recorder.perf.denied ? RECORD_DENIED : RECORD_FAILED);
	} else if (!recorder_run(&recorder, &err) || !recorder_end(&recorder, &err)) {
		status = record_fail(
		    &err, recorder.cannot_run ? recorder.cannot_run : RECORD_FAILED);
	} else {
		status = record_done(&recorder);
	}
	recorder_free(&recorder);
	return status;
}

int main(int argc, char **argv)
{
	struct record_args args;
	struct err err;

	print_program = "eh2sframe-record";
	profile_survive_truncation();
	if (!record_args_read(argc, argv, &args, &err))
		return record_fail(&err, RECORD_FAILED);
	if (args.help) {
		puts(record_args_help);
	} else if (args.version) {
		printf("eh2sframe-record %s\n", eh2sframe_version());
	} else {
		return record(&args);
	}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : RECORD_FAILED;
}
