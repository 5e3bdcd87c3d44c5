/* SPDX-License-Identifier: MIT */
/* What cannot be followed is opaque, never a guess. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 1
	.cfi_escape 0x16, 6, 2, 0x13, 0x13	/* stack underflow */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0x31, 0x30, 0x1b	/* division by zero */
	.skip 1
	.cfi_escape 0x16, 6, 4, 0x31, 8, 0x40, 0x24	/* shift by 64 */
	.skip 1
	.cfi_escape 0x16, 6, 4, 9, 0xff, 0x32, 0x1d	/* remainder of a negative number: readers differ */
	.skip 1
	.cfi_escape 0x16, 6, 5, 0x77, 0, 0x73, 0, 0x22	/* rsp + rbx */
	.skip 1
	.cfi_escape 0x16, 6, 4, 0x77, 0, 0x94, 4	/* four bytes of memory */
	.skip 1
	.cfi_escape 0x16, 6, 4, 0x77, 0, 6, 6	/* two loads */
	.skip 1
	.cfi_escape 0x16, 6, 2, 0x38, 6	/* memory at a constant address */
	.skip 1
	.cfi_escape 0x16, 6, 5, 0x77, 0, 0x28, 0, 0	/* a branch on a register */
	.skip 1
	.cfi_escape 0x16, 6, 1, 0x53	/* reg3: a location, not a value */
	.skip 1
	.cfi_escape 0x16, 6, 1, 0x9c	/* call_frame_cfa: not allowed in CFI */
	.skip 1
	.cfi_escape 0x16, 6, 1, 0xe0	/* a vendor operation */
	.skip 1
	.cfi_escape 0x16, 6, 3, 0xc, 1, 0	/* a truncated operand */
	.skip 1
	.cfi_escape 0x16, 6, 2, 0x80, 0	/* the PC itself: changes with the load address */
	.skip 1
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
