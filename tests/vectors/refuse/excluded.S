/* SPDX-License-Identifier: MIT */
/*
 * Left out because the user says so, by one of the names of a function, and not the one that the
 * report tells.
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
	.globl alias
	.type alias, @function
	.type secret_handshake, @function
alias:
secret_handshake:
	.cfi_startproc
	.skip 7, 0x90
	.cfi_endproc
	.size alias, . - alias
	.size secret_handshake, . - secret_handshake
	.section .note.GNU-stack, "", @progbits
