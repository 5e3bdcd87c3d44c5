/* SPDX-License-Identifier: MIT */
/* Every format of DW_EH_PE that a linker can fill in, absolute and pcrel. */
#include "raw.h"

	cie_head absptr_cie, 1, zR
	.uleb128 1
	.byte 0x00
	usual_rules absptr_cie
	begin absptr
	.long . - absptr_cie
	.quad func
	.quad 1
	.uleb128 0
	end absptr
	cie_head udata8_cie, 1, zR
	.uleb128 1
	.byte 0x04
	usual_rules udata8_cie
	begin udata8
	.long . - udata8_cie
	.quad func
	.quad 2
	.uleb128 0
	end udata8
	cie_head sdata8_cie, 1, zR
	.uleb128 1
	.byte 0x0c
	usual_rules sdata8_cie
	begin sdata8
	.long . - sdata8_cie
	.quad func
	.quad 3
	.uleb128 0
	end sdata8
	cie_head signed_cie, 1, zR
	.uleb128 1
	.byte 0x08
	usual_rules signed_cie
	begin signed
	.long . - signed_cie
	.quad func
	.quad 4
	.uleb128 0
	end signed
	cie_head pcrel8_cie, 1, zR
	.uleb128 1
	.byte 0x1c
	usual_rules pcrel8_cie
	begin pcrel8
	.long . - pcrel8_cie
	.quad func - .
	.quad 5
	.uleb128 0
	end pcrel8
	cie_head pcrel4u_cie, 1, zR
	.uleb128 1
	.byte 0x13
	usual_rules pcrel4u_cie
	begin pcrel4u
	.long . - pcrel4u_cie
	.long func - .
	.long 6
	.uleb128 0
	end pcrel4u
	cie_head pcrel2_cie, 1, zR
	.uleb128 1
	.byte 0x1a
	usual_rules pcrel2_cie
	begin pcrel2
	.long . - pcrel2_cie
	.short func - .
	.short 7
	.uleb128 0
	end pcrel2
	cie_head aligned_cie, 1, zR
	.uleb128 1
	.byte 0x50
	usual_rules aligned_cie
	begin aligned
	.long . - aligned_cie
	.balign 8
	.quad func
	.quad 8
	.uleb128 0
	end aligned
