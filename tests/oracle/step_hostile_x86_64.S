/* SPDX-License-Identifier: MIT */
/*
 * x86-64 code without CFI that is right to run and easy to get wrong. step_hostile.c calls each function of its list; what
 * --derive says of it is compared with the processor. The names below must have rows that were stepped: of others nothing is
 * asked, because no rows are the right answer where callers or callees break the ABI's rules.
 *
 * rows: plain_frame leaf_pushes frame_alloca alloca_by_loop loops_pushes fp_in_redzone pops_to_memory moves_by_lea
 * rows: falls_into_next jump_in_insn hot_patched drap_frame table_of_two calls_ret_8 calls_described_pop calls_pop_push
 * rows: pops_in_loop fills_8 fp_slot_reused changes_argument fp_is_argument computed_goto described_stack
 */
#include "step_hostile.inc"
	.text

/* ---- ordinary functions, and such that only look odd ---- */

F plain_frame
	push	%rbp; mov %rsp, %rbp; push %rbx; sub $24, %rsp; mov %rdi, %rbx; call leaf_pushes
	add	%rbx, %rax; add $24, %rsp; pop %rbx; pop %rbp; ret
F leaf_pushes
	push	%r12; push %r13; lea 1(%rdi), %r12; mov %r12, %rax; pop %r13; pop %r12; ret
F frame_alloca
	push	%rbp; mov %rsp, %rbp; push %rbx; lea 31(%rdi), %rax; and $-16, %rax; sub %rax, %rsp
	mov	%rsp, %rdi; call fills_8; mov (%rsp), %rax; lea -8(%rbp), %rsp; pop %rbx; pop %rbp; ret
F alloca_by_loop
	push	%rbp; mov %rsp, %rbp
1:	sub	$8, %rsp; movq %rdi, (%rsp); dec %rdi; jnz 1b; call leaf_pushes; leave; ret
F loops_pushes
	push	%rbp; mov %rsp, %rbp
1:	push	%rdi; dec %rdi; jnz 1b; mov (%rsp), %rax; leave; ret
F two_heights /* a way that no processor takes: up by 16, not down again */
	test	$1, %dil; jz 1f; sub $16, %rsp; movb $1, (%rsp)
1:	mov	%edi, %eax; test $1, %dil; jz 2f; add $16, %rsp
2:	ret
F fp_in_r11
	mov	%rbp, %r11; lea 1(%rdi), %rbp; mov %rbp, %rax; mov %r11, %rbp; ret
F fp_in_bss
	mov	%rbp, saved_fp(%rip); lea 1(%rdi), %rbp; mov %rbp, %rax; mov saved_fp(%rip), %rbp; ret
	.local	saved_fp
	.comm	saved_fp, 8, 8

F fp_in_xmm
	movq	%rbp, %xmm1; lea 1(%rdi), %rbp; mov %rbp, %rax; movq %xmm1, %rbp; ret
F fp_in_redzone
	mov	%rbp, -8(%rsp); lea 1(%rdi), %rbp; mov %rbp, %rax; mov -8(%rsp), %rbp; ret
F fp_exchanged
	push	%rdi; xchg %rbp, (%rsp); mov %rbp, %rax; xchg %rbp, (%rsp); add $8, %rsp; ret
F push_16_bits
	pushw	%ax; pushw %bx; pushfq; pushfw; popfw; popfq; popw %bx; popw %ax; mov $1, %eax; ret
F pops_to_memory /* the address of pop is that of after it */
	push	%rdi; push %rdi; pushq 8(%rsp); popq 8(%rsp); popq (%rsp); pop %rax; ret
F moves_by_lea
	lea	-24(%rsp), %rsp; add $-128, %rsp; mov %rdi, (%rsp); sub $-128, %rsp; lea 24(%rsp), %rsp; ret
F falls_into_next
	push	%rbx; mov %rdi, %rbx
	entry	fallen_into
	mov	%rbx, %rax; pop %rbx; ret
F jump_in_insn /* the first byte of a mov hides two pushes */
	jmp	1f + 1
1:	.byte	0xb8; push %rbx; push %r12; nop; pop %r12; pop %rbx; mov $23, %eax; ret

	.byte	0x90, 0x90, 0x90, 0x90, 0x90
F hot_patched
	.byte	0x66, 0x90
	push	%rbp; mov %rsp, %rbp; mov $42, %eax; pop %rbp; ret
F enters
	enter	$32, $0; movq $3, -8(%rbp); mov -8(%rbp), %rax; leave; ret
F drap_frame
	lea	8(%rsp), %r10; and $-32, %rsp; pushq -8(%r10); push %rbp; mov %rsp, %rbp; push %r10
	sub	$24, %rsp; mov $36, %eax; add $24, %rsp; pop %r10; pop %rbp; lea -8(%r10), %rsp; ret
F sp_in_memory
	push	%rbx; mov %rsp, %rax; and $-64, %rsp; sub $64, %rsp; mov %rax, 8(%rsp); mov $37, %eax
	mov	8(%rsp), %rsp; pop %rbx; ret
F table_of_two
	push	%rbx; push %r12; cmp $1, %edi; ja 9f; mov %edi, %edi; lea 7f(%rip), %rax
	movslq	(%rax,%rdi,4), %rdx; add %rax, %rdx; jmp *%rdx
8:	mov	$1, %eax; pop %r12; pop %rbx; ret
	.p2align 4
9:	push	%rax; mov $2, %eax; pop %r12; pop %r12; pop %rbx; ret
	.section .rodata
	.p2align 2
7:	.long	8b - 7b, 9b - 7b

F table_of_byte /* bound by the low byte only, and then not used as such */
	push	%rbx; cmp $1, %dil; ja 1f
1:	and	$3, %edi; lea 7f(%rip), %rax; movslq (%rax,%rdi,4), %rdx; add %rax, %rdx; jmp *%rdx
2:	mov	$1, %eax; pop %rbx; ret
	.p2align 4
3:	push	%rbx; mov $4, %eax; pop %rbx; pop %rbx; ret
	.section .rodata
	.p2align 2
7:	.long	2b - 7b, 3b - 7b, 2b - 7b, 3b - 7b
	.text

/* ---- returns that go elsewhere, and return addresses that move ---- */

F pushes_and_returns
	push	%rbx; lea 1f(%rip), %rax; push %rax; ret
1:	pop	%rbx; mov $7, %eax; ret
F by_retpoline
	push	%rbx; lea 3f(%rip), %rax; call 1f
2:	pause; lfence; jmp 2b
1:	mov	%rax, (%rsp); ret
3:	pop	%rbx; mov $8, %eax; ret
F call_and_pop
	push	%rbx; call 1f
	.quad	0x1122334455667788
1:	pop	%rbx; mov (%rbx), %rax; pop %rbx; ret
F ra_pushed_again
	pop	%rdx; push %rbx; push %rdx; mov %rdi, %rbx; mov %rbx, %rax; pop %rdx; pop %rbx; push %rdx; ret
F ra_by_jump
	pop	%rdx; mov $33, %eax; jmp *%rdx
F ra_over_syscall /* as vfork has it */
	pop	%rdx; mov $39, %eax; syscall; push %rdx; ret
F ra_exchanged
	mov	$1, %eax; xchg %rcx, (%rsp); nop; xchg %rcx, (%rsp); ret
F skips_caller
	nop; call 1f; mov $99, %eax; ret
1:	add	$8, %rsp; mov $31, %eax; ret

/* ---- callees that do not leave the stack as it was ---- */

F pops_8
	mov	8(%rsp), %rax; ret $8
F calls_ret_8
	push	%rbp; mov %rsp, %rbp; sub $16, %rsp; push $5; call pops_8
	mov	%rax, -8(%rbp); nop; mov -8(%rbp), %rax; leave; ret
F calls_ret_8_frameless
	sub	$16, %rsp; push $5; call pops_8; nop; add $16, %rsp; ret
F calls_described_pop
	push	%rbp; mov %rsp, %rbp; sub $16, %rsp; push $5; call described_pop; mov %rax, -8(%rbp); leave
	ret
F calls_ret_16_by_register
	push	%rbp; mov %rsp, %rbp; lea pops_16(%rip), %rax; push $1; push $2; call *%rax; nop; nop
	pop	%rbp; ret
E
pops_16:
	mov	8(%rsp), %rax; ret $16

F to_pops_16
	mov	$9, %eax; jmp pops_16
F calls_to_pops_16
	push	%rbp; mov %rsp, %rbp; push $1; push $2; call to_pops_16; nop; nop; mov %rbp, %rsp; pop %rbp
	ret
F pops_by_push /* as V8's builtins pop a receiver */
	pop	%rcx; add $16, %rsp; push %rcx; ret
F calls_pop_push
	push	%rbp; mov %rsp, %rbp; push $1; push $2; call pops_by_push; nop; nop; mov %rbp, %rsp; pop %rbp
	ret
E

pops_by_push_local:
	pop	%rcx; add $16, %rsp; push %rcx; ret
F calls_pop_push_local
	push	%rbp; mov %rsp, %rbp; push $1; push $2; call pops_by_push_local; nop; nop
	mov	%rbp, %rsp; pop %rbp; ret
F to_pops_by_push
	mov	$9, %eax; jmp pops_by_push
F calls_to_pop_push
	push	%rbp; mov %rsp, %rbp; push $1; push $2; call to_pops_by_push; nop; nop
	mov	%rbp, %rsp; pop %rbp; ret
F pops_by_count
	pop	%rcx; lea (%rsp,%rax,8), %rsp; jmp *%rcx
F calls_pop_count
	push	%rbp; mov %rsp, %rbp; push $1; push $2; mov $2, %eax; call pops_by_count; nop; nop
	mov	%rbp, %rsp; pop %rbp; ret
F pops_in_loop
	push	%rbp; mov %rsp, %rbp; push $1; push $1; push $1; mov $3, %ecx
1:	call	pops_8_local; nop; dec %ecx; jnz 1b; leave; ret
E
pops_8_local:
	ret	$8

F leaves_rbx
	pop	%rcx; push %rbx; push %rcx; ret
F calls_leaves_rbx
	push	%rbp; mov %rsp, %rbp; call leaves_rbx; nop; nop; mov %rbp, %rsp; pop %rbp; ret
E

/* Allocation and prologues on behalf of the caller: local, typed, and back by a return. */
allocates_local:
	pop	%rdx; sub $64, %rsp; jmp *%rdx
F calls_allocates_local
	push	%rbp; mov %rsp, %rbp; call allocates_local; movq $1, (%rsp); leave; ret
F allocates
	pop	%rdx; sub $64, %rsp; jmp *%rdx
F calls_allocates
	push	%rbp; mov %rsp, %rbp; call allocates; movq $1, (%rsp); leave; ret
F allocates_and_returns
	pop	%rdx; sub $64, %rsp; push %rdx; ret
F calls_allocates_and_returns
	push	%rbp; mov %rsp, %rbp; call allocates_and_returns; movq $1, (%rsp); leave; ret
F prologue
	pop	%rax; push %rbp; mov %rsp, %rbp; sub $32, %rsp; jmp *%rax
F by_prologue
	call	prologue; mov $14, %eax; nop; leave; ret
F prologue_returns
	pop	%rax; push %rbp; mov %rsp, %rbp; sub $32, %rsp; push %rax; ret
F by_prologue_returns
	call	prologue_returns; mov $15, %eax; nop; leave; ret
F saves_two
	pop	%rax; push %rbx; push %r12; jmp *%rax
F restores_two
	pop	%r12; pop %rbx; ret
F by_millicode
	call	saves_two; mov %rdi, %rbx; lea 1(%rbx), %rax; mov %rax, %r12; jmp restores_two
F millicode_user
	push	%rbx; call by_millicode; pop %rbx; ret
E

	.section .note.GNU-stack, "", @progbits
