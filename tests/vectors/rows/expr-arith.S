/* SPDX-License-Identifier: MIT */
/* Arithmetic is modulo 2^64, division and comparison signed (DWARF 5, 2.5.1.4). */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 1
	.cfi_escape 0x16, 6, 4, 9, 0xf8, 0x33, 0x1b	/* -8 / 3 = -2 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x37, 0x34, 0x1d	/* 7 % 4 = 3 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x33, 0x35, 0x1c	/* 3 - 5 = -2 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x36, 0x37, 0x1e	/* 6 * 7 = 42 */
	.skip 1
	.cfi_escape 0x16, 6, 2, 0x35, 0x1f	/* -5 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 9, 0xfb, 0x19	/* abs(-5) = 5 */
	.skip 1
	.cfi_escape 0x16, 6, 2, 0x30, 0x20	/* ~0 = -1 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x3c, 0x3a, 0x1a	/* 12 & 10 = 8 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x3c, 0x3a, 0x21	/* 12 | 10 = 14 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x3c, 0x3a, 0x27	/* 12 ^ 10 = 6 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x31, 0x34, 0x24	/* 1 << 4 = 16 */
	.skip 1
	.cfi_escape 0x16, 6, 5, 9, 0xf0, 8, 0x3c, 0x25	/* -16 >> 60 = 15, logical */
	.skip 1
	.cfi_escape 0x16, 6, 4, 9, 0xf0, 0x32, 0x26	/* -16 >> 2 = -4, arithmetic */
	.skip 1
	.cfi_escape 0x16, 6, 4, 9, 0xff, 0x31, 0x2d	/* -1 < 1 = 1 */
	.skip 1
	.cfi_escape 0x16, 6, 4, 9, 0xff, 0x31, 0x2a	/* -1 >= 1 = 0 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x32, 0x31, 0x2b	/* 2 > 1 = 1 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x32, 0x31, 0x2c	/* 2 <= 1 = 0 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x32, 0x31, 0x29	/* 2 == 1 = 0 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x32, 0x31, 0x2e	/* 2 != 1 = 1 */
	.skip 1
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
