/* SPDX-License-Identifier: MIT */
/* eh2sframe-record: samples of programs with complete stacks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Opens a file without a name in the folder of path: there is room for the output, too. */
static int record_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
	const int why = errno;

	free(folder);
	/* Some file systems have none, and a file that is there can be in a folder that takes no new one. */
	if (fd < 0 && (why == EOPNOTSUPP || why == EISDIR || access(path, W_OK) == 0))
		return memfd_create("eh2sframe-record", MFD_CLOEXEC);
	errno = why;
	return fd;
}

/* Makes the recording if the output's name ends as one of fold_formats. Finds what stands against the output before the command runs. */
static bool record_picture_begin(struct record_args *args, struct err *err)
{
	struct eh2sframe_error error;
	const char *path = args->output;
	int fd;

	args->is_picture = fold_format_of(path, &args->format);
	if (!args->is_picture)
		return true;
	if (!fold_is_no_link(path, NULL, &error))
		return err_set(err, ERR_IO, "%s: %s", path, error.text);
	if (access(path, W_OK) != 0 && errno != ENOENT)
		return err_set_errno(err, "%s: cannot write it", path);
	fd = record_file(path);
	if (fd < 0)
		return err_set_errno(err, "%s: cannot create a file there", path);
	snprintf(args->recording, sizeof(args->recording), "/proc/self/fd/%d", fd);
	args->output = args->recording;
	return true;
}

/* Makes the picture of the recording, and prints the summary or what goes wrong. */
static bool record_picture(const struct record_args *args)
{
	const char *debug_dirs[] = {FOLD_DEBUG_DIR};
	const struct fold_args fold = {.format = args->format,
	    .recording = args->recording,
	    .title = args->name,
	    .output = args->name,
	    .naming = {.debug_dirs = debug_dirs, .n_debug_dirs = 1},
	    .quiet = args->quiet};

	return fold_run(&fold) == EH2SFRAME_DONE;
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
	bool ok = !args->is_picture || record_picture(args);
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

	if (!record_picture_begin(args, &err))
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
