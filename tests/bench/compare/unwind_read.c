/* SPDX-License-Identifier: MIT */
/* Looks a PC up in __unwind_info, as an unwinder does. */
#include "base/rd.h"
#include "tests/bench/compare/unwind_info.h"

struct unwind_reader {
	const struct formats_unwind *unwind;
	struct rd rd;
	bool bad;
};

static uint32_t unwind_u32(struct unwind_reader *reader, size_t at)
{
	struct rd rd = reader->rd;
	uint32_t value;

	rd_seek(&rd, at);
	value = rd_u32(&rd);
	reader->bad |= rd.failed;
	return value;
}

static uint16_t unwind_u16(struct unwind_reader *reader, size_t at)
{
	struct rd rd = reader->rd;
	uint16_t value;

	rd_seek(&rd, at);
	value = rd_u16(&rd);
	reader->bad |= rd.failed;
	return value;
}

/* The last of n elements of size bytes whose first word, under mask, is not above value.
 * n when there is none. */
static size_t unwind_last(struct unwind_reader *reader, size_t at, size_t size, size_t n,
    uint32_t mask, uint32_t value)
{
	size_t low = 0, high = n;

	while (low < high && !reader->bad) {
		size_t middle = low + (high - low) / 2;

		if ((unwind_u32(reader, at + size * middle) & mask) <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !reader->bad ? low - 1 : n;
}

/* The encoding that an entry of a compressed page chooses. */
static uint32_t unwind_choice(struct unwind_reader *reader, size_t page, uint32_t choice)
{
	uint32_t n_common = unwind_u32(reader, 8);

	if (choice < n_common)
		return unwind_u32(reader, unwind_u32(reader, 4) + 4 * choice);
	choice -= n_common;
	reader->bad |= choice >= unwind_u16(reader, page + 10);
	return unwind_u32(reader, page + unwind_u16(reader, page + 8) + 4 * choice);
}

/* The page's entry for offset, which counts from the base; page_offset is its first. */
static bool unwind_page(struct unwind_reader *reader, size_t page, uint32_t page_offset,
    uint32_t offset, struct formats_unwind_entry *entry)
{
	uint32_t kind = unwind_u32(reader, page), word;
	size_t at = page + unwind_u16(reader, page + 4), n = unwind_u16(reader, page + 6),
	       i;

	if (kind == UNWIND_PAGE_REGULAR) {
		i = unwind_last(reader, at, 8, n, UINT32_MAX, offset);
		if (i == n)
			return false;
		entry->pc = unwind_u32(reader, at + 8 * i);
		entry->encoding = unwind_u32(reader, at + 8 * i + 4);
		return !reader->bad;
	}
	i = unwind_last(reader, at, 4, n, 0xffffff, offset - page_offset);
	if (kind != UNWIND_PAGE_COMPRESSED || i == n)
		return false;
	word = unwind_u32(reader, at + 4 * i);
	entry->pc = (uint64_t)page_offset + (word & 0xffffff);
	entry->encoding = unwind_choice(reader, page, word >> 24);
	return !reader->bad;
}

/* The language-specific data of the entry, between two places of the index of them. */
static bool unwind_read_lsda(struct unwind_reader *reader, size_t from, size_t to,
    struct formats_unwind_entry *entry)
{
	size_t n = to > from ? (to - from) / UNWIND_LSDA_BYTES : 0;
	size_t i = unwind_last(
	    reader, from, UNWIND_LSDA_BYTES, n, UINT32_MAX, (uint32_t)entry->pc);

	if (i == n || unwind_u32(reader, from + UNWIND_LSDA_BYTES * i) != entry->pc)
		return false;
	entry->lsda = unwind_u32(reader, from + UNWIND_LSDA_BYTES * i + 4) +
		      reader->unwind->input->base;
	return !reader->bad;
}

bool formats_unwind_find(
    const struct formats_unwind *unwind, uint64_t pc, struct formats_unwind_entry *entry)
{
	struct unwind_reader reader = {.unwind = unwind};
	uint64_t offset = pc - unwind->input->base;
	size_t index, n, i, at;

	*entry = (struct formats_unwind_entry){0};
	rd_init(
	    &reader.rd, unwind->bytes.data, unwind->bytes.size, unwind->bytes.big_endian);
	if (pc < unwind->input->base || offset > UINT32_MAX || unwind->bytes.size == 0)
		return false;
	index = unwind_u32(&reader, 20);
	n = unwind_u32(&reader, 24);
	i = unwind_last(
	    &reader, index, UNWIND_INDEX_BYTES, n, UINT32_MAX, (uint32_t)offset);
	/* The last element of the index is only the end. */
	if (reader.bad || n == 0 || i >= n - 1)
		return false;
	at = index + UNWIND_INDEX_BYTES * i;
	if (!unwind_page(&reader, unwind_u32(&reader, at + 4), unwind_u32(&reader, at),
		(uint32_t)offset, entry) ||
	    entry->encoding == 0)
		return false;
	if ((entry->encoding & UNWIND_HAS_LSDA) &&
	    !unwind_read_lsda(&reader, unwind_u32(&reader, at + 8),
		unwind_u32(&reader, at + UNWIND_INDEX_BYTES + 8), entry))
		return false;
	entry->pc += unwind->input->base;
	return true;
}
