/* SPDX-License-Identifier: MIT */
/*
 * As got.S, with -z ibtplt.
 * plt: .plt+0 size=16: 0 sp+16, 6 sp+24
 * plt: .plt.got+0 size=32 rep=16: 0 sp+8
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	mov first@GOTPCREL(%rip), %rax
	call first@plt
	mov second@GOTPCREL(%rip), %rax
	call second@plt
	ret
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
