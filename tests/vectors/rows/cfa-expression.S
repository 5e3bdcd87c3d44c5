/* SPDX-License-Identifier: MIT */
/* A CFA by expression: realigned stacks (DRAP) keep it in memory. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x0f, 3, 0x76, 0x78, 0x06		/* *(rbp - 8) */
	.skip 4
	.cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 8	/* *rsp + 8 */
	.skip 4
	.cfi_escape 0x0f, 3, 0x77, 0xc0, 0x00		/* rsp + 64 */
	.skip 4
	.cfi_def_cfa rsp, 8
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
