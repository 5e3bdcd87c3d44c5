/* SPDX-License-Identifier: MIT */
/* Two functions of another file, called. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	brasl %r14, first@PLT
	brasl %r14, second@PLT
	br %r14
	.cfi_endproc
	.size func, . - func
