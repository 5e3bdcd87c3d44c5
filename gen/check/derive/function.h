/* SPDX-License-Identifier: MIT */
/* One group of pieces, looked at by one thread. */
#ifndef GEN_CHECK_DERIVE_FUNCTION_H
#define GEN_CHECK_DERIVE_FUNCTION_H

#include "code/paths.h"
#include "gen/check/derive/groups.h"
#include "gen/rows/derived.h"
#include "gen/check/callees.h"
#include "gen/check/landing.h"
#include "gen/check/refs.h"

/* A group depends on what a function does that it calls, or that it jumps to at its end. */
struct derive_call {
	uint64_t callee, caller; /* addresses: of an entry, and of a piece */
};

/* For trials of the derivation itself. */
struct derive_trial {
	void *context;
	const struct derive_starts *known; /* functions begin there, for sure */
	const struct validate_landings *landings;
	/* Sees each instruction that was reached, at the end and from several threads. */
	void (*place)(void *context, const struct code_place *place, bool has_row);
};

/* A thread's own memory, which serves one group after the other. */
struct derive_worker {
	const struct image *image;
	const struct cfi_input *input;
	const struct derive_gaps *gaps;
	const struct validate_callees *callees;
	const struct derive_trial *trial; /* NULL: none */
	struct derive_groups *groups; /* shared; each piece is written by one worker */
	const struct validate_refs *refs; /* shared */
	bool emit; /* the last round: rows are wanted, all else is known */
	struct code_paths *paths;
	struct code_range *code;
	size_t n_code, cap_code;
	uint64_t *entries;
	size_t n_entries, cap_entries;
	/* Of the group at hand: */
	const uint32_t *members;
	struct derive_summary summary;
	bool odd;    /* a return with SP elsewhere than at entry */
	bool unsure; /* a return where it is not known where SP is */
	/* A register that callees keep is another at a return: what data points to does not do that. */
	bool spoils;
	bool limited;	 /* it has too many ways; more may be known of its tables later */
	bool asked;	 /* for the end of a table */
	bool comes_back; /* by a return with SP as at entry */
	bool hands_over; /* to another function, with SP as at entry */
	bool sure;	 /* one of its entries is, or is called */
	/* Callers find their frame pointer without this frame, so its rows need not tell it. */
	bool fp_free;
	/* Only what is in good gets rows: some entries can be labels. */
	bool choosy;
	struct derived good; /* ascending, without rows */
	uint64_t *good_entries;
	size_t cap_good_entries;
	size_t at; /* where in rows its rows begin */
	size_t n_links_before, n_starts_before, n_calls_before; /* of others */
	/* Results: */
	struct derive_links links;
	struct derive_starts starts;  /* callees in the gaps */
	struct derive_starts dropped; /* weak starts at which no function begins */
	struct derive_call *calls;
	size_t n_calls, cap_calls;
	struct validate_refs found;
	uint64_t *askers; /* pieces whose group asked for the end of a table */
	size_t n_askers, cap_askers;
	uint64_t *fp_needed; /* entries whose callers need their frame pointer */
	size_t n_fp_needed, cap_fp_needed;
	struct derived rows;
	struct derived seen; /* instructions that were reached, without their rows */
	bool nomem;
};

ATTR_MUST_CHECK bool derive_worker_init(struct derive_worker *worker);
void derive_worker_deinit(struct derive_worker *worker);

/* Looks at the group of these pieces, which ascend. Sets their next summary. False: out of
 * memory. */
ATTR_MUST_CHECK bool derive_unit(
    struct derive_worker *worker, const uint32_t *members, size_t n);

/* ---- steps of derive_unit ---- */

/* Follows the group at hand from these entries, and visits all places. The worker gets what the ways
 * say. False: out of memory. */
ATTR_MUST_CHECK bool derive_unit_paths(struct derive_worker *worker,
    const uint64_t *entries, size_t n_entries,
    bool (*visit)(void *context, const struct code_place *place), struct err *err);
/* Notes of the worker's group whether control goes back to the caller here, or to an address that
 * only the run knows. */
void derive_unit_at_end(struct derive_worker *worker, const struct code_place *place);

/*
 * Several entries share code: a weak one of them can be a label, which no way from it tells once the
 * others' ways are there, too. So each is followed alone. Rows are for what the others lead to, with the
 * states that all together make. False: out of memory.
 */
ATTR_MUST_CHECK bool derive_confirm(struct derive_worker *worker);
/* Whether rows may be given to pc after that. */
bool derive_is_good(const struct derive_worker *worker, uint64_t pc);

#endif
