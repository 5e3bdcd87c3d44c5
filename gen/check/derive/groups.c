/* SPDX-License-Identifier: MIT */
#include "gen/check/derive/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"

size_t derive_piece_at(const struct derive_groups *groups, uint64_t addr)
{
	size_t i = search_list_above(groups->pieces, groups->n, end, addr);

	return i < groups->n && groups->pieces[i].start <= addr ? i : SIZE_MAX;
}

/* Adds a piece; what is known of the same piece before is kept. */
static bool groups_add(struct derive_groups *groups, const struct derive_groups *before,
    struct derive_piece piece)
{
	size_t i = derive_piece_at(before, piece.start);

	if (!vec_reserve(&groups->pieces, &groups->cap, groups->n + 1))
		return false;
	if (i != SIZE_MAX && before->pieces[i].start == piece.start &&
	    before->pieces[i].end == piece.end &&
	    before->pieces[i].entry == piece.entry) {
		const uint8_t doubt = piece.doubt;

		piece = before->pieces[i];
		piece.fp_needed |= doubt != DERIVE_CALLED;
		piece.doubt = doubt;
	}
	groups->pieces[groups->n++] = piece;
	return true;
}

static bool groups_cut(struct derive_groups *groups, const struct derive_groups *before,
    const struct derive_gaps *gaps, const struct derive_starts *starts)
{
	size_t next = 0;

	for (size_t i = 0; i < gaps->n; i++) {
		const struct derive_gap *gap = &gaps->list[i];
		struct derive_piece piece = {.start = gap->start, .bytes = gap->bytes};

		while (next < starts->n && starts->list[next].addr < gap->start)
			next++;
		for (; next < starts->n && starts->list[next].addr < gap->end; next++) {
			piece.end = starts->list[next].addr;
			if (piece.end > piece.start && !groups_add(groups, before, piece))
				return false;
			piece = (struct derive_piece){.start = piece.end,
			    .bytes = gap->bytes + (piece.end - gap->start),
			    .entry = true,
			    .doubt = starts->list[next].doubt,
			    .summary = {.returns = true, .kept = UINT32_MAX},
			    .fp_needed = starts->list[next].doubt != DERIVE_CALLED};
		}
		piece.end = gap->end;
		if (!groups_add(groups, before, piece))
			return false;
	}
	return true;
}

static uint32_t groups_leader(struct derive_groups *groups, uint32_t piece)
{
	while (groups->leader[piece] != piece) {
		groups->leader[piece] = groups->leader[groups->leader[piece]];
		piece = groups->leader[piece];
	}
	return piece;
}

static void groups_join(struct derive_groups *groups, const struct derive_links *links)
{
	for (size_t i = 0; i < links->n; i++) {
		size_t from = derive_piece_at(groups, links->list[i].from);
		size_t to = derive_piece_at(groups, links->list[i].to);
		uint32_t a, b;

		if (from == SIZE_MAX || to == SIZE_MAX)
			continue;
		a = groups_leader(groups, (uint32_t)from);
		b = groups_leader(groups, (uint32_t)to);
		groups->leader[a > b ? a : b] = a < b ? a : b;
	}
}

bool derive_groups_make(struct derive_groups *groups, const struct derive_gaps *gaps,
    const struct derive_starts *starts, const struct derive_links *links)
{
	struct derive_groups before = *groups;
	bool ok;

	groups->pieces = NULL;
	groups->n = groups->cap = 0;
	ok = groups_cut(groups, &before, gaps, starts) &&
	     vec_reserve(&groups->leader, &groups->cap_leader, groups->n + 1);
	free(before.pieces);
	if (!ok)
		return false;
	for (size_t i = 0; i < groups->n; i++)
		groups->leader[i] = (uint32_t)i;
	groups_join(groups, links);
	return true;
}

/* counts: of each leader, the pieces of a group that is listed. */
static void groups_fill(struct derive_groups *groups, size_t *counts)
{
	size_t at = 0;

	groups->n_groups = 0;
	for (size_t i = 0; i < groups->n; i++) {
		size_t n = counts[i];

		counts[i] = n ? at : SIZE_MAX;
		if (n)
			groups->first[groups->n_groups++] = at;
		at += n;
	}
	groups->first[groups->n_groups] = at;
	for (size_t i = 0; i < groups->n; i++) {
		uint32_t leader = groups_leader(groups, (uint32_t)i);

		if (counts[leader] != SIZE_MAX)
			groups->members[counts[leader]++] = (uint32_t)i;
	}
}

bool derive_groups_list(struct derive_groups *groups, bool all)
{
	size_t *counts = calloc(groups->n + 1, sizeof(*counts));
	struct {
		bool entry, open;
	} *found = calloc(groups->n + 1, sizeof(*found));
	bool ok = counts && found &&
		  vec_reserve(&groups->members, &groups->cap_members, groups->n + 1) &&
		  vec_reserve(&groups->first, &groups->cap_first, groups->n + 1);

	for (size_t i = 0; ok && i < groups->n; i++) {
		uint32_t leader = groups_leader(groups, (uint32_t)i);

		found[leader].entry |= groups->pieces[i].entry;
		found[leader].open |= all || !groups->pieces[i].done;
	}
	for (size_t i = 0; ok && i < groups->n; i++) {
		uint32_t leader = groups_leader(groups, (uint32_t)i);

		counts[leader] += found[leader].entry && found[leader].open;
	}
	if (ok)
		groups_fill(groups, counts);
	free(counts);
	free(found);
	return ok;
}

void derive_groups_deinit(struct derive_groups *groups)
{
	free(groups->pieces);
	free(groups->leader);
	free(groups->members);
	free(groups->first);
	*groups = (struct derive_groups){0};
}
