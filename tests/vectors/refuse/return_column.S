/* SPDX-License-Identifier: MIT */
/*
 * The CIE's return address column is rbx, though rbx is saved where a return address would be.
 * expect: return-column functions=1 bytes=7
 * kept: 7+5
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.cfi_return_column 3
	.cfi_offset 3, -8
	.skip 7, 0x90
	.cfi_endproc
	.cfi_startproc
	.skip 5, 0x90
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
