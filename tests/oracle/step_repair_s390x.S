/* SPDX-License-Identifier: MIT */
/* As step_repair_x86_64.S, for s390x. */
#include "step_repair.inc"
	.text
F adds_one
	aghi	%r2, 1; br %r14
F cfa_by_sp
	aghi	%r15, -160; at CFA_SP; aghi %r2, 1; cfa 320; aghi %r15, 160; cfa 160; br %r14
F cfa_by_fp
	stmg	%r11, %r15, 88(%r15); saved 11, -72, 12, -64, 13, -56
	saved 14, -48, 15, -40; aghi %r15, -160; cfa 320; lgr %r11, %r15; sllg %r1, %r2, 4
	sgr	%r15, %r1; at CFA_FP, RA_FRAME, FP_FRAME; brasl %r14, adds_one; lmg %r11, %r15, 248(%r11)
	cfa 160; restored 11, 12, 13, 14, 15; br %r14
/* As LLVM has it: the row of the epilogue comes too late. */
F ra_in_frame
	stmg	%r11, %r15, 88(%r15); saved 11, -72, 12, -64, 13, -56
	saved 14, -48, 15, -40; aghi %r15, -160; at FP_FRAME; brasl %r14, adds_one; cfa 320
	lmg	%r11, %r15, 248(%r15); at FP_KEPT, RA_KEPT; br %r14
F ra_kept
	aghi	%r15, -160; cfa 320; aghi %r2, 1; aghi %r15, 160; at RA_KEPT; br %r14
/* SP is not known, and its old value is in another register alone. */
F cfa_by_other
	lgr	%r1, %r15; sllg %r3, %r2, 4; sgr %r15, %r3; at CFA_OTHER; aghi %r2, 1; lgr %r15, %r1; br %r14
F fp_in_other
	ldgr	%f0, %r11; lghi %r11, 3; at FP_OTHER; lgr %r2, %r11; lgdr %r11, %f0; br %r14
F fills_8
	mvghi	0(%r2), 0x1234; br %r14
/* Copies that the program made for itself, which a callee fills: those that it takes back are elsewhere than usual. */
F copied
	stmg	%r11, %r15, 88(%r15); aghi %r15, -192; cfa 352; stg %r11, 160(%r15); stg %r14, 168(%r15)
	lghi	%r11, 3; la %r2, 304(%r15); brasl %r14, fills_8; la %r2, 280(%r15); brasl %r14, fills_8
	at RA_FRAME, FP_FRAME; lgr %r2, %r11; lg %r11, 160(%r15); lg %r14, 168(%r15); aghi %r15, 192
	cfa 160; br %r14
	end
	.section .note.GNU-stack, "", @progbits
