/* SPDX-License-Identifier: MIT */
/* Integers of the format from bytes that the caller has seen to be there. */
#ifndef SFRAME_LOAD_H
#define SFRAME_LOAD_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* An unsigned integer of 1, 2 or 4 bytes. */
static inline uint32_t sf_load(const uint8_t *p, unsigned int width, bool big_endian)
{
	uint32_t v32;
	uint16_t v16;

	if (width == 1)
		return *p;
	if (width == 2) {
		memcpy(&v16, p, sizeof(v16));
		return big_endian ? be16toh(v16) : le16toh(v16);
	}
	memcpy(&v32, p, sizeof(v32));
	return big_endian ? be32toh(v32) : le32toh(v32);
}

/* As sf_load, signed. */
static inline int32_t sf_load_signed(
    const uint8_t *p, unsigned int width, bool big_endian)
{
	uint32_t v = sf_load(p, width, big_endian);

	if (width == 1)
		return (int8_t)v;
	return width == 2 ? (int16_t)v : (int32_t)v;
}

#endif
