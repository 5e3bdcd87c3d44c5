/* SPDX-License-Identifier: MIT */
/* Notes which source the rows of each function come from. */
#include "base/search.h"
#include "base/vec.h"
#include "gen/elf/object/object.h"
#include "gen/rows/coverage.h"

/* Sections of an object have no order, so functions of two of them are never joined. */
static bool same_section(const struct image *image, uint64_t one, uint64_t other)
{
	return !image->object || object_place_at(image->object, one) ==
				     object_place_at(image->object, other);
}

static bool coverage_add_source_range(const struct image *image,
    struct coverage *coverage, const struct sf_func *func, enum source source, bool again)
{
	struct coverage_source_range *last =
	    coverage->n_source_ranges
		? &coverage->source_ranges[coverage->n_source_ranges - 1]
		: NULL;

	if (last && last->source == source &&
	    same_section(image, last->start, func->start)) {
		last->end = func->start + func->size;
		last->functions += !again;
		return true;
	}
	if (!vec_reserve(&coverage->source_ranges, &coverage->cap_source_ranges,
		coverage->n_source_ranges + 1))
		return false;
	coverage->source_ranges[coverage->n_source_ranges++] =
	    (struct coverage_source_range){
		func->start, func->start + func->size, 1, source};
	return true;
}

/* The rows of a function may be in several pieces, with gaps between them. */
static bool coverage_add_piece(const struct image *image, struct coverage *coverage,
    const struct sf_func *func, enum source source, bool again)
{
	struct coverage_piece *last =
	    coverage->n_pieces ? &coverage->pieces[coverage->n_pieces - 1] : NULL;

	coverage->sources[source].bytes += func->size;
	coverage->sources[source].functions += !again;
	if (!coverage_add_source_range(image, coverage, func, source, again))
		return false;
	/* Code outside of all pieces counts as .eh_frame's. */
	if (source == SOURCE_EH_FRAME)
		return true;
	if (again && last) {
		last->end = func->start + func->size;
		return true;
	}
	if (!vec_reserve(
		&coverage->pieces, &coverage->cap_pieces, coverage->n_pieces + 1))
		return false;
	coverage->pieces[coverage->n_pieces++] =
	    (struct coverage_piece){func->start, func->start + func->size, source};
	return true;
}

/* True if the rows from pc on are derived from the code. */
static bool is_derived(const struct derived *derived, uint64_t pc)
{
	const size_t after = search_list_above(derived->list, derived->n, start, pc);

	return after && derived->list[after - 1].end > pc;
}

static bool coverage_add_beyond(
    struct coverage *coverage, const struct coverage_beyond *beyond)
{
	if (!vec_reserve(
		&coverage->beyond, &coverage->cap_beyond, coverage->n_beyond + 1))
		return false;
	coverage->beyond[coverage->n_beyond++] = *beyond;
	return true;
}

/* Adds code whose rows are the code's own where the CFI has others. */
static bool coverage_add_repaired(struct coverage *coverage,
    const struct corrections *corrections, const struct sf_func *func, uint64_t function)
{
	const uint64_t from = func->start, to = func->start + func->size;
	bool ok = true;

	for (size_t i = search_list_above(corrections->list, corrections->n, end, from);
	     ok && i < corrections->n && corrections->list[i].start < to; i++) {
		const struct correction *one = &corrections->list[i];
		const struct coverage_beyond beyond = {
		    one->start > from ? one->start : from, one->end < to ? one->end : to,
		    function, COVERAGE_REPAIRED};

		if (one->row.doubtful)
			continue;
		coverage->repaired_bytes += beyond.end - beyond.start;
		ok = coverage_add_beyond(coverage, &beyond);
	}
	return ok;
}

/* Adds rows of code without CFI. */
static bool coverage_add_bare(const struct image *image, const struct derived *derived,
    struct coverage *coverage, const struct sf_func *func)
{
	const bool is = is_derived(derived, func->start);

	return coverage_add_beyond(coverage,
		   &(struct coverage_beyond){func->start, func->start + func->size,
		       func->start, is ? COVERAGE_DERIVED : COVERAGE_TEMPLATE}) &&
	       (!is || coverage_add_piece(image, coverage, func, SOURCE_DERIVED, false));
}

bool coverage_sources(const struct image *image, const struct cfi_input *input,
    const struct sf_section *model, struct coverage *coverage)
{
	const struct cfi_ranges *ranges = &input->ranges;
	const struct cfi_frames *frames = &input->frames;
	uint32_t current = UINT32_MAX;
	size_t at = 0;

	for (size_t i = 0; i < model->n_funcs; i++) {
		const struct sf_func *func = &model->funcs[i];
		const struct cfi_range *range;

		while (at < ranges->n && ranges->list[at].end <= func->start)
			at++;
		range = at < ranges->n ? &ranges->list[at] : NULL;
		if (!range || range->start > func->start) {
			if (!coverage_add_bare(image, &input->derived, coverage, func))
				return false;
			continue;
		}
		if (!coverage_add_piece(image, coverage, func,
			(enum source)cfi_fde_source(frames, &frames->fdes[range->fde]),
			range->fde == current) ||
		    !coverage_add_repaired(
			coverage, &input->corrections, func, frames->fdes[range->fde].pc))
			return false;
		current = range->fde;
	}
	return true;
}
