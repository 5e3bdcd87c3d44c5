/* SPDX-License-Identifier: MIT */
/* CIE versions 3 and 4: RA by LEB128; 4 has sizes of address and segment. */
#include "raw.h"

	cie_head three, 3, zR
	.uleb128 1
	.byte 0x1b
	usual_rules three
	begin four
	.long 0
	.byte 4
	.asciz "zR"
	.byte 8, 0
	.uleb128 1
	.sleb128 -8
	.uleb128 16
	.uleb128 1
	.byte 0x1b
	usual_rules four
	fde one, three, 0, 0x10
	end one
	fde two, four, 0x10, 0x10
	end two
