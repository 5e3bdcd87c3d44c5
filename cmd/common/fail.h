/* SPDX-License-Identifier: MIT */
/* The command's own errors, names for messages, and growable arrays. */
#ifndef CMD_COMMON_FAIL_H
#define CMD_COMMON_FAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "include/eh2sframe.h"

#define CMD_CHECKED __attribute__((warn_unused_result))
#define CMD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Set status and text; the second appends strerror(errno). Always false. */
bool cmd_fail(struct eh2sframe_error *err, enum eh2sframe_status status, const char *fmt,
    ...) CMD_PRINTF(3, 4);
bool cmd_fail_errno(struct eh2sframe_error *err, const char *fmt, ...) CMD_PRINTF(2, 3);
bool cmd_fail_nomem(struct eh2sframe_error *err);

/*
 * Makes room for need elements in a growable array. array_ptr is the address of its
 * pointer. False when memory runs out; the array is then as it was.
 */
CMD_CHECKED bool cmd_reserve_bytes(
    void *array_ptr, size_t *cap, size_t need, size_t elem_size);
#define cmd_reserve(array_ptr, cap_ptr, need)                                            \
	cmd_reserve_bytes((array_ptr), (cap_ptr), (need), sizeof(**(array_ptr)))

/*
 * A name in a tree may hold anything, but a message is one line. Control characters
 * become a backslash and 3 octal digits. Borrows name when there are none, otherwise
 * fills buf and cuts what does not fit.
 */
enum { CMD_PLAIN_SIZE = 4 * 4096 }; /* holds any path in that form */
const char *cmd_plain_name(const char *name, char *buf, size_t size);

/* As print_error, for a path that may hold anything. */
int cmd_complain(const char *path, const struct eh2sframe_error *err);

#endif
