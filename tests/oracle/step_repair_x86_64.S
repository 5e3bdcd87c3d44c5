/* SPDX-License-Identifier: MIT */
/*
 * x86-64 code whose CFI is wrong somewhere. step_repair.py steps the rows that --code=repair writes instead.
 * Each label at_NAME_KIND is an instruction whose row is repaired, with that kind of rule.
 */
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

F fills_8
	movq	$0x1234, (%rdi)
	ret
E fills_8

F pops_8
	mov	8(%rsp), %rax
	ret	$8
E pops_8

F changes_argument
	movq	$77, 8(%rsp)
	ret
E changes_argument

/* The row of the addition comes too late. */
F cfa_by_sp
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	lea	8(%rsp), %rdi
	call	fills_8
	add	$24, %rsp
at_cfa_by_sp__CFA_SP:
at_cfa_by_sp__RA_KEPT:
	nop
	.cfi_def_cfa_offset 8
	ret
E cfa_by_sp

F cfa_by_fp
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	shl	$4, %rdi
	sub	%rdi, %rsp
at_cfa_by_fp__CFA_FP:
at_cfa_by_fp__FP_FRAME:
	movq	$5, (%rsp)
	mov	(%rsp), %rax
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
E cfa_by_fp

/* As GCC realigns the stack: behind leave, the frame pointer is back, and the row still has its place. */
F cfa_by_other
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-32, %rsp
	push	-8(%r10)
	push	%rbp
	mov	%rsp, %rbp
	.cfi_escape 0x10, 0x6, 0x2, 0x76, 0
	push	%r10
	.cfi_escape 0xf, 0x3, 0x76, 0x78, 0x6
	sub	$24, %rsp
	lea	8(%rsp), %rdi
	call	fills_8
	mov	-8(%rbp), %r10
	.cfi_def_cfa %r10, 0
	leave
at_cfa_by_other__CFA_OTHER:
at_cfa_by_other__FP_KEPT:
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
E cfa_by_other

/* The stack is aligned, and its old end is in memory alone. */
F cfa_in_memory
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-32, %rsp
	push	%r10
	xor	%r10d, %r10d
at_cfa_in_memory__CFA_MEMORY:
	mov	%rdi, %rax
	mov	(%rsp), %r10
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
E cfa_in_memory

/* The return address moves 8 bytes down, as clang makes room for the arguments of a tail call. */
F ra_moved
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	hands_on
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
E ra_moved
F hands_on
	mov	(%rsp), %rax
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	mov	%rax, (%rsp)
	movq	$7, 8(%rsp)
at_hands_on__RA_FRAME:
	mov	$1, %eax
	ret	$8
E hands_on

F fp_in_frame
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rdi, %rbp
	sub	$16, %rsp
at_fp_in_frame__FP_FRAME:
	mov	%rsp, %rdi
	.cfi_def_cfa_offset 32
	call	fills_8
	mov	%rbp, %rax
	add	$16, %rsp
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
E fp_in_frame

/* The frame pointer is saved where the stack has been aligned. */
F fp_by_sp
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-32, %rsp
	push	%r10
	push	%rbp
	mov	$3, %ebp
at_fp_by_sp__FP_SP:
	mov	%rbp, %rax
	pop	%rbp
	pop	%r10
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
E fp_by_sp

F fp_in_other
	mov	%rbp, %r11
	mov	%rdi, %rbp
at_fp_in_other__FP_OTHER:
	lea	1(%rbp), %rax
	mov	%r11, %rbp
	ret
E fp_in_other

/* The frame pointer is back, and its place is a variable that a callee fills. */
F fp_restored
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	sub	$16, %rsp
	.cfi_def_cfa_offset 32
	mov	%rdi, %rbp
	mov	16(%rsp), %rbp
	.cfi_restore %rbp
	lea	16(%rsp), %rdi
	call	fills_8
	add	$16, %rsp
at_fp_restored__FP_KEPT:
	nop
	mov	(%rsp), %rax
	.cfi_def_cfa_offset 16
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
E fp_restored

F fp_is_argument
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	push	%rdi
	.cfi_def_cfa_offset 24
	push	%rbp
	.cfi_def_cfa_offset 32
	call	changes_argument
	add	$8, %rsp
at_fp_is_argument__FP_KEPT:
	nop
	.cfi_def_cfa_offset 24
	add	$16, %rsp
	.cfi_def_cfa_offset 8
	ret
E fp_is_argument

/* SP behind a callee that takes its argument off the stack. */
F behind_pops
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	push	$5
	.cfi_def_cfa_offset 24
	call	pops_8
at_behind_pops__CFA_SP:
	mov	%rax, %rdx
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
E behind_pops
	.section .note.GNU-stack, "", @progbits
