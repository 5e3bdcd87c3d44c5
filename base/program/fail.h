/* SPDX-License-Identifier: MIT */
/* The command's own errors, in the form of the library's. */
#ifndef BASE_PROGRAM_FAIL_H
#define BASE_PROGRAM_FAIL_H

#include <stdbool.h>

#include "base/attr.h"
#include "include/eh2sframe.h"

/* The exit status when all is converted and in its place, but not all of what the command
 * tells about it could be written. The library has no such status. */
enum { PRINT_NOT_TOLD = 8 };

/* Sets status and text, without control characters; always false. An argument may be the old text. */
bool cmd_fail(struct eh2sframe_error *err, enum eh2sframe_status status, const char *fmt,
    ...) ATTR_PRINTF(3, 4);
/* As cmd_fail, with strerror(errno) behind the text. */
bool cmd_fail_errno(struct eh2sframe_error *err, const char *fmt, ...) ATTR_PRINTF(2, 3);
bool cmd_fail_nomem(struct eh2sframe_error *err);

#endif
