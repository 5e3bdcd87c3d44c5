/* SPDX-License-Identifier: MIT */
/* A range that passes the end of the address space. */
#include "raw.h"

	cie_head wraps_cie, 1, zR
	.uleb128 1
	.byte 0x04
	usual_rules wraps_cie
	begin wraps
	.long . - wraps_cie
	.quad 0xfffffffffffffff0
	.quad 0x20
	.uleb128 0
	end wraps
	cie_head negative_cie, 1, zR
	.uleb128 1
	.byte 0x1b
	usual_rules negative_cie
	begin negative
	.long . - negative_cie
	.long func - .
	.long -1
	.uleb128 0
	end negative
	usual_cie cie
	fde one, cie, 0, 0x10
	end one
