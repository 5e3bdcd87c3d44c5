/* SPDX-License-Identifier: MIT */
/*
 * The return address is saved one slot further from the CFA than 32 bits can say. The
 * nearest place that can be said needs version 3.
 * expect: ra-offset functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_escape 0x11, 16, 0x81, 0x80, 0x80, 0x80, 0x01 /* offset_extended_sf 16, 2^28 + 1 */
	.skip 7, 0x90
	.cfi_restore 16
	end
