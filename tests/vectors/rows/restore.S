/* SPDX-License-Identifier: MIT */
/* restore goes back to the initial rules of the CIE, which has one for RA only. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_offset rbp, -16
	.cfi_offset rip, -32
	.skip 4
	.cfi_restore rbp
	.skip 4
	.cfi_restore rip
	.skip 4
	.cfi_offset rbp, -16
	.skip 4
	.cfi_escape 0x06, 6		/* restore_extended rbp */
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
