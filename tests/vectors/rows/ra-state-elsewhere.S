/* SPDX-License-Identifier: MIT */
/* AARCH64_negate_ra_state_with_pc is unknown on other machines. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x2c
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
