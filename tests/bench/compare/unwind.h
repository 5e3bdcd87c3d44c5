/* SPDX-License-Identifier: MIT */
/*
 * Apple's compact unwind of x86-64 and arm64: one encoding of 32 bits for each function,
 * valid at calls (mach-o/compact_unwind_encoding.h, as LLVM's libunwind has it). What has
 * no encoding keeps its FDE in __eh_frame, and the encoding is the offset of that FDE.
 *
 * Rows say more than one encoding can. The body of a function is the answer that holds for
 * most bytes of those rows in which a call is likely:
 *
 * - The row's code has the bytes of a call. On x86-64 these are e8 or ff /2 at any byte,
 *   which no call is without. Where the file has no code, any row of 2 bytes can have one.
 * - x86-64: the psABI has SP a multiple of 16 at a call, so with CFA = SP + n a call is
 *   likely only where n is a multiple of 16.
 * - AArch64: a call overwrites LR, so the return address is saved.
 *
 * Where no row has one (a leaf function), all rows compete. PCs with another answer than
 * the body are counted: FORMATS_OTHER_FRAME where the row's code has the bytes of a call,
 * FORMATS_OUTSIDE_BODY elsewhere.
 */
#ifndef TESTS_BENCH_COMPARE_UNWIND_H
#define TESTS_BENCH_COMPARE_UNWIND_H

#include "base/wr.h"
#include "tests/bench/compare/func.h"

enum {
	UNWIND_HAS_LSDA = 0x40000000,
	UNWIND_PERSONALITY_SHIFT = 28, /* 2 bits: one more than the index; 0: none */
	UNWIND_MODE_MASK = 0x0f000000,

	UNWIND_X86_64_MODE_RBP_FRAME = 0x01000000,
	UNWIND_X86_64_MODE_STACK_IMMD = 0x02000000,
	UNWIND_X86_64_MODE_STACK_IND = 0x03000000,
	UNWIND_X86_64_MODE_DWARF = 0x04000000,

	UNWIND_ARM64_MODE_FRAMELESS = 0x02000000,
	UNWIND_ARM64_MODE_DWARF = 0x03000000,
	UNWIND_ARM64_MODE_FRAME = 0x04000000,

	UNWIND_DWARF_OFFSET_MASK = 0x00ffffff,
};

/* The body of a function. */
struct formats_body {
	struct formats_answer answer;
	struct formats_saved saved;
	uint64_t bytes;		 /* for which it holds */
	uint64_t other;		 /* with another answer, where a call is possible */
	enum formats_reason why; /* FORMATS_SAID: the members above are set */
};

struct formats_body formats_find_body(const struct formats_func *func);

/* The encoding of a body, without flags; or why it has none. */
enum formats_reason formats_x86_64_encode(
    const struct formats_func *func, const struct formats_body *body, uint32_t *encoding);
enum formats_reason formats_arm64_encode(
    const struct formats_body *body, uint32_t *encoding);

/* What an encoding says. False for DWARF, for none, and for those that do not exist. start
 * is the function's, for encodings that name one of its instructions. */
bool formats_x86_64_decode(const struct formats_input *input, uint64_t start,
    uint32_t encoding, struct formats_answer *answer, struct formats_saved *saved);
bool formats_arm64_decode(
    uint32_t encoding, struct formats_answer *answer, struct formats_saved *saved);

/* Callee-saved registers by DWARF number, in the order of struct formats_saved. */
extern const uint16_t formats_x86_64_saved[5], formats_arm64_saved[18];

struct formats_unwind_entry {
	uint64_t pc;	   /* address of the function */
	uint64_t lsda;	   /* 0: none */
	uint32_t encoding; /* all of it */
};

/* __unwind_info and the FDEs that stay. */
struct formats_unwind {
	const struct formats_input *input;    /* borrowed */
	struct formats_unwind_entry *entries; /* owned */
	size_t n, cap;
	uint64_t end; /* of the last function, address */
	uint64_t personalities[3];
	size_t n_personalities;
	bool *has_cie;		/* owned, by CIE: it stays, because an FDE does */
	uint64_t eh_frame_size; /* of records that stay, bytes */
	size_t n_dwarf;		/* FDEs that stay */
	const struct cfi_fde *last_dwarf; /* the last of them, and its encoding */
	uint32_t last_encoding;
	struct formats_result result;
	struct wr bytes; /* owned: __unwind_info, after formats_unwind_end */
};

/* False when memory runs out. */
ATTR_MUST_CHECK bool formats_unwind_begin(
    struct formats_unwind *unwind, const struct formats_input *input);
ATTR_MUST_CHECK bool formats_unwind_add(
    struct formats_unwind *unwind, const struct formats_func *func);
ATTR_MUST_CHECK bool formats_unwind_end(struct formats_unwind *unwind);
void formats_unwind_deinit(struct formats_unwind *unwind);

/*
 * Writes __unwind_info: header, common encodings, personalities, first-level index, LSDA
 * index, then pages of 4096 bytes, which is how LLVM's ld64.lld lays it out. Entries ascend
 * by pc. Offsets count from the input's base. False when memory runs out.
 */
ATTR_MUST_CHECK bool formats_unwind_write(struct formats_unwind *unwind);

/* What __unwind_info says of a PC: the entry that holds. False where no entry does, or for
 * damaged bytes. */
bool formats_unwind_find(
    const struct formats_unwind *unwind, uint64_t pc, struct formats_unwind_entry *entry);

#endif
