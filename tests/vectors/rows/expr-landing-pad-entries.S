/* SPDX-License-Identifier: MIT */
/* GNU ld's lazy PLT with IBT: 8 more from byte 9 of each entry on. Right at each PC. */
	.text
	.balign 16
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.skip 6
	.cfi_def_cfa_offset 24
	.skip 10
	.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24, 0x22
	.skip 32
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
