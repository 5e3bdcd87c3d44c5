/* SPDX-License-Identifier: MIT */
/* As step_repair_x86_64.S, for s390x. */
	.macro	F name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:	.cfi_startproc
	.endm
	.macro	E name
	.cfi_endproc
	.size	\name, .-\name
	.endm
	.text

F adds_one
	aghi	%r2, 1
	br	%r14
E adds_one

F cfa_by_sp
	aghi	%r15, -160
at_cfa_by_sp__CFA_SP:
	aghi	%r2, 1
	.cfi_def_cfa_offset 320
	aghi	%r15, 160
	.cfi_def_cfa_offset 160
	br	%r14
E cfa_by_sp

F cfa_by_fp
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset 11, -72
	.cfi_offset 12, -64
	.cfi_offset 13, -56
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	lgr	%r11, %r15
	sllg	%r1, %r2, 4
	sgr	%r15, %r1
at_cfa_by_fp__CFA_FP:
at_cfa_by_fp__RA_FRAME:
at_cfa_by_fp__FP_FRAME:
	brasl	%r14, adds_one
	lmg	%r11, %r15, 248(%r11)
	.cfi_def_cfa_offset 160
	.cfi_restore 11
	.cfi_restore 12
	.cfi_restore 13
	.cfi_restore 14
	.cfi_restore 15
	br	%r14
E cfa_by_fp

/* As LLVM has it: the row of the epilogue comes too late. */
F ra_in_frame
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset 11, -72
	.cfi_offset 12, -64
	.cfi_offset 13, -56
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -160
at_ra_in_frame__FP_KEPT:
	brasl	%r14, adds_one
	.cfi_def_cfa_offset 320
	lmg	%r11, %r15, 248(%r15)
at_ra_in_frame__RA_KEPT:
	br	%r14
E ra_in_frame

F ra_kept
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	aghi	%r2, 1
	aghi	%r15, 160
at_ra_kept__RA_KEPT:
	br	%r14
E ra_kept

/* SP is not known, and its old value is in another register alone. */
F cfa_by_other
	lgr	%r1, %r15
	sllg	%r3, %r2, 4
	sgr	%r15, %r3
at_cfa_by_other__CFA_OTHER:
	aghi	%r2, 1
	lgr	%r15, %r1
	br	%r14
E cfa_by_other

F fp_in_other
	ldgr	%f0, %r11
	lghi	%r11, 3
at_fp_in_other__FP_OTHER:
	lgr	%r2, %r11
	lgdr	%r11, %f0
	br	%r14
E fp_in_other
	.section .note.GNU-stack, "", @progbits
