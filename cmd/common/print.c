/* SPDX-License-Identifier: MIT */
/* Text on streams. */
#include "cmd/common/print.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int print_worse(int status, int next)
{
	return next != EH2SFRAME_NOTHING && next > status ? next : status;
}

int print_error(const char *path, const struct eh2sframe_error *error)
{
	if (path)
		fprintf(stderr, "eh2sframe: %s: %s\n", path, error->text);
	else
		fprintf(stderr, "eh2sframe: %s\n", error->text);
	return (int)error->status;
}

void print_errno(struct eh2sframe_error *error, const char *what)
{
	error->status = errno == ENOMEM ? EH2SFRAME_NO_MEMORY : EH2SFRAME_IO;
	snprintf(error->text, sizeof(error->text), "%s: %s", what, strerror(errno));
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
			fputs("eh2sframe: ", stderr);
		fwrite(text, 1, n, stderr);
		*inside = !end;
		text += n;
		size -= n;
	}
	return true;
}

void print_progress(void *context, size_t done, size_t total)
{
	static time_t last;
	time_t now = time(NULL);

	(void)context;
	if (!isatty(STDERR_FILENO) || (now == last && done != total))
		return;
	last = now;
	fprintf(stderr, "\rlibdwarf: %zu of %zu FDEs%s", done, total,
	    done == total ? "\n" : "");
}

FILE *print_open(const char *path, struct eh2sframe_error *error)
{
	FILE *out = path && strcmp(path, "-") != 0 ? fopen(path, "w") : stdout;

	if (!out)
		print_errno(error, "cannot write");
	return out;
}

bool print_close(FILE *out, struct eh2sframe_error *error)
{
	bool failed;

	if (out == stdout)
		return true;
	/* An earlier failure shows only here. */
	failed = ferror(out) != 0;
	failed |= fclose(out) != 0;
	if (failed)
		print_errno(error, "cannot write");
	return !failed;
}

bool print_end(struct eh2sframe_error *error)
{
	bool failed = ferror(stdout) != 0;

	failed |= fflush(stdout) != 0;
	if (failed)
		print_errno(error, "cannot write to standard output");
	return !failed;
}
