/* SPDX-License-Identifier: MIT */
/*
 * A frame of 2 GiB: the CFA offset is one more than 31 bits can say.
 * expect: cfa-offset functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_def_cfa_offset 0x80000000
	.skip 7, 0x90
	.cfi_def_cfa_offset 0x7fffffff
	end
