/* SPDX-License-Identifier: MIT */
/* Finds the decoder of a machine. */
#include "code/machines/machines.h"

#include "config.h"

bool code_can_decode(enum code_machine machine)
{
	return machine != CODE_X86_64 || EH2SFRAME_ZYDIS;
}

bool code_insn_read(enum code_machine machine, const uint8_t *code, uint64_t size,
    uint64_t pc, struct code_insn *insn)
{
	code_insn_clear(insn);
	switch (machine) {
	case CODE_X86_64:
#if EH2SFRAME_ZYDIS
		return code_insn_x86_64(code, size, pc, insn);
#else
		break;
#endif
	case CODE_AARCH64:
		return code_insn_aarch64(code, size, pc, insn);
	case CODE_S390X:
		return code_insn_s390x(code, size, pc, insn);
	}
	return false;
}

bool code_insn_ends(const struct code_insn *insn)
{
	return insn->control == CODE_JUMPS || insn->control == CODE_JUMPS_TO ||
	       insn->control == CODE_RETURNS || insn->control == CODE_STOPS;
}

const struct code_abi *code_abi(enum code_machine machine)
{
	static const struct code_abi abis[] = {
	    /* System V psABI: rbx, rbp, rsp and r12 to r15 are preserved. */
	    [CODE_X86_64] = {.n_regs = 16,
		.sp = 7,
		.fp = 6,
		.ra = CODE_NO_REG,
		.ra_off = -8,
		.sp_off = -8,
		.clobbered = 0x0f37,
		.sigreturn = {15}},
	    /* AAPCS64: x19 to x29 and SP are preserved. PLT0 begins with "stp x16, x30, [sp, #-16]!". */
	    [CODE_AARCH64] = {.n_regs = 32,
		.sp = 31,
		.fp = 29,
		.ra = 30,
		.stub_ra_off = 8,
		.clobbered = 0x4007ffff,
		.sigreturn = {139}},
	    /* r6 to r13, r15 and f8 to f15 are preserved. */
	    [CODE_S390X] = {.n_regs = 32,
		.sp = 15,
		.fp = 11,
		.ra = 14,
		.sp_off = -160,
		.sp_exit_off = -160,
		.clobbered = 0x00ff403f,
		.sigreturn = {119, 173}},
	};

	return &abis[machine];
}
