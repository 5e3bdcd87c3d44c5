/* SPDX-License-Identifier: MIT */
/* Knows padding by its bytes. */
#include "gen/rows/padding.h"

/* True if a filler is at code. Fillers are too short for a call of memcmp. */
static inline bool padding_is(
    const struct arch_filler *filler, const uint8_t *code, uint64_t size)
{
	if (filler->size > size)
		return false;
	for (uint8_t i = 0; i < filler->size; i++)
		if (code[i] != filler->bytes[i])
			return false;
	return true;
}

/* The size of the filler that code begins with; 0 when it does with none. */
static uint64_t padding_filler(
    const struct arch *arch, const uint8_t *code, uint64_t size)
{
	for (size_t i = 0; i < arch->n_fillers; i++)
		if (padding_is(&arch->fillers[i], code, size))
			return arch->fillers[i].size;
	return 0;
}

uint64_t padding_front(const struct arch *arch, const uint8_t *code, uint64_t size)
{
	uint64_t at = 0, filler = 1;

	for (; at < size && filler; at += filler)
		filler = padding_filler(arch, code + at, size - at);
	return at;
}

/*
 * Goes backwards, because only the end is known. ends has a bit for each place after at,
 * the nearest first: whether fillers lead from there to the end. No filler is longer than 4.
 */
uint64_t padding_back(const struct arch *arch, const uint8_t *code, uint64_t size)
{
	uint64_t start = size;
	unsigned int ends = 1;

	for (uint64_t at = size; at-- > 0 && ends;) {
		bool leads = false;

		for (size_t i = 0; i < arch->n_fillers && !leads; i++) {
			const struct arch_filler *filler = &arch->fillers[i];

			leads = ends >> (filler->size - 1) & 1 &&
				padding_is(filler, code + at, size - at);
		}
		if (leads)
			start = at;
		ends = (ends << 1 | leads) & 0xf;
	}
	return size - start;
}

bool padding_only(
    struct image_window *code, const struct arch *arch, uint64_t start, uint64_t end)
{
	const uint8_t *bytes = image_at_addr(code->image, start, end - start);
	uint64_t size = end - start;

	if (bytes)
		bytes = image_window_at(code, bytes, (size_t)size);
	return bytes && padding_front(arch, bytes, size) == size;
}
