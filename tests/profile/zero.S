/* SPDX-License-Identifier: MIT */
/* Ends its stack with a 0 in the frame of its entry. With an argument, a function whose CFI names a word of its own
 * frame, which is 0, in place of the return address. Both use processor time. */
	.text
	.globl	_start, right, wrong
	.type	_start, @function
_start:
	.cfi_startproc
	cmpq	$1, (%rsp)
	pushq	$0
	jne	1f
	call	right
	jmp	2f
1:	call	wrong
2:	xorl	%edi, %edi
	movl	$60, %eax
	syscall
	.cfi_endproc
	.size	_start, . - _start

	/* The entry's frame is known by a distance from the entry. */
	.skip	256, 0xcc
	.type	right, @function
right:
	.cfi_startproc
	movl	$600000000, %ecx
1:	decl	%ecx
	jnz	1b
	ret
	.cfi_endproc
	.size	right, . - right

	.type	wrong, @function
wrong:
	.cfi_startproc
	subq	$152, %rsp
	.cfi_adjust_cfa_offset 80
	/* The kernel copies from here on, and nothing of a page that is not there yet. */
	movq	$0, (%rsp)
	movq	$0, 80(%rsp)
	movl	$600000000, %ecx
1:	decl	%ecx
	jnz	1b
	addq	$152, %rsp
	.cfi_adjust_cfa_offset -80
	ret
	.cfi_endproc
	.size	wrong, . - wrong
	.section .note.GNU-stack, "", @progbits
