/* SPDX-License-Identifier: MIT */
/*
 * An opcode that nobody defined, behind four good bytes: what it means for the rest is not
 * known, so that the whole function is left out. The next one is kept.
 * expect: broken-program functions=1 bytes=7
 * kept: 7+5
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4, 0x90
	.cfi_escape 0x3e
	.skip 3, 0x90
	.cfi_endproc
	.cfi_startproc
	.skip 5, 0x90
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
