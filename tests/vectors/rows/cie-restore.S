/* SPDX-License-Identifier: MIT */
/* restore among the initial instructions: there is nothing to go back to. */
#include "raw.h"

	cie_head cie, 1, zR
	.uleb128 1
	.byte 0x1b
	.byte 0x0c, 7, 8, 0x90, 1, 0xd0
	end cie
	fde one, cie, 0, 0x10
	end one
