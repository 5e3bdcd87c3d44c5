/* SPDX-License-Identifier: MIT */
#include "cmd/common/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/print.h"

bool cmd_fail(
    struct eh2sframe_error *err, enum eh2sframe_status status, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	/* Use a buffer: an argument may be the old text. */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(err->text, text, sizeof(text));
	err->status = status;
	return false;
}

bool cmd_fail_errno(struct eh2sframe_error *err, const char *fmt, ...)
{
	int saved = errno;
	char text[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cmd_fail(err, saved == ENOMEM ? EH2SFRAME_NO_MEMORY : EH2SFRAME_IO,
	    "%.400s: %s", text, strerror(saved));
}

bool cmd_fail_nomem(struct eh2sframe_error *err)
{
	return cmd_fail(err, EH2SFRAME_NO_MEMORY, "out of memory");
}

const char *cmd_plain_name(const char *name, char *buf, size_t size)
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

int cmd_complain(const char *path, const struct eh2sframe_error *err)
{
	char buf[CMD_PLAIN_SIZE];

	return print_error(path ? cmd_plain_name(path, buf, sizeof(buf)) : NULL, err);
}

bool cmd_reserve_bytes(void *array_ptr, size_t *cap, size_t need, size_t elem_size)
{
	size_t wanted = *cap + *cap / 2 + 16, bytes;
	void *array;

	if (need <= *cap)
		return true;
	if (wanted < need)
		wanted = need;
	if (__builtin_mul_overflow(wanted, elem_size, &bytes))
		return false;
	/* Copied, not dereferenced as a void **: the owner's pointer has another type. */
	memcpy(&array, array_ptr, sizeof(array));
	array = realloc(array, bytes);
	if (!array)
		return false;
	memcpy(array_ptr, &array, sizeof(array));
	*cap = wanted;
	return true;
}
