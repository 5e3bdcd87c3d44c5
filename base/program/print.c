/* SPDX-License-Identifier: MIT */
/* Text on streams. */
#include "base/program/print.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/program/fail.h"
#include "base/program/temporary.h"

const char *print_program = "eh2sframe";

int print_worse(int status, int next)
{
	if (next == EH2SFRAME_DONE || next == EH2SFRAME_NOTHING)
		return status;
	return next > status || status == EH2SFRAME_NOTHING ? next : status;
}

/* done comes before the path; "": nothing is done. */
static void print_failure(
    const char *done, const char *path, const struct eh2sframe_error *error)
{
	/* Only the main thread prints, and the stack may be small. */
	static char name[PRINT_PLAIN_SIZE], text[4 * sizeof(error->text)];

	plain_copy(name, sizeof(name), path ? path : "");
	plain_copy(text, sizeof(text), error->text);
	fprintf(stderr, "%s: %s%s%s%s%s\n", print_program, done, *done ? ", but " : "",
	    name, path ? ": " : "", text);
}

int print_error(const char *path, const struct eh2sframe_error *error)
{
	print_failure("", path, error);
	return (int)error->status;
}

int print_late(
    int status, const char *done, const char *path, const struct eh2sframe_error *error)
{
	print_failure(done, path, error);
	return status == EH2SFRAME_DONE ? PRINT_NOT_TOLD : status;
}

bool print_text(void *context, const char *text, size_t size)
{
	/* Go on even when it fails: the conversion matters more than its text. */
	fwrite(text, 1, size, context);
	return true;
}

bool print_lines(void *context, const char *text, size_t size)
{
	bool *inside = context;

	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end - text) + 1 : size;

		if (!*inside)
			fprintf(stderr, "%s: ", print_program);
		fwrite(text, 1, n, stderr);
		*inside = !end;
		text += n;
		size -= n;
	}
	return true;
}

static bool print_engine_failed(const struct err *err, struct eh2sframe_error *error)
{
	return cmd_fail(error,
	    err->kind == ERR_NOMEM ? EH2SFRAME_NO_MEMORY : EH2SFRAME_IO, "%s", err->text);
}

/* Makes a stream of fd, which is below 0 where opening it failed, and owns it. */
static bool print_stream(int fd, struct print_out *out, struct eh2sframe_error *error)
{
	if (fd >= 0)
		out->file = fdopen(fd, "w");
	if (out->file)
		return true;
	cmd_fail_errno(error, "cannot write");
	if (fd >= 0)
		close(fd);
	return false;
}

/* Creates a file that is not there yet. */
static bool print_create(struct print_out *out, const struct newfile_watch *watch,
    struct eh2sframe_error *error)
{
	struct err err = {0};
	int fd;

	if (!newfile_begin(out->path, NULL, watch, &out->fresh, &err))
		return print_engine_failed(&err, error);
	fd = fcntl(out->fresh.fd, F_DUPFD_CLOEXEC, 0);
	if (print_stream(fd, out, error))
		return true;
	newfile_abort(&out->fresh);
	return false;
}

/* A program, an archive or a recording of that name was named by mistake. */
static bool print_is_input(const char *path)
{
	char magic[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, magic, sizeof(magic)) > 0 &&
		  (!memcmp(magic, ELFMAG, SELFMAG) || !memcmp(magic, "!<arch>\n", 8) ||
		      !memcmp(magic, "!<thin>\n", 8) || !memcmp(magic, "PERFILE2", 8));

	if (fd >= 0)
		close(fd);
	return is;
}

bool print_is_stdout(const char *path)
{
	struct stat x, y;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return true;
	return stat(path, &x) == 0 && fstat(STDOUT_FILENO, &y) == 0 &&
	       !S_ISREG(x.st_mode) && !S_ISDIR(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

bool print_open(
    const char *path, bool noted, struct print_out *out, struct eh2sframe_error *error)
{
	static const struct newfile_watch watch = {temporary_note, NULL};
	struct stat st;
	int fd;

	*out = (struct print_out){.file = stdout};
	if (!path || print_is_stdout(path))
		return print_can(error);
	/* Ignores SIGPIPE, or nothing would take the new file away when standard error is a pipe
	 * without a reader. */
	signal(SIGPIPE, SIG_IGN);
	*out = (struct print_out){.path = path};
	if (lstat(path, &st) < 0 && errno == ENOENT)
		return print_create(out, noted ? &watch : NULL, error);
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && print_is_input(path))
		return cmd_fail(error, EH2SFRAME_USAGE,
		    "is an ELF file, an archive or a recording, which this would "
		    "replace; give another name");
	/* Opens whatever is there: a pipe, a device, a file whose directory allows no other. */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	return print_stream(fd, out, error);
}

void print_start(const struct print_out *out)
{
	struct stat st;

	/* When it cannot be emptied it cannot be written to, either. */
	if (out->path && fstat(fileno(out->file), &st) == 0 && S_ISREG(st.st_mode))
		(void)!ftruncate(fileno(out->file), 0);
}

/* Says if a file that was there already still has its name: who may write to its directory
 * could have moved it while others were converted. */
static bool print_is_there(const struct print_out *out)
{
	struct stat was, is;

	return out->fresh.temp || fstat(fileno(out->file), &was) < 0 ||
	       !S_ISREG(was.st_mode) ||
	       (stat(out->path, &is) == 0 && is.st_dev == was.st_dev &&
		   is.st_ino == was.st_ino);
}

bool print_close(struct print_out *out, bool ok, struct eh2sframe_error *error)
{
	FILE *file = out->file;
	struct err err = {0};
	bool failed;

	if (ok && file && file != stdout && !print_is_there(out))
		ok = cmd_fail(error, EH2SFRAME_IO,
		    "another process replaced it meanwhile; run again");
	out->file = NULL;
	if (!file || file == stdout)
		return ok;
	/* An earlier failure shows only here. */
	failed = ferror(file) != 0;
	failed |= fclose(file) != 0;
	if (ok && failed)
		ok = cmd_fail_errno(error, "cannot write");
	if (ok && out->fresh.temp && !newfile_commit(&out->fresh, &err))
		ok = print_engine_failed(&err, error);
	newfile_abort(&out->fresh);
	return ok;
}

static bool print_end_errno(struct eh2sframe_error *error)
{
	return cmd_fail_errno(error, "cannot write to standard output");
}

bool print_can(struct eh2sframe_error *error)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
		return true;
	errno = EBADF;
	return print_end_errno(error);
}

bool print_end(struct eh2sframe_error *error)
{
	static bool told;
	bool failed = ferror(stdout) != 0;

	failed |= fflush(stdout) != 0;
	if (!failed || told)
		return true;
	told = true;
	return print_end_errno(error);
}
