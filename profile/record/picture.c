/* SPDX-License-Identifier: MIT */
#include "profile/record/args.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/program/print.h"

/* A file without a name in the folder of path: there is room for the output, too. */
static int picture_file(const char *path)
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

bool picture_begin(struct record_args *args, struct err *err)
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
	fd = picture_file(path);
	if (fd < 0)
		return err_set_errno(err, "%s: cannot create a file there", path);
	snprintf(args->recording, sizeof(args->recording), "/proc/self/fd/%d", fd);
	args->output = args->recording;
	return true;
}

bool picture_write(const struct record_args *args)
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
