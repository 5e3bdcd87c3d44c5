/* SPDX-License-Identifier: MIT */
/* Shared by the proof's two files: comparing one range after the other. */
#ifndef GEN_VERIFY_INTERNAL_H
#define GEN_VERIFY_INTERNAL_H

#include "cfi/row.h"
#include "sframe/cursor.h"
#include "gen/elf/window.h"
#include "gen/rows/target.h"
#include "gen/verify/verify.h"

struct verify_run {
	const struct verify_input *in;
	struct verify_result *result;
	struct sf_cursor cursor;       /* over the section */
	const struct cfi_table *table; /* what CFI says; NULL: nothing may be said */
	size_t at_row;		       /* of table; ascends with the PC */
	const char *source;	       /* of table, in words */
	uint64_t *agreed; /* of result: bytes that agree with such a source */
	const char *no_table_why;
	struct target target; /* what rows for this code can say */
	bool marks_known;     /* target's signal frame and key are what CFI says */
	bool marks_reported;  /* that the section says otherwise */
	bool judge_missing;
	struct image_window code; /* of the file, for a look at each place */
};

/* Begins with nothing compared; cursor is left for the caller to begin. */
struct verify_run verify_begin(
    const struct verify_input *input, struct verify_result *result);

/* Turns to a range of fde: by its source it is known what rows are compared with. */
void verify_turn(struct verify_run *run, const struct cfi_fde *fde);

/* Compares [from, to), which lies inside run->table if there is one. */
ATTR_MUST_CHECK bool verify_range(
    struct verify_run *run, uint64_t from, uint64_t to, struct err *err);

/* Counts a difference at pc, and tells it in words. off: its place in the section; 0: it has none. */
ATTR_PRINTF(4, 5)
void verify_differ(
    struct verify_run *run, uint64_t pc, uint64_t off, const char *fmt, ...);

/* Adds one line for all that is missing of an FDE at pc, or of a stretch of code without CFI. */
void verify_miss(struct verify_run *run, uint64_t pc, uint64_t bytes);

#endif
