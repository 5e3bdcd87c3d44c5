/* SPDX-License-Identifier: MIT */
/*
 * The proof compares a decoded section with the CFI, at every PC where either changes. A
 * row is a difference when the CFI says something else or the code has no CFI. Padding
 * inside of an FDE with several functions is an exception. Code without a row is missing
 * where the section's version and machine have a row for its CFI, or for what a PLT template
 * or the code itself says of it.
 */
#ifndef GEN_VERIFY_VERIFY_H
#define GEN_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/frames.h"
#include "cfi/ranges.h"
#include "gen/arch/arch.h"
#include "gen/rows/policy.h"
#include "sframe/decode.h"

/* A damaged section can differ in millions of places; no reader needs more than these. */
#define VERIFY_MAX_TEXTS 10000
#define VERIFY_MAX_MISSING 64
#define VERIFY_TEXT 260

/* Bytes of code, by what their rows were held against. Only the first of them have been compared with something that
 * did not make them. The records of Go's table are made twice by the same reader of it, and the three that follow
 * are concluded from the code, twice by the same analysis. */
struct verify_held {
	uint64_t cfi_bytes; /* rows and CFI say the same */
	uint64_t go_bytes;  /* rows and the records made of Go's table do */
	uint64_t
	    repaired_bytes; /* the code contradicts the CFI, and they have the code's row */
	uint64_t template_bytes; /* without CFI, match a PLT template */
	uint64_t derived_bytes;	 /* without CFI, rows derived from the code */
	bool
	    by_libdwarf; /* --witness=libdwarf: libdwarf has read the same of cfi_bytes */
	uint64_t
	    skipped_bytes; /* of cfi_bytes for our reader, not libdwarf: beyond the bound per FDE */
	uint64_t unlisted_bytes; /* the same, of FDEs that libdwarf does not list */
};

/* Bytes whose rows only the code itself confirms. */
uint64_t verify_code_alone(const struct verify_held *held);

/* Zeroed by the caller before; freed with verify_result_deinit. */
struct verify_result {
	struct verify_held held;
	uint64_t padding_bytes; /* below 16 at a time between two functions of one FDE */
	uint64_t missing_bytes; /* code bytes that could have had a row */
	bool one_source;	/* .debug_frame was not read */
	const char *advice;	/* on differences in a section that was there */
	size_t n_differences;
	size_t n_bare;		    /* of those, rows for code without CFI */
	char (*texts)[VERIFY_TEXT]; /* owned; the first differences in words */
	size_t n_texts, cap_texts;
	size_t n_missing; /* FDEs, and stretches without CFI, with missing bytes */
	char (*missing)[VERIFY_TEXT]; /* owned; the first of them in words */
	size_t n_missing_texts, cap_missing;
};

void verify_result_deinit(struct verify_result *result);

/* Borrows everything. lint_format has passed the view. */
struct verify_input {
	const struct sf_view *view;
	const struct cfi_frames *frames;
	const struct cfi_ranges *ranges;
	const struct policy *policy;
};

/*
 * Compares with this project's own interpreter. False on ERR_NOMEM; differences are in
 * *result, not errors.
 */
ATTR_MUST_CHECK bool verify_own(
    const struct verify_input *input, struct verify_result *result, struct err *err);

/*
 * Compares with libdwarf's register table, at most max_rows rows per FDE because its cost
 * is quadratic. Missing rows are not judged: what *result says of them stays, and so does
 * all that only the other comparison finds. That one comes first, and found no difference.
 * Each byte of code that it found to agree counts once: as agreed, skipped or unlisted,
 * unless it differs here.
 */
ATTR_MUST_CHECK bool verify_libdwarf(const struct verify_input *input, size_t max_rows,
    struct verify_result *result, struct err *err);

#endif
