/* SPDX-License-Identifier: MIT */
/*
 * A fuzz target: one function over bytes, which returns when all is well and aborts when a
 * promise is broken. tests/fuzz/driver/drive.c calls it for files and for mutants of them,
 * libFuzzer (-Dfuzzing=libfuzzer) for inputs that it makes up.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Input of the target: the name of a section of an ELF file, or NULL for the file itself.
 * Not used by libFuzzer. */
extern const char *const fuzz_section;

/* Where a target may make files: one directory per process, removed by the driver, too.
 */
#define FUZZ_DIR "EH2SFRAME_FUZZ_DIR"

#define FUZZ_ASSERT(condition, ...)                                                      \
	do {                                                                             \
		if (!(condition)) {                                                      \
			fprintf(stderr, "%s:%d: broken promise: %s: ", __FILE__,         \
			    __LINE__, #condition);                                       \
			fprintf(stderr, __VA_ARGS__);                                    \
			fputc('\n', stderr);                                             \
			abort();                                                         \
		}                                                                        \
	} while (0)

#endif
