/* SPDX-License-Identifier: MIT */
/*
 * Named checks of a decoded section: everything a reader may rely on beyond what sf_view_open needs.
 * Harmless habits of GNU as pass: functions of
 * size 0, a row at a function's end. Consumers that refuse those have rules in gen/verify/lint.h.
 */
#ifndef SFRAME_CHECK_H
#define SFRAME_CHECK_H

#include "base/attr.h"
#include "base/err.h"
#include "sframe/decode.h"

/* A rule of the format and what it demands, in words. Readers demand the same or more of it. */
#define SF_WORDS_FLAGS "flags", "no flag that the version does not define"
#define SF_WORDS_VERSION "version", "this version is read for this machine"
#define SF_WORDS_READABLE                                                                \
	"readable", "function descriptors, row types and word counts are possible"
#define SF_WORDS_FUNC_ORDER "func-order", "function starts ascend strictly"
#define SF_WORDS_FUNC_OVERLAP "func-overlap", "functions do not overlap"
#define SF_WORDS_FUNC_END "func-end", "functions end inside the address space"
#define SF_WORDS_BLOCK "block", "a PCMASK function has a block size"
#define SF_WORDS_FUNC_ROWS "func-rows", "every function has rows"
#define SF_WORDS_ROW_ORDER "row-order", "row starts ascend strictly"
#define SF_WORDS_ROW_INSIDE "row-inside", "rows start below the function size"
#define SF_WORDS_COUNT "count", "the header's row count is the sum over the functions"

/* In this order the first one that is broken does not follow from another. */
#define SF_CHECKS(X)                                                                     \
	X(FLAGS), X(VERSION), X(READABLE), X(FUNC_ORDER), X(FUNC_END), X(FUNC_OVERLAP),  \
	    X(BLOCK), X(FUNC_ROWS), X(ROW_ORDER), X(ROW_INSIDE), X(COUNT)

enum sf_check {
#define SF_CHECK_ENUMERATOR(id) SF_CHECK_##id
	SF_CHECKS(SF_CHECK_ENUMERATOR),
#undef SF_CHECK_ENUMERATOR
	SF_N_CHECKS,
};

struct sf_words {
	const char *name, *text;
};

/* Says that a rule is broken at off of the section, or as damage says, which begins with a place; returns false.
 * ERR_MALFORMED. */
bool sf_broken(struct sf_words rule, uint64_t off, const char *damage, struct err *err);

/* Runs every check; on a breach returns false, with the first one told as by sf_broken. */
ATTR_MUST_CHECK bool sf_check_all(const struct sf_view *view, struct err *err);

/*
 * Returns where bytes that are not zero begin behind the rows; the size: nowhere. When another section begins there, as
 * linkers leave them that do not know the format, *others says how many there are; the caller has zeroed it.
 */
uint64_t sf_behind(const struct sf_view *view, struct err *others);

#endif
