/* SPDX-License-Identifier: MIT */
/* def_cfa_offset where no CFA was ever defined. */
#include "raw.h"

	cie_head cie, 1, zR
	.uleb128 1
	.byte 0x1b
	end cie
	fde one, cie, 0, 0x10
	.byte 0x0e, 16
	end one
	fde two, cie, 0x10, 0x10
	end two
