/* SPDX-License-Identifier: MIT */
/* skip and bra; a loop without end is cut off and opaque. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 1
	.cfi_escape 0x16, 6, 7, 0x31, 0x2f, 1, 0, 0x4f, 0x23, 1	/* skip over lit31: 2 */
	.skip 1
	.cfi_escape 0x16, 6, 8, 0x34, 0x31, 0x28, 1, 0, 0x13, 0x23, 1	/* bra taken over drop: 5 */
	.skip 1
	.cfi_escape 0x16, 6, 7, 0x34, 0x35, 0x30, 0x28, 1, 0, 0x13	/* bra not taken: 4 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x2f, 0xfd, 0xff	/* skip -3: for ever */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x2f, 0x7f, 0	/* skip out of the expression */
	.skip 1
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
