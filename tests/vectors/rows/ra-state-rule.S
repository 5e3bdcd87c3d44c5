/* SPDX-License-Identifier: MIT */
/* AArch64: an ordinary rule for RA_SIGN_STATE is not followed, so the FDE is refused. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x16, 34, 1, 0x31	/* val_expression RA_SIGN_STATE: 1 */
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
