/* SPDX-License-Identifier: MIT */
/*
 * AArch64: words of 4 bytes. Arm Architecture Reference Manual, C4.1: bits 28 to 25 name
 * the group; 0000 is reserved (or SME, bit 31 set), 0001 and 0011 are unallocated.
 */
#include "code/machines/machines.h"

/* Words that nothing goes on from, under a mask. */
static const struct {
	uint32_t mask, word;
} a64_ends[] = {
    {0xfc000000, 0x14000000}, /* b */
    {0xfffff000, 0xd61f0000}, /* br, braa */
    {0xfffff000, 0xd65f0000}, /* ret, retaa */
    {0xfffff000, 0xd69f0000}, /* eret, eretaa */
    {0xffff0000, 0xd71f0000}, /* braa with a modifier */
    {0xffe0001f, 0xd4200000}, /* brk */
    {0xffe0001f, 0xd4400000}, /* hlt */
};

enum code_flow code_decode_aarch64(const uint8_t *code, uint64_t size, uint8_t *length)
{
	uint32_t word, group;

	if (size < 4)
		return CODE_INVALID;
	word = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
	group = word >> 25 & 15;
	if ((group == 0 && word < 0x80000000) || group == 1 || group == 3)
		return CODE_INVALID;
	*length = 4;
	if (word == 0xd503201f) /* nop */
		return CODE_FILLER;
	for (size_t i = 0; i < sizeof(a64_ends) / sizeof(a64_ends[0]); i++)
		if ((word & a64_ends[i].mask) == a64_ends[i].word)
			return CODE_END;
	return CODE_NEXT;
}
