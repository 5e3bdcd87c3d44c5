/* SPDX-License-Identifier: MIT */
/*
 * Rows that also say where callee-saved registers are, which only compact unwind wants to know.
 * The interpreter has columns for SP, FP and the return address alone, so each FDE is interpreted
 * again for every two registers more, as if these were SP and FP.
 */
#ifndef TESTS_BENCH_COMPARE_ROWS_H
#define TESTS_BENCH_COMPARE_ROWS_H

#include "tests/bench/compare/formats.h"

/* AArch64 has the most: x19 to x28 and d8 to d15. */
enum { FORMATS_MAX_SAVED = 18 };

/* Stand in the place of an offset. No call frame saves a register at the CFA itself. */
enum {
	FORMATS_SAVED_NOT = 0,		 /* the register has the caller's value */
	FORMATS_SAVED_OTHER = INT32_MIN, /* not in memory at an offset from the CFA */
};

/* Register i of the machine's list is at *(cfa + at[i]), bytes. */
struct formats_saved {
	int32_t at[FORMATS_MAX_SAVED];
};

bool formats_saved_same(const struct formats_saved *a, const struct formats_saved *b);

struct formats_rows {
	struct cfi_table table;	     /* of the last FDE; its rows are owned */
	struct formats_saved *saved; /* owned: for each row of the table */
	size_t cap_saved;
	size_t n_regs;
	struct cfi_interp own; /* with the machine's columns */
	struct cfi_interp
	    pairs[FORMATS_MAX_SAVED / 2]; /* with two of the registers each */
};

/* Borrows the frames of the input. */
void formats_rows_init(struct formats_rows *rows, const struct formats_input *input);
void formats_rows_deinit(struct formats_rows *rows);

/* Interprets an FDE. False when it cannot be, with ERR_NOMEM when memory runs out. */
ATTR_MUST_CHECK bool formats_rows_read(struct formats_rows *rows,
    const struct cfi_fde *fde, uint64_t max_expr_ops, struct err *err);

#endif
