/* SPDX-License-Identifier: MIT */
/* Two indirect functions, called. */
	.text
	.globl func
	.type func, %function
func:
	.cfi_startproc
	bl chosen
	bl picked
	ret
	.cfi_endproc
	.size func, . - func
	.hidden chosen, picked
	.globl chosen, picked
	.type chosen, %gnu_indirect_function
	.type picked, %gnu_indirect_function
chosen:
picked:
	.cfi_startproc
	ret
	.cfi_endproc
