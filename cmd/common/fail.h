/* SPDX-License-Identifier: MIT */
/* Errors of the command's own, names for messages, and growable arrays. */
#ifndef CMD_COMMON_FAIL_H
#define CMD_COMMON_FAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "include/eh2sframe.h"

#define CMD_CHECKED __attribute__((warn_unused_result))
#define CMD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Set status and text, the second with strerror(errno) behind it; always false. */
bool cmd_fail(struct eh2sframe_error *err, enum eh2sframe_status status, const char *fmt,
    ...) CMD_PRINTF(3, 4);
bool cmd_fail_errno(struct eh2sframe_error *err, const char *fmt, ...) CMD_PRINTF(2, 3);
bool cmd_fail_nomem(struct eh2sframe_error *err);

/*
 * Makes room in a growable array, of which array_ptr is the address of the pointer, for
 * need elements. False when memory runs out; it is then as it was.
 */
CMD_CHECKED bool cmd_reserve_bytes(
    void *array_ptr, size_t *cap, size_t need, size_t elem_size);
#define cmd_reserve(array_ptr, cap_ptr, need)                                            \
	cmd_reserve_bytes((array_ptr), (cap_ptr), (need), sizeof(**(array_ptr)))

/*
 * Names in a tree may be anything, a message is one line: control characters become
 * backslash and three octal digits. Borrows name when there are none, else fills buf and
 * cuts what does not fit.
 */
enum { CMD_PLAIN_SIZE = 4 * 4096 }; /* holds any path so */
const char *cmd_plain_name(const char *name, char *buf, size_t size);

/* print_error, of a path that may be anything. */
int cmd_complain(const char *path, const struct eh2sframe_error *err);

#endif
