/* SPDX-License-Identifier: MIT */
/* Errors of the command itself. */
#include "base/program/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

bool cmd_fail(
    struct eh2sframe_error *err, enum eh2sframe_status status, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	/* Use a buffer: an argument may be the old text. */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	plain_copy(err->text, sizeof(err->text), text);
	err->status = status;
	return false;
}

bool cmd_fail_errno(struct eh2sframe_error *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return cmd_fail(err, saved == ENOMEM ? EH2SFRAME_NO_MEMORY : EH2SFRAME_IO,
	    "%.400s: %s", err->text, strerror(saved));
}

bool cmd_fail_nomem(struct eh2sframe_error *err)
{
	return cmd_fail(err, EH2SFRAME_NO_MEMORY, "out of memory");
}
