/* SPDX-License-Identifier: MIT */
/*
 * Go's table as call frame instructions: records in the form of .eh_frame, one for each function.
 * So all that reads CFI reads what Go says, too. docs/GO.md says which rows a function gets.
 */
#ifndef GEN_SOURCES_GO_GO_CFI_H
#define GEN_SOURCES_GO_GO_CFI_H

#include "base/wr.h"
#include "gen/sources/go/go_walk.h"

/* The executable bytes that the table describes. Returns NULL when they are not there. */
struct go_text {
	enum code_machine machine;
	const uint8_t *(*bytes)(const void *context, uint64_t addr, uint64_t len);
	const void *context;
};

/* A function that has no rows. */
struct go_left {
	uint64_t start, size; /* address, bytes */
	const char *name;     /* borrowed from the table */
	enum go_reason why;
};

struct go_cfi {
	struct wr records;    /* their addresses are absolute */
	struct go_left *left; /* owned; ascending */
	size_t n_left, cap_left;
	size_t n_funcs; /* with records */
};

/* True if this build can make rows for the machine. */
bool go_cfi_can(enum code_machine machine);
/* Makes the records. cfi is zeroed by the caller. ERR_MALFORMED for a damaged table, ERR_NOMEM. */
ATTR_MUST_CHECK bool go_cfi_make(const struct go_table *table, const struct go_text *text,
    struct go_cfi *cfi, struct err *err);
void go_cfi_deinit(struct go_cfi *cfi); /* accepts a zeroed struct */

/* Returns "its SP moves in a way that Go's table does not tell", and so on. */
const char *go_reason_text(enum go_reason why);

#endif
