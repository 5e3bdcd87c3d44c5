/* SPDX-License-Identifier: MIT */
/* LLVM_def_aspace_cfa: space 0 is def_cfa, any other is opaque, and stays so. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x30, 6, 16, 0	/* def_aspace_cfa rbp, 16, 0 */
	.skip 4
	.cfi_escape 0x31, 6, 0x7d, 0	/* def_aspace_cfa_sf rbp, -3, 0 */
	.skip 4
	.cfi_escape 0x30, 6, 16, 1	/* def_aspace_cfa rbp, 16, 1 */
	.skip 4
	.cfi_escape 0x0e, 24		/* def_cfa_offset */
	.skip 4
	.cfi_def_cfa rsp, 8
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
