/* SPDX-License-Identifier: MIT */
/* The augmentation of gcc 2: "eh", then an address, no augmentation data. */
#include "raw.h"

	begin cie
	.long 0
	.byte 1
	.asciz "eh"
	.quad 0
	.uleb128 1
	.sleb128 -8
	.byte 16
	usual_rules cie
	begin one
	.long . - cie
	.quad func, 0x10
	end one
