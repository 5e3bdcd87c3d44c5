/* SPDX-License-Identifier: MIT */
/*
 * A millicode routine: the return address is in rax.
 * expect: ra-register functions=1 bytes=7
 * kept: 0+4 11+5
 * expect-v3: none
 * kept-v3: 0+16
 */
#include "func.h"
	begin
	.cfi_register 16, 0
	.skip 7, 0x90
	.cfi_restore 16
	end
