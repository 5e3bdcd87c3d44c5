/* SPDX-License-Identifier: MIT */
/*
 * What formats other than SFrame make of the same functions and rows: their bytes, what
 * they can express, and what they cannot.
 *
 * Each format has a file with an encoder and a decoder. Tests compare the decoder's answer
 * with the row at every PC.
 */
#ifndef TESTS_BENCH_COMPARE_FORMATS_H
#define TESTS_BENCH_COMPARE_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/ranges.h"

/* Why code is not expressed. */
enum formats_reason {
	FORMATS_SAID = 0,	/* it is */
	FORMATS_OVERLAP,	/* several FDEs describe the code */
	FORMATS_BROKEN_PROGRAM, /* the CFI program cannot be interpreted */
	FORMATS_NO_CFA,		/* no rule for the CFA is in effect */
	FORMATS_CFA_REGISTER,	/* the CFA's register has no name in the format */
	FORMATS_CFA_EXPRESSION, /* the CFA is read from memory or computed */
	FORMATS_CFA_OFFSET,	/* the CFA's offset does not fit */
	FORMATS_RA_PLACE,	/* the return address is in a place without a name */
	FORMATS_FP_PLACE,	/* the frame pointer is in a place without a name */
	FORMATS_SP_RULE,	/* the caller's stack pointer is not the CFA */
	FORMATS_OUTERMOST,	/* the format has no mark for the outermost frame */
	FORMATS_SIGNAL_FRAME,	/* the format has no mark for a signal frame */
	FORMATS_SAVED_PLACE,	/* callee-saved registers are in another order */
	FORMATS_STACK_SIZE,	/* no instruction in reach holds the stack's size */
	FORMATS_PERSONALITY,	/* there are more than 3 personality routines */
	FORMATS_FAR_CODE,	/* the address does not fit */
	FORMATS_NO_FRAME,	/* the rows do not say that FP leads on */
	FORMATS_FRAME_UNSAID, /* a frame record is saved, and no row says that FP holds it */
	FORMATS_OUTSIDE_BODY, /* the one rule of the function is for its body */
	FORMATS_OTHER_FRAME, /* another rule than that of the body, where the code may call */
	FORMATS_N_REASONS,
};

const char *formats_reason_name(enum formats_reason reason);

struct formats_tally {
	uint64_t functions; /* with at least 1 such byte */
	uint64_t bytes;	    /* of code */
};

/* The figures of one format for a file. */
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

/* Facts about a machine that the encoders need. */
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
 * Interprets every FDE with its callee-saved registers, and encodes it in each format that
 * the machine has. False only when memory runs out.
 */
ATTR_MUST_CHECK bool formats_compare(
    const struct formats_input *input, struct formats_results *results, struct err *err);

#endif
