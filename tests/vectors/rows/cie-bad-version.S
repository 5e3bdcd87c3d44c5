/* SPDX-License-Identifier: MIT */
/* An unknown CIE version costs the CIE and each of its FDEs, and no others. */
#include "raw.h"

	cie_head bad, 2, zR
	.uleb128 1
	.byte 0x1b
	usual_rules bad
	usual_cie cie
	fde one, bad, 0, 0x10
	end one
	fde two, cie, 0x10, 0x10
	end two
