/* SPDX-License-Identifier: MIT */
/* Encodings without a base, from memory, or that do not exist. */
#include "raw.h"

	cie_head text_cie, 1, zR
	.uleb128 1
	.byte 0x2b
	usual_rules text_cie
	begin text
	.long . - text_cie
	.long 1
	.long 16
	.uleb128 0
	end text
	cie_head data_cie, 1, zR
	.uleb128 1
	.byte 0x3b
	usual_rules data_cie
	begin data
	.long . - data_cie
	.long 1
	.long 16
	.uleb128 0
	end data
	cie_head func_rel_cie, 1, zR
	.uleb128 1
	.byte 0x4b
	usual_rules func_rel_cie
	begin func_rel
	.long . - func_rel_cie
	.long 1
	.long 16
	.uleb128 0
	end func_rel
	cie_head indirect_cie, 1, zR
	.uleb128 1
	.byte 0x9b
	usual_rules indirect_cie
	begin indirect
	.long . - indirect_cie
	.long 1
	.long 16
	.uleb128 0
	end indirect
	cie_head omit_cie, 1, zR
	.uleb128 1
	.byte 0xff
	usual_rules omit_cie
	begin omit
	.long . - omit_cie
	.long 1
	.long 16
	.uleb128 0
	end omit
	cie_head nothing_cie, 1, zR
	.uleb128 1
	.byte 0x07
	usual_rules nothing_cie
	begin nothing
	.long . - nothing_cie
	.long 1
	.long 16
	.uleb128 0
	end nothing
	usual_cie cie
	fde one, cie, 0, 0x10
	end one
