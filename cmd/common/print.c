/* SPDX-License-Identifier: MIT */
/* Text on streams. */
#include "cmd/common/fail.h"
#include "cmd/common/print.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

int print_worse(int status, int next)
{
	return next != EH2SFRAME_NOTHING && next > status ? next : status;
}

const char *print_plain(const char *name, char *buf, size_t size)
{
	size_t n = 0;
	bool plain = true;

	for (const char *p = name; *p; p++)
		plain = plain && (unsigned char)*p >= ' ' && *p != 0x7f;
	if (plain)
		return name;
	for (const char *p = name; *p && n + 5 <= size; p++) {
		unsigned char c = (unsigned char)*p;

		if (c >= ' ' && c != 0x7f)
			buf[n++] = *p;
		else
			n += (size_t)sprintf(buf + n, "\\%03o", c);
	}
	buf[n] = '\0';
	return buf;
}

int print_error(const char *path, const struct eh2sframe_error *error)
{
	char buf[PRINT_PLAIN_SIZE];

	if (path)
		fprintf(stderr, "eh2sframe: %s: %s\n",
		    print_plain(path, buf, sizeof(buf)), error->text);
	else
		fprintf(stderr, "eh2sframe: %s\n", error->text);
	return (int)error->status;
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
		cmd_fail_errno(error, "cannot write");
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
		cmd_fail_errno(error, "cannot write");
	return !failed;
}

bool print_end(struct eh2sframe_error *error)
{
	bool failed = ferror(stdout) != 0;

	failed |= fflush(stdout) != 0;
	if (failed)
		cmd_fail_errno(error, "cannot write to standard output");
	return !failed;
}
