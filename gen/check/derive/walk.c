/* SPDX-License-Identifier: MIT */
/* Follows one entry, piece by piece of its code. */
#include "gen/check/derive/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/check/judge.h"

/* A function in more pieces than this, or one that is followed anew more often, is not followed to its end. */
enum {
	WALK_MAX_PIECES = 1024,
	WALK_MAX_LOOKS = 16,
	WALK_MAX_WAITS = 16,
	WALK_MAX_CUTS = 64
};
/*
 * A function is not followed to its end, either, if it leads into a block of code beside its own that more entries
 * ask for: all of them together would take the square of the file's size. Cold parts of other functions are beside
 * its own there, so blocks are small.
 */
enum { WALK_BLOCK = 256, WALK_MAX_ASKING = 64 };

bool derive_walker_init(struct derive_walker *walker)
{
	walker->abi = code_abi(walker->input->arch->code);
	walker->paths = code_paths_new();
	cfi_interp_init(
	    &walker->interp, &walker->input->frames, &walker->input->arch->cfi);
	walker->interpreted = SIZE_MAX;
	return walker->paths;
}

void derive_walker_deinit(struct derive_walker *walker)
{
	code_paths_free(walker->paths);
	cfi_interp_deinit(&walker->interp);
	free(walker->code);
	free(walker->wanted);
	free(walker->cuts);
	free(walker->edges.list);
	free(walker->outs.list);
	free(walker->refs);
	free(walker->places);
	needs_deinit(&walker->needs);
	derive_entries_deinit(&walker->found);
	free(walker->uses.list);
	free(walker->asks.list);
	free(walker->stretches);
	free(walker->lost);
	free(walker->rows);
}

/* ---- where code is ---- */

size_t derive_range_at(const struct derive_walker *walker, uint64_t addr)
{
	const struct cfi_ranges *ranges = &walker->input->ranges;
	size_t i = search_list_above(ranges->list, ranges->n, end, addr);

	return i < ranges->n && ranges->list[i].start <= addr ? i : SIZE_MAX;
}

/* Finds the code around addr: a range of the CFI, or in a gap the code between two
 * entries. False: there is none. */
static bool walk_piece(
    const struct derive_walker *walker, uint64_t addr, struct code_range *piece)
{
	const struct derive_entries *entries = walker->entries;
	const struct derive_gap *gap = derive_gap_at(walker->gaps, addr);
	size_t i;

	if (gap) {
		*piece = (struct code_range){.start = gap->start, .end = gap->end};
		i = search_list_above(entries->list, entries->n, addr, addr);
		if (i < entries->n && entries->list[i].addr < gap->end)
			piece->end = entries->list[i].addr;
		if (i && entries->list[i - 1].addr > gap->start)
			piece->start = entries->list[i - 1].addr;
		piece->bytes = gap->bytes + (piece->start - gap->start);
		piece->readable = gap->end - piece->start;
		return true;
	}
	i = derive_range_at(walker, addr);
	if (i == SIZE_MAX)
		return false;
	piece->start = walker->input->ranges.list[i].start;
	piece->end = walker->input->ranges.list[i].end;
	piece->readable = piece->end - piece->start;
	piece->bytes = image_at_addr(walker->image, piece->start, piece->readable);
	return piece->bytes;
}

/* Adds a piece of code to what the walk follows. */
static void walk_add_piece(struct derive_walker *walker, struct code_range piece)
{
	size_t i;

	/* One more than are followed tells that they are too many. */
	if (walker->n_code > WALK_MAX_PIECES)
		return;
	i = search_list_above(walker->code, walker->n_code, start, piece.start);
	if (i && walker->code[i - 1].start == piece.start)
		return;
	if (!vec_reserve(&walker->code, &walker->cap_code, walker->n_code + 1)) {
		walker->nomem = true;
		return;
	}
	memmove(&walker->code[i + 1], &walker->code[i],
	    (walker->n_code - i) * sizeof(walker->code[0]));
	walker->code[i] = piece;
	walker->n_code++;
	walker->n_bytes += piece.end - piece.start;
}

static void walk_note(
    struct derive_walker *walker, struct derive_uses *uses, uint64_t addr)
{
	if (walker->emit)
		return;
	if (!vec_reserve(&uses->list, &uses->cap, uses->n + 1))
		walker->nomem = true;
	else
		uses->list[uses->n++] = (struct derive_use){addr, walker->entry->addr};
}

void derive_note_use(struct derive_walker *walker, uint64_t addr)
{
	walk_note(walker, &walker->uses, addr);
}

/* Returns how many entries asked for the piece's part in the block in earlier rounds.
 * *own: the entry at hand did. */
static size_t walk_n_asked(const struct derive_walker *walker,
    const struct code_range *piece, uint64_t block, bool *own)
{
	const struct derive_uses *asked = walker->asked;
	const struct derive_use ask = {
	    block < piece->start ? piece->start : block, walker->entry->addr};

	*own = asked->n &&
	       bsearch(&ask, asked->list, asked->n, sizeof(ask), search_order_pairs);
	return search_list_above(asked->list, asked->n, of, ask.of) -
	       search_list_from(asked->list, asked->n, of, ask.of);
}

/* True if the entry may follow the piece in the block. */
static bool walk_has_block(
    const struct derive_walker *walker, const struct code_range *piece, uint64_t block)
{
	bool own;

	return walk_n_asked(walker, piece, block, &own) <= WALK_MAX_ASKING && own;
}

/* Returns where the first of the blocks begins that the entry may follow up to the one at block. */
static uint64_t walk_first_block(
    const struct derive_walker *walker, const struct code_range *piece, uint64_t block)
{
	while (block > piece->start && walk_has_block(walker, piece, block - WALK_BLOCK))
		block -= WALK_BLOCK;
	return block;
}

/* Asks for the block, and for as many behind it as the entry follows in front of it. */
static void walk_ask_from(
    struct derive_walker *walker, const struct code_range *piece, uint64_t block)
{
	const uint64_t last = block + (block - walk_first_block(walker, piece, block));
	bool own;

	walker->waits = true;
	walker->crowded |=
	    walker->emit || walk_n_asked(walker, piece, block, &own) > WALK_MAX_ASKING;
	for (; !walker->crowded && block <= last && block < piece->end;
	     block += WALK_BLOCK)
		walk_note(
		    walker, &walker->asks, block < piece->start ? piece->start : block);
}

/*
 * Follows the code around addr, too, as far as the entry asked for it in earlier rounds: by then it is known how many
 * others did. Else it asks now.
 */
static void walk_ask(struct derive_walker *walker, uint64_t addr)
{
	const uint64_t block = addr & ~(uint64_t)(WALK_BLOCK - 1);
	const size_t i = search_list_above(walker->code, walker->n_code, end, addr);
	uint64_t start, end = block;
	struct code_range piece;

	if ((i < walker->n_code && walker->code[i].start <= addr) ||
	    !walk_piece(walker, addr, &piece))
		return;
	derive_note_use(walker, piece.start);
	while (end < piece.end && walk_has_block(walker, &piece, end))
		end += WALK_BLOCK;
	if (end == block) {
		walk_ask_from(walker, &piece, block);
		return;
	}
	start = walk_first_block(walker, &piece, block);
	if (end < piece.end)
		piece.end = end;
	if (start > piece.start) {
		piece.bytes += start - piece.start;
		piece.readable -= start - piece.start;
		piece.start = start;
	}
	walk_add_piece(walker, piece);
}

const struct cfi_row *derive_described_row(struct derive_walker *walker, uint64_t addr)
{
	const size_t i = derive_range_at(walker, addr);
	const struct cfi_range *range =
	    i == SIZE_MAX ? NULL : &walker->input->ranges.list[i];
	struct err broken = {0};

	if (!range || range->overlapping ||
	    walker->input->frames.fdes[range->fde].program_len > VALIDATE_MAX_ASKED)
		return NULL;
	if (i != walker->interpreted) {
		walker->interpreted = SIZE_MAX;
		walker->interp.max_expr_ops =
		    cfi_ranges_expr_ops(&walker->input->ranges, i);
		if (!cfi_interpret(&walker->interp,
			&walker->input->frames.fdes[range->fde], &broken)) {
			walker->nomem |= broken.kind == ERR_NOMEM;
			return NULL;
		}
		walker->interpreted = i;
	}
	return &walker->interp.table.rows[cfi_table_row_at(&walker->interp.table, addr)];
}

/* ---- the walk ---- */

static struct code_paths_input walk_input(struct derive_walker *walker)
{
	return (struct code_paths_input){.machine = walker->input->arch->code,
	    .ranges = walker->code,
	    .n_ranges = walker->n_code,
	    .entries = &walker->entry->addr,
	    .n_entries = derive_entry_has_state(walker->entry),
	    .wary = true,
	    .host = derive_host(walker)};
}

/* True if the piece has code that no way led to, or the code behind it may belong to the same function. */
static bool walk_is_partial(struct derive_walker *walker, const struct code_range *piece)
{
	const struct derive_entry *behind = derive_entry_at(walker->entries, piece->end);
	size_t i = search_list_from(walker->places, walker->n_places, pc, piece->start);
	uint64_t at = piece->start;
	struct code_range whole;

	if (!walk_piece(walker, at, &whole) || whole.start < at || whole.end > piece->end)
		return true;
	while (at < piece->end) {
		struct code_insn insn;

		if (i < walker->n_places && walker->places[i].pc <= at) {
			at = walker->places[i].pc + walker->places[i].length;
			i++;
			continue;
		}
		if (!code_insn_read(walker->input->arch->code,
			piece->bytes + (at - piece->start), piece->end - at, at, &insn) ||
		    !insn.filler)
			return true;
		at += insn.length;
	}
	if (!behind || derive_entry_is_function(behind))
		return false;
	derive_note_use(walker, behind->addr);
	return !behind->summary.proven;
}

/*
 * A jump that may lead to any place of the function leaves all ways to all places in doubt. A jump that
 * leaves the function as a tail call does can be that of a switch only if there is code that no other way
 * leads to.
 */
static void walk_doubt_all(struct derive_walker *walker)
{
	bool open = walker->open_framed;

	for (size_t i = 0; walker->open_bare && !open && i < walker->n_code; i++)
		open = walk_is_partial(walker, &walker->code[i]);
	for (size_t i = 0; open && i < walker->n_places; i++)
		walker->places[i].flags |= DERIVE_BAD;
}

/* Follows all ways, through all pieces that they lead to. False: they are too many, or memory ran out. */
static bool walk_follow(struct derive_walker *walker)
{
	struct err err = {0};
	size_t n_code;
	int looks = 0;

	walker->n_places = walker->n_refs = 0;
	needs_begin(&walker->needs, walker->abi);
	do {
		n_code = walker->n_code;
		if (looks++ == WALK_MAX_LOOKS)
			return false;
		walker->paths_input = walk_input(walker);
		needs_edges_clear(&walker->edges);
		needs_edges_clear(&walker->outs);
		walker->n_wanted = 0;
		if (!code_paths_run(walker->paths, &walker->paths_input, &err) ||
		    walker->nomem) {
			walker->nomem |= err.kind == ERR_NOMEM;
			return false;
		}
		for (size_t i = 0; i < walker->n_wanted; i++)
			walk_ask(walker, walker->wanted[i]);
		/* In the last round, doubts code that cannot be followed, as far as it is known. */
		if (((walker->waits || walker->crowded) && !walker->emit) ||
		    walker->n_code > WALK_MAX_PIECES)
			return false;
	} while (walker->n_code > n_code);
	if (walker->crowded)
		return false;
	needs_edges_sort(&walker->edges);
	needs_edges_sort(&walker->outs);
	walker->open_framed = walker->open_bare = false;
	walker->loses_sp = walker->returns_somehow = false;
	walker->summary = (struct derive_summary){.effect = CALLEE_NONE};
	(void)code_paths_visit(walker->paths, derive_place, walker);
	if (walker->loses_sp && walker->returns_somehow)
		walker->summary.effect.how = CALLEE_ODD;
	if (walker->n_places)
		qsort(walker->places, walker->n_places, sizeof(*walker->places),
		    search_order);
	walk_doubt_all(walker);
	return derive_spread(walker) && !walker->nomem;
}

/* Keeps one of each address that the entry at hand depends on. */
static void walk_unique_uses(struct derive_walker *walker, size_t first)
{
	struct derive_uses *uses = &walker->uses;
	size_t n = first;

	if (uses->n > first)
		qsort(&uses->list[first], uses->n - first, sizeof(*uses->list),
		    search_order);
	for (size_t i = first; i < uses->n; i++)
		if (n == first || uses->list[n - 1].of != uses->list[i].of)
			uses->list[n++] = uses->list[i];
	uses->n = n;
}

/* Bounds the effect of a function that was not seen to its end by that of one of another file. If it is also
 * entered with other stacks, its callers know no SP behind it, but a frame pointer, as the ABI has it. */
static void walk_bound_effect(struct derive_walker *walker, bool followed)
{
	struct callee_effect *effect = &walker->entry->next.effect;

	if (walker->entry->origin & DERIVE_MIXED)
		*effect = (struct callee_effect){.how = CALLEE_ODD,
		    .kept = UINT32_MAX,
		    .through = ~(UINT32_C(1) << walker->abi->fp)};
	else if (!followed ||
		 (effect->how == CALLEE_NEVER &&
		     (walker->n_cuts || code_paths_is_broken(walker->paths))))
		effect->how = CALLEE_MAY;
}

bool derive_walk(struct derive_walker *walker, struct derive_entry *entry)
{
	const size_t n_uses = walker->uses.n;
	const struct derive_place *first;
	struct code_range own;
	size_t at;
	bool ok, mixed;

	walker->entry = entry;
	walker->n_code = walker->n_bytes = walker->n_cuts = 0;
	needs_edges_clear(&walker->outs);
	/* Drops the entry before; an entry that is not followed keeps this summary. */
	walker->summary = (struct derive_summary){.effect = CALLEE_NONE};
	walker->waits = walker->crowded = false;
	if (walk_piece(walker, entry->addr, &own)) {
		derive_note_use(walker, own.start);
		walk_add_piece(walker, own);
	}
	/* An entry that is reached in several states has none that is known, for example
	 * a label that is jumped to with a frame, and named. */
	mixed = entry->origin & DERIVE_MIXED;
	ok = !mixed && walk_follow(walker);
	for (int looks = 0; ok && derive_cut(walker); looks++)
		ok = looks < WALK_MAX_CUTS && walk_follow(walker);
	walk_unique_uses(walker, n_uses);
	if (walker->nomem)
		return false;
	if (walker->waits && !walker->crowded && entry->waits < WALK_MAX_WAITS) {
		entry->waits++;
		entry->open = true;
		entry->next = entry->summary;
		return true;
	}
	entry->next = walker->summary;
	at = search_list_from(walker->places, walker->n_places, pc, entry->addr);
	first = ok && at < walker->n_places ? &walker->places[at] : NULL;
	entry->next.proven =
	    first && first->pc == entry->addr &&
	    (first->flags & (DERIVE_GOOD | DERIVE_DOUBTED)) == DERIVE_GOOD;
	walk_bound_effect(walker, ok);
	if (ok && (entry->reached || !walker->emit))
		derive_find(walker);
	if (walker->emit && ok && walker->n_places) {
		ok = needs_spread(&walker->needs, &walker->edges);
		walker->nomem |= walker->needs.nomem;
		(void)code_paths_visit(walker->paths, derive_place_row, walker);
	}
	if (walker->emit && ok)
		derive_emit(walker);
	else if (walker->emit)
		derive_emit_lost(walker);
	return !walker->nomem;
}
