/* SPDX-License-Identifier: MIT */
/*
 * mold: functions whose addresses are in the GOT already need no lazy slot.
 * plt: .plt+0 size=32: 0 sp+0, 4 sp+16 c-8
 * plt: .plt+32 size=32 rep=16: 0 sp+0
 * plt: .plt.got+0 size=16: 0 sp+0
 * plt: template 80 bytes
 */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	bl first
	bl second
	bl third
	adrp x0, :got:third
	ldr x0, [x0, :got_lo12:third]
	ret
	.cfi_endproc
	.size func, . - func
