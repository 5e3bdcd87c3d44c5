/* SPDX-License-Identifier: MIT */
/*
 * A function without CFI, whose rows --derive finds. .Linner has none, because it overwrites %rbp for its caller, which
 * has its own caller's in memory.
 */
	.text
	.balign 64
	.globl	outer
	.type	outer, @function
outer:
	push	%rbp
	push	%rbx
	mov	$7, %ebp
	call	.Linner
	call	.Linner
	pop	%rbx
	pop	%rbp
	ret
	.size	outer, .-outer

	.balign 16
.Linner:
	lea	3(%rbp), %ebx
	mov	%ebx, %ebp
	push	%rax
	nop
	pop	%rax
	ret

	.globl	main
	.type	main, @function
main:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	mov	$20, %ebx
1:	call	outer
	dec	%ebx
	jnz	1b
	xor	%eax, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	main, .-main
	.section .note.GNU-stack,"",@progbits
