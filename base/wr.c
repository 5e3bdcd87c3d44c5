/* SPDX-License-Identifier: MIT */
/* The growable byte writer. */
#include "base/wr.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void wr_init(struct wr *wr, bool big_endian)
{
	*wr = (struct wr){.big_endian = big_endian};
}

void wr_deinit(struct wr *wr)
{
	free(wr->data);
	*wr = (struct wr){0};
}

static inline uint8_t *wr_room(struct wr *wr, size_t n)
{
	uint8_t *p;

	if (wr->failed || n > SIZE_MAX - wr->size ||
	    !vec_reserve(&wr->data, &wr->cap, wr->size + n)) {
		wr->failed = true;
		return NULL;
	}
	/* C11 gives NULL + 0 no meaning. */
	p = wr->size ? wr->data + wr->size : wr->data;
	wr->size += n;
	return p;
}

uint8_t *wr_expect(struct wr *wr, size_t n)
{
	uint8_t *p = wr_room(wr, n);

	if (p)
		wr->size -= n;
	return p;
}

void wr_end(struct wr *wr, const uint8_t *end)
{
	wr->size = (size_t)(end - wr->data);
}

static inline void wr_store(uint8_t *p, uint64_t v, size_t width, bool big_endian)
{
	v = big_endian ? htobe64(v << (64 - 8 * width)) : htole64(v);
	memcpy(p, &v, width);
}

static inline void wr_int(struct wr *wr, uint64_t v, size_t width)
{
	uint8_t *p = wr_room(wr, width);

	if (p)
		wr_store(p, v, width, wr->big_endian);
}

void wr_u8(struct wr *wr, uint8_t v)
{
	wr_int(wr, v, 1);
}

void wr_u16(struct wr *wr, uint16_t v)
{
	wr_int(wr, v, 2);
}

void wr_u32(struct wr *wr, uint32_t v)
{
	wr_int(wr, v, 4);
}

void wr_u64(struct wr *wr, uint64_t v)
{
	wr_int(wr, v, 8);
}

void wr_bytes(struct wr *wr, const void *bytes, size_t n)
{
	uint8_t *p = wr_room(wr, n);

	if (p && n)
		memcpy(p, bytes, n);
}

void wr_zeros(struct wr *wr, size_t n)
{
	uint8_t *p = wr_room(wr, n);

	if (p && n)
		memset(p, 0, n);
}

void wr_patch_u32(struct wr *wr, size_t off, uint32_t v)
{
	if (wr->failed)
		return;
	assert(off <= wr->size && wr->size - off >= 4);
	wr_store(wr->data + off, v, 4, wr->big_endian);
}

void wr_patch_u64(struct wr *wr, size_t off, uint64_t v)
{
	if (wr->failed)
		return;
	assert(off <= wr->size && wr->size - off >= 8);
	wr_store(wr->data + off, v, 8, wr->big_endian);
}
