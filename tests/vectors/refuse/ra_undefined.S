/* SPDX-License-Identifier: MIT */
/*
 * As _start: the return address is undefined, this is the outermost frame. The FP is undefined
 * too, but the reason that is counted is the return address.
 * expect: ra-undefined functions=1 bytes=7
 * kept: 0+4 11+5
 * expect-v3: none
 * kept-v3: 0+16
 */
#include "func.h"
	begin
	.cfi_undefined 16
	.cfi_undefined 6
	.skip 7, 0x90
	.cfi_restore 16
	.cfi_restore 6
	end
