/* SPDX-License-Identifier: MIT */
/*
 * --batch: converts in place every ELF file under the named paths. A tree is listed once
 * (cmd/batch/tree.h), its files are converted by processes of their own
 * (cmd/batch/pool.h), so that a file which brings one down costs that file alone, and
 * what became of each goes into one report (cmd/report/report.h).
 */
#ifndef CMD_BATCH_BATCH_H
#define CMD_BATCH_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/args.h"
#include "include/eh2sframe.h"

#define BATCH_CHECKED __attribute__((warn_unused_result))
#define BATCH_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Set status and text, the second with strerror(errno) behind it; always false. */
bool batch_fail(struct eh2sframe_error *err, enum eh2sframe_status status,
    const char *fmt, ...) BATCH_PRINTF(3, 4);
bool batch_fail_errno(struct eh2sframe_error *err, const char *fmt, ...)
    BATCH_PRINTF(2, 3);
bool batch_fail_nomem(struct eh2sframe_error *err);

/*
 * Makes room in a growable array, of which array_ptr is the address of the pointer, for
 * need elements. False when memory runs out; it is then as it was.
 */
BATCH_CHECKED bool batch_reserve_bytes(
    void *array_ptr, size_t *cap, size_t need, size_t elem_size);
#define batch_reserve(array_ptr, cap_ptr, need)                                          \
	batch_reserve_bytes((array_ptr), (cap_ptr), (need), sizeof(**(array_ptr)))

/*
 * Names in a tree may be anything, a message is one line: control characters become
 * backslash and three octal digits. Borrows name when there are none, else fills buf and
 * cuts what does not fit.
 */
const char *batch_plain(const char *name, char *buf, size_t size);

/* print_error, of a path that may be anything. */
int batch_complain(const char *path, const struct eh2sframe_error *err);

/* The command. Returns its exit status, or does not when a signal ended it. */
int batch_run(const struct args *args);

#endif
