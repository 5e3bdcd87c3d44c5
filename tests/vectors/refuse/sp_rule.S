/* SPDX-License-Identifier: MIT */
/*
 * The caller's stack pointer is CFA + 16 and not the CFA: a callee that pops its arguments.
 * expect: sp-rule functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_val_offset 7, 16
	.skip 7, 0x90
	.cfi_val_offset 7, 0
	end
