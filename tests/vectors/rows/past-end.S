/* SPDX-License-Identifier: MIT */
/* What lies past the end of the range is not about this FDE: no row, no error. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_def_cfa_offset 16
	.skip 4
	.cfi_escape 0x02, 0x40, 0x0e, 0x18	/* advance_loc1 0x40; def_cfa_offset 24 */
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
