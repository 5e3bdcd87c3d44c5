/* SPDX-License-Identifier: MIT */
/* One function with all its parts, checked by one thread. */
#ifndef GEN_CHECK_UNIT_H
#define GEN_CHECK_UNIT_H

#include "cfi/interp.h"
#include "code/paths.h"
#include "gen/check/callees.h"
#include "gen/check/effect.h"
#include "gen/check/landing_pads.h"
#include "gen/check/needs.h"
#include "gen/check/refs.h"
#include "gen/check/validate.h"

/* Control goes from one range of the CFI to another where no row says that a function begins. */
struct validate_link {
	uint32_t from, to; /* indices of ranges */
	bool bare; /* to the first byte of the range, with SP as at a function's entry */
};

/* A range of the CFI that the function consists of, with a copy of its rows. */
struct validate_part {
	uint32_t range;
	size_t row, n_rows; /* in the worker's rows */
	size_t at;	    /* the row that was asked for last */
	/* The return address is above what rows take for the CFA when control comes here. */
	bool resolver;
	bool go;       /* of Go's table, for AArch64 */
	bool entry;    /* a function begins at its first byte */
	bool fragment; /* several functions end in it */
	bool framed;   /* control comes to its first byte with a frame, too */
	/* The value that a row took for the CFA while SP pointed to another stack;
	 * CODE_UNKNOWN: no row did. */
	struct code_value elsewhere;
};

/* Addresses at which a function begins by the rows of a range: from the first to the second, and so on. */
struct validate_turns {
	uint64_t *list; /* owned; NULL: nobody has asked yet */
	size_t n;
};

/* Hooks for trials of the check itself. Either function can be NULL. */
struct validate_trial {
	void *context;
	/* Can change rows of the range before they are looked at, and take some away. */
	void (*rows)(void *context, uint32_t range, struct cfi_table *table);
	/* Sees each instruction that was reached. */
	void (*place)(void *context, uint32_t range, const struct code_place *place);
};

/* A thread's own memory, which serves one function after the other. */
struct validate_worker {
	const struct image *image;
	const struct cfi_input *input;
	struct validate_result *result; /* shared; each range is written by one worker */
	const struct validate_callees *callees; /* shared */
	const struct validate_rows *source;	/* shared; NULL: rows are the CFI's */
	const struct validate_trial *trial;	/* borrowed; NULL: none */
	uint8_t round;
	/* Shared; complete after the first round: what code refers to, and what it calls. */
	const struct validate_refs *refs, *calls;
	struct validate_refs found, called; /* in the first round */
	bool asked; /* the unit at hand has a table without a bound */
	/* Interpreters whose tables hold rows, of either origin. other: for ranges that are not
	 * in the unit. */
	struct cfi_interp interp, other;
	uint32_t
	    interpreted; /* the FDE that the rows of interp are of, or VALIDATE_NO_FDE */
	bool readable;	 /* it has rows */
	struct validate_turns *turns; /* of each range */
	struct code_state entry;      /* of any function */
	struct code_paths *paths;
	struct validate_part *parts;
	size_t n_parts, cap_parts;
	bool rowless; /* none of them has a row */
	struct code_range *code;
	size_t cap_code;
	struct cfi_row *rows;
	size_t n_rows, cap_rows;
	uint64_t *entries;
	size_t n_entries, cap_entries;
	/* No row says that a function begins in the unit. Its first byte is taken for an entry, to see
	 * whether a way comes back to the caller, and whether one returns in another state. */
	bool tries_entry, comes_back, returns_oddly;
	struct validate_landings landings;
	/* Where control went, inside of the unit and out of it, and what the ends of its ways need. */
	struct needs_edges edges, outs;
	struct needs needs;
	/* How the ways of the unit end, and in the round before those of each range; NULL: not known. */
	struct callee_effect effect;
	const struct callee_effect *effects;
	bool passes;	/* a row that is wrong at a call says nothing of its return */
	bool distrusts; /* a callee that comes back may not do so each time */
	/* For this look only: */
	struct {
		/* A callee is not known, so SP may be elsewhere behind the call. */
		bool unsure;
		/* A way returns to another place than the row there says. */
		bool doubted;
		/* A row behind a call was taken for wrong, because the callee comes back. */
		bool overruled;
		/* A way was taken to end at a call whose own row is wrong. */
		bool wrong_at_call;
		/* A way that began in the state of a row comes back to the caller, or with SP elsewhere. */
		bool seeded_well, seeded_oddly;
		bool asked_needs, has_needs; /* worker->needs are those of this look */
		uint64_t end;		     /* behind the instructions so far */
	} seen;
	/* Functions that jumps lead to, with SP elsewhere than at entry and as there; and those of the file. */
	struct validate_refs framed, bare;
	const struct validate_refs *all_framed, *all_bare;
	/* The range of the row that agreed at the last place; NULL: none, or it depends on more than
	 * what a quiet place keeps. */
	struct validate_part *agreed;
	uint64_t agreed_start, agreed_end; /* addresses */
	/* Results: */
	struct validate_link *links;
	size_t n_links, cap_links;
	struct validate_link *uses; /* calls, of all rounds */
	size_t n_uses, cap_uses;
	struct validate_fault *faults;
	size_t n_faults, cap_faults;
	bool nomem;
};

ATTR_MUST_CHECK bool validate_worker_init(struct validate_worker *worker,
    const struct image *image, const struct cfi_input *input,
    const struct validate_callees *callees, struct validate_result *result);
void validate_worker_deinit(struct validate_worker *worker);

/* Looks at the function that consists of these ranges, which ascend. Fills in their results, and
 * adds faults and links. False: out of memory. */
ATTR_MUST_CHECK bool validate_unit(
    struct validate_worker *worker, const uint32_t *ranges, size_t n);

/* For unit.c: */

/* The part that pc is in; NULL: none. */
struct validate_part *validate_part_at(struct validate_worker *worker, uint64_t pc);
/* The row in force at pc, which is in the part. */
const struct cfi_row *validate_row_in(
    const struct validate_worker *worker, struct validate_part *part, uint64_t pc);
/* Adds a range to the unit, if its rows can be looked at. False: out of memory. */
ATTR_MUST_CHECK bool validate_add_part(struct validate_worker *worker, uint32_t index);
/* The range that holds pc. SIZE_MAX: none. */
size_t validate_range_at(const struct validate_worker *worker, uint64_t pc);
/* True if a function begins at pc in the range, by its row: a stub of a PLT is one, too. */
bool validate_begins_function(struct validate_worker *worker, size_t index, uint64_t pc);

/* True if control comes to the first byte of a range by jumps alone, with a frame: it is a part of functions whose
 * last rows may say the same as an entry's. */
bool validate_is_fragment(const struct validate_worker *worker, uint64_t start);

/* As validate_row, for a row of the part. */
struct validate_answer validate_part_row(const struct validate_worker *worker,
    const struct validate_part *part, const struct cfi_row *row,
    const struct code_state *state);

/* True if Go's ABI for AArch64 holds in the code of the FDE. */
bool validate_is_go(const struct validate_worker *worker, const struct cfi_fde *fde);
/* Adds to the state after a call the registers that Go's ABI for AArch64 keeps, where it holds. */
void validate_go_keeps(struct validate_worker *worker, uint64_t pc,
    const struct code_insn *call, const struct code_state *before,
    struct code_state *after);

/* Notes that the part depends on the effect of the range; SIZE_MAX: of none. False: out of memory. */
ATTR_MUST_CHECK bool validate_note_use(
    struct validate_worker *worker, const struct validate_part *part, size_t to);
/* As validate_note_use, for the callee of the call at the place. */
ATTR_MUST_CHECK bool validate_note_call(struct validate_worker *worker,
    const struct validate_part *part, const struct code_place *place);
/* Notes what an instruction that may be the last one of its way tells. */
void validate_note_end(struct validate_worker *worker, const struct validate_part *part,
    const struct cfi_row *row, const struct code_place *place,
    struct validate_answer answer);
/* Publishes what functions do to their callers, and marks in changed those that looked at something else. settle:
 * what still changes of an effect is not known any more. False: out of memory. */
ATTR_MUST_CHECK bool validate_publish(const struct validate_worker *workers,
    size_t n_workers, struct callee_effect *effects, bool settle, uint8_t *changed,
    bool *any);
/* Draws the conclusions from all ends of the unit. Its faults begin at n_faults. */
void validate_end_unit(struct validate_worker *worker, size_t n_faults);

/* code_host.kept: by the callee's own code, where it is known. */
void validate_called(void *context, uint64_t pc, const struct code_insn *call,
    const struct code_state *before, struct code_state *after);
/* code_host.returns: by the callee's own code, else by the row behind the call. */
bool validate_call_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after);
/* code_host.seed: by the row at pc. */
bool validate_seed_at(void *context, uint64_t pc, struct code_state *state);
/* code_host.contradicts: the row at pc. */
bool validate_contradicts_at(void *context, uint64_t pc, const struct code_state *state);

/* Makes the row that the code itself gives at the place, to be written in place of one that it contradicts. False: it is
 * not known, or is of a kind that no test has stepped. */
bool validate_repair(
    struct validate_worker *worker, const struct code_place *place, struct cfi_row *row);

#endif
