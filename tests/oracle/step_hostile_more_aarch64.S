/* SPDX-License-Identifier: MIT */
/*
 * More of step_hostile_aarch64.S: callees that do not come back, code that is jumped to, labels that only data names.
 */
#include "step_hostile.inc"
	.macro	address reg, symbol
	adrp	\reg, \symbol
	add	\reg, \reg, :lo12:\symbol
	.endm
	.text

/* ---- callees that do not come back ---- */

F fatal_ends /* what follows is another function, which data names */
	stp	x29, x30, [sp, #-96]!; mov x29, sp; str x19, [sp, #16]; add x0, sp, #32; bl hostile_work
	adr	x0, behind_fatal; bl hostile_register; bl hostile_fatal
E
	.p2align 4
behind_fatal:
	stp	x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; mov x19, x0; bl hostile_work
	mov	x0, x19; ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; b hostile_work

F fatal_in_middle_dies
	entry	fatal_in_middle /* with a frame that nobody takes down */
	str	x30, [sp, #-16]!; tbz x0, #63, 1f; sub sp, sp, #32; bl hostile_fatal
1:	bl	leaf_pushes; ldr x30, [sp], #16; ret
F only_dies
	str	x30, [sp, #-16]!; bl hostile_fatal
E
	.p2align 4
behind_only_dies:
	str	x30, [sp, #-32]!
1:	subs	x0, x0, #1; b.ne 1b; bl hostile_fatal
	.globl	hostile_dies
	words	hostile_dies, behind_only_dies

/* ---- code that is jumped to ---- */

/* A resolver of a PLT: 16 bytes above what SP is for the caller are the stub's. */
F resolver
	stp	x0, x1, [sp, #-16]!; bl leaf_pushes; address x17, resolver_words; ldr x17, [x17]
	ldp	x0, x1, [sp], #16; ldr x30, [sp, #8]; add sp, sp, #16; br x17
F resolver_stub
	stp	x16, x30, [sp, #-16]!; address x17, resolver_words; ldr x17, [x17, #8]; br x17
	words	resolver_words, leaf_pushes, resolver

/* Threaded code of an interpreter: handlers are functions for the symbol table alone. */
F threaded
	stp	x29, x30, [sp, #-48]!; stp x19, x20, [sp, #16]; address x19, program; address x20, handlers
	mov	x9, #0; ldrb w1, [x19], #1; ldr x1, [x20, x1, lsl #3]; br x1
F handler_inc
	add	x9, x9, #1; ldrb w1, [x19], #1; ldr x1, [x20, x1, lsl #3]; br x1
F handler_call
	str	x9, [sp, #-16]!; mov x0, x9; bl leaf_pushes; ldr x9, [sp], #16; ldrb w1, [x19], #1
	ldr	x1, [x20, x1, lsl #3]; br x1
F handler_end
	mov	x0, x9; ldp x19, x20, [sp, #16]; ldp x29, x30, [sp], #48; ret
	.data
	.p2align 3
handlers:
	.quad	handler_inc, handler_call, handler_end
program:
	.byte	0, 1, 0, 2

/* STG code of GHC: its stack is another register's. */
F stg_run
	.cfi_startproc
	stp	x29, x30, [sp, #-208]!
	.cfi_def_cfa_offset 208
	.cfi_offset 29, -208
	.cfi_offset 30, -200
	str	x20, [sp, #16]; add x20, sp, #160; adr x1, stg_return; str x1, [x20]; adr x1, stg_main_info
	br	x1
	entry	stg_return
	ldr	x20, [sp, #16]; ldp x29, x30, [sp], #208
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
F stg_main_info
	sub	x20, x20, #16; adr x1, stg_frame_info; str x1, [x20]; mov x30, #7; b stg_leaf_info
F stg_leaf_info
	add	x9, x0, #1; ldr x1, [x20]; br x1
F stg_frame_info
	add	x20, x20, #16; mov x0, x9; ldr x1, [x20]; br x1

/* A part of a function that only writable data names, and that has a symbol. */
F to_cold
	stp	x29, x30, [sp, #-32]!; address x1, cold_table; and x0, x0, #1; ldr x1, [x1, x0, lsl #3]; br x1
	.p2align 4
1:	mov	x0, #1
2:	ldp	x29, x30, [sp], #32; ret
E
	.type	to_cold.cold, %function
to_cold.cold:
	mov	x0, #2; nop; b 2b
	.size	to_cold.cold, .-to_cold.cold
	words	cold_table, 1b, to_cold.cold

/* The same, and it dies. */
F to_cold_fatal
	stp	x29, x30, [sp, #-32]!; address x1, cold_fatal_table; ldr x1, [x1]; br x1
E
	.type	to_cold_fatal.cold, %function
to_cold_fatal.cold:
	nop; bl hostile_fatal
	.size	to_cold_fatal.cold, .-to_cold_fatal.cold
	words	cold_fatal_table, to_cold_fatal.cold

/* ---- labels in data, whose ways depend on each other ---- */

F correlated
	sub	sp, sp, #16; mov x9, #1; address x1, correlated_label; ldr x1, [x1]; br x1
E
	.p2align 4
1:	cmp	x0, #4095; b.eq 3f; cbz x9, 2f; add sp, sp, #16
2:	ret
3:	ret
	words	correlated_label, 1b

F correlated_fp
	mov	x10, x29; mov x29, x0; mov x9, #1; address x1, correlated_fp_label; ldr x1, [x1]; br x1
E
	.p2align 4
1:	cbz	x9, 2f; mov x29, x10
2:	ret
	words	correlated_fp_label, 1b

/* Labels of a computed goto, in data, at two heights. */
F computed_goto
	stp	x29, x30, [sp, #-32]!; mov x29, x0; and x0, x0, #1; address x1, goto_table
	ldr	x1, [x1, x0, lsl #3]; br x1
	.p2align 4
1:	mov	x0, x29; ldp x29, x30, [sp], #32; ret
	.p2align 4
2:	str	x19, [sp, #-16]!; mov x19, x29; mov x0, x19; ldr x19, [sp], #16; ldp x29, x30, [sp], #32; ret
	.section .data.rel.ro, "aw"
	.p2align 3
goto_table:
	.quad	1b, 2b
	.text

/* ---- other stacks, signals, jumps over frames ---- */

F described_stack
	stp	x29, x30, [sp, #-16]!; mov x29, sp; address x1, other_stack_end; mov sp, x1; bl leaf_pushes
	mov	sp, x29; ldp x29, x30, [sp], #16; ret
	.local	other_stack
	.comm	other_stack, 4096, 64
	.set	other_stack_end, other_stack + 4096

F hostile_restorer
	mov	x8, #139; svc #0
F sets_jump
	address	x1, jump_buffer; mov x2, sp; stp x29, x30, [x1]; str x2, [x1, #16]; mov x0, #0; ret
F jumps_back
	address	x1, jump_buffer; ldp x29, x30, [x1]; ldr x2, [x1, #16]; mov sp, x2; mov x0, #1; ret
	.local	jump_buffer
	.comm	jump_buffer, 32, 8
F over_frames
	stp	x29, x30, [sp, #-32]!; bl sets_jump; cbnz x0, 1f; mov x29, #3; sub sp, sp, #64; bl jumps_back
1:	nop; ldp x29, x30, [sp], #32; ret

/* ---- what a function does to its callers' registers, and code with two ways to it ---- */

F writes_kept /* through a register that calls keep: the slot of FP, which the next callee mends */
	mov	x9, #0x1234; str x9, [x19]; ret
F writes_back
	str	x20, [x19]; ret
F slot_in_kept
	stp	x29, x30, [sp, #-32]!; stp x19, x20, [sp, #16]; mov x19, sp; mov x20, x29; mov x29, #7; bl writes_kept; nop
	bl	writes_back; ldp x19, x20, [sp, #16]; ldp x29, x30, [sp], #32; ret
F comes_back /* a call that returns into code that is jumped to without the frame, too */
	sub	sp, sp, #32; str x30, [sp, #16]; mov x9, #1; address x10, two_ways; str x9, [x10]; mov x0, sp; bl hostile_work
two_ways_here:
	nop; address x10, two_ways; ldr x9, [x10]; cbnz x9, 1f; ret
1:	bl	hostile_fatal
	words	two_ways, 0
F jumps_to_two_ways
	address	x10, two_ways; str xzr, [x10]; b two_ways_here
F jumps_to_label /* an instruction names it, and it is called by that, out of memory */
	sub	sp, sp, #32; mov x9, #1; b data_label
E
data_label:
	nop; cbz x9, 1f; add sp, sp, #32; ret
1:	bl	hostile_fatal
	words	data_label_word, 0
F calls_label
	stp	x29, x30, [sp, #-16]!; adr x9, data_label; address x10, data_label_word; str x9, [x10]; ldr x11, [x10]
	mov	x9, #0; blr x11; ldp x29, x30, [sp], #16; ret
E

	.section .note.GNU-stack, "", %progbits
