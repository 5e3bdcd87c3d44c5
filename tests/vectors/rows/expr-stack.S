/* SPDX-License-Identifier: MIT */
/* Operations that move values about the stack. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x31, 0x12, 0x22	/* dup: 1 + 1 = 2 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x33, 0x34, 0x13	/* drop: 3 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x35, 0x31, 0x14	/* over: 5 */
	.skip 1
	.cfi_escape 0x16, 6, 5, 0x36, 0x31, 0x32, 0x15, 2	/* pick 2: 6 */
	.skip 1
	.cfi_escape 0x16, 6, 4, 0x37, 0x32, 0x16, 0x1c	/* swap: 2 - 7 = -5 */
	.skip 1
	.cfi_escape 0x16, 6, 4, 0x31, 0x32, 0x33, 0x17	/* rot: 2 */
	.skip 1
	.cfi_escape 0x16, 6, 6, 0x31, 0x32, 0x33, 0x17, 0x13, 0x13	/* rot: 3 is third */
	.skip 1
	.cfi_escape 0x16, 6, 2, 0x39, 0x96	/* nop: 9 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x92, 3, 8	/* bregx rbx + 8 */
	.skip 1
	.cfi_escape 0x16, 6, 5, 0x77, 8, 0x77, 2, 0x1c	/* (rsp + 8) - (rsp + 2) = 6 */
	.skip 1
	.cfi_escape 0x16, 6, 4, 0x77, 8, 0x94, 8	/* deref_size 8: *(rsp + 8) */
	.skip 1
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
