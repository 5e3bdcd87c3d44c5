/* SPDX-License-Identifier: MIT */
/*
 * A CFA below the 160 bytes that a caller leaves above %r15.
 * versions: 2 3
 * expect: cfa-near-sp functions=1 bytes=8
 * kept: 0+4 12+4
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	.skip 4
	.cfi_def_cfa_offset 152
	.skip 8
	.cfi_def_cfa_offset 160
	.skip 4
	.cfi_endproc
	.size func, . - func
