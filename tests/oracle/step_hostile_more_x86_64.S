/* SPDX-License-Identifier: MIT */
/*
 * More of step_hostile_x86_64.S: slots that are written over, callees that do not come back, code that is jumped to, labels
 * that only data names, and stacks of their own.
 *
 * rows: entered_by_part
 */
#include "step_hostile.inc"
	.text

/* ---- slots and registers ---- */

F fills_8
	movq	$0x1234, (%rdi); ret
F fp_slot_reused /* the register holds the value again, and the slot is a local */
	push	%rbp; mov %rdi, %rbp; mov (%rsp), %rbp; mov %rsp, %rdi; call fills_8; mov (%rsp), %rax
	add	$8, %rsp; ret
F changes_argument
	movq	$77, 8(%rsp); mov 8(%rsp), %rax; ret
F fp_is_argument
	push	%rbp; call changes_argument; nop; add $8, %rsp; ret
F sets_fp
	lea	1(%rdi), %rbp; ret
F calls_sets_fp
	push	%rbp; sub $16, %rsp; call sets_fp; mov %rbp, %rax; add $16, %rsp; pop %rbp; ret
F opens /* gives FP away and goes on by a register */
	mov	$7, %ebp; push %rdi; lea 1f(%rip), %rax; jmp *%rax
1:	pop	%rdi; ret
F calls_opens
	push	%rbp; sub $16, %rsp; call opens; nop; call leaf_pushes; add $16, %rsp; pop %rbp; ret

/* ---- callees that do not come back ---- */

F fatal_ends /* what follows the padding is another function, which data names */
	push	%rbx; sub $80, %rsp; mov %rsp, %rdi; call hostile_work@PLT; lea behind_fatal(%rip), %rdi
	call	hostile_register@PLT; call hostile_fatal@PLT
E
	.p2align 4
behind_fatal:
	push	%r15; push %rbx; mov %rdi, %rbx; call hostile_work@PLT; mov %rbx, %rdi; pop %rbx; pop %r15
	jmp	hostile_work@PLT

F fatal_in_middle_dies
	entry	fatal_in_middle /* with arguments on the stack that nobody takes off */
	sub	$24, %rsp; test %rdi, %rdi; jns 1f; push %rdi; push %rdi; call hostile_fatal@PLT
1:	call	leaf_pushes; add $24, %rsp; ret
F only_dies
	sub	$24, %rsp; call hostile_fatal@PLT
E
	.p2align 4, 0x90
behind_only_dies:
	push	%rbx; mov %rdi, %rbx
1:	dec	%rbx; jnz 1b; call hostile_fatal@PLT
	.globl	hostile_dies
	words	hostile_dies, behind_only_dies

/* ---- code that is jumped to ---- */

/* A resolver of a PLT: two words above the return address are its own. */
F resolver
	push	%rax; push %rdi; mov 16(%rsp), %rdi; call leaf_pushes; mov resolver_words(%rip), %r11
	pop	%rdi; pop %rax; add $16, %rsp; jmp *%r11
F resolver_stub
	push	$0; push $1; jmp *resolver_words+8(%rip)
	words	resolver_words, leaf_pushes, resolver

/* Threaded code of an interpreter: handlers are functions for the symbol table alone. */
F threaded
	push	%rbx; push %r12; sub $40, %rsp; lea program(%rip), %rbx; lea handlers(%rip), %r12
	xor	%ecx, %ecx; movzbl (%rbx), %eax; inc %rbx; jmp *(%r12,%rax,8)
F handler_inc
	inc	%ecx; movzbl (%rbx), %eax; inc %rbx; jmp *(%r12,%rax,8)
F handler_call
	mov	%ecx, %edi; push %rcx; sub $8, %rsp; call leaf_pushes; add $8, %rsp; pop %rcx
	movzbl	(%rbx), %eax; inc %rbx; jmp *(%r12,%rax,8)
F handler_end
	mov	%ecx, %eax; add $40, %rsp; pop %r12; pop %rbx; ret
	.data
	.p2align 3
handlers:
	.quad	handler_inc, handler_call, handler_end
program:
	.byte	0, 1, 0, 2

/* STG code of GHC: its stack is another register's, and the word at SP is no return address. */
F stg_run
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	sub	$200, %rsp
	.cfi_def_cfa_offset 216
	lea	160(%rsp), %rbp; lea stg_return(%rip), %rax; mov %rax, (%rbp); lea stg_main_info(%rip), %rax
	jmp	*%rax
	entry	stg_return
	add	$200, %rsp
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore 6
	ret
	.cfi_endproc
F stg_main_info
	add	$-16, %rbp; lea stg_frame_info(%rip), %rax; mov %rax, (%rbp); jmp stg_leaf_info
F stg_leaf_info
	lea	1(%rdi), %rbx; jmp *(%rbp)
F stg_frame_info
	add	$16, %rbp; mov %rbx, %rax; jmp *(%rbp)

/* A part of a function that only writable data names, and that has a symbol. */
F to_cold
	push	%rbx; sub $32, %rsp; lea cold_table(%rip), %rax; and $1, %edi; jmp *(%rax,%rdi,8)
	.p2align 4
1:	mov	$1, %eax
2:	add	$32, %rsp; pop %rbx; ret
E
	.type	to_cold.cold, @function
to_cold.cold:
	mov	$2, %eax; nop; jmp 2b
	.size	to_cold.cold, .-to_cold.cold
	words	cold_table, 1b, to_cold.cold

/* The same, and it dies. */
F to_cold_fatal
	push	%rbx; sub $32, %rsp; lea cold_fatal_table(%rip), %rax; jmp *(%rax)
E
	.type	to_cold_fatal.cold, @function
to_cold_fatal.cold:
	nop; nop; call hostile_fatal@PLT
	.size	to_cold_fatal.cold, .-to_cold_fatal.cold
	words	cold_fatal_table, to_cold_fatal.cold

/* ---- labels in data, whose ways depend on each other ---- */

F correlated
	sub	$16, %rsp; mov $1, %r10d; mov correlated_label(%rip), %rax; jmp *%rax
E
	.p2align 4
1:	mov	%edi, %eax; cmp $123456, %edi; je 3f; test %r10d, %r10d; jz 2f; add $16, %rsp
2:	ret
3:	ret
	words	correlated_label, 1b

F correlated_good_way
	sub	$16, %rsp; mov $1, %r10d; mov correlated_good_label(%rip), %rax; jmp *%rax
E
	.p2align 4
1:	mov	%edi, %eax; cmp $123456, %edi; je 3f; test %r10d, %r10d; jz 2f; add $16, %rsp
2:	ret
3:	test	%r10d, %r10d; jz 4f; add $16, %rsp; ret
4:	ret
	words	correlated_good_label, 1b

F correlated_fp
	mov	%rbp, %r11; mov %rdi, %rbp; mov $1, %r10d; mov correlated_fp_label(%rip), %rax; jmp *%rax
E
	.p2align 4
1:	mov	%edi, %eax; test %r10d, %r10d; jz 2f; mov %r11, %rbp
2:	ret
	words	correlated_fp_label, 1b

/* Labels of a computed goto, in data, at two heights. */
F computed_goto
	push	%rbp; sub $32, %rsp; mov %rdi, %rbp; and $1, %edi; lea goto_table(%rip), %rax
	jmp	*(%rax,%rdi,8)
	.p2align 4
1:	mov	%rbp, %rax; add $32, %rsp; pop %rbp; ret
	.p2align 4
2:	push	%rbx; mov %rbp, %rbx; mov %rbx, %rax; pop %rbx; add $32, %rsp; pop %rbp; ret
	.section .data.rel.ro, "aw"
	.p2align 3
goto_table:
	.quad	1b, 2b
	.text

/* ---- other stacks, signals, jumps over frames ---- */

F described_stack
	push	%rbx; mov %rsp, %rbx; lea other_stack_end(%rip), %rsp; call leaf_pushes; mov %rbx, %rsp
	pop	%rbx; ret
F exchanged_stack
	push	%rbp; lea other_stack_end(%rip), %rax; xchg %rax, %rsp; push %rax; call leaf_pushes; pop %rax
	xchg	%rax, %rsp; pop %rbp; ret
	.local	other_stack
	.comm	other_stack, 4096, 64
	.set	other_stack_end, other_stack + 4096

F hostile_restorer
	mov	$15, %rax; syscall

/* long hostile_clone(int (*)(void *), void *stack): only the child comes to 1. */
F hostile_clone
	mov	%rdi, %r9; mov $56, %eax; mov $17, %edi; and $-16, %rsi
	xor	%edx, %edx; xor %r10d, %r10d; xor %r8d, %r8d; syscall; test %eax, %eax; jz 1f; ret
1:	xor	%ebp, %ebp; call *%r9; mov %eax, %edi; mov $60, %eax; syscall; hlt
F sets_jump
	mov	(%rsp), %rax; mov %rax, jump_buffer(%rip); lea 8(%rsp), %rax; mov %rax, jump_buffer+8(%rip)
	mov	%rbp, jump_buffer+16(%rip); mov %rbx, jump_buffer+24(%rip); xor %eax, %eax; ret
F jumps_back
	mov	jump_buffer+24(%rip), %rbx; mov jump_buffer+16(%rip), %rbp; mov jump_buffer+8(%rip), %rsp
	mov	$1, %eax; jmp *jump_buffer(%rip)
	.local	jump_buffer
	.comm	jump_buffer, 32, 8

F over_frames
	push	%rbp; sub $16, %rsp; call sets_jump; test %eax, %eax; jnz 1f; mov $3, %ebp; sub $64, %rsp
	call	jumps_back
1:	nop; add $16, %rsp; pop %rbp; ret
E

/* A function of this name that comes back. */
	.type	err, @function
err:
	mov	$45, %eax; ret
	.size	err, .-err
F calls_own_err
	sub	$24, %rsp; call err; add $24, %rsp; ret
E

/* ---- memory that a callee, or another name, leads to ---- */

	.macro	apart /* code with CFI, so that what is doubted around a function ends there */
	.text
	E
	.cfi_startproc
	ret
	.cfi_endproc
	.endm
	.macro	loses_fp name /* with a caller that does not depend on the frame pointer */
	apart
	F calls_\name
	push	%rbp; call \name; pop %rbp; ret
	apart
	F \name
	.endm
	loses_fp callee_gives_slot
	push	%rbp; mov $7, %ebp; call gives_on; nop; pop %rbp; ret
F gives_on
	lea	8(%rsp), %rdi; call fills_8; ret
	loses_fp callee_gives_slot_last
	push	%rbp; mov $7, %ebp; call gives_on_last; nop; pop %rbp; ret
F gives_on_last
	lea	8(%rsp), %rdi; jmp fills_8
	loses_fp callee_writes_far
	push	%rbp; mov $7, %ebp; call calls_writes_16; nop; pop %rbp; ret
F calls_writes_16
	call	writes_16; ret
F writes_16
	movq	$7, 16(%rsp); ret
	loses_fp slot_in_argument
	push	%rbp; mov $7, %ebp; push %rsp; call fills_by_argument; nop; pop %rax; pop %rbp; ret
F fills_by_argument
	mov	8(%rsp), %rax; movq $7, (%rax); ret
	loses_fp slot_by_index
	push	%rbp; mov $7, %ebp; xor %ecx, %ecx; movq $7, (%rsp,%rcx,8); nop; pop %rbp; ret
	loses_fp slot_below_aligned /* the caller has aligned SP such that this changes nothing */
	push	%rbp; mov %rsp, %rbp; and $-8, %rsp; movq $7, (%rsp); nop; leave; ret

/* ---- ways that are not seen, and come back by ways that are ---- */

	apart
F table_met /* a second way to the jump brings another table */
	push	%rbx; xor %ecx, %ecx; cmp $1, %edi; ja 9f; mov %edi, %edi; lea 7f(%rip), %rax
	movslq	(%rax,%rdi,4), %rdx; add %rax, %rdx
4:	nop; jmp *%rdx
9:	pop	%rbx; ret
1:	nop; test %ecx, %ecx; jz 2f; call hostile_fatal@PLT
2:	test	%edi, %edi; jnz 3f; pop %rbx; ret
3:	movslq	8f(%rip), %rdx; lea 8f(%rip), %rax; add %rax, %rdx; jmp 4b
5:	push	%rbx; push %rbx; mov $1, %ecx; jmp 1b
	.section .rodata
	.p2align 2
7:	.long	1b - 7b, 1b - 7b
	.data
8:	.long	5b - 8b
	.text
	apart
F jumps_back_bare
	xor	%ecx, %ecx; test $1, %edi; jz 1f; mov $1, %ecx
	movslq	8f(%rip), %rdx; lea 8f(%rip), %rax; add %rax, %rdx; jmp *%rdx
1:	push	%rbx
2:	nop; test %ecx, %ecx; jz 3f; call hostile_fatal@PLT
3:	pop	%rbx; ret
	.data
8:	.long	2b - 8b
	.text
	apart
	/* Each jumps to what dies, or returns for others: with its frame, an aligned one, another frame pointer. */
	.macro	enters name, how:vararg
	apart
F \name
	\how
	mov	$1, %ecx; jmp in_\name
F calls_in_\name
	xor	%ecx, %ecx; call in_\name; ret
in_\name:
	nop; test %ecx, %ecx; jz 1f; call hostile_fatal@PLT
1:	ret
	.endm
	enters by_aligned, push %rbp; mov %rsp, %rbp; and $-64, %rsp
	enters by_other_fp, mov $7, %ebp
	/* A function that pops, and that another one enters with a frame. */
	apart
F enters_pops
	sub	$24, %rsp; mov $-1, %edi; jmp pops_or_dies
F calls_pops_or_dies
	push	%rbx; push %rbx; push %rbx; mov %rsp, %rbx; call pops_or_dies; nop; cmp %rsp, %rbx; jne 2f
	pop	%rbx; pop %rbx; pop %rbx; ret
2:	call	hostile_fatal@PLT
F pops_or_dies
	test	%edi, %edi; js 1f; ret $8
1:	call	hostile_fatal@PLT

/* ---- described code that leads to code that is not ---- */

	.macro	with_cfi name, frame
	.text
	E
F \name
	.cfi_startproc
	sub	$\frame, %rsp
	.cfi_adjust_cfa_offset \frame
	mov	$1, %ecx
	.endm
	with_cfi part_in_two_states, 24
	jmp	part_of_two
	.cfi_endproc
	with_cfi part_in_two_states_too, 40
	jmp	part_of_two
	.cfi_endproc
part_of_two:
	jmp	1f
F entered_by_part
	push	%rbx; xor %ecx, %ecx
1:	nop; test %ecx, %ecx; jz 2f; call hostile_fatal@PLT
2:	pop	%rbx; ret
	with_cfi part_of_word, 72 /* no state begins with such a row */
	lea	80(%rsp), %rdx; mov %rdx, (%rsp)
	.cfi_escape 0x0f, 0x03, 0x77, 0x00, 0x06
	jmp	1f
	.cfi_endproc
F entered_by_word
	push	%rbx; xor %ecx, %ecx
1:	nop; test %ecx, %ecx; jz 2f; call hostile_fatal@PLT
2:	pop	%rbx; ret
	with_cfi runs_into, 24
	.cfi_endproc
run_into:
	nop; test %ecx, %ecx; jz 1f; call hostile_fatal@PLT
1:	ret
F calls_run_into
	xor	%ecx, %ecx; call run_into; ret
	with_cfi part_and_function, 24
	jmp	is_called
	.cfi_endproc
is_called:
	test	%ecx, %ecx; jz 1f; add $24, %rsp; ret
1:	call	hostile_fatal@PLT
F calls_part
	.cfi_startproc
	xor	%ecx, %ecx; call is_called; ret
	.cfi_endproc
F without_fp /* an undefined rule is no entry's */
	.cfi_startproc
	.cfi_undefined rbp
	mov	$7, %ebp; mov $1, %ecx; jmp entered_without_fp
	.cfi_endproc
entered_without_fp:
	nop; test %ecx, %ecx; jz 1f; call hostile_fatal@PLT
1:	ret
	/* A function with CFI that goes on to one that pops. */
F described_to_pop
	.cfi_startproc
	nop; jmp described_pop_8
	.cfi_endproc
F described_pop_8
	.cfi_startproc
	nop; ret $8
	.cfi_endproc
F calls_described_to_pop
	push	%rbx; push %rbx; push %rbx; mov %rsp, %rbx; call described_to_pop; nop; cmp %rsp, %rbx; jne 2f
	pop	%rbx; pop %rbx; pop %rbx; ret
2:	call	hostile_fatal@PLT

/* ---- what a function does to its callers' registers and stack ---- */

F writes_kept /* through a register that calls keep: the slot of FP, which the next callee mends */
	movq	$0x1234, (%rbx); ret
F writes_back
	mov	%r12, (%rbx); ret
F slot_in_kept
	push	%rbp; push %rbx; push %r12; lea 16(%rsp), %rbx; mov %rbp, %r12; mov $7, %ebp; call writes_kept; nop
	call	writes_back; pop %r12; pop %rbx; pop %rbp; ret
F pops_by_memory /* SP comes out of memory, and so does the way back */
	pop	memory_way(%rip); lea 16(%rsp), %rcx; mov %rcx, memory_word(%rip); mov memory_word(%rip), %rsp
	push	memory_way(%rip); ret
	words	memory_word, 0
	words	memory_way, 0
F calls_pops_by_memory
	push	%rbx; push %rbx; push %rbx; mov %rsp, %rbx; call pops_by_memory; nop; cmp %rsp, %rbx; jne 2f
	pop	%rbx; pop %rbx; pop %rbx; ret
2:	call	hostile_fatal@PLT

/* ---- code with two ways to it ---- */

F comes_back /* a call that returns into code that is jumped to without the frame, too */
	movq	$1, two_ways(%rip); sub $24, %rsp; mov %rsp, %rdi; call hostile_work@PLT
two_ways_here:
	nop; cmpq $0, two_ways(%rip); jne 1f; ret
1:	call	hostile_fatal@PLT
	words	two_ways, 0
F jumps_to_two_ways
	movq	$0, two_ways(%rip); jmp two_ways_here
F jumps_to_label /* an instruction names it, and it is called by that, out of memory */
	sub	$24, %rsp; mov $1, %ecx; jmp data_label
E
data_label:
	nop; test %ecx, %ecx; jz 1f; add $24, %rsp; ret
1:	call	hostile_fatal@PLT
	words	data_label_word, 0
F calls_label
	lea	data_label(%rip), %rax; mov %rax, data_label_word(%rip); xor %ecx, %ecx; call *data_label_word(%rip); ret
F pops_by_word /* where it goes to is not known, and that pops, so that SP is not where its callers had it */
	jmp	*popped_word(%rip)
E
popped:
	mov	8(%rsp), %rax; ret $8
	words	popped_word, popped
F has_copy_of_sp /* the ends need a copy alone */
	push	%rbx; mov %rsp, %rbx; push %rdi; call pops_by_word; nop; nop; mov %rbx, %rsp; pop %rbx; ret
E

	.section .note.GNU-stack, "", @progbits
