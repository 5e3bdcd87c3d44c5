/* SPDX-License-Identifier: MIT */
/*
 * Demands of each reader of SFrame beyond the format: rules with names, each with the readers and versions it
 * belongs to. A section can be well formed and still be refused, or be looked up wrongly, by one of them.
 */
#ifndef GEN_VERIFY_LINT_H
#define GEN_VERIFY_LINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/sources/input.h"
#include "gen/options/reader.h"
#include "sframe/check.h"

/* Readers (gen/options/reader.h) that share rules. */
#define LINT_KERNEL READER_LINUX
#define LINT_GLIBC READER_GLIBC
#define LINT_LIBSFRAME                                                                   \
	(READER_BINUTILS_2_40 | READER_BINUTILS_2_41 | READER_BINUTILS_2_45 |            \
	    READER_BINUTILS_2_46)
#define LINT_ALL READER_ALL
#define LINT_KG (LINT_KERNEL | LINT_GLIBC)
#define LINT_KL (LINT_KERNEL | LINT_LIBSFRAME)
#define LINT_GL (LINT_GLIBC | LINT_LIBSFRAME)
/* Look-ups of libsframe take starts as relative to their field, whatever the flag says. */
#define LINT_PCREL (LINT_KERNEL | READER_BINUTILS_2_45 | READER_BINUTILS_2_46)

/* X(ENUMERATOR, readers, first version, last version, "name", "what is demanded") */
#define LINT_RULES(X)                                                                    \
	X(VERSION, LINT_ALL, 1, 3, SF_WORDS_VERSION)                                     \
	X(FLAGS, LINT_GL, 1, 3, SF_WORDS_FLAGS)                                          \
	X(SORTED, LINT_ALL, 1, 3, "sorted", "the flag FDE_SORTED is set")                \
	X(PCREL, LINT_PCREL, 2, 3, "pcrel", "the flag FDE_FUNC_START_PCREL is set")      \
	X(NO_PCREL, READER_BINUTILS_2_41, 2, 2, "no-pcrel",                              \
	    "the flag FDE_FUNC_START_PCREL is not set")                                  \
	X(NO_FLEX, READER_LINUX_ARM64, 3, 3, "no-flex", "no function is flexible")       \
	X(FIXED_OFFSETS, LINT_ALL, 1, 3, "fixed-offsets",                                \
	    "the header's fixed offsets of FP and RA are the machine's")                 \
	X(AUX_HEADER, LINT_ALL, 1, 3, "aux-header", "there is no auxiliary header")      \
	X(ADJACENT, LINT_GLIBC, 1, 3, "adjacent",                                        \
	    "header, functions and rows follow each other without a gap")                \
	X(SINGLE, LINT_ALL, 1, 3, "single", "no other section stands behind this one")   \
	X(TAIL, LINT_LIBSFRAME, 1, 3, "tail", "bytes after the rows are zero")           \
	X(NOT_EMPTY, LINT_KERNEL, 1, 3, "not-empty", "there are functions and rows")     \
	X(READABLE, LINT_ALL, 1, 3, SF_WORDS_READABLE)                                   \
	X(COUNT, LINT_LIBSFRAME, 1, 3, SF_WORDS_COUNT)                                   \
	X(FUNC_ORDER, LINT_ALL, 1, 3, SF_WORDS_FUNC_ORDER)                               \
	X(FUNC_OVERLAP, LINT_KERNEL, 1, 3, SF_WORDS_FUNC_OVERLAP)                        \
	X(FUNC_CODE, LINT_KERNEL, 1, 3, "func-code",                                     \
	    "every function lies inside one executable segment")                         \
	X(FUNC_SEGMENT, LINT_KERNEL, 1, 3, "func-segment",                               \
	    "all functions lie inside the same executable segment")                      \
	X(FUNC_SIZE, LINT_ALL, 1, 3, "func-size", "no function is empty")                \
	X(FUNC_FAR, LINT_GLIBC, 1, 3, "func-far", "no function has 2 GiB or more")       \
	X(FUNC_END, LINT_ALL, 1, 3, SF_WORDS_FUNC_END)                                   \
	X(CALL_AT_END, LINT_KG, 1, 3, "call-at-end",                                     \
	    "a function that ends in a call reaches over a unit of the filler behind "   \
	    "it")                                                                        \
	X(FUNC_ROWS, LINT_KL, 1, 3, SF_WORDS_FUNC_ROWS)                                  \
	X(BLOCK, LINT_ALL, 2, 3, SF_WORDS_BLOCK)                                         \
	X(PCMASK, LINT_LIBSFRAME, 1, 1, "pcmask",                                        \
	    "no PCMASK function, which readers of version 1 look up wrongly")            \
	X(ROW_FIRST, LINT_KG, 1, 3, "row-first", "the first row is at the start")        \
	X(ROW_ORDER, LINT_ALL, 1, 3, SF_WORDS_ROW_ORDER)                                 \
	X(ROW_INSIDE, LINT_KL, 1, 3, SF_WORDS_ROW_INSIDE)                                \
	X(ROW_WORDS, LINT_KG, 1, 2, "row-words",                                         \
	    "no row without words, which older readers refuse")                          \
	X(ROW_REGISTER, LINT_KERNEL, 3, 3, "row-register",                               \
	    "no row names a register above 31")                                          \
	X(ROW_COUNT, LINT_KERNEL, 3, 3, "row-count",                                     \
	    "no function has more rows than bytes")                                      \
	X(ROW_SHARED, LINT_LIBSFRAME, 1, 3, "row-shared",                                \
	    "in a big-endian section no two functions share rows")                       \
	X(ONE_SEGMENT, LINT_KG, 1, 3, "one-segment",                                     \
	    "the section lies inside the file bytes of one PT_LOAD")                     \
	X(PHDR, LINT_KG, 1, 3, "phdr", "one PT_GNU_SFRAME begins where the section does")

enum lint_rule {
#define LINT_ENUMERATOR(id, readers, first, last, ...) LINT_RULE_##id,
	LINT_RULES(LINT_ENUMERATOR)
#undef LINT_ENUMERATOR
	    LINT_N_RULES,
};

struct lint_result {
	unsigned int n_broken; /* rules */
	struct err damage;     /* that READABLE found first */
	struct err others;     /* that SINGLE found */
	struct {
		uint64_t times;
		uint64_t off;	/* of the first place, from the section's start */
		uint64_t pc;	/* of its function; 0: not about one */
		uint8_t broken; /* readers that demand it */
	} rules[LINT_N_RULES];
};

/* Says where a rule of the result is broken first, as sf_broken. */
void lint_tell(const struct lint_result *result, enum lint_rule rule, struct err *err);

/* Opens the section that the image carries; ERR_NOTHING when it has none. */
ATTR_MUST_CHECK bool lint_view(
    const struct image *image, struct sf_view *view, struct err *err);
/* Advice for a section that is at fault. */
const char *lint_advice(const struct image *image);
/* Adds that to an error about the section that has no advice yet; returns false. */
bool lint_advise(const struct image *image, struct err *err);
/*
 * Checks that the header is one for this machine, with the fixed places of the caller's FP and return address,
 * which hold for every row (ERR_PROOF where one is another), and that sf_check_all passes.
 */
ATTR_MUST_CHECK bool lint_format(
    const struct image *image, const struct sf_view *view, struct err *err);

/* The readers that a section is meant for, by its version, machine and flags. */
unsigned int lint_readers_of(const struct sf_view *view);

/*
 * Holds a section against the rules of readers. image is the file that the section is in;
 * NULL for a section on its own: then rules on segments are not judged. Nor are they for
 * an object, which need not be sorted either. own: just made, by a writer that looked where functions end in calls.
 */
void lint_section(const struct sf_view *view, const struct image *image,
    unsigned int readers, bool own, struct lint_result *result);

/*
 * Checks a section that this program made: by the rules of all readers it is meant for, except those
 * that a file's segments or an option can break. ERR_INTERNAL names the first broken rule. named may
 * be NULL; ERR_UNSUPPORTED when that reader cannot read the section. image as above.
 */
ATTR_MUST_CHECK bool lint_own(const struct sf_view *view, const struct image *image,
    const struct reader *named, struct err *err);
/* As lint_own, for the section that the file has. */
ATTR_MUST_CHECK bool lint_own_file(
    const struct image *image, const struct reader *named, struct err *err);

#endif
