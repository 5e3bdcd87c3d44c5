/* SPDX-License-Identifier: MIT */
/*
 * The CIE says S: the PC of this frame is where a signal came, not behind a call. Another
 * function follows, to be kept.
 * expect: signal-frame functions=1 bytes=7
 * kept: 7+5
 * expect-v3: none
 * kept-v3: 0+7 7+5
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.cfi_signal_frame
	.skip 7, 0x90
	.cfi_endproc
	.cfi_startproc
	.skip 5, 0x90
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
