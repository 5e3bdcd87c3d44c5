/* SPDX-License-Identifier: MIT */
/* An unknown letter is passed over when R, which tells where code is, was read, and no S or B comes behind it. */
#include "raw.h"

	cie_head after, 1, zRX
	.uleb128 3
	.byte 0x1b, 1, 2
	usual_rules after
	cie_head before, 1, zXR
	.uleb128 3
	.byte 1, 2, 0x1b
	usual_rules before
	cie_head bare, 1, X
	usual_rules bare
	fde one, after, 0, 0x10
	end one
	fde two, before, 0x10, 0x10
	end two
	fde three, bare, 0x20, 0x10
	end three
	cie_head signal, 1, zRXS
	.uleb128 2
	.byte 0x1b, 1
	usual_rules signal
	fde four, signal, 0x30, 0x10
	end four
