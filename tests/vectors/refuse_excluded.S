/* SPDX-License-Identifier: MIT */
/*
 * Left out because the user says so, by the name of a function.
 * expect: excluded functions=1 bytes=7
 * kept: 0+5
 * options: --exclude-symbol=secret_*
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 5, 0x90
	.cfi_endproc
	.size func, . - func
	.type secret_handshake, @function
secret_handshake:
	.cfi_startproc
	.skip 7, 0x90
	.cfi_endproc
	.size secret_handshake, . - secret_handshake
	.section .note.GNU-stack, "", @progbits
