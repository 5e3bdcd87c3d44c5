/* SPDX-License-Identifier: MIT */
/* Bytes of the undo record. Only this file and gen/insert/undo.c, which reads the ranges, know
 * their order. */
#include "gen/insert/internal.h"

#include <string.h>

#include "base/rd.h"

#define RECORD_VERSION 2
/* FNV-1a, 64 bits: against accidents, not against intent. */
#define HASH_PRIME UINT64_C(0x100000001b3)

const char insert_record_magic[16] = "eh2sframe undo\n";

/* Finds the ranges of the input that plan overwrites, ascending and apart, so that undo can demand it. Returns their number, at most
 * INSERT_MAX_RANGES. */
static size_t insert_ranges(const struct image *image, const struct insert_plan *plan,
    struct insert_range ranges[INSERT_MAX_RANGES])
{
	const struct insert_grow *grow = &plan->grow;
	uint64_t table = image->ehdr.e_phoff;
	size_t n = 0;

	ranges[n++] = (struct insert_range){0, INSERT_EHDR_SIZE};
	if (!insert_table_moves(image, plan))
		ranges[n++] = (struct insert_range){table, insert_table_size(plan)};
	if (plan->sframe_off < image->size)
		ranges[n++] = (struct insert_range){plan->sframe_off, plan->sframe_size};
	if (grow->unused > grow->shifted_off)
		ranges[n++] = (struct insert_range){
		    grow->shifted_off, grow->unused - grow->shifted_off};
	if (grow->dynamic_size)
		ranges[n++] =
		    (struct insert_range){grow->dynamic_off, grow->dynamic_size};
	if (grow->symbols_size)
		ranges[n++] =
		    (struct insert_range){grow->symbols_off, grow->symbols_size};
	/* The table may stand behind the section (files that patchelf wrote). */
	if (n > 2 && ranges[1].off > ranges[2].off) {
		struct insert_range swap = ranges[1];

		ranges[1] = ranges[2];
		ranges[2] = swap;
	}
	return n;
}

/* Returns how many bytes the record stores of a range: none where all are zero. */
static uint64_t record_stored(const struct image *image, const struct insert_range *range)
{
	return image_is_zero(image, range->off, range->off + range->size) ? 0
									  : range->size;
}

uint64_t insert_record_ranges_size(
    const struct image *image, const struct insert_plan *plan)
{
	struct insert_range ranges[INSERT_MAX_RANGES];
	size_t n = insert_ranges(image, plan, ranges);
	uint64_t size = n * INSERT_RANGE_HEAD;

	for (size_t i = 0; i < n; i++)
		size += record_stored(image, &ranges[i]);
	return size;
}

/* In the byte order of the file, as everything else in it. */
void insert_record_encode(
    struct wr *wr, const struct image *image, const struct insert_plan *plan)
{
	struct insert_range ranges[INSERT_MAX_RANGES];
	size_t n = insert_ranges(image, plan, ranges), start = wr->size;

	for (size_t i = 0; i < n; i++) {
		uint64_t stored = record_stored(image, &ranges[i]);

		wr_u64(wr, ranges[i].off);
		wr_u64(wr, ranges[i].size);
		wr_u64(wr, stored);
		wr_bytes(wr, image->bytes + ranges[i].off, (size_t)stored);
	}
	/* The footer ends where the section headers start, which is a multiple of 8. */
	wr_zeros(wr, (size_t)plan->record_size - INSERT_FOOTER_SIZE - (wr->size - start));
	wr_bytes(wr, insert_record_magic, sizeof(insert_record_magic));
	wr_u32(wr, RECORD_VERSION);
	wr_u32(wr, INSERT_FOOTER_SIZE);
	wr_u64(wr, image->size);
	wr_u64(wr, plan->file_size);
	wr_u64(wr, plan->tail_off);
	wr_u64(wr, plan->record_size - INSERT_FOOTER_SIZE);
	wr_u64(wr, n);
	wr_u64(wr, 0);
}

/*
 * A version or size that this program does not write is no record, so that a later
 * version can change both without being misread.
 */
bool insert_footer_decode(
    const uint8_t *data, bool big_endian, struct insert_footer *footer)
{
	struct rd rd;

	rd_init(&rd, data, INSERT_FOOTER_SIZE, big_endian);
	if (memcmp(rd_skip(&rd, sizeof(insert_record_magic)), insert_record_magic,
		sizeof(insert_record_magic)) != 0)
		return false;
	if (rd_u32(&rd) != RECORD_VERSION || rd_u32(&rd) != INSERT_FOOTER_SIZE)
		return false;
	footer->old_size = rd_u64(&rd);
	footer->new_size = rd_u64(&rd);
	footer->tail_off = rd_u64(&rd);
	footer->ranges_size = rd_u64(&rd);
	footer->n_ranges = rd_u64(&rd);
	footer->hash = rd_u64(&rd);
	return !rd.failed;
}

/* Bytewise, over a few kilobytes per file. */
uint64_t insert_record_hash(uint64_t hash, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * HASH_PRIME;
	return hash;
}

void insert_record_seal(const struct wr *header, struct wr *tail, uint64_t footer_end)
{
	uint64_t hash = insert_record_hash(INSERT_HASH_START, header->data, header->size);

	hash = insert_record_hash(hash, tail->data, tail->size);
	wr_patch_u64(
	    tail, (size_t)footer_end - INSERT_FOOTER_SIZE + INSERT_FOOTER_HASH, hash);
}
