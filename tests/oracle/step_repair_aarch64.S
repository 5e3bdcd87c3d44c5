/* SPDX-License-Identifier: MIT */
/* As step_repair_x86_64.S, for AArch64. */
	.macro	F name
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:	.cfi_startproc
	.endm
	.macro	E name
	.cfi_endproc
	.size	\name, .-\name
	.endm
	.text

F fills_8
	mov	x1, #0x1234
	str	x1, [x0]
	ret
E fills_8

F cfa_by_sp
	sub	sp, sp, #32
at_cfa_by_sp__CFA_SP:
	str	x0, [sp]
	.cfi_def_cfa_offset 32
	ldr	x0, [sp]
	add	sp, sp, #32
	.cfi_def_cfa_offset 0
	ret
E cfa_by_sp

F cfa_by_fp
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov	x29, sp
	lsl	x1, x0, #4
	sub	sp, sp, x1
at_cfa_by_fp__CFA_FP:
at_cfa_by_fp__RA_FRAME:
at_cfa_by_fp__FP_FRAME:
	mov	x0, sp
	bl	fills_8
	mov	sp, x29
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	ret
E cfa_by_fp

/* As LLVM had it: no row for the epilogue. */
F ra_in_frame
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	add	x0, sp, #16
	mov	x29, #5
	bl	fills_8
	sub	sp, sp, #16
at_ra_in_frame__RA_FRAME:
at_ra_in_frame__FP_FRAME:
	mov	x0, x29
	add	sp, sp, #16
	ldp	x29, x30, [sp], #32
at_ra_in_frame__RA_KEPT:
at_ra_in_frame__FP_KEPT:
	ret
E ra_in_frame

F ra_kept
	sub	sp, sp, #16
	.cfi_def_cfa_offset 16
	str	x30, [sp]
	.cfi_offset 30, -16
	mov	x0, sp
	bl	fills_8_above
	ldr	x30, [sp]
	add	sp, sp, #16
at_ra_kept__RA_KEPT:
	mov	x0, #2
	.cfi_def_cfa_offset 0
	.cfi_restore 30
	ret
E ra_kept
F fills_8_above
	str	x0, [x0, #8]
	ret
E fills_8_above

/* The return address is back, and its place is a variable that a callee fills. */
F ra_slot_reused
	sub	sp, sp, #32
	.cfi_def_cfa_offset 32
	str	x30, [sp, #16]
	.cfi_offset 30, -16
	mov	x0, sp
	bl	fills_8
	ldr	x30, [sp, #16]
	.cfi_restore 30
	mov	x1, #9
	str	x1, [sp, #16]
	add	sp, sp, #16
at_ra_slot_reused__RA_KEPT:
	ldr	x0, [sp]
	.cfi_def_cfa_offset 16
	add	sp, sp, #16
	.cfi_def_cfa_offset 0
	ret
E ra_slot_reused

/* As LLVM outlines prologues: it leaves SP lower, with registers of its caller. */
F prologue
	stp	x20, x19, [sp, #-16]!
	.cfi_def_cfa_offset 16
	ret
E prologue
F behind_prologue
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	bl	prologue
at_behind_prologue__CFA_SP:
	mov	x19, #1
	.cfi_def_cfa_offset 32
	mov	x0, x19
	ldp	x20, x19, [sp], #16
	.cfi_def_cfa_offset 16
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	ret
E behind_prologue
/* The address is signed before the row says so. */
F ra_signed
	.inst	0xd503233f	/* paciasp */
at_ra_signed__RA_SIGNED:
	stp	x29, x30, [sp, #-16]!
	.cfi_negate_ra_state
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	bl	fills_own
	ldp	x29, x30, [sp], #16
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	.inst	0xd50323bf	/* autiasp */
	.cfi_negate_ra_state
	ret
E ra_signed
F fills_own
	mov	x0, #1
	ret
E fills_own
	.section .note.GNU-stack, "", %progbits
