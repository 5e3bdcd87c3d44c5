/* SPDX-License-Identifier: MIT */
/* Error values: made where the fault is, prefixed on the way up, turned into a status at
 * the end. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	err->kind = kind;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return false;
}

bool err_append(struct err *err, const char *between, const char *text)
{
	size_t used = strlen(err->text);

	snprintf(err->text + used, sizeof(err->text) - used, "%s%s", between, text);
	return false;
}

bool err_set_errno(struct err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	err->kind = saved == ENOMEM ? ERR_NOMEM : ERR_IO;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	err_append(err, ": ", strerror(saved));
	errno = saved;
	return false;
}

bool err_set_nomem(struct err *err)
{
	return err_set(err, ERR_NOMEM, "out of memory");
}

bool err_prefix(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return err_append(err, ": ", old);
}
