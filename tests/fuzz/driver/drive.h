/* SPDX-License-Identifier: MIT */
/* Input of the driver: files, and damage listed for them. */
#ifndef TESTS_FUZZ_DRIVE_H
#define TESTS_FUZZ_DRIVE_H

#include "tests/fuzz/driver/edit.h"
#include "tests/fuzz/fuzz.h"

struct drive_base {
	const char *name; /* what the ledger calls it */
	struct wr bytes;
	struct map map;
};

struct drive_case {
	const struct drive_base *base;
	struct edit edits[EDIT_MAX];
	size_t n_edits; /* 0: the file as it is */
};

struct drive {
	uint64_t seed;
	size_t count, first; /* mutants, and the number of the first */
	unsigned int jobs, cpu_seconds;
	const char *ledger, *edit, *keep_dir; /* borrowed from argv; NULL: none */
	struct drive_base *bases;
	size_t n_bases;
	struct drive_case *listed; /* each file as it is, the ledger's lines, --edit */
	size_t n_listed, cap_listed;
	size_t n_told;	/* failures printed */
	bool only_keep; /* writes the listed cases to keep_dir, and runs none */
};

/* Reads the files ("NAME=PATH" or "PATH") and the ledger; false with the reason on
 * stderr. A line of the ledger counts when its file is among them. */
ATTR_MUST_CHECK bool drive_load(struct drive *drive, char **files, size_t n);
void drive_deinit(struct drive *drive);

/* A directory for the targets' files, told to them by FUZZ_DIR. In memory where there is
 * such a place: a commit waits for the disk. */
void drive_make_dir(void);
void drive_remove_dir(void);

#endif
