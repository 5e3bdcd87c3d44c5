/* SPDX-License-Identifier: MIT */
/*
 * The return address is said to be unchanged, where the call instruction has pushed it.
 * expect: ra-unsaved functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_same_value 16
	.skip 7, 0x90
	.cfi_restore 16
	end
