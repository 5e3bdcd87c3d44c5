/* SPDX-License-Identifier: MIT */
/* What needs version 3: a realigned stack, an outermost frame, a signal frame, and one of no version. */
	.text
	/* As gcc realigns: r10 holds the CFA, then the frame keeps it at rbp - 8. */
	.type realigned, @function
realigned: .cfi_startproc; lea 8(%rsp), %r10; .cfi_def_cfa 10, 0; and $-32, %rsp; push -8(%r10); push %rbp
	mov %rsp, %rbp; .cfi_escape 0x10, 6, 2, 0x76, 0 /* rbp is at breg6 0 */
	push %r10; .cfi_escape 0x0f, 3, 0x76, 0x78, 6 /* CFA: breg6 -8, deref */
	.skip 20, 0x90; pop %r10; .cfi_def_cfa 10, 0; pop %rbp; .cfi_restore 6; lea -8(%r10), %rsp
	.cfi_def_cfa 7, 8; ret; .cfi_endproc; .size realigned, . - realigned

	.globl _start
	.type _start, @function
_start:	.cfi_startproc; .cfi_undefined 16; xor %ebp, %ebp; call realigned; hlt; .cfi_endproc
	.size _start, . - _start

	/* All registers are in a struct ucontext at rsp. */
	.type restore, @function
restore: .cfi_startproc; .cfi_signal_frame; .cfi_escape 0x0f, 4, 0x77, 160, 1, 6 /* CFA: breg7 160, deref */
	.cfi_escape 0x10, 6, 3, 0x77, 248, 0 /* rbp: breg7 120 */
	.cfi_escape 0x10, 7, 3, 0x77, 160, 1 /* rsp: breg7 160 */
	.cfi_escape 0x10, 16, 3, 0x77, 168, 1 /* rip: breg7 168 */
	mov $15, %eax; syscall; .cfi_endproc; .size restore, . - restore

	/* As OpenSSL's assembler keeps the CFA: something is added to what is read. */
	.type added, @function
added:	.cfi_startproc; .skip 4, 0x90; .cfi_escape 0x0f, 5, 0x77, 16, 6, 0x23, 8; .skip 12, 0x90
	.cfi_def_cfa 7, 8; ret; .cfi_endproc; .size added, . - added
	.section .note.GNU-stack, "", @progbits
