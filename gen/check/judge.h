/* SPDX-License-Identifier: MIT */
/* Judges one row of CFI by the state of the code at one instruction. */
#ifndef GEN_CHECK_JUDGE_H
#define GEN_CHECK_JUDGE_H

#include "cfi/row.h"
#include "code/state.h"
#include "gen/arch/arch.h"

/* No single row is asked for if the FDE has more bytes of instructions, because they would be interpreted for each
 * question. The largest of some 4,000 programs have 22 KB. */
enum { VALIDATE_MAX_ASKED = 32768 };

enum validate_verdict {
	VALIDATE_AGREES,
	VALIDATE_UNKNOWN, /* the code's state does not tell */
	VALIDATE_CONTRADICTS,
};

enum validate_column {
	VALIDATE_CFA,
	VALIDATE_RA,
	VALIDATE_FP,
};

struct validate_answer {
	uint8_t verdict;
	uint8_t column; /* the first one that does not agree */
	/* The value that the row's rule computes in the state, for example an address relative
	 * to the true CFA. */
	struct code_value found;
};

/* Compares the row's CFA, return address and caller's frame pointer with the true ones in the state. */
struct validate_answer validate_row(
    const struct arch *arch, const struct cfi_row *row, const struct code_state *state);

/* Fills in the row that the state itself gives, in which needs_apply has left one place of each value. False where it
 * does not know all columns. */
bool validate_row_of(
    const struct arch *arch, const struct code_state *state, struct cfi_row *row);

/* True if the row finds the stack as it is at a function's entry, whose state this is. */
bool validate_is_bare(
    const struct arch *arch, const struct cfi_row *row, const struct code_state *entry);

/* Fills in a state that knows what the row says and nothing else. False where a row says too little. */
bool validate_seed(
    const struct arch *arch, const struct cfi_row *row, struct code_state *state);

#endif
