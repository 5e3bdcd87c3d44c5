/* SPDX-License-Identifier: MIT */
/*
 * Compares a function of Go's table with its instructions. The table tells where SP is; the
 * instructions must agree with it one after the other, and they tell where the return address and
 * the caller's frame pointer are, which the table does not.
 */
#ifndef GEN_SOURCES_GO_GO_WALK_H
#define GEN_SOURCES_GO_GO_WALK_H

#include "code/insn.h"
#include "gen/sources/go/go_table.h"

/* Why a function has no rows. */
enum go_reason {
	GO_HAS_ROWS,
	GO_OTHER_STACK,	 /* SP gets an address of another stack */
	GO_SP_MOVES,	 /* SP moves in a way that the table does not tell */
	GO_MARKED,	 /* Go says that it gives SP any value */
	GO_SIGNAL,	 /* it was not called: a signal put it there */
	GO_RETURN_MOVED, /* the return address is not where calls put it */
	GO_WAYS_DIFFER, /* what the caller needs is elsewhere by a jump than by the way before */
	GO_NOT_DECODED, /* its instructions cannot be read */
	GO_N_REASONS,
};

enum go_place {
	GO_IN_REGISTER, /* the register holds the caller's value */
	GO_SAVED,	/* it is at the CFA plus off */
	GO_LOST,	/* neither */
};

/* The place of a register's value that the caller needs. */
struct go_rule {
	uint8_t place; /* enum go_place */
	int64_t off;   /* of GO_SAVED, else 0 */
};

/* Holds from pc on. */
struct go_row {
	uint64_t pc;
	int64_t cfa_off; /* the CFA is SP plus this */
	struct go_rule fp;
	struct go_rule ra; /* x86-64: always saved, at CFA - 8 */
};

/* The rules that hold where an instruction jumps to. */
struct go_jump {
	uint64_t target;
	struct go_rule fp, ra;
};

struct go_rows {
	struct go_row *list; /* owned; ascending; neighbours differ */
	size_t n, cap;
	struct go_jump *jumps; /* owned; inside of the function */
	size_t n_jumps, cap_jumps;
	uint64_t end; /* address; what follows in the function has no rows */
};

/* The function's instructions, func->start up to levels->end. All borrowed. */
struct go_code {
	enum code_machine machine;
	const uint8_t *bytes;
	const struct go_levels *levels;
	uint64_t start;
	const uint64_t
	    *more_stack; /* addresses of runtime.morestack and its other names */
	size_t n_more_stack;
};

/*
 * Makes the rows of a function, at least one if it has any; the last one holds for what fills the function
 * up, too. Words at the end that no way leads to and that are no instructions are left out. rows has memory that is used again. *why says if it has any.
 * False when memory runs out. Needs code_can_decode.
 */
ATTR_MUST_CHECK bool go_walk(
    const struct go_code *code, struct go_rows *rows, enum go_reason *why);

#endif
