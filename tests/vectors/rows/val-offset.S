/* SPDX-License-Identifier: MIT */
/* The caller's value is CFA + n itself. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x14, 7, 2		/* val_offset rsp, 2 */
	.skip 4
	.cfi_escape 0x15, 7, 0x7f	/* val_offset_sf rsp, -1 */
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
