/* SPDX-License-Identifier: MIT */
/* A version 4 CIE for another address size, or with segments. */
#include "raw.h"

	begin small
	.long 0
	.byte 4
	.asciz "zR"
	.byte 4, 0
	.uleb128 1
	.sleb128 -8
	.uleb128 16, 1
	.byte 0x1b
	usual_rules small
	fde one, small, 0, 0x10
	end one
