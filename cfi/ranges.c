/* SPDX-License-Identifier: MIT */
/* Sorts FDEs by address and finds the code that more than one of them covers. Code that
 * .eh_frame leaves uncovered is filled from .debug_frame. */
#include "cfi/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/rd.h"
#include "base/vec.h"
#include "cfi/interp.h"
#include "cfi/opcodes.h"

/* A few milliseconds of work; starting a thread takes some 50 microseconds. */
enum { RANGES_WORTH_A_THREAD = 2048 };

/* Bits of a start in one sorting pass. Fewer keys are not worth a table of that size. */
enum { RANGE_DIGIT_BITS = 11, RANGE_DIGITS = 1 << RANGE_DIGIT_BITS };

/* Operations that the expressions of an FDE may cost: a base, and more for each byte of its code. */
enum { EXPR_OPS = 1024, EXPR_OPS_PER_BYTE = 64 };
/* Bytes of code that a byte of CFI may claim, and that any CFI may. Compilers have about ten; a large PLT with nothing else
 * has more, and needs few operations. The code itself is not always in the file, and the file is not always as large. */
enum { CODE_PER_BYTE = 16, CODE_OF_ANY = 65536 };

struct range_key {
	uint64_t start, end;
	uint32_t fde;
	bool overlapping; /* counted in n_overlapping */
};

static int range_key_compare(const void *a, const void *b)
{
	const struct range_key *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->fde < y->fde ? -1 : x->fde > y->fde;
}

static bool range_keys_sorted(const struct range_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (range_key_compare(&keys[i - 1], &keys[i]) > 0)
			return false;
	return true;
}

/*
 * One pass of a radix sort: to gets the numbers of from, in the order of some of their bits.
 * Numbers with equal bits keep their order.
 */
static void range_pass(uint64_t *to, const uint64_t *from, size_t n, unsigned int shift)
{
	size_t ends[RANGE_DIGITS] = {0}, end = 0;

	for (size_t i = 0; i < n; i++)
		ends[from[i] >> shift & (RANGE_DIGITS - 1)]++;
	for (size_t i = 0; i < RANGE_DIGITS; i++) {
		end += ends[i];
		ends[i] = end - ends[i];
	}
	for (size_t i = 0; i < n; i++)
		to[ends[from[i] >> shift & (RANGE_DIGITS - 1)]++] = from[i];
}

/*
 * Keys are large, so numbers are moved for them: of the start and, in the lower half, of the key. A comparison sort sorts only
 * keys with one start: for a large file it takes as long as reading the CFI. False when memory runs out.
 */
static bool range_keys_sort(struct range_key **keys, size_t n)
{
	uint64_t low = UINT64_MAX, high = 0, *numbers, *from, *to;
	struct range_key *sorted;
	size_t i, end;

	for (i = 0; i < n; i++) {
		low = (*keys)[i].start < low ? (*keys)[i].start : low;
		high = (*keys)[i].start > high ? (*keys)[i].start : high;
	}
	if (n < RANGE_DIGITS || n > UINT32_MAX || high - low > UINT32_MAX) {
		qsort(*keys, n, sizeof(**keys), range_key_compare);
		return true;
	}
	sorted = malloc(n * sizeof(*sorted));
	from = numbers = malloc(2 * n * sizeof(*numbers));
	if (!sorted || !numbers) {
		free(sorted);
		free(numbers);
		return false;
	}
	to = numbers + n;
	for (i = 0; i < n; i++)
		from[i] = ((*keys)[i].start - low) << 32 | i;
	for (unsigned int shift = 32; shift < 64 && (high - low) << 32 >> shift;
	     shift += RANGE_DIGIT_BITS) {
		range_pass(to, from, n, shift);
		to = from;
		from = to == numbers ? numbers + n : numbers;
	}
	for (i = 0; i < n; i++)
		sorted[i] = (*keys)[(uint32_t)from[i]];
	free(*keys);
	free(numbers);
	*keys = sorted;
	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && sorted[end].start == sorted[i].start;)
			end++;
		if (end - i > 1)
			qsort(sorted + i, end - i, sizeof(*sorted), range_key_compare);
	}
	return true;
}

/* Operands by opcode up to the last of DWARF 5: u a LEB128, e an expression, a digit a number of so many bytes. */
static const char range_operands[DW_CFA_val_expression + 1][3] = {"", "", "1", "2", "4",
    "uu", "u", "u", "u", "uu", "", "", "uu", "u", "u", "e", "ue", "uu", "uu", "u", "uu",
    "uu", "ue"};

/* Those of the extensions. */
static const char *range_more_operands(uint8_t op)
{
	switch (op) {
	case DW_CFA_MIPS_advance_loc8:
		return "8";
	case DW_CFA_GNU_args_size:
		return "u";
	case DW_CFA_GNU_negative_offset_extended:
		return "uu";
	case DW_CFA_LLVM_def_aspace_cfa:
	case DW_CFA_LLVM_def_aspace_cfa_sf:
		return "uuu";
	default:
		return "";
	}
}

/* True if an instruction has an address, which may count from its own place. */
static bool range_has_address(
    const struct cfi_section *section, const struct cfi_fde *fde)
{
	struct rd rd;

	rd_init(
	    &rd, section->data + fde->program_off, fde->program_len, section->big_endian);
	while (!rd_at_end(&rd)) {
		const uint8_t op = rd_u8(&rd), high = op & DW_CFA_high_mask;
		const char *operands = high == DW_CFA_offset ? "u" : "";

		if (!high)
			operands = op <= DW_CFA_val_expression ? range_operands[op]
							       : range_more_operands(op);
		if (op == DW_CFA_set_loc)
			return true;
		for (; *operands; operands++)
			if (*operands == 'u')
				rd_uleb(&rd);
			else
				rd_skip(&rd, *operands == 'e'
						 ? rd_uleb(&rd)
						 : (uint64_t)(*operands - '0'));
		if (rd.failed)
			break;
	}
	return false;
}

/* True if both have the same range, instructions and contents of the CIE, so that either gives the same rows. */
static bool range_is_duplicate(
    const struct cfi_frames *frames, const struct range_key *a, const struct range_key *b)
{
	const struct cfi_fde *x = &frames->fdes[a->fde], *y = &frames->fdes[b->fde];

	return a->start == b->start && a->end == b->end &&
	       frames->cies[x->cie].alike == frames->cies[y->cie].alike &&
	       x->program_len == y->program_len &&
	       !memcmp(frames->section.data + x->program_off,
		   frames->section.data + y->program_off, x->program_len) &&
	       !range_has_address(&frames->section, x);
}

static bool range_append(struct cfi_ranges *ranges, uint64_t start, uint64_t end,
    const struct range_key *key, bool overlapping)
{
	struct cfi_range *last = ranges->n ? &ranges->list[ranges->n - 1] : NULL;

	if (start >= end)
		return true;
	ranges->code_bytes += end - start;
	if (overlapping && last && last->overlapping && last->end == start) {
		last->end = end;
		return true;
	}
	if (!vec_reserve(&ranges->list, &ranges->cap, ranges->n + 1))
		return false;
	ranges->list[ranges->n++] = (struct cfi_range){start, end, key->fde, overlapping};
	return true;
}

/*
 * One pass over the keys by start. All before at is settled; from there to high, the
 * highest end of a key met so far, only owner covers. A later key contests what it has in
 * common with anything before it, which is everything below high.
 */
static bool ranges_collect(struct cfi_ranges *ranges, struct range_key *keys, size_t n)
{
	size_t i = 0;

	while (i < n) {
		struct range_key *owner = &keys[i];
		uint64_t at = owner->start, high = owner->end;

		for (i++; i < n && keys[i].start < high; i++) {
			struct range_key *rival = &keys[i];
			uint64_t shared = rival->end < high ? rival->end : high;

			ranges->n_overlapping +=
			    !owner->overlapping + !rival->overlapping;
			owner->overlapping = rival->overlapping = true;
			if (at < rival->start) {
				if (!range_append(ranges, at, rival->start, owner, false))
					return false;
				at = rival->start;
			}
			if (at < shared) {
				if (!range_append(ranges, at, shared, owner, true))
					return false;
				at = shared;
			}
			if (rival->end > high) {
				high = rival->end;
				owner = rival;
			}
		}
		if (!range_append(ranges, at, high, owner, false))
			return false;
	}
	return true;
}

/* Collects the ranges of the FDEs [first, last), which belong to one section. */
static bool ranges_of(
    const struct cfi_frames *frames, size_t first, size_t last, struct cfi_ranges *ranges)
{
	struct range_key *keys = malloc((last - first + 1) * sizeof(*keys));
	size_t n = 0, n_keys = last - first;
	bool ok;

	if (!keys)
		return false;
	for (size_t i = 0; i < n_keys; i++) {
		const struct cfi_fde *fde = &frames->fdes[first + i];

		keys[i] = (struct range_key){
		    fde->pc, fde->pc + fde->range, (uint32_t)(first + i), false};
	}
	if (!range_keys_sorted(keys, n_keys) && !range_keys_sort(&keys, n_keys)) {
		free(keys);
		return false;
	}
	for (size_t i = 0; i < n_keys; i++) {
		if (n && range_is_duplicate(frames, &keys[n - 1], &keys[i]))
			ranges->n_duplicates++;
		else
			keys[n++] = keys[i];
	}
	ok = vec_reserve(&ranges->list, &ranges->cap, n) &&
	     ranges_collect(ranges, keys, n);
	free(keys);
	return ok;
}

/* Adds the part that a range has in common with one of the sources before. */
static bool ranges_share(struct cfi_ranges *ranges, const struct cfi_range *range,
    uint64_t start, uint64_t end)
{
	if (range->overlapping)
		return true;
	if (!vec_reserve(&ranges->shared, &ranges->cap_shared, ranges->n_shared + 1))
		return false;
	ranges->shared[ranges->n_shared++] =
	    (struct cfi_range){start, end, range->fde, false};
	return true;
}

/* State of filling gaps from the next source. */
struct fill {
	const struct cfi_ranges *first; /* of the sources before */
	size_t at; /* its first range that is not in the result yet */
	struct cfi_ranges *result;
	/* FDE of the source that fills, and how many parts of it are in the result. */
	uint32_t fde;
	unsigned int n_parts;
};

static bool fill_append(struct fill *fill, const struct cfi_range *range)
{
	struct cfi_ranges *to = fill->result;

	if (!vec_reserve(&to->list, &to->cap, to->n + 1))
		return false;
	to->list[to->n++] = *range;
	to->code_bytes += range->end - range->start;
	return true;
}

/* Copies the ranges of the sources before that begin before an address. */
static bool fill_copy(struct fill *fill, uint64_t before)
{
	const struct cfi_ranges *first = fill->first;

	while (fill->at < first->n && first->list[fill->at].start < before)
		if (!fill_append(fill, &first->list[fill->at++]))
			return false;
	return true;
}

/* Adds a part of an FDE, up to a limit, because each costs a run of its instructions. */
static bool fill_part(
    struct fill *fill, const struct cfi_range *range, uint64_t start, uint64_t end)
{
	const struct cfi_range part = {start, end, range->fde, range->overlapping};

	if (start >= end)
		return true;
	if (fill->fde != range->fde)
		fill->n_parts = 0;
	fill->fde = range->fde;
	return fill->n_parts++ >= CFI_MAX_PARTS || fill_append(fill, &part);
}

/* Adds the parts of a range that the sources before leave. */
static bool fill_range(struct fill *fill, const struct cfi_range *range)
{
	const struct cfi_ranges *first = fill->first;
	uint64_t at = range->start;

	if (!fill_copy(fill, at))
		return false;
	/* The range before may reach into this one. */
	for (size_t i = fill->at ? fill->at - 1 : 0;
	     i < first->n && first->list[i].start < range->end; i++) {
		const struct cfi_range *owner = &first->list[i];
		uint64_t start =
		    owner->start > range->start ? owner->start : range->start;
		uint64_t end = owner->end < range->end ? owner->end : range->end;

		if (start >= end)
			continue;
		if (!fill_part(fill, range, at, start) ||
		    (!owner->overlapping &&
			!ranges_share(fill->result, range, start, end)) ||
		    !fill_copy(fill, start + 1))
			return false;
		at = end;
	}
	return fill_part(fill, range, at, range->end);
}

/* Fills the code that ranges leaves uncovered from second, and lists the code that both have. */
static bool ranges_fill(struct cfi_ranges *ranges, const struct cfi_ranges *second)
{
	struct cfi_ranges filled = {.n_duplicates = ranges->n_duplicates,
	    .n_overlapping = ranges->n_overlapping + second->n_overlapping};
	struct fill fill = {.first = ranges, .result = &filled, .fde = UINT32_MAX};
	bool ok = true;

	for (size_t i = 0; ok && i < second->n; i++)
		ok = fill_range(&fill, &second->list[i]);
	ok = ok && fill_copy(&fill, UINT64_MAX);
	cfi_ranges_deinit(ranges);
	*ranges = filled;
	return ok;
}

/* Fills what ranges leaves uncovered from the FDEs [first, last). */
static bool ranges_fill_from(
    const struct cfi_frames *frames, size_t first, size_t last, struct cfi_ranges *ranges)
{
	struct cfi_ranges more = {0};
	const bool ok = first == last || (ranges_of(frames, first, last, &more) &&
					     ranges_fill(ranges, &more));

	cfi_ranges_deinit(&more);
	return ok;
}

bool cfi_ranges_read(
    const struct cfi_frames *frames, struct cfi_ranges *ranges, struct err *err)
{
	size_t n = frames->n_fdes;

	*ranges = (struct cfi_ranges){0};
	while (n && cfi_fde_is_debug(frames, &frames->fdes[n - 1]))
		n--;
	if (ranges_of(frames, 0, n, ranges) &&
	    ranges_fill_from(frames, n, frames->n_fdes, ranges)) {
		ranges->excess = ranges->code_bytes /
				 (CODE_OF_ANY + CODE_PER_BYTE * frames->section.size);
		return true;
	}
	cfi_ranges_deinit(ranges);
	return err_set_nomem(err);
}

size_t cfi_ranges_n_parts(const struct cfi_ranges *ranges, unsigned int jobs)
{
	size_t worth = ranges->n / RANGES_WORTH_A_THREAD;

	if (worth > jobs)
		worth = jobs;
	return worth ? worth : 1;
}

size_t cfi_ranges_part_end(const struct cfi_ranges *ranges, size_t i, size_t n)
{
	size_t end = i + 1 < n ? ranges->n / n * (i + 1) : ranges->n;

	while (
	    end && end < ranges->n && ranges->list[end].fde == ranges->list[end - 1].fde)
		end++;
	return end;
}

/* Linkers' PLT rules take 8 operations for each of the first 16 bytes, then one for 8. */
static uint64_t ranges_ops(
    const struct cfi_ranges *ranges, const struct cfi_range *list, size_t n)
{
	const uint32_t fde = list->fde;
	uint64_t ops = EXPR_OPS;

	for (; n-- && list->fde == fde && ops < CFI_MAX_EXPR_OPS; list++) {
		uint64_t bytes = list->overlapping
				     ? 0
				     : (list->end - list->start) / (ranges->excess + 1);

		ops += bytes < CFI_MAX_EXPR_OPS ? bytes * EXPR_OPS_PER_BYTE
						: CFI_MAX_EXPR_OPS;
	}
	return ops < CFI_MAX_EXPR_OPS ? ops : CFI_MAX_EXPR_OPS;
}

uint64_t cfi_ranges_expr_ops(const struct cfi_ranges *ranges, size_t i)
{
	return ranges_ops(ranges, ranges->list + i, ranges->n - i);
}

uint64_t cfi_ranges_shared_ops(const struct cfi_ranges *ranges, size_t i)
{
	return ranges_ops(ranges, ranges->shared + i, ranges->n_shared - i);
}

void cfi_ranges_deinit(struct cfi_ranges *ranges)
{
	free(ranges->list);
	free(ranges->shared);
	*ranges = (struct cfi_ranges){0};
}
