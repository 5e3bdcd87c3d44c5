/* SPDX-License-Identifier: MIT */
/*
 * s390x: what the "ELF Application Binary Interface s390x Supplement" fixes. 31-bit s390
 * programs have the same e_machine and are 32-bit files.
 */
#include "gen/arch.h"

#include <elf.h>

#include "sframe/format.h"

const struct arch arch_s390x = {
	.name = "s390x",
	.elf_machine = EM_S390,
	/* 4.1.1, Machine Information: e_ident[EI_DATA] is ELFDATA2MSB. */
	.big_endian = true,
	.sframe_abi = SFRAME_ABI_S390X_ENDIAN_BIG,
	.cfi =
		{
			/* "DWARF register number mapping": 0-15 are %r0-%r15, 16-31 the
			 * floating point registers, 64 the PSW mask and 65 the PSW
			 * address. 1.2.2.1, "Register Roles": %r15 is the stack pointer;
			 * none is the frame pointer by rule, compilers take %r11. */
			.sp_reg = 15,
			.fp_reg = 11,
			.pc_reg = 65,
			.aarch64_ra_state = false,
		},
	/* 1.2.2.1: %r14 holds the return address. */
	.ra_reg = 14,
	/* 1.2.2.2, "The Stack Frame": the caller leaves a register save area of 160 bytes
	 * at the low end of its frame; the CFA is the address behind it. */
	.sp_from_cfa = -160,
	/* 1.2.2.1: %r15 is preserved across calls. So what is saved of it, in its place
	 * of the register save area or in a register, is what it held at the entry: CFA -
	 * 160 again. Each function that saves it has such a rule. */
	.sp_saved = true,
	.ra_tracked = true,
};
