/* SPDX-License-Identifier: MIT */
/* The _sf forms of def_cfa: a signed offset times the data alignment, here -8. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x12, 6, 0x7e	/* def_cfa_sf rbp, -2 */
	.skip 4
	.cfi_escape 0x13, 0x7c		/* def_cfa_offset_sf -4 */
	.skip 4
	.cfi_escape 0x13, 0x02		/* def_cfa_offset_sf 2: below the register */
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
