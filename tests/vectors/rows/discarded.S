/* SPDX-License-Identifier: MIT */
/* Functions the linker discarded have a stored or resulting address of 0. */
#include "raw.h"

	usual_cie cie
	begin stored
	.long . - cie
	.long 0, 0x10
	.uleb128 0
	end stored
	cie_head absolute_cie, 1, zR
	.uleb128 1
	.byte 0x00
	usual_rules absolute_cie
	begin absolute
	.long . - absolute_cie
	.quad 0
	.quad 16
	.uleb128 0
	end absolute
	fde one, cie, 0, 0x10
	end one
