/* SPDX-License-Identifier: MIT */
/* One entry, looked at by one thread: all ways from it, and how each of them ends. */
#ifndef GEN_CHECK_DERIVE_WALK_H
#define GEN_CHECK_DERIVE_WALK_H

#include "cfi/interp.h"
#include "code/paths.h"
#include "gen/check/derive/entries.h"
#include "gen/check/needs.h"
#include "gen/rows/derived.h"

/* The result of an entry depends on what is known at another address. */
struct derive_use {
	uint64_t of, by; /* addresses; by is an entry */
};

struct derive_uses {
	struct derive_use *list; /* ascending and each once, where not told otherwise */
	size_t n, cap;
};

/* Knowledge of a place, by all ways that go on from it. */
enum derive_place_flags {
	DERIVE_GOOD = 1, /* one of them ends as it must */
	DERIVE_BAD = 2,	 /* how one of them ends is not known */
	DERIVE_NEXT = 4, /* control goes on to the next instruction */
	/* Control goes on behind a call whose callee is not known to return. */
	DERIVE_MAYBE = 8,
	DERIVE_ROW = 16,   /* the state gives a row */
	DERIVE_WRONG = 32, /* one of them ends as it must not */
	/* A way that goes on behind such a call ends as it must not. */
	DERIVE_BEHIND = 64,
	DERIVE_DOUBTED = DERIVE_BAD | DERIVE_WRONG,
};

struct derive_place {
	uint64_t pc;
	uint8_t length, flags; /* enum derive_place_flags, or-ed */
	uint32_t row;	       /* in the walk's rows */
};

/* An address that an instruction calls or puts into a register. */
struct derive_ref {
	uint64_t from, to;
	uint8_t origin; /* enum derive_origin */
};

/* A stretch of code, and the verdict of an entry's ways on it: DERIVE_GOOD, DERIVE_BAD or neither. */
struct derive_stretch {
	uint64_t start, end;
	uint32_t row; /* in the walker's rows */
	uint8_t flags;
};

/* A thread's own memory, which serves one entry after the other. */
struct derive_walker {
	const struct image *image;
	const struct cfi_input *input;
	const struct derive_gaps *gaps;
	const struct validate_callees *callees;
	struct derive_entries *entries; /* shared; each one is written by one walker */
	const struct code_abi *abi;
	bool emit; /* the last look: rows are wanted, all else is known */
	/* Blocks of code beside their own that entries have asked for: `of` is where a block begins. */
	const struct derive_uses *asked;
	struct code_paths *paths;
	struct code_paths_input paths_input; /* of its last run; visiting reads it, too */
	struct cfi_interp interp;	     /* its table is of range interpreted */
	size_t interpreted;
	/* For the entry at hand: */
	struct derive_entry *entry;
	struct code_range *code; /* ascending */
	size_t n_code, cap_code, n_bytes;
	bool waits;	  /* for an answer to what it asks in this round */
	bool crowded;	  /* it leads into code that too many entries ask for */
	uint64_t *wanted; /* addresses that control leads to and that code lacks */
	size_t n_wanted, cap_wanted;
	uint64_t *cuts; /* calls behind which nothing fits; ascending */
	size_t n_cuts, cap_cuts;
	struct needs_edges edges, outs; /* inside of code, and out of it */
	struct derive_ref *refs;
	size_t n_refs, cap_refs;
	struct derive_place *places; /* ascending */
	size_t n_places, cap_places;
	struct needs needs; /* of the last look */
	struct derive_summary summary;
	/* A jump goes nobody knows where: with the frame of the entry, or as it was entered. */
	bool open_framed, open_bare;
	/* SP comes out of memory; a return is where SP is not known. */
	bool loses_sp, returns_somehow;
	/* Results: */
	struct derive_entries found;
	struct derive_uses uses, asks; /* in no order */
	struct derive_stretch *stretches;
	size_t n_stretches, cap_stretches;
	uint64_t
	    *lost; /* addresses that control may come to in a state that is not known */
	size_t n_lost, cap_lost;
	struct cfi_row *rows;
	size_t n_rows, cap_rows;
	bool nomem;
};

ATTR_MUST_CHECK bool derive_walker_init(struct derive_walker *walker);
void derive_walker_deinit(struct derive_walker *walker);

/* Looks at the entry, and sets its next summary. False: out of memory. */
ATTR_MUST_CHECK bool derive_walk(
    struct derive_walker *walker, struct derive_entry *entry);

/* ---- for the files of a walk ---- */

/* Returns the walker's answers to the analysis of paths. */
struct code_host derive_host(struct derive_walker *walker);
/* The index of the range of the CFI that addr is in; SIZE_MAX: none. */
size_t derive_range_at(const struct derive_walker *walker, uint64_t addr);
/* True if no way goes on behind the call at pc. */
bool derive_is_cut(const struct derive_walker *walker, uint64_t pc);
/* Returns the effect of the callee of a call that is made in the state before; NULL: unknown. */
const struct callee_effect *derive_callee(struct derive_walker *walker,
    const struct code_insn *call, const struct code_state *before);
/* For code_paths_visit: adds the place to those of the walker. */
bool derive_place(void *context, const struct code_place *place);
/* For code_paths_visit, once the needs are known: adds the place's row. */
bool derive_place_row(void *context, const struct code_place *place);
/*
 * Adds what the code refers to: at first wherever it is not known to be wrong, to find out what a callee
 * does. At last from what is proven alone: a call from there proves that a function begins.
 */
void derive_find(struct derive_walker *walker);
/* Appends the results at the places: the rows of a proven entry, and doubts of any. */
void derive_emit(struct derive_walker *walker);
/* Notes addresses to which control goes without being followed to its end. */
void derive_emit_lost(struct derive_walker *walker);

/* Notes that the ways of the entry at hand depend on addr. */
void derive_note_use(struct derive_walker *walker, uint64_t addr);
/* Notes that the instruction at from gives the address to this origin. */
void derive_refer(
    struct derive_walker *walker, uint64_t from, uint64_t to, enum derive_origin origin);
/* True if a call that is followed may return, by what is known of its callee. *surely: it does. */
bool derive_call_returns(
    const struct derive_walker *walker, const struct code_insn *call, bool *surely);
/* The row of the CFI at addr; NULL: none. */
const struct cfi_row *derive_described_row(struct derive_walker *walker, uint64_t addr);

/* Judges how ways end at the place, by the state there: DERIVE_GOOD, DERIVE_BAD or neither. Adds to the
 * entry's summary. */
uint8_t derive_end_at(struct derive_walker *walker, const struct code_place *place);
/* The place at pc; NULL: no way leads there. */
const struct derive_place *derive_place_at(
    const struct derive_walker *walker, uint64_t pc);
/* Spreads the ends of ways back to each place. False: too many jumps go back. */
ATTR_MUST_CHECK bool derive_spread(struct derive_walker *walker);
/* Finds calls behind which the ways go wrong, and at which nothing else shows that they return. True if
 * one is new. */
bool derive_cut(struct derive_walker *walker);

#endif
