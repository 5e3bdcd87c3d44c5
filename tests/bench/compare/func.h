/* SPDX-License-Identifier: MIT */
/* One range of code with its rows, as encoders get it, and what an unwinder learns there. */
#ifndef TESTS_BENCH_COMPARE_FUNC_H
#define TESTS_BENCH_COMPARE_FUNC_H

#include "cfi/augment.h"
#include "tests/bench/compare/rows.h"

/* Alignment between functions. Shorter gaps get no mark, because nothing runs there. */
enum { FORMATS_GAP = 16 };

/* Borrows everything. */
struct formats_func {
	const struct formats_input *input;
	const struct cfi_fde *fde;
	uint64_t start, end; /* addresses; end is exclusive */
	const struct cfi_table *table;
	const struct formats_saved *saved; /* for each row of the table */
	bool signal_frame;
	/* GNU ld's PLT: from plt_from on the CFA is SP + 8, and SP + 16 in the last 16 - plt_at
	 * bytes of each 16. plt_at is 0 elsewhere. */
	uint8_t plt_at;
	uint64_t plt_from;
	uint64_t lsda; /* address of the language-specific data; 0: none */
	const struct cfi_augment *augment; /* of the CIE */
};

/*
 * Where the caller's values are. cfa is CFI_REG_PLUS or CFI_AT_REG. ra and fp are
 * CFI_SAME when they are in their registers. Whether the return address is signed is not
 * here, because no format but SFrame says it: their readers strip all signatures.
 */
struct formats_answer {
	struct cfi_rule cfa, ra, fp;
	bool outermost; /* no other member is set */
	bool signal; /* the frame of a signal handler's caller; no other member is set */
};

bool formats_answer_same(const struct formats_answer *a, const struct formats_answer *b);

/* What a row says, or why no unwinder of rows can follow it. */
enum formats_reason formats_answer_read(const struct formats_machine *machine,
    bool signal_frame, const struct cfi_row *row, struct formats_answer *answer);

/* The rows of a range, one by one. */
struct formats_walk {
	const struct formats_func *func;
	size_t row;	   /* index into the table */
	uint64_t from, to; /* addresses at which the row holds; to is exclusive */
};

struct formats_walk formats_walk_begin(const struct formats_func *func);
/* False behind the last row. */
bool formats_walk_next(struct formats_walk *walk);

/* Sets plt_at and plt_from where the rows are those of a PLT. */
void formats_find_plt(struct formats_func *func);

#endif
