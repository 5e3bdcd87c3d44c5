/* SPDX-License-Identifier: MIT */
/* Functions whose CFI is not true, one lie each: the stepper must find every one of them. */
	.text
	.globl	lie_cfa
	.type	lie_cfa, @function
lie_cfa:
	.cfi_startproc
	push	%rax		# and no .cfi_adjust_cfa_offset
	nop
	pop	%rax
	ret
	.cfi_endproc
	.size	lie_cfa, .-lie_cfa

	.globl	lie_fp_lost
	.type	lie_fp_lost, @function
lie_fp_lost:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	xor	$1, %ebp	# and no .cfi_offset %rbp
	nop
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	lie_fp_lost, .-lie_fp_lost

	.globl	lie_fp_slot
	.type	lie_fp_slot, @function
lie_fp_slot:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -24	# it is at -16
	nop
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	lie_fp_slot, .-lie_fp_slot

	.globl	main
	.type	main, @function
main:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	call	lie_cfa
	call	lie_fp_lost
	call	lie_fp_slot
	xor	%eax, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	main, .-main
	.section .note.GNU-stack,"",@progbits
