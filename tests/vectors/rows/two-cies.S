/* SPDX-License-Identifier: MIT */
/* Several CIEs; the initial rules of each belong to its own FDEs. */
#include "raw.h"

	usual_cie cie
	cie_head other, 1, zR
	.uleb128 1
	.byte 0x1b
	.byte 0x0c, 6, 16
	end other
	fde one, cie, 0, 0x10
	end one
	fde two, other, 0x10, 0x10
	end two
	fde three, cie, 0x20, 0x10
	end three
