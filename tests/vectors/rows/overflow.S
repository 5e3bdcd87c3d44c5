/* SPDX-License-Identifier: MIT */
/* Offsets and distances whose product does not fit 64 bits. */
#include "raw.h"

	begin cie
	.long 0
	.byte 1
	.asciz "zR"
	.uleb128 0x7fffffffffffffff
	.sleb128 -0x7fffffffffffffff
	.byte 16
	.uleb128 1
	.byte 0x1b
	usual_rules cie
	fde one, cie, 0, 0x10
	.byte 0x86, 2
	end one
	fde two, cie, 0x10, 0x10
	.byte 0x43
	end two
	fde three, cie, 0x20, 0x10
	.byte 0x0e
	.uleb128 0xffffffffffffffff
	end three
	fde four, cie, 0x30, 0x10
	.byte 0x41, 0x0e, 16
	end four
