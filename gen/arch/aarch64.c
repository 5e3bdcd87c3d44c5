/* SPDX-License-Identifier: MIT */
/*
 * AArch64, both byte orders: what AAPCS64 ("Procedure Call Standard for the Arm 64-bit
 * Architecture") and aadwarf64 ("DWARF for the Arm 64-bit Architecture") fix. The two
 * machines differ in the byte order of data and in the identifier of the SFrame ABI only;
 * instructions are little-endian on both.
 *
 * Registers that are not tracked need no facts here: a callee may change every SVE and
 * predicate register, or with the variant call standard must keep more of them, and a row
 * of SFrame speaks of none.
 */
#include "gen/arch.h"

#include <elf.h>

#include "sframe/format.h"

enum {
	/* AAPCS64, "General-purpose Registers": r29 is the frame pointer, r30 the link
	 * register, SP the stack pointer. aadwarf64, "DWARF register names": 0-30 are
	 * X0-X30, 31 is SP, 32 is PC. */
	AARCH64_FP = 29,
	AARCH64_LR = 30,
	AARCH64_SP = 31,
	AARCH64_PC = 32,
	/* DWARF 5, 6.4: "Typically, the CFA is defined to be the value of the stack
	 * pointer at the call site"; BL changes no SP. */
	AARCH64_SP_FROM_CFA = 0,
};

/* What both byte orders have in common. aadwarf64, "Call frame instructions": opcodes
 * 0x2c and 0x2d change RA_SIGN_STATE. AAPCS64, "The Frame Pointer": "The location of the
 * frame record within a stack frame is not specified", so LR has words of its own. */
#define AARCH64_FACTS                                                                    \
	.elf_machine = EM_AARCH64,                                                       \
	.cfi = {.sp_reg = AARCH64_SP,                                                    \
		.fp_reg = AARCH64_FP,                                                    \
		.pc_reg = AARCH64_PC,                                                    \
		.aarch64_ra_state = true},                                               \
	.ra_reg = AARCH64_LR, .sp_from_cfa = AARCH64_SP_FROM_CFA, .ra_tracked = true

const struct arch arch_aarch64 = {
	.name = "AArch64",
	.big_endian = false,
	.sframe_abi = SFRAME_ABI_AARCH64_ENDIAN_LITTLE,
	AARCH64_FACTS,
};

const struct arch arch_aarch64_be = {
	.name = "AArch64 (big-endian)",
	.big_endian = true,
	.sframe_abi = SFRAME_ABI_AARCH64_ENDIAN_BIG,
	AARCH64_FACTS,
};
