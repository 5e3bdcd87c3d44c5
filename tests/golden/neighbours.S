/* SPDX-License-Identifier: MIT */
/*
 * What is new boundaries for size: functions side by side, padding of 15 and of 16 bytes, of
 * code that another FDE claims but cannot describe; bodies of different lengths between
 * equal prologues and epilogues; a signal frame in between.
 */
	.text
	.macro function name, body
\name:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	push	%rbx
	.cfi_def_cfa_offset 24
	push	%r12
	.cfi_def_cfa_offset 32
	sub	$0x28, %rsp
	.cfi_def_cfa_offset 72
	.skip	\body, 0x90
	add	$0x28, %rsp
	.cfi_def_cfa_offset 32
	pop	%r12
	.cfi_def_cfa_offset 24
	pop	%rbx
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.endm
	.macro leaf name, size
\name:
	.cfi_startproc
	.skip	\size, 0x90
	.cfi_endproc
	.endm

	leaf	first, 5
	leaf	second, 7
	.skip	15, 0xcc
	leaf	after_15, 9
	.skip	16, 0xcc
	leaf	after_16, 9
	.skip	3, 0xcc
refused:
	.cfi_startproc
	.cfi_def_cfa rax, 8
	.skip	4, 0x90
	.cfi_endproc
	leaf	after_refused, 3
signal:
	.cfi_startproc
	.cfi_signal_frame
	nop
	.cfi_endproc
	function one, 40
	function two, 100
	function three, 75
	function four, 51
	.skip	4, 0xcc
	function five, 51
