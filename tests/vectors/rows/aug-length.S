/* SPDX-License-Identifier: MIT */
/* Augmentation data longer than its record, and letters with more data than it has. */
#include "raw.h"

	cie_head long, 1, zR
	.uleb128 0x1000
	.byte 0x1b
	usual_rules long
	cie_head short, 1, zR
	.uleb128 0
	usual_rules short
	usual_cie cie
	begin fde_long
	.long . - cie
	.long func - ., 0x10
	.uleb128 0x1000
	end fde_long
	fde one, cie, 0, 0x10
	end one
