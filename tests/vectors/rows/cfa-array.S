/* SPDX-License-Identifier: MIT */
/* A CFA in an array on the stack, as OpenSSL's bn_mul_mont has it. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 6, 0x23, 8	/* *(rsp + 8 + r9 * 8) + 8 */
	.skip 4
	.cfi_escape 0x0f, 8, 0x79, 1, 0x32, 0x24, 0x76, 0x70, 0x22, 6	/* *((r9 + 1 << 2) + rbp - 16) */
	.skip 4
	.cfi_escape 0x0f, 8, 0x77, 0, 0x79, 0, 0x31, 0x1e, 0x22, 6	/* *(rsp + r9 * 1) */
	.skip 4
	.cfi_escape 0x0f, 8, 0x77, 0, 0x79, 0, 0x33, 0x1e, 0x22, 6	/* not by 3 */
	.skip 4
	.cfi_escape 0x0f, 8, 0x77, 0, 0x79, 0, 0x38, 0x24, 0x22, 6	/* nor by 256 */
	.skip 4
	.cfi_escape 0x0f, 8, 0x77, 0, 0x79, 0, 0x38, 0x1e, 0x1c, 6	/* nor is it a difference */
	.skip 4
	.cfi_escape 0x0f, 7, 0x77, 0, 0x79, 0, 0x38, 0x1e, 0x22	/* nor the address itself */
	.skip 4
	.cfi_def_cfa rsp, 8
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
