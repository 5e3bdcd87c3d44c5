/* SPDX-License-Identifier: MIT */
/*
 * The CIE has no rules at all, and the FDE gives one for the CFA only after 7 bytes. Another
 * function of 4 bytes is before it.
 * expect: no-cfa functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_endproc
	.cfi_startproc simple
	.cfi_offset 16, -8
	.skip 7, 0x90
	.cfi_def_cfa 7, 8
	end
