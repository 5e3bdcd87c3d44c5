/* SPDX-License-Identifier: MIT */
/* LEB128 numbers that do not end: a code alignment, and the length of augmentation data. Before them, no damage. */
#include "raw.h"
	usual_cie good
	fde none, good, 64, 0
	end none
	begin alignment
	.long 0
	.byte 1
	.asciz "zR"
	.fill 200, 1, 0x80
	end alignment
	fde one, alignment, 0, 16
	end one
	begin augmentation
	.long 0
	.byte 1
	.asciz "zR"
	.uleb128 1
	.sleb128 -8
	.byte 16
	.fill 15, 1, 0xff
	.byte 0x7f
	end augmentation
	fde two, augmentation, 32, 16
	end two
	.long 0
