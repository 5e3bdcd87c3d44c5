/* SPDX-License-Identifier: MIT */
/* Initial instructions may not move the location; the FDEs of that CIE are lost. */
#include "raw.h"

	cie_head moves, 1, zR
	.uleb128 1
	.byte 0x1b
	.byte 0x0c, 7, 8, 0x44
	end moves
	usual_cie cie
	fde one, moves, 0, 0x10
	end one
	fde two, moves, 0x10, 0x10
	end two
	fde three, cie, 0x20, 0x10
	end three
