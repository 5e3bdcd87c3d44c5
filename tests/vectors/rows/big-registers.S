/* SPDX-License-Identifier: MIT */
/* Register numbers of more than 16 bits: untracked as columns, opaque inside rules. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x05, 0x86, 0x80, 0x04, 2	/* offset_extended r65542 (low bits are rbp's) */
	.skip 4
	.cfi_escape 0x09, 6, 0x80, 0x80, 0x04	/* register rbp, r65536 */
	.skip 4
	.cfi_escape 0x0c, 0x87, 0x80, 0x04, 8	/* def_cfa r65543, 8 */
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
