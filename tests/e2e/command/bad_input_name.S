/* SPDX-License-Identifier: MIT */
/* A refused function, so that it is named; bad_input_frames.sh puts a name in. */
	.text
	.globl	_start
	.type	"@NAME@", @function
_start:
"@NAME@":
	.cfi_startproc
	.cfi_undefined %rip
	ret
	.cfi_endproc
	.size	"@NAME@", . - "@NAME@"
