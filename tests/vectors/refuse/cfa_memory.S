/* SPDX-License-Identifier: MIT */
/*
 * The body of a function that realigns the stack: the CFA is what memory at rbp - 8 holds.
 * expect: cfa-memory functions=1 bytes=7
 * kept: 0+4 11+5
 * expect-v3: none
 * kept-v3: 0+16
 */
#include "func.h"
	begin
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06 /* breg6 -8; deref */
	.skip 7, 0x90
	.cfi_def_cfa 7, 8
	end
