/* SPDX-License-Identifier: MIT */
/*
 * What formats other than SFrame make of the same functions and rows: their bytes, what
 * they can express, and what they cannot. A conversion does not know this folder.
 *
 * Each format has a file with an encoder and a decoder. Tests compare the decoder's answer
 * with the row at every PC.
 */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/ranges.h"

/* X(ENUMERATOR, "name", "why code is not expressed") */
#define FORMATS_REASONS(X)                                                               \
	X(OVERLAP, "overlap", "several FDEs describe the code")                          \
	X(BROKEN_PROGRAM, "broken-program", "the CFI program cannot be interpreted")     \
	X(NO_CFA, "no-cfa", "no rule for the CFA is in effect")                          \
	X(CFA_REGISTER, "cfa-register", "the CFA's register has no name in the format")  \
	X(CFA_EXPRESSION, "cfa-expression", "the CFA is read from memory or computed")   \
	X(CFA_OFFSET, "cfa-offset", "the CFA's offset does not fit")                     \
	X(RA_PLACE, "ra-place", "the return address is in a place without a name")       \
	X(FP_PLACE, "fp-place", "the frame pointer is in a place without a name")        \
	X(FP_BELOW_SP, "fp-below-sp",                                                    \
	    "the row has the frame pointer below the stack, and the reader takes the "   \
	    "register")                                                                  \
	X(SP_RULE, "sp-rule", "the caller's stack pointer is not the CFA")               \
	X(OUTERMOST, "outermost", "the format has no mark for the outermost frame")      \
	X(SIGNAL_FRAME, "signal-frame", "the format has no mark for a signal frame")     \
	X(SAVED_PLACE, "saved-place", "callee-saved registers are in another order")     \
	X(STACK_SIZE, "stack-size", "no instruction in reach holds the stack's size")    \
	X(PERSONALITY, "personality", "there are more than 3 personality routines")      \
	X(FAR_CODE, "far-code", "the address does not fit")                              \
	X(TABLE_FULL, "table-full", "the file has more rules than the reader takes")     \
	X(NO_FRAME, "no-frame", "the rows do not say that the frame pointer leads on")   \
	X(FRAME_UNSAID, "frame-unsaid",                                                  \
	    "a frame record is saved, and no row says that the frame pointer holds it")  \
	X(OUTSIDE_BODY, "outside-body", "the one rule of the function is for its body")  \
	X(OTHER_FRAME, "other-frame",                                                    \
	    "another rule than that of the body, where the code may call")

/* Why code is not expressed. FORMATS_SAID is 0. */
enum formats_reason {
	FORMATS_SAID = 0,
#define FORMATS_ENUMERATOR(id, name, text) FORMATS_##id,
	FORMATS_REASONS(FORMATS_ENUMERATOR)
#undef FORMATS_ENUMERATOR
	    FORMATS_N_REASONS,
};

const char *formats_reason_name(enum formats_reason reason);
const char *formats_reason_text(enum formats_reason reason);

struct formats_tally {
	uint64_t functions; /* with at least 1 such byte */
	uint64_t bytes;	    /* of code */
};

/* What one format makes of a file. */
struct formats_result {
	char name[32];
	uint64_t bytes; /* of all its tables */
	/* Calls only: one rule for each function, that of its body. */
	bool calls_only;
	uint64_t functions;  /* FDEs that are expressed as far as the format promises */
	uint64_t code_bytes; /* with the right answer */
	struct formats_tally escapes[FORMATS_N_REASONS]; /* by reason; [0] is unused */
	uint32_t reasons; /* of the function that is being counted, a bit each */
};

_Static_assert(FORMATS_N_REASONS <= 32, "formats_result.reasons has a bit per reason");

/* Counts bytes of code of the function; formats_result_end counts the function itself. */
void formats_result_code(
    struct formats_result *result, enum formats_reason reason, uint64_t bytes);
void formats_result_end(struct formats_result *result);

enum formats_isa {
	FORMATS_X86_64,
	FORMATS_AARCH64,
	FORMATS_S390X,
};

/* What must be known of a machine. */
struct formats_machine {
	enum formats_isa isa;
	struct cfi_machine cfi;
	uint16_t ra_reg;     /* DWARF number of the return address column */
	int64_t sp_from_cfa; /* the caller's SP is CFA + this */
	bool sp_saved;	     /* callees save SP, and what they save is that value */
	bool big_endian;
};

/* Borrows everything. */
struct formats_input {
	const struct cfi_frames *frames;
	const struct cfi_ranges *ranges;
	struct formats_machine machine;
	uint64_t base; /* the lowest address of the file; no code or data is below */
	/* Copies size bytes of code at an address; false where the file has none. */
	bool (*code)(const void *context, uint64_t addr, uint8_t *bytes, size_t size);
	const void *context;
};

#define FORMATS_MAX_RESULTS 8

struct formats_results {
	struct formats_result list[FORMATS_MAX_RESULTS];
	size_t n;
};

/*
 * Interprets every FDE once more, with its callee-saved registers, and encodes it in each
 * format that the machine has. False only when memory runs out.
 */
ATTR_MUST_CHECK bool formats_compare(
    const struct formats_input *input, struct formats_results *results, struct err *err);

#endif
