/* SPDX-License-Identifier: MIT */
/* The sticky-error byte reader; the only code that turns file bytes into integers. */
#include "base/rd.h"

#include <string.h>

#define LEB_MAX_BYTES 16

void rd_init(struct rd *rd, const void *data, size_t size, bool big_endian)
{
	*rd = (struct rd){.data = data, .size = size, .big_endian = big_endian};
}

const uint8_t *rd_skip(struct rd *rd, uint64_t n)
{
	const uint8_t *p;

	if (rd->failed || n > rd->size - rd->pos) {
		rd_past_end(rd);
		return NULL;
	}
	p = rd->data + rd->pos;
	rd->pos += (size_t)n;
	return p;
}

uint64_t rd_past_end(struct rd *rd)
{
	rd->failed = true;
	return 0;
}

/*
 * Bits of a group that do not fit 64 bits must be copies of the sign, which is 0 of an
 * unsigned value.
 */
static bool leb_group_fits(
    uint64_t value, uint64_t bits, unsigned int shift, bool is_signed)
{
	uint64_t sign;

	if (shift <= 57)
		return true;
	sign = is_signed && value >> 63 ? 0x7f : 0;
	return shift < 64 ? bits >> (64 - shift) == sign >> (64 - shift) : bits == sign;
}

uint64_t rd_leb_slow(struct rd *rd, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (unsigned int i = 0; i < LEB_MAX_BYTES; i++, shift += 7) {
		uint8_t byte = rd_u8(rd);
		uint64_t bits = byte & 0x7f;

		if (rd->failed)
			return 0;
		if (shift < 64)
			value |= bits << shift;
		if (!leb_group_fits(value, bits, shift, is_signed))
			break;
		if (!(byte & 0x80)) {
			if (is_signed && shift + 7 < 64 && (byte & 0x40))
				value |= ~(uint64_t)0 << (shift + 7);
			return value;
		}
	}
	return rd_past_end(rd);
}

const char *rd_cstr(struct rd *rd)
{
	const uint8_t *start, *nul;

	if (rd_at_end(rd)) {
		rd_past_end(rd);
		return NULL;
	}
	start = rd->data + rd->pos;
	nul = memchr(start, 0, rd->size - rd->pos);
	if (!nul) {
		rd_past_end(rd);
		return NULL;
	}
	rd->pos += (size_t)(nul - start) + 1;
	return (const char *)start;
}
