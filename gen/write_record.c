/* SPDX-License-Identifier: MIT */
/* The undo record's bytes: the only file that knows their order. */
#include "gen/write_parts.h"

#include <assert.h>
#include <string.h>

#include "base/rd.h"

#define RECORD_VERSION 1
/* What stands before the hash. */
#define SEALED_SIZE 112
/* FNV-1a, 64 bits: against accidents, not against intent. */
#define HASH_PRIME UINT64_C(0x100000001b3)

const char write_record_magic[16] = "eh2sframe undo\n";

/* In the byte order of the file, as everything else in it. */
void write_record_encode(struct wr *wr, const struct write_record *record)
{
	size_t start = wr->size;

	wr_bytes(wr, write_record_magic, sizeof(write_record_magic));
	wr_u32(wr, RECORD_VERSION);
	wr_u32(wr, WRITE_RECORD_SIZE);
	wr_u64(wr, record->old_size);
	wr_u64(wr, record->new_size);
	wr_u64(wr, record->tail_off);
	wr_bytes(wr, record->ehdr, sizeof(record->ehdr));
	wr_u64(wr, wr->failed ? 0 : write_record_seal(record->hash, wr->data + start));
	wr_zeros(wr, WRITE_RECORD_SIZE - SEALED_SIZE - 8);
	assert(wr->failed || wr->size - start == WRITE_RECORD_SIZE);
}

/*
 * A version or size that this program does not write is no record, so that a later
 * version can change both without being misread.
 */
bool write_record_decode(
	const uint8_t *data, bool big_endian, struct write_record *record)
{
	struct rd rd;

	rd_init(&rd, data, WRITE_RECORD_SIZE, big_endian);
	if (memcmp(rd_skip(&rd, sizeof(write_record_magic)), write_record_magic,
		    sizeof(write_record_magic)) != 0)
		return false;
	if (rd_u32(&rd) != RECORD_VERSION || rd_u32(&rd) != WRITE_RECORD_SIZE)
		return false;
	record->old_size = rd_u64(&rd);
	record->new_size = rd_u64(&rd);
	record->tail_off = rd_u64(&rd);
	memcpy(record->ehdr, rd_skip(&rd, sizeof(record->ehdr)), sizeof(record->ehdr));
	record->hash = rd_u64(&rd);
	return !rd.failed;
}

/* Bytewise, over a few kilobytes per file. */
uint64_t write_record_hash(uint64_t hash, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * HASH_PRIME;
	return hash;
}

uint64_t write_record_seal(uint64_t hash, const uint8_t *data)
{
	return write_record_hash(hash, data, SEALED_SIZE);
}
