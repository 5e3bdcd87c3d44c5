/* SPDX-License-Identifier: MIT */
/* A function with three holes of two reasons, a C++ name, and one that is left out as a whole. */
	.text
	.globl _ZN5shape4areaEd
	.type _ZN5shape4areaEd, @function
_ZN5shape4areaEd: .cfi_startproc; .skip 4, 0x90; .cfi_undefined 6; .skip 5, 0x90; .cfi_restore 6; .skip 6, 0x90
	.cfi_def_cfa 10, 0; .skip 7, 0x90; .cfi_undefined 6; .skip 1, 0x90; .cfi_def_cfa 7, 16; .skip 8, 0x90
	.cfi_restore 6; .skip 9, 0x90; .cfi_endproc; .size _ZN5shape4areaEd, . - _ZN5shape4areaEd

	.globl _start
	.type _start, @function
_start:	.cfi_startproc; .cfi_undefined 16; .skip 10, 0x90; .cfi_endproc; .size _start, . - _start
	.section .note.GNU-stack, "", @progbits
