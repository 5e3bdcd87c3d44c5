/* SPDX-License-Identifier: MIT */
/* def_cfa, def_cfa_register and def_cfa_offset: register and offset change alone. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_def_cfa rbp, 16
	.skip 4
	.cfi_def_cfa_offset 32
	.skip 4
	.cfi_def_cfa_register rsp
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
