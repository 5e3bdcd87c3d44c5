/* SPDX-License-Identifier: MIT */
/* advance_loc in its four widths: 6, 8, 16 and 32 bits. Each moves to a new row. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 1
	.cfi_def_cfa_offset 16
	.skip 0x40
	.cfi_def_cfa_offset 24
	.skip 0x100
	.cfi_def_cfa_offset 32
	.skip 0x10000
	.cfi_def_cfa_offset 40
	.skip 1
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
