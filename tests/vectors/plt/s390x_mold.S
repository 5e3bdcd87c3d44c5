/* SPDX-License-Identifier: MIT */
/*
 * mold: functions whose addresses are in the GOT already need no lazy slot.
 * plt: .plt+0 size=32: 0 sp+160
 * plt: .plt+32 size=64 rep=32: 0 sp+160
 * plt: .plt.got+0 size=16: 0 sp+160
 * plt: template 112 bytes
 * or, by mold 2:
 * plt: .plt+0 size=48: 0 sp+160
 * plt: .plt+48 size=32 rep=16: 0 sp+160
 * plt: .plt.got+0 size=16: 0 sp+160
 * plt: template 96 bytes
 */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	brasl %r14, first@PLT
	brasl %r14, second@PLT
	brasl %r14, third@PLT
	lgrl %r1, third@GOTENT
	br %r14
	.cfi_endproc
	.size func, . - func
