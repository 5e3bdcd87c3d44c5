/* SPDX-License-Identifier: MIT */
/*
 * GNU ld: functions whose addresses are in the GOT already need no lazy slot. GNU ld's own
 * SFrame data says sp+16 here. It leaves a .plt with a header and no entries.
 * plt: .plt+0 size=16: 0 sp+16, 6 sp+24
 * plt: .plt.got+0 size=16 rep=8: 0 sp+8
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
