/* SPDX-License-Identifier: MIT */
/*
 * The caller's frame pointer is saved at rsp + 16. That the CFA is rsp + 32 makes it CFA - 16
 * here, but the rule is not relative to the CFA.
 * expect: fp-memory functions=1 bytes=7
 * kept: 0+4 11+5
 * expect-v3: none
 * kept-v3: 0+16
 */
#include "func.h"
	begin
	.cfi_def_cfa_offset 32
	.cfi_escape 0x10, 6, 2, 0x77, 16 /* rbp is at breg7 16 */
	.skip 7, 0x90
	.cfi_restore 6
	.cfi_def_cfa_offset 8
	end
