/* SPDX-License-Identifier: MIT */
/* Ends its stack with a 0 in the frame of its entry. With an argument, a function whose CFI names a word of its own
 * frame, which is 0, in place of the return address. Both use processor time, and do not return. */
	.text
	.globl	_start, right, wrong
	.type	_start, @function
_start:
	.cfi_startproc
	cmpq	$1, (%rsp)
	pushq	$0
	je	1f
	call	wrong
	/* The return address is behind the function, where another one begins. */
1:	call	right
	.cfi_endproc
	.size	_start, . - _start

	.type	right, @function
right:
	.cfi_startproc
	movl	$600000000, %ecx
1:	decl	%ecx
	jnz	1b
	xorl	%edi, %edi
	movl	$60, %eax
	syscall
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
	xorl	%edi, %edi
	movl	$60, %eax
	syscall
	.cfi_endproc
	.size	wrong, . - wrong
	.section .note.GNU-stack, "", @progbits
