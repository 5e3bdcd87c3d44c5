/* SPDX-License-Identifier: MIT */
/* expression names an address, val_expression a value; the CFA is pushed first. */
	.text
	.globl func
	.type func, @function
func:
	.cfi_startproc
	.skip 4
	.cfi_escape 0x10, 6, 2, 0x76, 0x70		/* expression rbp: breg6 -16 */
	.skip 4
	.cfi_escape 0x10, 6, 2, 0x23, 8			/* expression rbp: plus_uconst 8 */
	.skip 4
	.cfi_escape 0x16, 6, 2, 0x23, 8			/* val_expression rbp: plus_uconst 8 */
	.skip 4
	.cfi_escape 0x16, 6, 2, 0x73, 8			/* val_expression rbp: breg3 8 */
	.skip 4
	.cfi_escape 0x16, 6, 5, 0x73, 8, 0x06, 0x23, 4	/* val_expression rbp: *(rbx + 8) + 4 */
	.skip 4
	.cfi_escape 0x16, 6, 3, 0x38, 0x1c, 0x06	/* val_expression rbp: *(cfa - 8) */
	.skip 4
	.cfi_escape 0x10, 6, 3, 0x73, 8, 0x06		/* expression rbp: *(rbx + 8): two loads */
	.skip 4
	.cfi_endproc
	.size func, . - func
	.section .note.GNU-stack, "", @progbits
