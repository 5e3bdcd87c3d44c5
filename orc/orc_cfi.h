/* SPDX-License-Identifier: MIT */
/*
 * ORC tables as call frame instructions: records in the form of .eh_frame. So all that reads CFI reads
 * what ORC says, too. docs/KERNEL.md says which entry becomes which rule.
 */
#ifndef ORC_ORC_CFI_H
#define ORC_ORC_CFI_H

#include "base/wr.h"
#include "orc/orc_table.h"

/* The code that the tables describe. */
struct orc_code {
	/* The end of the executable section that has pc; 0: no section has it. */
	uint64_t (*end)(const void *context, uint64_t pc);
	const void *context;
	const uint64_t *starts; /* of functions, ascending; where a new record begins */
	size_t n_starts;
};

enum orc_reason {
	ORC_HAS_ROWS,
	ORC_BASE,    /* of the caller's SP */
	ORC_BP_BASE, /* of the caller's BP */
	ORC_TYPE,
	ORC_OLD_INDIRECT,
	ORC_N_REASONS,
};

/* Code whose entry has no meaning that is known. */
struct orc_left {
	uint64_t start, size; /* address, bytes */
	enum orc_reason why;
};

struct orc_cfi {
	struct wr records;     /* their addresses are absolute */
	struct orc_left *left; /* owned; ascending */
	size_t n_left, cap_left;
	size_t n_records; /* FDEs */
};

/* ERR_MALFORMED for an entry of no code, ERR_LIMIT, ERR_NOMEM. cfi is zeroed by the caller. */
ATTR_MUST_CHECK bool orc_cfi_make(const struct orc_table *table,
    const struct orc_code *code, struct orc_cfi *cfi, struct err *err);
void orc_cfi_deinit(struct orc_cfi *cfi); /* accepts a zeroed struct */

/* "its entry counts SP from an unknown register", and so on. */
const char *orc_reason_text(enum orc_reason why);

#endif
