/* SPDX-License-Identifier: MIT */
/*
 * Instructions with a VEX prefix that Zydis 4.0 does not know: AVX-IFMA, AVX-VNNI-INT8 and -INT16,
 * AVX-NE-CONVERT, SHA512, SM3 and SM4 (Intel Architecture Instruction Set Extensions and Future
 * Features, chapter 2). All of them write a vector register and nothing else.
 */
#include "code/machines/x86_64.h"

enum { VEX_3_BYTES = 0xc4, VEX_MAP_0F38 = 2, VEX_MAP_0F3A = 3 };

static bool vex_is_known(uint8_t map, uint8_t opcode)
{
	static const uint8_t of_0f38[] = {
	    0x50, 0x51, 0x72, 0xb0, 0xb1, 0xb4, 0xb5, 0xcb, 0xcc, 0xcd, 0xd2, 0xd3, 0xda};

	if (map == VEX_MAP_0F3A)
		return opcode == 0xde;
	for (size_t i = 0; map == VEX_MAP_0F38 && i < sizeof(of_0f38); i++)
		if (of_0f38[i] == opcode)
			return true;
	return false;
}

uint8_t code_x86_vex_length(const uint8_t *code, uint64_t size)
{
	/* Prefix, opcode and ModR/M; then SIB, displacement and immediate. */
	uint8_t length = 5, mod, rm;

	if (size < length || code[0] != VEX_3_BYTES ||
	    !vex_is_known(code[1] & 31, code[3]))
		return 0;
	mod = code[4] >> 6;
	rm = code[4] & 7;
	if (mod != 3 && rm == 4) {
		if (size <= length)
			return 0;
		if (mod == 0 && (code[length] & 7) == 5)
			length += 4;
		length++;
	}
	if (mod == 0 && rm == 5)
		length += 4;
	if (mod == 1)
		length++;
	else if (mod == 2)
		length += 4;
	if ((code[1] & 31) == VEX_MAP_0F3A)
		length++;
	return length <= size ? length : 0;
}
