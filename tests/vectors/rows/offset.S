/* SPDX-License-Identifier: MIT */
/* All ways to say "saved at CFA + n", with the data alignment -8. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_offset rbp, -16		/* offset */
	.skip 4
	.cfi_escape 0x05, 6, 3		/* offset_extended rbp, 3 */
	.skip 4
	.cfi_escape 0x11, 6, 0x7c	/* offset_extended_sf rbp, -4 */
	.skip 4
	.cfi_escape 0x2f, 6, 5		/* GNU_negative_offset_extended rbp, 5 */
	.skip 4
	.cfi_offset rbx, -24		/* not tracked: no new row */
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
