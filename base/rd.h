/* SPDX-License-Identifier: MIT */
/*
 * Reads integers from a byte range in a stated byte order. The error is sticky: after the
 * first read past the end every read returns 0, and rd->failed stays set, so a caller checks once per structure.
 * Only the functions below change the position, which never is behind the end.
 */
#ifndef BASE_RD_H
#define BASE_RD_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

struct rd {
	const uint8_t *data; /* borrowed; must outlive the reader */
	size_t size;	     /* bytes */
	size_t pos;	     /* offset of the next byte from data */
	bool big_endian;
	bool failed;
};

void rd_init(struct rd *rd, const void *data, size_t size, bool big_endian);

/* Marks the reader as failed, and returns 0. */
uint64_t rd_past_end(struct rd *rd);

/* True if the next n bytes are there. */
static inline bool rd_has(const struct rd *rd, size_t n)
{
	return !rd->failed && rd->pos <= rd->size && rd->size - rd->pos >= n;
}

static inline uint8_t rd_u8(struct rd *rd)
{
	return rd_has(rd, 1) ? rd->data[rd->pos++] : (uint8_t)rd_past_end(rd);
}

static inline uint16_t rd_u16(struct rd *rd)
{
	uint16_t v;

	if (!rd_has(rd, sizeof(v)))
		return (uint16_t)rd_past_end(rd);
	memcpy(&v, rd->data + rd->pos, sizeof(v));
	rd->pos += sizeof(v);
	return rd->big_endian ? be16toh(v) : le16toh(v);
}

static inline uint32_t rd_u32(struct rd *rd)
{
	uint32_t v;

	if (!rd_has(rd, sizeof(v)))
		return (uint32_t)rd_past_end(rd);
	memcpy(&v, rd->data + rd->pos, sizeof(v));
	rd->pos += sizeof(v);
	return rd->big_endian ? be32toh(v) : le32toh(v);
}

static inline uint64_t rd_u64(struct rd *rd)
{
	uint64_t v;

	if (!rd_has(rd, sizeof(v)))
		return rd_past_end(rd);
	memcpy(&v, rd->data + rd->pos, sizeof(v));
	rd->pos += sizeof(v);
	return rd->big_endian ? be64toh(v) : le64toh(v);
}

static inline int8_t rd_s8(struct rd *rd)
{
	return (int8_t)rd_u8(rd);
}
static inline int16_t rd_s16(struct rd *rd)
{
	return (int16_t)rd_u16(rd);
}
static inline int32_t rd_s32(struct rd *rd)
{
	return (int32_t)rd_u32(rd);
}
static inline int64_t rd_s64(struct rd *rd)
{
	return (int64_t)rd_u64(rd);
}

/*
 * LEB128 (DWARF 5, 7.6). Bits beyond the 64th must repeat the value's sign or be zero,
 * and the encoding may use at most 16 bytes; anything else fails the reader.
 */
ATTR_NOINLINE uint64_t rd_leb_slow(struct rd *rd, bool is_signed);
static inline uint64_t rd_uleb(struct rd *rd)
{
	if (!rd->failed && rd->pos < rd->size && rd->data[rd->pos] < 0x80)
		return rd->data[rd->pos++];
	return rd_leb_slow(rd, false);
}
static inline int64_t rd_sleb(struct rd *rd)
{
	if (!rd->failed && rd->pos < rd->size && rd->data[rd->pos] < 0x40)
		return rd->data[rd->pos++];
	return (int64_t)rd_leb_slow(rd, true);
}

/* A NUL-terminated string inside the data, borrowed; NULL and failed when there is no
 * NUL. */
const char *rd_cstr(struct rd *rd);

/* Passes over n bytes and returns a pointer to the first; NULL and failed past the end.
 */
const uint8_t *rd_skip(struct rd *rd, uint64_t n);

/* Stands at an offset from data, which may come from the data itself; failed past the end. */
static inline void rd_seek(struct rd *rd, uint64_t pos)
{
	if (rd->failed || pos > rd->size)
		rd_past_end(rd);
	else
		rd->pos = (size_t)pos;
}

static inline bool rd_at_end(const struct rd *rd)
{
	return rd->failed || rd->pos >= rd->size;
}

#endif
