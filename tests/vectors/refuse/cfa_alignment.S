/* SPDX-License-Identifier: MIT */
/*
 * A CFA that is not a number of doublewords away.
 * versions: 2 3
 * expect: cfa-alignment functions=1 bytes=8
 * kept: 0+4 12+4
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	.skip 4
	.cfi_def_cfa_offset 164
	.skip 8
	.cfi_def_cfa_offset 168
	.skip 4
	.cfi_endproc
	.size func, . - func
