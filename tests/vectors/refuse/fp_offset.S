/* SPDX-License-Identifier: MIT */
/*
 * The caller's frame pointer is saved one slot further from the CFA than 32 bits can say. The
 * nearest place that can be said, which follows, is kept.
 * expect: fp-offset functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_escape 0x11, 6, 0x81, 0x80, 0x80, 0x80, 0x01 /* offset_extended_sf 6, 2^28 + 1 */
	.skip 7, 0x90
	.cfi_offset 6, -0x80000000
	end
