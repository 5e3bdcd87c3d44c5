/* SPDX-License-Identifier: MIT */
/* AArch64: negate_ra_state and its PC form toggle, remember and restore keep. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x2d
	.cfi_remember_state
	.skip 4
	.cfi_escape 0x2d
	.skip 4
	.cfi_escape 0x2c
	.skip 4
	.cfi_escape 0x2c
	.skip 4
	.cfi_restore_state
	.skip 4
	.cfi_escape 0x06, 34		/* restore_extended RA_SIGN_STATE */
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
