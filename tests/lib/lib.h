/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the library, which know it by its headers. Results are TAP. */
#ifndef TESTS_LIB_LIB_H
#define TESTS_LIB_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/eh2sframe-command.h"

/* A buffer that grows. */
struct bytes {
	char *data;
	size_t size, cap;
};

/* Prints one result. The first failure makes the program's exit status 1. */
void check(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int check_end(void);

struct bytes file_read(const char *path);
void file_write(const char *path, const void *data, size_t size);
bool bytes_same(const struct bytes *a, const struct bytes *b);
/* True if a JSON document of the command has this one object. */
bool bytes_in_document(const struct bytes *object, const struct bytes *document);
void bytes_free(struct bytes *bytes);

/* For eh2sframe_write_fn; context is a struct bytes. */
bool bytes_add(void *context, const char *text, size_t size);

/* Makes options from "name=value name ...", which must be valid. */
struct eh2sframe_options *options_of(const char *text);

/*
 * Runs a command whose words are separated by blanks. said gets its standard output and
 * may be NULL. Returns the exit status.
 */
int run(struct bytes *said, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A directory for files, which goes away at the end. */
const char *scratch(void);
/* Returns the path of a file in it. The last 16 paths stay valid. */
const char *scratch_path(const char *name);

/* Returns all that is in a result, to compare it with another. */
struct bytes result_contents(struct eh2sframe_result *result);

/* The tests, which are in other files. */
void test_repeat(const char *path, size_t times);
void test_same(const char *command, const char *path);
void test_objects(const char *command, const char *path);
/* words are options; see options_of. */
void test_results(const char *path, const char *words);
void test_rows(const char *path);
void test_errors(const char *path);
void test_files(const char *path);
void test_frames(const char *path);
void test_functions(const char *path);
void test_encodings(void);
void test_quiet(void (*work)(void *context), void *context);
void test_threads(char **paths, size_t n);

#endif
