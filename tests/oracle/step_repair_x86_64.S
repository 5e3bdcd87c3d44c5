/* SPDX-License-Identifier: MIT */
/*
 * x86-64 code whose CFI is wrong somewhere. step_repair.py steps the rows that --code=repair writes instead.
 * Each label at_NAME_KIND is an instruction whose row is repaired, with that kind of rule.
 */
#include "step_repair.inc"
	.text
F fills_8
	movq	$0x1234, (%rdi); ret
F pops_8
	mov	8(%rsp), %rax; ret $8
F changes_argument
	movq	$77, 8(%rsp); ret
/* The row of the addition comes too late. */
F cfa_by_sp
	sub	$24, %rsp; cfa 32; lea 8(%rsp), %rdi; call fills_8; add $24, %rsp; at CFA_SP, RA_KEPT; nop
	cfa 8; ret
F cfa_by_fp
	push	%rbp; cfa 16; saved %rbp, -16; mov %rsp, %rbp; shl $4, %rdi; sub %rdi, %rsp
	at CFA_FP, FP_FRAME; movq $5, (%rsp); mov (%rsp), %rax; leave; .cfi_def_cfa %rsp, 8; restored %rbp
	ret
/* As GCC realigns the stack: behind leave, the frame pointer is back, and the row still has its place. */
F cfa_by_other
	lea	8(%rsp), %r10; .cfi_def_cfa %r10, 0; and $-32, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp
	.cfi_escape 0x10, 0x6, 0x2, 0x76, 0; push %r10; .cfi_escape 0xf, 0x3, 0x76, 0x78, 0x6; sub $24, %rsp
	lea	8(%rsp), %rdi; call fills_8; mov -8(%rbp), %r10; .cfi_def_cfa %r10, 0; leave
	at CFA_OTHER, FP_KEPT; lea -8(%r10), %rsp; .cfi_def_cfa %rsp, 8; restored %rbp; ret
/* The stack is aligned, and its old end is in memory alone. */
F cfa_in_memory
	lea	8(%rsp), %r10; .cfi_def_cfa %r10, 0; and $-32, %rsp; push %r10; xor %r10d, %r10d; at CFA_MEMORY
	mov	%rdi, %rax; mov (%rsp), %r10; lea -8(%r10), %rsp; .cfi_def_cfa %rsp, 8; ret
/* The return address moves 8 bytes down, as clang makes room for the arguments of a tail call. */
F ra_moved
	sub	$8, %rsp; cfa 16; call hands_on; add $8, %rsp; cfa 8; ret
F hands_on
	mov	(%rsp), %rax; sub $8, %rsp; cfa 16; mov %rax, (%rsp); movq $7, 8(%rsp); at RA_FRAME
	mov	$1, %eax; ret $8
F fp_in_frame
	push	%rbp; cfa 16; saved %rbp, -16; mov %rdi, %rbp; sub $16, %rsp; at FP_FRAME; mov %rsp, %rdi
	cfa 32; call fills_8; mov %rbp, %rax; add $16, %rsp; cfa 16; pop %rbp; cfa 8; restored %rbp; ret
/* The frame pointer is saved where the stack has been aligned. */
F fp_by_sp
	lea	8(%rsp), %r10; .cfi_def_cfa %r10, 0; and $-32, %rsp; push %r10; push %rbp; mov $3, %ebp
	at FP_SP; mov %rbp, %rax; pop %rbp; pop %r10; lea -8(%r10), %rsp; .cfi_def_cfa %rsp, 8; ret
F fp_in_other
	mov	%rbp, %r11; mov %rdi, %rbp; at FP_OTHER; lea 1(%rbp), %rax; mov %r11, %rbp; ret
/* The frame pointer is back, and its place is a variable that a callee fills. */
F fp_restored
	push	%rbp; cfa 16; saved %rbp, -16; sub $16, %rsp; cfa 32; mov %rdi, %rbp; mov 16(%rsp), %rbp
	restored %rbp; lea 16(%rsp), %rdi; call fills_8; add $16, %rsp; at FP_KEPT; nop; mov (%rsp), %rax
	cfa 16; add $8, %rsp; cfa 8; ret
F fp_is_argument
	sub	$8, %rsp; cfa 16; push %rdi; cfa 24; push %rbp; cfa 32; call changes_argument; add $8, %rsp
	at FP_KEPT; nop; cfa 24; add $16, %rsp; cfa 8; ret
/* SP behind a callee that takes its argument off the stack. */
F behind_pops
	push	%rbp; cfa 16; saved %rbp, -16; push $5; cfa 24; call pops_8; at CFA_SP; mov %rax, %rdx
	cfa 16; pop %rbp; cfa 8; restored %rbp; ret
/* Copies that the program made for itself, which a callee fills: of the frame pointer, of the CFA, and of the return address, which
 * has gone down. */
F fp_copied
	sub	$16, %rsp; cfa 24; mov %rbp, 8(%rsp); push %rbp; cfa 32; mov %rdi, %rbp; lea 16(%rsp), %rdi
	call	fills_8; at FP_FRAME; mov %rbp, %rax; pop %rbp; cfa 24; add $16, %rsp; cfa 8; ret
F cfa_copied
	lea	8(%rsp), %r10; .cfi_def_cfa %r10, 0; and $-32, %rsp; push %r10; push %r10; mov %rsp, %rdi
	call	fills_8; xor %r10d, %r10d; at CFA_MEMORY; mov %rdi, %rax; mov 8(%rsp), %r10
	lea	-8(%r10), %rsp; .cfi_def_cfa %rsp, 8; ret
F ra_copied
	sub	$8, %rsp; cfa 16; call moves_down; add $8, %rsp; cfa 8; ret
F moves_down
	mov	(%rsp), %rax; sub $8, %rsp; mov %rax, (%rsp); lea 8(%rsp), %rdi; call fills_8; at RA_FRAME
	mov	$1, %eax; cfa 16; saved %rip, -16; ret $8
/* No way tells which of both is the program's: there is no row. */
F fp_twice
	push	%rbp; cfa 16; push %rbp; cfa 24; mov %rdi, %rbp; test %rdi, %rdi; jns 1f; at NONE; ud2
1:	pop	%rax; cfa 16; pop %rbp; cfa 8; ret
/* Only its bits bound the index of the table. */
F by_table
	push	%rbx; cfa 16; and $7, %edi; lea 2f(%rip), %rdx; movslq (%rdx, %rdi, 4), %rax; add %rdx, %rax
	jmp	*%rax
1:	pop	%rbx; at CFA_SP; mov $1, %eax; cfa 8; ret
	.pushsection .rodata
	.balign	4
2:	.rept	8
	.long	1b - 2b
	.endr
	.popsection
	end
	.section .note.GNU-stack, "", @progbits
