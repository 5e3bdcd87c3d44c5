/* SPDX-License-Identifier: MIT */
/*
 * The caller's frame pointer is the number CFA - 16, not what is saved there.
 * expect: fp-expression functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_val_offset 6, -16
	.skip 7, 0x90
	.cfi_restore 6
	end
