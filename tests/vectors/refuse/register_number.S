/* SPDX-License-Identifier: MIT */
/*
 * The CFA is based on register 32, one more than a row's readers look at; 31 needs version 3.
 * expect: register-number functions=1 bytes=7
 * kept: 0+4 11+5
 */
#include "func.h"
	begin
	.cfi_def_cfa 32, 8
	.skip 7, 0x90
	.cfi_def_cfa 7, 8
	end
