/* SPDX-License-Identifier: MIT */
/*
 * Places from which the ends of a function's ways take SP, the frame pointer and the return address, followed back
 * to each instruction. A row made from the code names only such places: never a copy that the program made for
 * itself, nor a register that holds the value by the ways that are known, where the code itself takes it from a
 * slot.
 */
#ifndef GEN_CHECK_NEEDS_H
#define GEN_CHECK_NEEDS_H

#include "base/attr.h"
#include "cfi/row.h"
#include "code/paths.h"

/* Values that a function gives back. */
enum need_of { NEED_SP, NEED_FP, NEED_RA, N_NEEDS };

/* The place that the ends of all ways take such a value from. */
struct need {
	enum need_kind {
		NEED_NOTHING, /* no way ends as it must */
		NEED_REG,
		NEED_SLOT,
		NEED_LOST, /* they differ, or it cannot be told */
	} kind;
	uint8_t reg;		 /* for SP: it is a number of bytes from it */
	struct code_value where; /* SLOT; else zero */
};

/* One effect of an instruction on where values are. */
struct needs_move {
	enum needs_move_kind {
		NEEDS_MOVE_LOSES, /* dst gets another value */
		NEEDS_MOVE_COPY,  /* dst = base + a number */
		NEEDS_MOVE_LOAD, /* dst = the slot at where, which is a number of bytes from base */
		NEEDS_MOVE_STORE, /* the slot = dst */
	} kind;
	uint8_t dst, base;
	struct code_value where; /* CODE_UNKNOWN: not known */
};

struct needs_place {
	uint64_t pc;
	uint8_t length, n_moves;
	bool next;	     /* control goes on to the next instruction */
	bool ends;	     /* it has ends */
	uint32_t first_move; /* in the moves */
	uint32_t
	    lost; /* a bit for each register that gets another value after the moves */
	struct need list[N_NEEDS]; /* before the instruction */
};

/* Needs of a way that ends behind a place. */
struct needs_end {
	uint64_t pc;
	struct need list[N_NEEDS];
};

/* Control goes from one place to another by more than going on to the next instruction. */
struct needs_edge {
	uint64_t from, to;
};

struct needs_edges {
	struct needs_edge
	    *list; /* owned; ascending and each once, once they have been sorted */
	size_t n, cap;
	size_t sorted; /* at the list's head */
};

void needs_edges_clear(struct needs_edges *edges);
/* Adds an edge. False: out of memory. */
ATTR_MUST_CHECK bool needs_edges_add(
    struct needs_edges *edges, uint64_t from, uint64_t to);
void needs_edges_sort(struct needs_edges *edges);
/* Returns the index of the first edge from pc in a sorted list; the list's length if there is none. */
size_t needs_edges_from(const struct needs_edges *edges, uint64_t pc);

/* The places of one function. Zeroed at first; its memory serves one function after the other. */
struct needs {
	const struct code_abi *abi;
	struct needs_place *places; /* ascending, once they have been spread */
	size_t n_places, cap_places;
	struct needs_move *moves;
	size_t n_moves, cap_moves;
	struct needs_end *ends;
	size_t n_ends, cap_ends;
	bool nomem;
};

void needs_begin(struct needs *needs, const struct code_abi *abi);
void needs_deinit(struct needs *needs);

/* Adds a place, and what its instruction moves. next: control goes on to the next instruction. */
void needs_note(struct needs *needs, const struct code_place *place, bool next);
struct need need_of_reg(uint8_t reg);
struct need need_of_slot(struct code_value where);
/* Returns the place of the return address at the entry of a function that is called as the ABI says. */
struct need needs_usual_ra(const struct code_abi *abi);

/* Adds an end to the place that was noted last: it returns, or hands on to a function, which finds the return address there. */
void needs_note_end(struct needs *needs, struct need ra);
/* As needs_note_end, for a way that goes on in other code where the row holds. */
void needs_note_row(struct needs *needs, const struct cfi_row *row);
/* As needs_note_end, for a way whose end is unknown. */
void needs_note_doubt(struct needs *needs);
/* Gives each place what the ends of its ways need. edges are sorted. False: too many jumps go back. */
ATTR_MUST_CHECK bool needs_spread(struct needs *needs, const struct needs_edges *edges);

/* The needs of the place at pc; NULL: it has not been noted. */
const struct need *needs_at(const struct needs *needs, uint64_t pc);
bool needs_same(const struct need a[N_NEEDS], const struct need b[N_NEEDS]);
/* True if no other registers are needed than SP, the frame pointer and the return address's. */
bool needs_are_usual(const struct code_abi *abi, const struct need list[N_NEEDS]);
/* Leaves in the state the registers and slots that a row may name. False: there are none. */
ATTR_MUST_CHECK bool needs_apply(const struct code_abi *abi,
    const struct need list[N_NEEDS], struct code_state *state);
/*
 * As needs_apply, where no way ends, so that nothing is needed: keeps a register that has its own value, else the
 * only slot that has it.
 */
ATTR_MUST_CHECK bool needs_apply_none(
    const struct code_abi *abi, struct code_state *state);

#endif
