/* SPDX-License-Identifier: MIT */
/*
 * A prologue that realigns the stack: the CFA is r10 for a while, and a row of version 2
 * knows SP and FP only.
 * expect: cfa-register functions=1 bytes=7
 * kept: 0+4 11+5
 * expect-v3: none
 * kept-v3: 0+16
 */
#include "func.h"
	begin
	.cfi_def_cfa 10, 0
	.skip 7, 0x90
	.cfi_def_cfa 7, 8
	end
