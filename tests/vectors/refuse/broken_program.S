/* SPDX-License-Identifier: MIT */
/*
 * An opcode that nobody defined, behind four good bytes: what it means for the rest is not
 * known, so that the whole function is left out. The next one is kept.
 * expect: broken-program functions=1 bytes=7
 * kept: 7+5
 */
#include "func.h"
	begin
	.cfi_escape 0x3e
	.skip 3, 0x90
	.cfi_endproc
	.cfi_startproc
	end
