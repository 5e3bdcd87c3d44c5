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
#include "sframe/decode.h"

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

/* X(ENUMERATOR, "name", readers, first version, last version, "what is demanded") */
#define LINT_RULES(X)                                                                    \
	X(VERSION, "version", LINT_ALL, 1, 3,                                            \
	    "the reader reads this version for this machine")                            \
	X(FLAGS, "flags", LINT_GL, 1, 3, "no flag that the version does not define")     \
	X(SORTED, "sorted", LINT_ALL, 1, 3, "the flag FDE_SORTED is set")                \
	X(PCREL, "pcrel", LINT_PCREL, 2, 3, "the flag FDE_FUNC_START_PCREL is set")      \
	X(NO_PCREL, "no-pcrel", READER_BINUTILS_2_41, 2, 2,                              \
	    "the flag FDE_FUNC_START_PCREL is not set")                                  \
	X(NO_FLEX, "no-flex", READER_LINUX_ARM64, 3, 3, "no function is flexible")       \
	X(FIXED_OFFSETS, "fixed-offsets", LINT_ALL, 1, 3,                                \
	    "the header's fixed offsets of FP and RA are the machine's")                 \
	X(AUX_HEADER, "aux-header", LINT_ALL, 1, 3, "there is no auxiliary header")      \
	X(ADJACENT, "adjacent", LINT_GLIBC, 1, 3,                                        \
	    "header, functions and rows follow each other without a gap")                \
	X(TAIL, "tail", LINT_LIBSFRAME, 1, 3, "bytes after the rows are zero")           \
	X(NOT_EMPTY, "not-empty", LINT_KERNEL, 1, 3, "there are functions and rows")     \
	X(READABLE, "readable", LINT_ALL, 1, 3,                                          \
	    "function descriptors, row types and word counts are possible")              \
	X(COUNT, "count", LINT_LIBSFRAME, 1, 3,                                          \
	    "the header's row count is the sum over the functions")                      \
	X(FUNC_ORDER, "func-order", LINT_ALL, 1, 3, "function starts ascend strictly")   \
	X(FUNC_OVERLAP, "func-overlap", LINT_KERNEL, 1, 3, "functions do not overlap")   \
	X(FUNC_CODE, "func-code", LINT_KERNEL, 1, 3,                                     \
	    "every function lies inside one executable segment")                         \
	X(FUNC_SEGMENT, "func-segment", LINT_KERNEL, 1, 3,                               \
	    "all functions lie inside the same executable segment")                      \
	X(FUNC_SIZE, "func-size", LINT_ALL, 1, 3, "no function is empty")                \
	X(FUNC_FAR, "func-far", LINT_GLIBC, 1, 3, "no function has 2 GiB or more")       \
	X(CALL_AT_END, "call-at-end", LINT_KG, 1, 3,                                     \
	    "a function that ends in a call reaches over a unit of the filler behind "   \
	    "it")                                                                        \
	X(FUNC_ROWS, "func-rows", LINT_KL, 1, 3, "every function has rows")              \
	X(BLOCK, "block", LINT_ALL, 2, 3, "a PCMASK function has a block size")          \
	X(PCMASK, "pcmask", LINT_LIBSFRAME, 1, 1,                                        \
	    "no PCMASK function, which readers of version 1 look up wrongly")            \
	X(ROW_FIRST, "row-first", LINT_KG, 1, 3, "the first row is at the start")        \
	X(ROW_ORDER, "row-order", LINT_ALL, 1, 3, "row starts ascend strictly")          \
	X(ROW_INSIDE, "row-inside", LINT_KL, 1, 3, "rows start below the function size") \
	X(ROW_WORDS, "row-words", LINT_KG, 1, 2,                                         \
	    "no row without words, which older readers refuse")                          \
	X(ROW_REGISTER, "row-register", LINT_KERNEL, 3, 3,                               \
	    "no row names a register above 31")                                          \
	X(ROW_COUNT, "row-count", LINT_KERNEL, 3, 3,                                     \
	    "no function has more rows than bytes")                                      \
	X(ROW_SHARED, "row-shared", LINT_LIBSFRAME, 1, 3,                                \
	    "in a big-endian section no two functions share rows")                       \
	X(ONE_SEGMENT, "one-segment", LINT_KERNEL, 1, 3,                                 \
	    "the section lies inside the file bytes of one PT_LOAD")                     \
	X(PHDR, "phdr", LINT_KG, 1, 3, "one PT_GNU_SFRAME begins where the section does")

enum lint_rule {
#define LINT_ENUMERATOR(id, name, readers, first, last, text) LINT_RULE_##id,
	LINT_RULES(LINT_ENUMERATOR)
#undef LINT_ENUMERATOR
	    LINT_N_RULES,
};

struct lint_result {
	unsigned int n_broken; /* rules */
	struct {
		uint64_t times;
		uint64_t off;	/* of the first place, from the section's start */
		uint64_t pc;	/* of its function; 0: not about one */
		uint8_t broken; /* readers that demand it */
	} rules[LINT_N_RULES];
};

const char *lint_rule_name(enum lint_rule rule);
const char *lint_rule_text(enum lint_rule rule);
/* The readers that a section is meant for: by its version, machine and flags. */
unsigned int lint_readers_of(const struct sf_view *view);

/*
 * Holds a section against the rules of readers. image is the file that the section is in;
 * NULL for a section on its own: then rules on segments are not judged. Nor are they for
 * an object, which need not be sorted either.
 */
void lint_section(const struct sf_view *view, const struct image *image,
    unsigned int readers, struct lint_result *result);

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
