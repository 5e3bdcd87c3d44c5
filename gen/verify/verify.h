/* SPDX-License-Identifier: MIT */
/*
 * The proof: a decoded section against a reading of the CFI, at every PC where either
 * changes. A row that says something else than CFI, or that describes code without CFI,
 * is a difference, but for padding inside of an FDE that holds several functions. Code
 * whose CFI could be said, but that has no row, is missing. "Could be said" goes by the
 * version and the machine of the section at hand, whoever made it.
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
#include "gen/rows/policy.h"
#include "sframe/decode.h"

#define VERIFY_MAX_TEXTS 20
#define VERIFY_MAX_MISSING 64
/* A damaged section can differ in millions of places; nobody reads on beyond these. */
#define VERIFY_MAX_REPORTED 10000

struct verify_result {
	/* Set by the caller before: gets the first VERIFY_MAX_REPORTED differences in
	 * words. NULL: they are only counted. */
	void (*differ)(void *context, const char *text);
	void *context;
	uint64_t agreed_bytes;	 /* code bytes with CFI on which both agree */
	uint64_t template_bytes; /* code bytes without CFI that match a PLT template */
	uint64_t padding_bytes;	 /* below 16 at a time between two functions of one FDE */
	uint64_t missing_bytes;	 /* code bytes that could have had a row */
	uint64_t skipped_bytes; /* with rows, --witness=libdwarf: beyond the bound per FDE
				 */
	size_t n_differences;
	size_t n_texts; /* the first differences in words */
	char texts[VERIFY_MAX_TEXTS][260];
	size_t n_missing; /* FDEs with missing bytes; the first ones in words */
	char missing[VERIFY_MAX_MISSING][260];
};

/* Borrows everything. */
struct verify_input {
	const struct sf_view *view;
	const struct cfi_frames *frames;
	const struct cfi_ranges *ranges;
	const struct policy *policy;
};

/*
 * Compares with this project's own interpreter. False on ERR_NOMEM and when the section
 * does not even pass sf_check_all (ERR_MALFORMED); differences are in *result, not
 * errors.
 */
ATTR_MUST_CHECK bool verify_own(
    const struct verify_input *input, struct verify_result *result, struct err *err);

/*
 * Compares with libdwarf's register table, at most max_rows rows per FDE because its cost
 * is quadratic. Missing rows are not judged. progress may be NULL.
 */
ATTR_MUST_CHECK bool verify_libdwarf(const struct verify_input *input, size_t max_rows,
    const struct progress *progress, struct verify_result *result, struct err *err);

#endif
