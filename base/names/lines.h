/* SPDX-License-Identifier: MIT */
/* Text with a function in each line: /proc/kallsyms, and the map files that perf(1) takes from
 * compilers at run time. */
#ifndef BASE_NAMES_LINES_H
#define BASE_NAMES_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct line_function {
	uint64_t start, size; /* size 0: up to the next one (kernel) */
	char *name;	      /* in the line, which is changed */
};

/*
 * Reads a whole file of at most 512 MiB. *text ends with NUL and is the caller's. It is NULL
 * where the file is empty, larger, not a regular one, a link, or cannot be read. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool lines_read(
    const char *path, char **text, size_t *size, struct err *err);
/* Reads an open file in that way, which stays the caller's; -1: none. */
ATTR_MUST_CHECK bool lines_read_fd(int fd, char **text, size_t *size, struct err *err);

/* Finds the number of a process in its own container, where it names its files by that; else pid.
 * ERR_NOMEM. */
ATTR_MUST_CHECK bool lines_inner_pid(uint32_t pid, uint32_t *inner, struct err *err);

/* Cuts the first line off *text and returns it; NULL behind the last one. */
char *lines_next(char **text);

/* Reads "ADDRESS TYPE NAME"; the module behind a tab is passed over. False unless it is code at another
 * address than 0. */
bool lines_kernel(char *line, struct line_function *function);
/* Reads "ADDRESS SIZE NAME", both numbers in hexadecimal. False for another line. */
bool lines_map(char *line, struct line_function *function);

#endif
