/* SPDX-License-Identifier: MIT */
/*
 * The caller's frame pointer is lost. No word for FP would mean that it is unchanged.
 * expect: fp-undefined functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_undefined 6
	.skip 7, 0x90
	.cfi_restore 6
	end
