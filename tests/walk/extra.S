/* SPDX-License-Identifier: MIT */
/* One function, whose CFA no version of SFrame can say: it is in memory at rsp + (rax << 3) (breg7 0; breg0 0; lit3; shl;
 * plus; deref). */
	.text
	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_escape 0x0f, 8, 0x77, 0, 0x70, 0, 0x33, 0x24, 0x22, 0x06
	nop
	ret
	.cfi_endproc
	.size _start, . - _start
	.section .note.GNU-stack, "", @progbits
