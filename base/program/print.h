/* SPDX-License-Identifier: MIT */
/* Output of the command: the library's text on a stream, and one line per failure. */
#ifndef BASE_PROGRAM_PRINT_H
#define BASE_PROGRAM_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/newfile.h"
#include "include/eh2sframe.h"

/* The program's name in front of its messages; "eh2sframe" unless it is set. */
extern const char *print_program;

/* Returns the worse status of two: the higher one, but EH2SFRAME_NOTHING does not count. */
int print_worse(int status, int next);

/* Prints the line of a failure on standard error; path may be NULL. Returns its status. */
int print_error(const char *path, const struct eh2sframe_error *error);

/* Prints the line of a failure that came after files were converted; done is the word for that, such
 * as "converted". Returns status, or PRINT_NOT_TOLD where status says that nothing is wrong. */
int print_late(
    int status, const char *done, const char *path, const struct eh2sframe_error *error);

/* Holds any path as plain_copy changes it. */
enum { PRINT_PLAIN_SIZE = 4 * 4096 };

/* For eh2sframe_write_fn: context is a FILE. Closing it shows a failure. */
bool print_text(void *context, const char *text, size_t size);

/* For eh2sframe_write_fn: lines on standard error, the program's name before each;
 * context is a bool, false at first. */
bool print_lines(void *context, const char *text, size_t size);

/*
 * A file for a report. It is opened before the work: what stands against it is then found
 * while nothing has changed. Its text appears at the end. A file that is there already
 * stays the same file, unless it is an ELF file, an archive or a recording, which stays. A new one appears
 * complete or not at all.
 */
struct print_out {
	FILE *file;	      /* NULL: closed */
	const char *path;     /* NULL: standard output */
	struct newfile fresh; /* of a new one */
};

/* True for "-", and for names of the same device or pipe. */
bool print_is_stdout(const char *path);

/*
 * Opens a file for writing; NULL and what print_is_stdout are standard output. noted: a signal that ends
 * the program removes what is not complete; else the caller calls print_close then.
 */
ATTR_MUST_CHECK bool print_open(
    const char *path, bool noted, struct print_out *out, struct eh2sframe_error *error);

/* Empties a file that was there already. Call it before the first text. */
void print_start(const struct print_out *out);

/* Closes the file. ok: all text was made; otherwise error has the reason already. Returns true if all
 * of it is written. Standard output stays open: print_end reports its failure, once. */
bool print_close(struct print_out *out, bool ok, struct eh2sframe_error *error);

/* True if standard output can be written to at all. */
bool print_can(struct eh2sframe_error *error);

/* True if all of standard output was written. A failure is told once: call it last. */
bool print_end(struct eh2sframe_error *error);

#endif
