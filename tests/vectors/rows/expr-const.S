/* SPDX-License-Identifier: MIT */
/* Every way to push a constant. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 1
	.cfi_escape 0x16, 6, 2, 8, 0xff	/* const1u 255 */
	.skip 1
	.cfi_escape 0x16, 6, 2, 9, 0xff	/* const1s -1 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0xa, 0xfe, 0xff	/* const2u 65534 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0xb, 0xfe, 0xff	/* const2s -2 */
	.skip 1
	.cfi_escape 0x16, 6, 5, 0xc, 0xfd, 0xff, 0xff, 0xff	/* const4u 4294967293 */
	.skip 1
	.cfi_escape 0x16, 6, 5, 0xd, 0xfd, 0xff, 0xff, 0xff	/* const4s -3 */
	.skip 1
	.cfi_escape 0x16, 6, 9, 0xe, 4, 0, 0, 0, 0, 0, 0, 0	/* const8u 4 */
	.skip 1
	.cfi_escape 0x16, 6, 9, 0xf, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff	/* const8s -5 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x10, 0x80, 1	/* constu 128 */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x11, 0x80, 0x7f	/* consts -128 */
	.skip 1
	.cfi_escape 0x16, 6, 1, 0x4f	/* lit31 */
	.skip 1
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
