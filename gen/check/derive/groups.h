/* SPDX-License-Identifier: MIT */
/*
 * Gaps cut at the starts, and pieces that belong together: one function can jump into the middle
 * of what looked like another.
 */
#ifndef GEN_CHECK_DERIVE_GROUPS_H
#define GEN_CHECK_DERIVE_GROUPS_H

#include "gen/check/derive/starts.h"

/*
 * What a caller may expect of a function, if it comes back at all. At first the best is expected of
 * all functions, and each is then looked at with what is expected of its callees, until it holds. So
 * functions that call each other in a circle are no special case.
 */
struct derive_summary {
	bool returns; /* every way that comes back does so with SP as before */
	/* A way comes back, or goes on to a function of which that is known. This is expected of none at
	 * first: labels can hand over to each other. */
	bool back;
	uint32_t kept; /* a bit for each register that then has its value at entry */
};

/* From a start, or from the beginning of a gap, up to the next start or the end of the gap. */
struct derive_piece {
	uint64_t start, end; /* addresses; end is exclusive */
	const uint8_t *bytes;
	bool entry;    /* a function begins here */
	uint8_t doubt; /* enum derive_doubt */
	/* A caller of this entry needs the frame pointer that this function was entered with. */
	bool fp_needed;
	bool done; /* looked at as it is, and all it depends on is as it was */
	struct derive_summary summary; /* of an entry; as all others see it */
	struct derive_summary next;    /* what it is after this round */
};

/* Control goes from one place into the middle of another piece. */
struct derive_link {
	uint64_t from, to; /* addresses */
};

struct derive_links {
	struct derive_link *list; /* owned */
	size_t n, cap;
};

struct derive_groups {
	struct derive_piece *pieces; /* owned; ascending */
	size_t n, cap;
	uint32_t *leader; /* of each piece: the lowest of its group, or nearer to it */
	size_t cap_leader;
	/* Pieces of the groups to look at, one group after the other. */
	uint32_t *members;
	size_t *first; /* where in members each group begins; one more at the end */
	size_t cap_members, cap_first;
	size_t n_groups;
};

/*
 * Cuts the gaps at the starts and joins pieces by links. What is known of a piece that stays the same
 * stays. False: out of memory.
 */
ATTR_MUST_CHECK bool derive_groups_make(struct derive_groups *groups,
    const struct derive_gaps *gaps, const struct derive_starts *starts,
    const struct derive_links *links);
/* Lists the groups of which a piece is not done; all of them with all. False: out of memory. */
ATTR_MUST_CHECK bool derive_groups_list(struct derive_groups *groups, bool all);
void derive_groups_deinit(struct derive_groups *groups); /* accepts a zeroed struct */

/* The index of the piece that addr is in; SIZE_MAX: none. */
size_t derive_piece_at(const struct derive_groups *groups, uint64_t addr);

#endif
