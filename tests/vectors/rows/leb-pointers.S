/* SPDX-License-Identifier: MIT */
/* LEB128 addresses; the second one never ends. */
#include "raw.h"

	cie_head uleb_cie, 1, zR
	.uleb128 1
	.byte 0x01
	usual_rules uleb_cie
	begin uleb
	.long . - uleb_cie
	.uleb128 0x1234
	.uleb128 16
	.uleb128 0
	end uleb
	cie_head sleb_cie, 1, zR
	.uleb128 1
	.byte 0x09
	usual_rules sleb_cie
	begin sleb
	.long . - sleb_cie
	.sleb128 0x2234
	.sleb128 16
	.uleb128 0
	end sleb
	cie_head endless_cie, 1, zR
	.uleb128 1
	.byte 0x01
	usual_rules endless_cie
	begin endless
	.long . - endless_cie
	.fill 64, 1, 0x80
	.uleb128 0
	end endless
	usual_cie cie
	fde one, cie, 0, 0x10
	.byte 0x0e
	.fill 32, 1, 0xff
	end one
	fde two, cie, 0x10, 0x10
	end two
