/* SPDX-License-Identifier: MIT */
/* As step_repair_x86_64.S, for AArch64. */
#include "step_repair.inc"
	.text
F fills_8
	mov	x1, #0x1234; str x1, [x0]; ret
F cfa_by_sp
	sub	sp, sp, #32; at CFA_SP; str x0, [sp]; cfa 32; ldr x0, [sp]; add sp, sp, #32; cfa 0; ret
F cfa_by_fp
	stp	x29, x30, [sp, #-16]!; cfa 16; saved 29, -16, 30, -8; mov x29, sp
	lsl	x1, x0, #4; sub sp, sp, x1; at CFA_FP, RA_FRAME, FP_FRAME; mov x0, sp; bl fills_8; mov sp, x29
	ldp	x29, x30, [sp], #16; cfa 0; restored 29, 30; ret
/* As LLVM had it: no row for the epilogue. */
F ra_in_frame
	stp	x29, x30, [sp, #-32]!; cfa 32; saved 29, -32, 30, -24; add x0, sp, #16
	mov	x29, #5; bl fills_8; sub sp, sp, #16; at RA_FRAME, FP_FRAME; mov x0, x29; add sp, sp, #16
	ldp	x29, x30, [sp], #32; at RA_KEPT, FP_KEPT; ret
F ra_kept
	sub	sp, sp, #16; cfa 16; str x30, [sp]; saved 30, -16; mov x0, sp; bl fills_8_above
	ldr	x30, [sp]; add sp, sp, #16; at RA_KEPT; mov x0, #2; cfa 0; restored 30; ret
F fills_8_above
	str	x0, [x0, #8]; ret
/* The return address is back, and its place is a variable that a callee fills. */
F ra_slot_reused
	sub	sp, sp, #32; cfa 32; str x30, [sp, #16]; saved 30, -16; mov x0, sp; bl fills_8
	ldr	x30, [sp, #16]; restored 30; mov x1, #9; str x1, [sp, #16]; add sp, sp, #16; at RA_KEPT
	ldr	x0, [sp]; cfa 16; add sp, sp, #16; cfa 0; ret
/* As LLVM outlines prologues: it leaves SP lower, with registers of its caller. */
F prologue
	stp	x20, x19, [sp, #-16]!; cfa 16; ret
F behind_prologue
	stp	x29, x30, [sp, #-16]!; cfa 16; saved 29, -16, 30, -8; bl prologue; at CFA_SP
	mov	x19, #1; cfa 32; mov x0, x19; ldp x20, x19, [sp], #16; cfa 16; ldp x29, x30, [sp], #16; cfa 0
	restored 29, 30; ret
/* The address is signed before the row says so. */
F ra_signed
	.inst	0xd503233f /* paciasp */; at RA_SIGNED; stp x29, x30, [sp, #-16]!; .cfi_negate_ra_state
	cfa 16; saved 29, -16, 30, -8; bl fills_own; ldp x29, x30, [sp], #16; restored 29
	restored 30; cfa 0; .inst 0xd50323bf /* autiasp */; .cfi_negate_ra_state; ret
F fills_own
	mov	x0, #1; ret
/* Copies that the program made for itself, which a callee fills: above and below those that it takes back. */
F copied
	sub	sp, sp, #80; cfa 80; stp x29, x30, [sp]; stp x29, x30, [sp, #32]; stp x29, x30, [sp, #64]
	mov	x29, #3; add x0, sp, #8; bl fills_8; add x0, sp, #72; bl fills_8; mov x0, sp; bl fills_8
	add	x0, sp, #64; bl fills_8; at RA_FRAME, FP_FRAME; mov x0, x29; ldp x29, x30, [sp, #32]
	add	sp, sp, #80; cfa 0; ret
	end
	.section .note.GNU-stack, "", %progbits
