/* SPDX-License-Identifier: MIT */
/* def_cfa_offset after an expression: readers differ, so opaque until defined anew. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
	.skip 4
	.cfi_escape 0x0e, 16
	.skip 4
	.cfi_escape 0x0d, 7
	.skip 4
	.cfi_def_cfa rsp, 8
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
