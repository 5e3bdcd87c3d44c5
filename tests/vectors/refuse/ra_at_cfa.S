/* SPDX-License-Identifier: MIT */
/*
 * The return address is saved at the CFA: in a row without control words 0 is padding.
 * versions: 2 3
 * expect: ra-at-cfa functions=1 bytes=8
 * kept: 0+4 12+4
 * expect-v3: none
 * kept-v3: 0+16
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	.skip 4
	.cfi_offset 14, 0
	.skip 8
	.cfi_restore 14
	.skip 4
	.cfi_endproc
	.size func, . - func
