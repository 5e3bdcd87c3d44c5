/* SPDX-License-Identifier: MIT */
/* One function with all its parts, looked at by one thread. */
#ifndef GEN_VALIDATE_UNIT_H
#define GEN_VALIDATE_UNIT_H

#include "cfi/interp.h"
#include "code/paths.h"
#include "gen/validate/callees.h"
#include "gen/validate/landing.h"
#include "gen/validate/validate.h"

/* Control goes from one range of the CFI into the middle of another. */
struct validate_link {
	uint32_t from, to; /* indices of ranges */
};

/* A range of the CFI that the function consists of, with a copy of its rows. */
struct validate_part {
	uint32_t range;
	size_t row, n_rows; /* in the worker's rows */
	size_t at;	    /* the row that was asked for last */
};

/* For trials of the check itself. Either function can be NULL. */
struct validate_trial {
	void *context;
	/* Can change rows of the range before they are looked at, and take some away. */
	void (*rows)(void *context, uint32_t range, struct cfi_table *table);
	/* Sees each instruction that was reached. */
	void (*place)(void *context, uint32_t range, const struct code_place *place);
};

/* A thread's own memory, which serves one function after the other. */
struct validate_worker {
	const struct image *image;
	const struct cfi_input *input;
	struct validate_result *result; /* shared; each range is written by one worker */
	const struct validate_callees *callees; /* shared */
	const struct validate_trial *trial;	/* borrowed; NULL: none */
	uint64_t budget; /* instructions of callees that this unit may look at */
	uint8_t round;
	struct cfi_interp interp, other; /* other: of FDEs that are not in the unit */
	size_t
	    stubs; /* a range of a PLT, whose rows follow from the address; SIZE_MAX: none is known */
	struct code_paths *paths;
	struct validate_part *parts;
	size_t n_parts, cap_parts;
	struct code_range *code;
	size_t cap_code;
	struct cfi_row *rows;
	size_t n_rows, cap_rows;
	uint64_t *entries;
	size_t n_entries, cap_entries;
	struct validate_landings landings;
	/* Results: */
	struct validate_link *links;
	size_t n_links, cap_links;
	struct validate_fault *faults;
	size_t n_faults, cap_faults;
	bool nomem;
};

ATTR_MUST_CHECK bool validate_worker_init(struct validate_worker *worker,
    const struct image *image, const struct cfi_input *input,
    const struct validate_callees *callees, struct validate_result *result);
void validate_worker_deinit(struct validate_worker *worker);

/* Looks at the function that consists of these ranges, which ascend. Fills in their results, and
 * adds faults and links. False: out of memory. */
ATTR_MUST_CHECK bool validate_unit(
    struct validate_worker *worker, const uint32_t *ranges, size_t n);

#endif
