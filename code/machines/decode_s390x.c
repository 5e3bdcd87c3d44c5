/* SPDX-License-Identifier: MIT */
/*
 * s390x: the first two bits are the size, 2, 4, 4 or 6 bytes. z/Architecture Principles of
 * Operation, appendix B: first bytes that begin no instruction are marked here.
 */
#include "code/machines/machines.h"

/* A bit for each first byte; the lowest bit of the first word is 0x00. */
static const uint32_t s390x_first[8] = {
    0xfffffcf2, /* 01 04-07 0a-1f */
    0xffffffff, /* 20-3f */
    0xfff3ffff, /* 40-51 54-5f */
    0xff03ff81, /* 60 67-71 78-7f */
    0x0ffffffd, /* 80 82-9b */
    0xeecef3a0, /* a5 a7-a9 ac-af b1-b3 b6 b7 b9-bb bd-bf */
    0xfeff11f5, /* c0 c2 c4-c8 cc d0-d7 d9-df */
    0x3f0fffee, /* e1-e3 e5-ef f0-f3 f8-fd */
};

enum code_flow code_decode_s390x(const uint8_t *code, uint64_t size, uint8_t *length)
{
	static const uint8_t sizes[4] = {2, 4, 4, 6};
	uint8_t n = sizes[code[0] >> 6];

	if (size < n || !(s390x_first[code[0] >> 5] >> (code[0] & 31) & 1))
		return CODE_INVALID;
	*length = n;
	switch (code[0]) {
	case 0x07: /* bcr */
		return code[1] < 0x10	 ? CODE_FILLER
		       : code[1] >= 0xf0 ? CODE_END
					 : CODE_NEXT;
	case 0x47: /* bc */
		return code[1] < 0x10	 ? CODE_FILLER
		       : code[1] >= 0xf0 ? CODE_END
					 : CODE_NEXT;
	case 0xa7: /* brc */
		return code[1] == 0xf4 ? CODE_END : CODE_NEXT;
	case 0xc0: /* brcl */
		return code[1] == 0x04	 ? CODE_FILLER
		       : code[1] == 0xf4 ? CODE_END
					 : CODE_NEXT;
	default:
		return CODE_NEXT;
	}
}
