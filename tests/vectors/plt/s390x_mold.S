/* SPDX-License-Identifier: MIT */
/* s390x_mold in plts.txt says what this is. */
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
