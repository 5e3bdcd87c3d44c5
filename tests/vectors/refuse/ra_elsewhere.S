/* SPDX-License-Identifier: MIT */
/*
 * The return address is saved 16 below the CFA, and not the 8 where the call puts it.
 * expect: ra-elsewhere functions=1 bytes=7
 * kept: 0+4 11+5
 * expect-v3: none
 * kept-v3: 0+16
 */
#include "func.h"
	begin
	.cfi_offset 16, -16
	.skip 7, 0x90
	.cfi_restore 16
	end
