/* SPDX-License-Identifier: MIT */
/*
 * GNU ld -z ibtplt: the push comes two bytes earlier in .plt, and the calls go to .plt.sec, of
 * which one row holds everywhere.
 * plt: .plt+0 size=16: 0 sp+16, 6 sp+24
 * plt: .plt+16 size=48 rep=16: 0 sp+8, 9 sp+16
 * plt: .plt.sec+0 size=48 rep=16: 0 sp+8
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	call first@plt
	call second@plt
	call third@plt
	ret
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
