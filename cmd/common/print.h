/* SPDX-License-Identifier: MIT */
/* What the command prints: the library's text on a stream, and one line per failure. */
#ifndef CMD_COMMON_PRINT_H
#define CMD_COMMON_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "include/eh2sframe.h"

/* The status for several inputs: the highest of theirs. EH2SFRAME_NOTHING does not count. */
int print_worse(int status, int next);

/* The line of a failure on standard error; path may be NULL. Returns its status. */
int print_error(const char *path, const struct eh2sframe_error *error);

/*
 * A name in a tree may hold anything, but a message is one line. Control characters
 * become a backslash and 3 octal digits. Borrows name when there are none, otherwise
 * fills buf and cuts what does not fit.
 */
enum { PRINT_PLAIN_SIZE = 4 * 4096 }; /* holds any path in that form */
const char *print_plain(const char *name, char *buf, size_t size);

/* For eh2sframe_write_fn: context is a FILE. Closing it shows a failure. */
bool print_text(void *context, const char *text, size_t size);

/* For eh2sframe_write_fn: lines on standard error, the program's name before each;
 * context is a bool, false at first. */
bool print_lines(void *context, const char *text, size_t size);

/* For eh2sframe_options_on_progress: on a terminal only, and at most once a second. */
void print_progress(void *context, size_t done, size_t total);

/* Opens a file for writing; NULL and "-" are standard output. Returns NULL with error. */
FILE *print_open(const char *path, struct eh2sframe_error *error);

/* Closes it, and returns whether all of it was written. Standard output stays open:
 * print_end reports its failure, once. */
bool print_close(FILE *out, struct eh2sframe_error *error);

/* Whether all of standard output was written. Call it last. */
bool print_end(struct eh2sframe_error *error);

#endif
