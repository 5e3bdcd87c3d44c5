/* SPDX-License-Identifier: MIT */
/*
 * The CFA is the sum of two registers, which no row can say at any PC.
 * expect: cfa-expression functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_escape 0x0f, 5, 0x77, 0, 0x70, 0, 0x22 /* breg7 0; breg0 0; plus */
	.skip 7, 0x90
	.cfi_def_cfa 7, 8
	end
