/* SPDX-License-Identifier: MIT */
/*
 * s390x code without CFI that is right to run and easy to get wrong; see step_hostile_x86_64.S. The names below must have
 * rows that were stepped.
 *
 * rows: plain_frame leaf_pushes back_chain frame_alloca large_frame fp_in_f0 fp_in_r1 ra_in_r1 ra_in_f2
 * rows: falls_into_next literal_pool sibling table_of_two fills_8 fp_slot_reused fp_slot_moved fp_slot_executed
 * rows: ra_slot_reused calls_sets_fp calls_allocates_local calls_to_allocates calls_pops_by_register described_stack
 */
#include "step_hostile.inc"
	.text

/* ---- ordinary functions, and such that only look odd ---- */

F plain_frame
	stmg	%r6, %r15, 48(%r15); lay %r15, -160(%r15); lgr %r6, %r2; brasl %r14, leaf_pushes; agr %r2, %r6
	lmg	%r6, %r15, 208(%r15); br %r14
F leaf_pushes
	stmg	%r11, %r12, 88(%r15); la %r11, 1(%r2); lgr %r2, %r11; lmg %r11, %r12, 88(%r15); br %r14
F back_chain
	stmg	%r14, %r15, 112(%r15); lgr %r1, %r15; aghi %r15, -160; stg %r1, 0(%r15)
	brasl	%r14, leaf_pushes; lg %r15, 0(%r15); lg %r14, 112(%r15); br %r14
F frame_alloca
	stmg	%r11, %r15, 88(%r15); aghi %r15, -160; lgr %r11, %r15; aghi %r2, 31; nill %r2, 0xfff0
	sgr	%r15, %r2; la %r2, 160(%r15); brasl %r14, fills_8; lmg %r11, %r15, 248(%r11); br %r14
F large_frame
	stmg	%r14, %r15, 112(%r15); agfi %r15, -8352; brasl %r14, leaf_pushes; agfi %r15, 8352
	lg	%r14, 112(%r15); br %r14
F fp_in_f0
	ldgr	%f0, %r11; la %r11, 1(%r2); lgr %r2, %r11; lgdr %r11, %f0; br %r14
F fp_in_r1
	lgr	%r1, %r11; la %r11, 1(%r2); lgr %r2, %r11; lgr %r11, %r1; br %r14
F ra_in_r1
	lgr	%r1, %r14; lgr %r14, %r2; lgr %r2, %r14; br %r1
F ra_in_f2
	ldgr	%f2, %r14; la %r14, 1(%r2); lgr %r2, %r14; lgdr %r14, %f2; br %r14
F falls_into_next
	stmg	%r14, %r15, 112(%r15); aghi %r15, -160; brasl %r14, leaf_pushes
	entry	fallen_into
	lmg	%r14, %r15, 272(%r15); br %r14
F two_heights
	tmll	%r2, 1; jz 1f; aghi %r15, -16
1:	lgr	%r1, %r2; tmll %r1, 1; jz 2f; aghi %r15, 16
2:	br	%r14
F literal_pool
	stmg	%r13, %r15, 104(%r15); bras %r13, 1f
	.quad	0x1122334455667788
1:	aghi	%r15, -160; lg %r2, 0(%r13); brasl %r14, leaf_pushes; lmg %r13, %r15, 264(%r15); br %r14
F sibling
	stmg	%r6, %r15, 48(%r15); aghi %r15, -160; brasl %r14, leaf_pushes; lmg %r6, %r15, 208(%r15)
	jg	leaf_pushes
F table_of_two
	stmg	%r14, %r15, 112(%r15); aghi %r15, -160; clgijh %r2, 1, 9f; larl %r1, 7f; sllg %r2, %r2, 2
	lgf	%r2, 0(%r2,%r1); agr %r1, %r2; br %r1
8:	lghi	%r2, 1; lmg %r14, %r15, 272(%r15); br %r14
9:	aghi	%r15, -16; lghi %r2, 2; aghi %r15, 16; lmg %r14, %r15, 272(%r15); br %r14
	.section .rodata
	.p2align 2
7:	.long	8b - 7b, 9b - 7b
	.text

/* ---- slots and registers ---- */

F fills_8
	mvghi	0(%r2), 0x1234; br %r14
F fp_slot_reused /* the register holds the value again, and the slot is a local */
	stmg	%r11, %r15, 88(%r15); aghi %r15, -176; lgr %r11, %r2; lg %r11, 264(%r15); la %r2, 264(%r15)
	brasl	%r14, fills_8; lg %r14, 288(%r15); aghi %r15, 176; br %r14
F fp_slot_moved
	stg	%r11, 88(%r15); lgr %r11, %r2; lg %r11, 88(%r15); mvc 88(8,%r15), 0(%r15); lghi %r2, 1
	br	%r14
F fp_slot_executed
	stg	%r11, 88(%r15); lgr %r11, %r2; lg %r11, 88(%r15); lghi %r1, 7; exrl %r1, 1f; lghi %r2, 1
	br	%r14
1:	mvc	88(1,%r15), 0(%r15)
F ra_slot_reused
	stmg	%r14, %r15, 112(%r15); aghi %r15, -160; brasl %r14, leaf_pushes; lg %r14, 272(%r15)
	mvghi	272(%r15), 77; lghi %r2, 1; aghi %r15, 160; br %r14
F sets_fp
	la	%r11, 1(%r2); br %r14
F calls_sets_fp
	stmg	%r11, %r15, 88(%r15); aghi %r15, -160; brasl %r14, sets_fp; lgr %r2, %r11
	lmg	%r11, %r15, 248(%r15); br %r14
E

/* ---- callees that do not leave the stack as it was ---- */

allocates_local:
	aghi	%r15, -64; br %r14
F calls_allocates_local
	stmg	%r11, %r15, 88(%r15); aghi %r15, -160; lgr %r11, %r15; brasl %r14, allocates_local
	lghi	%r2, 1; lmg %r11, %r15, 248(%r11); br %r14
F allocates
	aghi	%r15, -64; br %r14
F calls_allocates
	stmg	%r11, %r15, 88(%r15); aghi %r15, -160; brasl %r14, allocates; lghi %r2, 1
	lmg	%r11, %r15, 312(%r15); br %r14
F to_allocates
	lghi	%r2, 9; jg allocates
F calls_to_allocates
	stmg	%r11, %r15, 88(%r15); aghi %r15, -160; lgr %r11, %r15; brasl %r14, to_allocates; lghi %r2, 1
	lmg	%r11, %r15, 248(%r11); br %r14
F calls_pops_by_register
	stmg	%r11, %r15, 88(%r15); aghi %r15, -160; lgr %r11, %r15; larl %r1, pops_16; aghi %r15, -16
	basr	%r14, %r1; lghi %r2, 1; lmg %r11, %r15, 248(%r11); br %r14
E
	.p2align 1
pops_16:
	aghi	%r15, 16; br %r14

/* ---- callees that do not come back ---- */

F fatal_ends /* what follows is another function, which data names */
	stmg	%r6, %r15, 48(%r15); aghi %r15, -240; la %r2, 160(%r15); brasl %r14, hostile_work@PLT
	larl	%r2, behind_fatal; brasl %r14, hostile_register@PLT; brasl %r14, hostile_fatal@PLT
E
	.p2align 4
behind_fatal:
	stmg	%r6, %r15, 48(%r15); aghi %r15, -160; lgr %r6, %r2; brasl %r14, hostile_work@PLT; lgr %r2, %r6
	lmg	%r6, %r15, 208(%r15); jg hostile_work@PLT

F fatal_in_middle_dies
	entry	fatal_in_middle /* with a frame that nobody takes down */
	stmg	%r14, %r15, 112(%r15); aghi %r15, -160; ltgr %r2, %r2; jhe 1f; aghi %r15, -32
	brasl	%r14, hostile_fatal@PLT
1:	brasl	%r14, leaf_pushes; lmg %r14, %r15, 272(%r15); br %r14
F only_dies
	aghi	%r15, -160; brasl %r14, hostile_fatal@PLT
E
	.p2align 4
behind_only_dies:
	aghi	%r15, -200
1:	aghi	%r2, -1; jne 1b; brasl %r14, hostile_fatal@PLT
	.globl	hostile_dies
	words	hostile_dies, behind_only_dies

/* ---- code that is jumped to ---- */

/* Threaded code of an interpreter: handlers are functions for the symbol table alone. */
	.macro	next
	llgc	%r3, 0(%r8)
	la	%r8, 1(%r8)
	sllg	%r3, %r3, 3
	lg	%r3, 0(%r3,%r9)
	br	%r3
	.endm
F threaded
	stmg	%r8, %r15, 64(%r15); aghi %r15, -200; larl %r8, program; larl %r9, handlers; lghi %r1, 0
	next
F handler_inc
	aghi	%r1, 1
	next
F handler_call
	lgr	%r2, %r1; brasl %r14, leaf_pushes
	next
F handler_end
	lgr	%r2, %r1; lmg %r8, %r15, 264(%r15); br %r14
	.data
	.p2align 3
handlers:
	.quad	handler_inc, handler_call, handler_end
program:
	.byte	0, 1, 0, 2

/* STG code of GHC: its stack is another register's. */
F stg_run
	.cfi_startproc
	stmg	%r6, %r15, 48(%r15)
	.cfi_offset 11, -72
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -360
	.cfi_def_cfa_offset 520
	la	%r9, 320(%r15); larl %r1, stg_return; stg %r1, 0(%r9); larl %r1, stg_main_info; br %r1
	entry	stg_return
	lmg	%r6, %r15, 408(%r15)
	.cfi_def_cfa_offset 160
	.cfi_restore 11
	.cfi_restore 14
	.cfi_restore 15
	br	%r14
	.cfi_endproc
F stg_main_info
	aghi	%r9, -16; larl %r1, stg_frame_info; stg %r1, 0(%r9); lghi %r14, 7; jg stg_leaf_info
F stg_leaf_info
	la	%r6, 1(%r2); lg %r1, 0(%r9); br %r1
F stg_frame_info
	aghi	%r9, 16; lgr %r2, %r6; lg %r1, 0(%r9); br %r1

/* A part of a function that only writable data names, and that has a symbol. */
F to_cold
	stmg	%r14, %r15, 112(%r15); aghi %r15, -160; larl %r1, cold_table; nilf %r2, 1; sllg %r2, %r2, 3
	lg	%r1, 0(%r2,%r1); br %r1
	.p2align 4
1:	lghi	%r2, 1
2:	lmg	%r14, %r15, 272(%r15); br %r14
E
	.type	to_cold.cold, @function
to_cold.cold:
	lghi	%r2, 2; nopr; j 2b
	.size	to_cold.cold, .-to_cold.cold
	words	cold_table, 1b, to_cold.cold

/* The same, and it dies. */
F to_cold_fatal
	aghi	%r15, -160; larl %r1, cold_fatal_table; lg %r1, 0(%r1); br %r1
E
	.type	to_cold_fatal.cold, @function
to_cold_fatal.cold:
	nopr; brasl %r14, hostile_fatal@PLT
	.size	to_cold_fatal.cold, .-to_cold_fatal.cold
	words	cold_fatal_table, to_cold_fatal.cold

/* ---- labels in data, whose ways depend on each other ---- */

F correlated
	aghi	%r15, -16; lghi %r1, 1; larl %r3, correlated_label; lg %r3, 0(%r3); br %r3
E
	.p2align 4
1:	cghi	%r2, 4095; je 3f; ltgr %r1, %r1; jz 2f; aghi %r15, 16
2:	br	%r14
3:	br	%r14
	words	correlated_label, 1b

F correlated_fp
	lgr	%r5, %r11; lgr %r11, %r2; lghi %r1, 1; larl %r3, correlated_fp_label; lg %r3, 0(%r3); br %r3
E
	.p2align 4
1:	ltgr	%r1, %r1; jz 2f; lgr %r11, %r5
2:	br	%r14
	words	correlated_fp_label, 1b

/* Labels of a computed goto, in data, at two heights. */
F computed_goto
	stmg	%r11, %r15, 88(%r15); aghi %r15, -160; lgr %r11, %r2; larl %r1, goto_table; nilf %r2, 1
	sllg	%r2, %r2, 3; lg %r1, 0(%r2,%r1); br %r1
	.p2align 4
1:	lgr	%r2, %r11; lmg %r11, %r15, 248(%r15); br %r14
	.p2align 4
2:	aghi	%r15, -16; lgr %r2, %r11; aghi %r15, 16; lmg %r11, %r15, 248(%r15); br %r14
	.section .data.rel.ro, "aw"
	.p2align 3
goto_table:
	.quad	1b, 2b
	.text

/* ---- other stacks, signals, jumps over frames ---- */

F described_stack
	stmg	%r11, %r15, 88(%r15); lgr %r11, %r15; larl %r15, other_stack + 3840; brasl %r14, leaf_pushes
	lgr	%r15, %r11; lmg %r11, %r15, 88(%r15); br %r14
	.local	other_stack
	.comm	other_stack, 4096, 64

F hostile_restorer
	svc	173
F sets_jump
	larl	%r1, jump_buffer; stmg %r11, %r15, 0(%r1); lghi %r2, 0; br %r14
F jumps_back
	larl	%r1, jump_buffer; lmg %r11, %r15, 0(%r1); lghi %r2, 1; br %r14
	.local	jump_buffer
	.comm	jump_buffer, 40, 8
F over_frames
	stmg	%r11, %r15, 88(%r15); aghi %r15, -176; brasl %r14, sets_jump; ltgr %r2, %r2; jne 1f
	lghi	%r11, 3; aghi %r15, -64; brasl %r14, jumps_back
1:	nopr; lmg %r11, %r15, 264(%r15); br %r14

/* ---- what a function does to its callers' registers, and code with two ways to it ---- */

F writes_kept /* through a register that calls keep: the slot of FP, which the next callee mends */
	lghi	%r1, 0x1234; stg %r1, 0(%r8); br %r14
F writes_back
	stg	%r9, 0(%r8); br %r14
F slot_in_kept
	stmg	%r8, %r15, 64(%r15); la %r8, 88(%r15); lgr %r9, %r11; lghi %r11, 7; aghi %r15, -160; brasl %r14, writes_kept
	nopr;	brasl %r14, writes_back; lmg %r8, %r15, 224(%r15); br %r14
F comes_back /* a call that returns into code that is jumped to without the frame, too */
	stmg	%r14, %r15, 112(%r15); aghi %r15, -168; lghi %r1, 1; larl %r2, two_ways; stg %r1, 0(%r2)
	la	%r2, 160(%r15); brasl %r14, hostile_work@PLT
two_ways_here:
	nopr;	larl %r1, two_ways; lg %r1, 0(%r1); ltgr %r1, %r1; jne 1f; br %r14
1:	brasl	%r14, hostile_fatal@PLT
	words	two_ways, 0
F jumps_to_two_ways
	larl	%r1, two_ways; lghi %r2, 0; stg %r2, 0(%r1); j two_ways_here
F jumps_to_label /* an instruction names it, and it is called by that, out of memory */
	aghi	%r15, -32; lghi %r1, 1; j data_label
E
data_label:
	nopr;	ltgr %r1, %r1; je 1f; aghi %r15, 32; br %r14
1:	aghi	%r15, -160; brasl %r14, hostile_fatal@PLT
	words	data_label_word, 0
F calls_label
	stmg	%r14, %r15, 112(%r15); aghi %r15, -160; larl %r2, data_label; larl %r3, data_label_word; stg %r2, 0(%r3)
	lg	%r4, 0(%r3); lghi %r1, 0; basr %r14, %r4; lmg %r14, %r15, 272(%r15); br %r14
E

	.section .note.GNU-stack, "", @progbits
