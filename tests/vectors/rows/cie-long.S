/* SPDX-License-Identifier: MIT */
/* Initial instructions of unusual length are refused: they are run more than once. */
#include "raw.h"

	cie_head cie, 1, zR
	.uleb128 1
	.byte 0x1b
	.zero 1025
	end cie
	fde one, cie, 0, 0x10
	end one
