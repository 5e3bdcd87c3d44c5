/* SPDX-License-Identifier: MIT */
/*
 * The CFA is based on register 32, one more than a row's readers look at; 31 needs version 3.
 * expect: register-number functions=1 bytes=7
 * kept: 0+4 11+5
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4, 0x90
	.cfi_def_cfa 32, 8
	.skip 7, 0x90
	.cfi_def_cfa 7, 8
	.skip 5, 0x90
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
