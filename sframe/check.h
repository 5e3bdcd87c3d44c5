/* SPDX-License-Identifier: MIT */
/*
 * Named checks of a decoded section: everything a reader may rely on beyond what sf_view_open needs.
 * A check runs only when those it depends on passed. Harmless habits of GNU as pass: functions of
 * size 0, a row at a function's end. Consumers that refuse those have rules in gen/verify/lint.h.
 */
#ifndef SFRAME_CHECK_H
#define SFRAME_CHECK_H

#include "base/attr.h"
#include "base/err.h"
#include "sframe/decode.h"

/* X(ENUMERATOR, "name", "what is wrong when it fails"): what makes another one fail comes before it. */
#define SF_CHECKS(X)                                                                     \
	X(FLAGS, "flags", "a flag bit that the version does not define is set")          \
	X(ABI, "abi", "the ABI identifier is not defined for the version")               \
	X(FUNC_READABLE, "func-readable", "a function descriptor is damaged")            \
	X(FUNC_SIZE, "func-size", "a function passes the end of the address space")      \
	X(FUNC_SORTED, "func-sorted",                                                    \
	    "function starts do not ascend although SORTED is set")                      \
	X(FUNC_OVERLAP, "func-overlap", "two functions overlap")                         \
	X(REP_SIZE, "rep-size", "a PCMASK function has no block size")                   \
	X(ROWS_READABLE, "rows-readable", "a row is damaged")                            \
	X(ROWS_SOME, "rows-some", "a function that needs rows has none")                 \
	X(ROWS_ASCENDING, "rows-ascending", "row starts do not ascend strictly")         \
	X(ROWS_INSIDE, "rows-inside", "a row starts after the function's end")           \
	X(ROWS_TOTAL, "rows-total",                                                      \
	    "the header's row count is not the sum over the functions")

enum sf_check {
#define SF_CHECK_ENUMERATOR(id, name, text) SF_CHECK_##id,
	SF_CHECKS(SF_CHECK_ENUMERATOR)
#undef SF_CHECK_ENUMERATOR
	    SF_N_CHECKS,
};

/*
 * Runs every check; on the first breach, in this order, returns false with "CHECK-NAME: text, at
 * .sframe+0xOFF" (ERR_MALFORMED).
 */
ATTR_MUST_CHECK bool sf_check_all(const struct sf_view *view, struct err *err);

#endif
