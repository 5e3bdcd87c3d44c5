/* SPDX-License-Identifier: MIT */
/*
 * AArch64 code without CFI that is right to run and easy to get wrong; see step_hostile_x86_64.S. The names below must have
 * rows that were stepped.
 *
 * rows: plain_frame leaf_pushes frame_alloca loops_pushes large_frame extends_then_shifts extends_byte masks_half
 * rows: fp_in_x9 ra_in_x9 ra_in_x19 falls_into_next table_of_two fills_8 fp_slot_reused ra_slot_reused fp_is_argument
 * rows: changes_argument calls_sets_fp calls_allocates calls_allocates_by_x16 calls_allocates_local calls_to_allocates
 * rows: calls_pops_by_register computed_goto described_stack
 */
#include "step_hostile.inc"
	.text

/* ---- ordinary functions, and such that only look odd ---- */

F plain_frame
	stp	x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; mov x19, x0; bl leaf_pushes
	add	x0, x0, x19; ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; ret
F leaf_pushes
	sub	sp, sp, #16; stp x19, x20, [sp]; add x19, x0, #1; mov x0, x19; ldp x19, x20, [sp]
	add	sp, sp, #16; ret
F frame_alloca
	stp	x29, x30, [sp, #-16]!; mov x29, sp; add x0, x0, #31; and x0, x0, #-16; sub sp, sp, x0
	mov	x0, sp; bl fills_8; mov sp, x29; ldp x29, x30, [sp], #16; ret
F loops_pushes
	stp	x29, x30, [sp, #-16]!; mov x29, sp
1:	str	x0, [sp, #-16]!; subs x0, x0, #1; b.ne 1b; mov sp, x29; ldp x29, x30, [sp], #16; ret
F large_frame /* in two steps, and no frame pointer */
	sub	sp, sp, #1, lsl #12; sub sp, sp, #32; stp x29, x30, [sp]; bl leaf_pushes; ldp x29, x30, [sp]
	add	sp, sp, #32; add sp, sp, #1, lsl #12; ret
F extends_then_shifts /* 0x10010 bytes: the half word is extended before it is shifted */
	stp	x29, x30, [sp, #-16]!; mov w9, #0x1001; sub sp, sp, w9, uxth #4; bl leaf_pushes
	mov	w9, #0x1001; add sp, sp, w9, uxth #4; ldp x29, x30, [sp], #16; ret
F extends_byte /* 0x101 is 1 as a byte: 16 bytes */
	stp	x29, x30, [sp, #-16]!; mov w9, #0x101; sub sp, sp, w9, uxtb #4; bl leaf_pushes; mov w9, #0x101
	add	sp, sp, w9, uxtb #4; ldp x29, x30, [sp], #16; ret
F masks_half /* an instruction on 32 bits clears the upper half */
	stp	x29, x30, [sp, #-16]!; mov x9, #0x100000000; add x9, x9, #0x27; and w9, w9, #~7
	sub	sp, sp, x9, lsl #1; bl leaf_pushes; add sp, sp, #64; ldp x29, x30, [sp], #16; ret
F fp_in_x9
	mov	x9, x29; add x29, x0, #1; mov x0, x29; mov x29, x9; ret
F fp_in_d0
	fmov	d0, x29; add x29, x0, #1; mov x0, x29; fmov x29, d0; ret
F ra_in_x9
	mov	x9, x30; mov x30, x0; mov x0, x30; br x9
F ra_in_x19
	str	x19, [sp, #-16]!; mov x19, x30; bl leaf_pushes; mov x30, x19; ldr x19, [sp], #16; ret
F falls_into_next
	str	x30, [sp, #-16]!; bl leaf_pushes
	entry	fallen_into
	ldr	x30, [sp], #16; ret
F two_heights
	tbz	x0, #0, 1f; sub sp, sp, #16
1:	mov	x9, x0; tbz x9, #0, 2f; add sp, sp, #16
2:	ret
F table_of_two
	stp	x29, x30, [sp, #-16]!; cmp w0, #1; b.hi 9f; adr x1, 7f; ldrb w2, [x1, w0, uxtw]; adr x1, 8f
	add	x1, x1, w2, sxtb #2; br x1
8:	mov	x0, #1; ldp x29, x30, [sp], #16; ret
9:	sub	sp, sp, #16; mov x0, #2; add sp, sp, #16; ldp x29, x30, [sp], #16; ret
	.section .rodata
7:	.byte	0, (9b - 8b) / 4

F call_to_next
	mov	x9, x30; bl 1f
	.quad	0x1122334455667788
1:	ldr	x0, [x30]; mov x30, x9; ret

/* ---- slots and registers ---- */

F fills_8
	mov	x1, #0x1234; str x1, [x0]; ret
F fp_slot_reused /* the register holds the value again, and the slot is a local */
	sub	sp, sp, #32; stp x29, x30, [sp]; mov x29, x0; ldr x29, [sp]; mov x0, sp; bl fills_8; nop
	ldr	x30, [sp, #8]; add sp, sp, #32; ret
F ra_slot_reused
	sub	sp, sp, #32; stp x29, x30, [sp]; bl leaf_pushes; ldp x29, x30, [sp]; mov x2, #1; mov x1, #77
	str	x1, [sp, x2, lsl #3]; nop; add sp, sp, #32; ret
F fp_is_argument
	stp	x29, x30, [sp, #-16]!; bl changes_argument; nop; ldr x30, [sp, #8]; add sp, sp, #16; ret
F changes_argument
	str	x29, [sp]; ret
F sets_fp
	add	x29, x0, #1; ret
F calls_sets_fp
	stp	x29, x30, [sp, #-32]!; bl sets_fp; mov x0, x29; ldp x29, x30, [sp], #32; ret
E

/* ---- callees that do not leave the stack as it was ---- */

allocates_local:
	sub	sp, sp, #64; ret
F calls_allocates_local
	stp	x29, x30, [sp, #-16]!; mov x29, sp; bl allocates_local; str xzr, [sp]; mov sp, x29
	ldp	x29, x30, [sp], #16; ret
F allocates
	sub	sp, sp, #64; ret
F calls_allocates
	stp	x29, x30, [sp, #-16]!; mov x29, sp; bl allocates; str xzr, [sp]; mov sp, x29
	ldp	x29, x30, [sp], #16; ret
F allocates_by_x16
	mov	x16, x30; sub sp, sp, #64; br x16
F calls_allocates_by_x16
	stp	x29, x30, [sp, #-16]!; mov x29, sp; bl allocates_by_x16; str xzr, [sp]; mov sp, x29
	ldp	x29, x30, [sp], #16; ret
F calls_allocates_frameless
	str	x30, [sp, #-16]!; bl allocates; add sp, sp, #64; ldr x30, [sp], #16; ret
F to_allocates
	mov	x0, #9; b allocates
F calls_to_allocates
	stp	x29, x30, [sp, #-16]!; mov x29, sp; bl to_allocates; str xzr, [sp]; mov sp, x29
	ldp	x29, x30, [sp], #16; ret
F calls_pops_by_register
	stp	x29, x30, [sp, #-32]!; mov x29, sp; adr x1, pops_16; sub sp, sp, #16; blr x1; nop; nop
	mov	sp, x29; ldp x29, x30, [sp], #32; ret
E
pops_16:
	add	sp, sp, #16; ret

/* Prologue and epilogue of clang's -homogeneous-prolog-epilog: described_prologue has an FDE. */
F outlined_frame
	stp	x29, x30, [sp, #-32]!; bl described_prologue; mov x19, x0; bl leaf_pushes; add x0, x0, x19
	b	outlined_epilogue
F outlined_epilogue
	ldp	x19, x20, [sp], #16; ldp x29, x30, [sp], #32; ret
E

	.section .note.GNU-stack, "", %progbits
