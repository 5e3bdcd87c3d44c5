/* SPDX-License-Identifier: MIT */
/*
 * The caller's frame pointer is kept in rbx.
 * expect: fp-register functions=1 bytes=7
 * kept: 0+4 11+5
 * expect-v3: none
 * kept-v3: 0+16
 */
#include "func.h"
	begin
	.cfi_register 6, 3
	.skip 7, 0x90
	.cfi_restore 6
	end
