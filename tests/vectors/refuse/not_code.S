/* SPDX-License-Identifier: MIT */
/*
 * CFI for bytes in a writable data segment, as a damaged linker script might leave behind.
 * expect: not-code functions=1 bytes=7
 * kept: 0+5
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 5, 0x90
	.cfi_endproc
	.size func, . - func
	.data
	.cfi_startproc
	.skip 7
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
