/* SPDX-License-Identifier: MIT */
/*
 * Checks CFI against the code it describes: each row, at each instruction, against the state that the
 * instructions themselves lead to (code/). docs/CODE.md says what this proves and what it assumes.
 */
#ifndef GEN_CHECK_VALIDATE_H
#define GEN_CHECK_VALIDATE_H

#include "base/attr.h"
#include "base/err.h"
#include "cfi/row.h"
#include "gen/rows/cfi_input.h"
#include "gen/check/effect.h"
#include "gen/check/judge.h"

/* Verdict on one FDE: the worst that holds. */
enum validate_class {
	VALIDATE_CONFIRMED, /* every row agrees at every instruction that was reached */
	VALIDATE_REVIEW,    /* rows agree, and something is odd: see validate_review */
	VALIDATE_OPEN,	    /* somewhere the code does not tell */
	VALIDATE_WRONG,	    /* a row contradicts the code */
	VALIDATE_N_CLASSES,
};

/* Oddities: a bit each. */
enum validate_review {
	VALIDATE_REVIEW_CALL = 1, /* rows behind a call fit only if it does not return */
	VALIDATE_REVIEW_RETURN = 2, /* a return with SP elsewhere than at entry */
	/* No row says that a function begins, and nothing leads here. */
	VALIDATE_REVIEW_ENTRY = 4,
};

/* Relation of a row that contradicts to those around it. */
enum validate_fault_kind {
	VALIDATE_FAULT_OTHER,
	VALIDATE_FAULT_LATE,	/* the row that follows would be right here already */
	VALIDATE_FAULT_EARLY,	/* the row before would still be right */
	VALIDATE_FAULT_MISSING, /* no row of the function would be right */
	VALIDATE_N_FAULT_KINDS,
};

/* Instructions one after the other that one row contradicts in the same way. */
struct validate_fault {
	uint64_t start,
	    end;	/* addresses: of the first instruction, and behind the last */
	uint32_t range; /* index into the ranges of the CFI */
	uint32_t n_instructions;
	uint8_t kind;  /* enum validate_fault_kind */
	uint8_t round; /* for validate.c */
	bool seeded;   /* it is said by a state that came from a row */
	struct cfi_row row;
	struct validate_answer answer;
	bool repairable; /* every way that leads here agrees on another row: */
	struct cfi_row repaired;
};

/* Result for one range of the CFI. */
struct validate_range {
	/* Lowest address at which the code does not tell; 0: none. */
	uint64_t first_open;
	uint32_t instructions, agreeing; /* that were reached, and where the row agrees */
	uint32_t seeded;		 /* reached from a row only */
	uint8_t state;			 /* enum validate_class */
	uint8_t reviews;		 /* bits of enum validate_review */
	uint8_t round;
	struct callee_effect
	    effect;  /* for validate.c: of the function that begins there */
	bool doubts; /* for validate.c: a call was taken not to return because of a row */
	bool asked;  /* for validate.c: it has a table without a bound */
	bool rowless; /* it has no row, so it is not counted */
	/* False: the range overlaps, its program is broken, it is a signal frame, or its return
	 * address is in another column. */
	bool looked_at;
	bool undecoded; /* some bytes on its ways, or all, are no known instructions */
};

struct validate_result {
	struct validate_range *ranges; /* one for each range of the CFI; owned */
	size_t n_ranges;
	struct validate_fault *faults; /* ascending by start; owned */
	size_t n_faults, cap_faults;
	size_t n_fdes, n_not_looked_at;
	size_t n_of[VALIDATE_N_CLASSES]; /* FDEs */
	uint64_t instructions, agreeing, seeded;
};

/*
 * Rows of another origin than the CFI. The ranges of a struct cfi_input are then theirs; the FDE of a
 * range is the one that describes its code, for the landing pads, or VALIDATE_NO_FDE.
 */
struct validate_rows {
	const void *context;
	/* Makes the rows of a range, at least one; table has memory that is used again. A row that is
	 * doubtful says nothing. Several threads call it. False: out of memory. */
	bool (*read)(const void *context, uint32_t range, struct cfi_table *table);
};

#define VALIDATE_NO_FDE UINT32_MAX

/*
 * Looks at all ranges with jobs threads; the result does not depend on their number. rows is NULL
 * for those of the CFI. image is not a relocatable object, but can be one that was linked in memory
 * (object_link). Needs validate_can. ERR_UNSUPPORTED when image has no byte of the code, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool validate_all(const struct image *image,
    const struct cfi_input *input, const struct validate_rows *rows, unsigned int jobs,
    struct validate_result *result, struct err *err);
/* As validate_all, for the CFI. */
ATTR_MUST_CHECK bool validate_cfi(const struct image *image,
    const struct cfi_input *input, unsigned int jobs, struct validate_result *result,
    struct err *err);
/* True if this build can decode the machine's code; else ERR_UNSUPPORTED. */
ATTR_MUST_CHECK bool validate_can(const struct arch *arch, struct err *err);
/*
 * Fills in the corrections of input, as options say, from what the code contradicts; nothing
 * unless they ask for it. ERR_UNSUPPORTED for what cannot be checked, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool validate_correct(const struct image *image, struct cfi_input *input,
    const struct options *options, struct err *err);
void validate_result_deinit(struct validate_result *result); /* accepts a zeroed struct */

#endif
