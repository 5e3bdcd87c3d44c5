/* SPDX-License-Identifier: MIT */
/*
 * The return address is not saved at CFA - 8, it is the number CFA - 8.
 * expect: ra-expression functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_val_offset 16, -8
	.skip 7, 0x90
	.cfi_restore 16
	end
